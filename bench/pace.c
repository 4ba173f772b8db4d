/* SPDX-License-Identifier: MIT */
/* How well the load keeps a pace: 100 connections to epoll-lt at 1 000, 10 000 and 50 000
 * requests a second. Prints what was due, sent and answered in each second, how far that is from
 * the rate, how late the sends were, and how much of its CPU the load had: a second in which
 * others ran there says nothing about the pace. Asserts nothing. Usage: bench_pace [SECONDS
 * [CONNECTIONS [RATE ...]]] */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "net/protocol.h"
#include "session/rig.h"

struct second {
    uint64_t t_ns;
    int64_t cpu_ns;
    struct load_counts counts;
    struct hist_copy late;
};

static void read_second(const struct load *l, struct second *out)
{
    out->t_ns = clock_ns();
    out->cpu_ns = load_cpu_ns(l);
    load_read(l, &out->counts);
    hist_clear(&out->late);
    load_read_hist(l, LOAD_LATE, &out->late);
}

/* Counts of one second, to its true length. Returns how far the sends were off the rate, in %. */
static double print_second(const struct second *a, struct second *b, double rate, int threads)
{
    static struct hist_copy late;
    struct load_counts d;
    double t = (double)(b->t_ns - a->t_ns) / 1e9;
    load_counts_diff(&b->counts, &a->counts, &d);
    hist_diff(&b->late, &a->late, &late);
    double off = 100 * ((double)d.sent / t / rate - 1);
    printf("  %7.0f due  %7.0f sent (%+.2f %%)  %7.0f answered  late p99 %6.1f us  "
           "load had %3.0f %% of its CPU, %2.0f %% spare\n",
           (double)d.due / t, (double)d.sent / t, off, (double)d.replies / t,
           hist_percentile(&late, 99) / 1e3, (double)(b->cpu_ns - a->cpu_ns) / 1e7 / t / threads,
           (double)d.spare_ns / 1e7 / t / threads);
    return off;
}

static void print_late(struct load *l, struct hist_copy *h)
{
    static const double pct[] = {50, 90, 99, 99.9};
    double ns[4];
    hist_clear(h);
    load_read_hist(l, LOAD_LATE, h);
    hist_percentiles(h, pct, 4, ns);
    printf("  sent late: p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.0f us, of %llu sends\n",
           ns[0] / 1e3, ns[1] / 1e3, ns[2] / 1e3, ns[3] / 1e3, hist_max(h) / 1e3,
           (unsigned long long)h->count);
}

static int run(struct plan_row *want, const struct cpu_plan *cpus, int seconds)
{
    static struct second before, now; /* large */
    struct rig rig = {0};
    double rate = want->params.rate, worst = 0;
    rig_fit(&rig, want, cpus);
    struct rig_pane *p = &rig.panes[0];
    rig_load(p, cpus);
    if (!p->load || !load_wait_open(p->load, 10 * NS_PER_S))
        return fprintf(stderr, "cannot start: %s\n", p->trouble), 1;
    printf("%.0f/s over %.0f connections, %d load thread%s that %s\n", rate,
           want->params.connections, load_threads(p->load), load_threads(p->load) == 1 ? "" : "s",
           load_spins(p->load) ? "spins" : "sleeps");
    load_set_phase(p->load, LOAD_SETTLE);
    clock_sleep_until(clock_ns() + NS_PER_S);
    load_set_phase(p->load, LOAD_MEASURE);
    read_second(p->load, &before);
    for (int i = 1; i <= seconds; i++) {
        clock_sleep_until(before.t_ns + NS_PER_S);
        read_second(p->load, &now);
        double off = print_second(&before, &now, rate, load_threads(p->load));
        worst = off < 0 && -off > worst ? -off : off > worst ? off : worst;
        before = now;
    }
    load_set_phase(p->load, LOAD_STOP);
    load_drained(p->load, NS_PER_S);
    struct hist_copy *h = xcalloc(1, sizeof *h);
    print_late(p->load, h);
    printf(worst <= 1 ? "  each second within 1 %%\n"
                      : "  not each second within 1 %%: the worst was off by %.1f %%\n", worst);
    free(h);
    rig_close(&rig);
    return 0;
}

int main(int argc, char **argv)
{
    int status;
    if (server_child(argc, argv, &status))
        return status;
    static const double rates[] = {1000, 10000, 50000};
    int seconds = argc > 1 ? atoi(argv[1]) : 10, failed = 0;
    struct err e = {{0}};
    struct cpu_plan cpus;
    struct plan_row want = {0};
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    limits_raise_nofile();
    cpus_plan(true, &cpus);
    params_init(&want.params);
    want.params.workload = workload_find("transfer");
    want.params.connections = argc > 2 ? atoi(argv[2]) : 100;
    workload_resolve(&want.params);
    if (lineup_parse("epoll-lt", &want.lineup, &e) < 0)
        return fprintf(stderr, "%s\n", e.text), 1;
    if (cpus.pinned)
        cpus_pin_set(&cpus.load, NULL);
    int count = argc > 3 ? argc - 3 : (int)(sizeof rates / sizeof *rates);
    for (int i = 0; i < count && !failed; i++) {
        want.params.rate = argc > 3 ? atof(argv[3 + i]) : rates[i];
        failed = run(&want, &cpus, seconds);
    }
    return failed;
}
