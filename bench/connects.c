/* SPDX-License-Identifier: MIT */
/* Opening many connections: the load's engine beside a tight connector (limit/tight_connect.c), in
 * interleaved rounds against one and the same server, which confirms each by its own count. Then
 * 1000 to every model at a backlog of 128, opened by the engine and all at one barrier, and what
 * the accept queue dropped.
 * Prints, asserts nothing. Usage: bench_connects BUILD [CONNECTIONS [ROUNDS]] */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/limits.h"
#include "load/connect.h"
#include "load/workloads.h"
#include "metrics/proc.h"
#include "metrics/stats.h"
#include "net/protocol.h"
#include "servers/server.h"

#define ROUNDS_MOST 100

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static struct params params_of(const char *workload, int connections, int backlog)
{
    struct params p;
    params_init(&p);
    p.workload = workload_find(workload);
    p.connections = connections;
    p.backlog = backlog;
    workload_resolve(&p);
    return p;
}

static struct server *serve(const char *model, const struct params *p, const struct cpu_plan *cpus)
{
    struct err e;
    struct server_spec spec = {.model = io_model_table[io_model_find(model)], .params = *p,
                               .cpu = cpus->pinned ? cpus->server : -1};
    net_addr_parse("127.0.0.1:0", true, &spec.listen, NULL);
    struct server *s = server_start(&spec, &e);
    if (!s)
        give_up(e.text);
    return s;
}

static void read_server(void *server, struct server_counts *out)
{
    server_read(server, out);
}

static struct load_spec spec_of(struct server *s, const struct params *p,
                                const struct cpu_plan *cpus)
{
    struct load_spec spec = {.params = *p, .cpus = cpus->load, .cpu_count = cpus->load_count,
                             .own_cpus = cpus->pinned, .server_read = read_server, .server_ctx = s};
    server_address(s, &spec.target);
    return spec;
}

static long held(struct server *s)
{
    struct server_counts c;
    server_read(s, &c);
    return (long)(c.accepts - c.closes);
}

/* Waits until the server holds n; how many it holds then. */
static long wait_held(struct server *s, long n)
{
    for (int i = 0; i < 10000 && held(s) != n; i++)
        clock_sleep_until(clock_ns() + NS_PER_MS);
    return held(s);
}

