/* SPDX-License-Identifier: MIT */
/* One load engine alone, against any server: what bench/load measures beside other loads. A closed
 * loop with all that a session has (phases, checked replies, histograms, kinds of errors), on the
 * CPUs that this process may use. Sends one line of figures to stdout; the CPU is that of the
 * load's threads. Usage: bench_engine PORT CONNECTIONS SECONDS [--PARAM VALUE]... */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "load/workloads.h"
#include "net/protocol.h"

static int fail(const char *text)
{
    return fprintf(stderr, "bench_engine: %s\n", text), 1;
}

static int parse(struct load_spec *s, int argc, char **argv, struct err *e)
{
    struct params *p = &s->params;
    char address[64];
    params_init(p);
    p->workload = workload_find("transfer");
    p->protocol = protocol_find("http");
    p->rate = PARAM_MAX;
    p->load_wait = WAIT_BLOCK;
    p->connections = atof(argv[2]);
    for (int i = 4; i + 1 < argc; i += 2) {
        int id = params_find(argv[i] + 2);
        if (id < 0 || id >= PARAM_COUNT)
            return err_set(e, EINVAL, "%s: no such parameter", argv[i]);
        if (params_parse((enum param_id)id, argv[i + 1], params_at(p, (enum param_id)id), e) < 0)
            return -EINVAL;
    }
    workload_resolve(p);
    sched_getaffinity(0, sizeof s->cpus, &s->cpus);
    s->cpu_count = CPU_COUNT(&s->cpus);
    snprintf(address, sizeof address, "127.0.0.1:%.6s", argv[1]);
    return net_addr_parse(address, false, &s->target, e);
}

static void measure(struct load *l, double seconds)
{
    struct load_counts c[2];
    struct hist_copy *h = xcalloc(1, sizeof *h);
    load_set_phase(l, LOAD_SETTLE);
    clock_sleep_until(clock_ns() + 300 * NS_PER_MS);
    load_set_phase(l, LOAD_MEASURE);
    load_read(l, &c[0]);
    uint64_t start = clock_ns();
    int64_t cpu = load_cpu_ns(l);
    clock_sleep_until(start + (uint64_t)(seconds * 1e9));
    load_read(l, &c[1]);
    cpu = load_cpu_ns(l) - cpu;
    double took = (double)(clock_ns() - start) / 1e9;
    load_set_phase(l, LOAD_STOP);
    load_drained(l, NS_PER_S);
    load_read_hist(l, LOAD_LATENCY, h);
    load_counts_diff(&c[1], &c[0], &c[1]);
    printf("requests %llu seconds %.4f load_cpu_s %.4f p99_us %.1f errors %llu sleeps %llu "
           "load_spare %.3f\n",
           (unsigned long long)c[1].replies, took, (double)cpu / 1e9,
           hist_percentile(h, 99) / 1e3,
           (unsigned long long)(c[1].errors_refused + c[1].errors_reset + c[1].errors_timeout +
                                c[1].errors_port + c[1].errors_fd + c[1].errors_bytes),
           (unsigned long long)c[1].sleeps, (double)c[1].spare_ns / 1e9 / took);
    free(h);
}

int main(int argc, char **argv)
{
    struct load_spec s = {0};
    struct err e = {""};
    if (argc < 4 || argc % 2)
        return fputs("usage: bench_engine PORT CONNECTIONS SECONDS [--PARAM VALUE]\n", stderr), 2;
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    limits_raise_nofile();
    if (parse(&s, argc, argv, &e) < 0)
        return fail(e.text);
    struct load *l = load_open(&s, &e);
    if (!l)
        return fail(e.text);
    if (!load_wait_open(l, 10 * NS_PER_S) || load_established(l) < (long)s.params.connections)
        return fail(load_trouble(l));
    measure(l, atof(argv[3]));
    load_close(l);
    return 0;
}
