/* SPDX-License-Identifier: MIT */
/* What one sample costs the runner: CPU of this thread for both edges of a stretch, the
 * histograms and the figures, beside 1000 blocking load threads, as fast as they can and at the
 * usual pace, which has two histograms more. Prints the median and the worst of 50; asserts
 * nothing. Usage: bench_sample [THREADS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "net/protocol.h"
#include "session/measure.h"
#include "session/rig.h"

#define SAMPLES 50

static double cpu_ms(void)
{
    return (double)clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID) / NS_PER_MS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double one_sample(struct rig_pane *p, int cpu, int64_t mem, struct hist_copy *h)
{
    struct edge from = {0}, to = {0};
    struct span span;
    struct values v;
    double spent = cpu_ms();
    edge_read(p->server, p->load, cpu, &from);
    spent = cpu_ms() - spent;
    clock_sleep_until(clock_ns() + 100 * NS_PER_MS);
    double again = cpu_ms();
    edge_read(p->server, p->load, cpu, &to);
    span_clear(&span);
    span_add(&span, &from, &to);
    for (int i = 0; i < LOAD_HISTS; i++) {
        load_read_hist(p->load, i, &h[0]);
        hist_diff(&h[0], &h[1 + i], &h[1 + LOAD_HISTS + i]);
    }
    struct span_hists hists = {&h[1 + LOAD_HISTS + LOAD_LATENCY],
                               &h[1 + LOAD_HISTS + LOAD_RESPONSE], &h[1 + LOAD_HISTS + LOAD_LATE]};
    span_values(&span, &hists, mem, &v);
    return spent + cpu_ms() - again;
}

static int sample_at(double rate, int threads, const struct cpu_plan *cpus)
{
    struct err e = {{0}};
    struct plan_row want = {0};
    struct rig rig = {0};
    double spent[SAMPLES];
    params_init(&want.params);
    want.params.workload = workload_find("transfer");
    want.params.connections = threads;
    want.params.rate = rate;
    want.params.engine = ENGINE_BLOCKING;
    workload_resolve(&want.params);
    if (lineup_parse("epoll-lt", &want.lineup, &e) < 0)
        return fprintf(stderr, "%s\n", e.text), 1;
    rig_fit(&rig, &want, cpus);
    struct rig_pane *p = &rig.panes[0];
    rig_load(p, cpus);
    if (!p->load || !load_wait_open(p->load, 10 * NS_PER_S))
        return fprintf(stderr, "cannot start: %s\n", p->trouble), 1;
    struct hist_copy *h = xcalloc(1 + 2 * LOAD_HISTS, sizeof *h);
    int64_t mem = proc_mem_total(); /* as a session does: once */
    load_set_phase(p->load, LOAD_MEASURE);
    for (int i = 0; i < SAMPLES; i++)
        spent[i] = one_sample(p, cpus->pinned ? cpus->server : -1, mem, h);
    qsort(spent, SAMPLES, sizeof *spent, by_value);
    printf("one sample beside %d load threads, %s: median %.3f ms of CPU, worst of %d %.3f ms\n",
           threads, rate == PARAM_MAX ? "rate max" : "paced", spent[SAMPLES / 2], SAMPLES,
           spent[SAMPLES - 1]);
    load_set_phase(p->load, LOAD_STOP);
    rig_close(&rig);
    free(h);
    return 0;
}

int main(int argc, char **argv)
{
    int status;
    if (server_child(argc, argv, &status))
        return status;
    int threads = argc > 1 ? atoi(argv[1]) : 1000;
    struct cpu_plan cpus;
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    limits_raise_nofile();
    cpus_plan(true, &cpus);
    if (cpus.pinned)
        cpus_pin_set(&cpus.load, NULL);
    status = sample_at(PARAM_MAX, threads, &cpus);
    return status ? status : sample_at(NAN, threads, &cpus);
}