/* Starts it with both ends of its input and output in ours[]. */
static pid_t start_tight(const char *program, const struct server *s, int n, int ours[2])
{
    char port[16], count[16];
    int in[2], out[2];
    struct net_addr a;
    server_address(s, &a);
    snprintf(port, sizeof port, "%d", net_addr_port(&a));
    snprintf(count, sizeof count, "%d", n);
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        give_up("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(program, program, port, count, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    ours[0] = in[1];
    ours[1] = out[0];
    return pid;
}

static double tight(const char *program, struct server *s, int n, long *confirmed)
{
    char text[64] = "";
    int ours[2];
    pid_t pid = start_tight(program, s, n, ours);
    if (read(ours[1], text, sizeof text - 1) <= 0)
        give_up("the tight connector failed");
    *confirmed = wait_held(s, n);
    close(ours[0]);
    close(ours[1]);
    waitpid(pid, NULL, 0);
    wait_held(s, 0);
    return strtod(text, NULL);
}

static double ours(struct server *s, const struct params *p, const struct cpu_plan *cpus,
                   long *confirmed)
{
    struct err e;
    struct load_spec spec = spec_of(s, p, cpus);
    uint64_t start = clock_ns();
    struct load *l = load_open(&spec, &e);
    if (!l)
        give_up(e.text);
    while (load_established(l) < (long)p->connections && clock_ns() - start < 30 * NS_PER_S)
        clock_sleep_until(clock_ns() + 2 * NS_PER_MS); /* it wakes on the CPU that connects */
    double seconds = (double)(clock_ns() - start) / 1e9;
    *confirmed = wait_held(s, (long)p->connections);
    load_close(l);
    wait_held(s, 0);
    return seconds;
}

/* What was closed last is freed later, by whoever runs then. */
static void rest(void)
{
    clock_sleep_until(clock_ns() + 300 * NS_PER_MS);
}

static void rounds(const char *program, int n, int count, const struct cpu_plan *cpus)
{
    struct params p = params_of("hold", n, 1024);
    struct server *s = serve("epoll-lt", &p, cpus);
    double ratio[ROUNDS_MOST], a[ROUNDS_MOST], b[ROUNDS_MOST];
    for (int i = 0; i < count; i++) {
        long mine, theirs;
        rest();
        if (i % 2)
            a[i] = ours(s, &p, cpus, &mine);
        rest();
        b[i] = tight(program, s, n, &theirs);
        rest();
        if (i % 2 == 0)
            a[i] = ours(s, &p, cpus, &mine);
        ratio[i] = a[i] / b[i];
        printf("round %d: iodash %.3f s (server holds %ld), tight %.3f s (%ld), ratio %.3f\n",
               i + 1, a[i], mine, b[i], theirs, ratio[i]);
    }
    printf("%d connections: iodash %.3f s, tight %.3f s, median ratio %.3f\n\n", n,
           stats_median(a, count), stats_median(b, count), stats_median(ratio, count));
    server_stop(s);
}

static long long overflows(void)
{
    struct proc_net net;
    proc_net_read(&net);
    return net.listen_overflows;
}

/* 1000 by the engine, in its batches, and 1000 at one barrier by the workload connect. */
static void a_thousand(const struct io_model *m, const struct cpu_plan *cpus)
{
    struct params hold = params_of("hold", 1000, 128), storm = params_of("connect", 1000, 128);
    struct repeat_result r;
    struct err e;
    long confirmed;
    struct server *s = serve(m->id, &hold, cpus);
    storm.arrival = ARRIVAL_STORM;
    storm.timeout = 3;
    long long before = overflows();
    double opened_s = ours(s, &hold, cpus, &confirmed);
    long long between = overflows();
    struct load_spec spec = spec_of(s, &storm, cpus);
    connect_repeat(&spec, NULL, &r, &e);
    printf("%-14s opened %4ld in %6.1f ms, ListenOverflows %lld; at one barrier %.0f established, "
           "%.0f accepted, %6.1f ms, ListenOverflows %lld\n", m->id, confirmed, 1e3 * opened_s,
           between - before, r.values.v[METRIC_established], r.values.v[METRIC_accepted],
           1e3 * r.values.v[METRIC_connect_s], overflows() - between);
    server_stop(s);
}

static void thousands(const struct cpu_plan *cpus)
{
    struct err e;
    puts("1000 connections at a backlog of 128:");
    for (int i = 0; i < io_model_count; i++)
        if (io_model_table[i]->probe(&e) == 0)
            a_thousand(io_model_table[i], cpus);
}

int main(int argc, char **argv)
{
    struct cpu_plan cpus;
    char exe[200], program[200];
    int n = argc > 2 ? atoi(argv[2]) : 18000, count = argc > 3 ? atoi(argv[3]) : 7;
    if (argc < 2)
        give_up("usage: bench_connects BUILD [CONNECTIONS [ROUNDS]]");
    snprintf(exe, sizeof exe, "%s/iodash", argv[1]);
    snprintf(program, sizeof program, "%s/bench/tight_connect", argv[1]);
    setenv("IODASH_EXE", exe, 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    signal(SIGPIPE, SIG_IGN);
    limits_raise_nofile();
    cpus_plan(true, &cpus);
    if (cpus.pinned)
        cpus_pin_set(&cpus.load, NULL);
    rounds(program, n, count < ROUNDS_MOST ? count : ROUNDS_MOST, &cpus);
    thousands(&cpus);
    return 0;
}
