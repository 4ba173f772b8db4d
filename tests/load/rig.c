/* SPDX-License-Identifier: MIT */
/* See rig.h. */
#include "rig.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

static double engine = ENGINE_MUX;

int rig_each_engine(const struct rig_tests *t)
{
    struct params p;
    struct err e;
    params_init(&p);
    int failed = _cmocka_run_group_tests("mux", t->tests, t->count, NULL, NULL);
    p.engine = engine = ENGINE_MUX_URING;
    if (load_probe(&p, &e) < 0) {
        print_message("skipped: mux-uring: %s\n", e.text);
        return failed;
    }
    return failed + _cmocka_run_group_tests("mux-uring", t->tests + t->first, t->count - t->first,
                                            NULL, NULL);
}

struct load_spec rig_spec(struct fake *f, int connections, double rate)
{
    struct load_spec s = {.cpu_count = 1, .server_read = fake_read, .server_ctx = f};
    params_init(&s.params);
    s.params.workload = workload_find("transfer");
    s.params.connections = connections;
    s.params.rate = rate;
    s.params.engine = engine;
    s.params.load_threads = 1;
    s.params.timeout = 5;
    workload_resolve(&s.params);
    fake_address(f, &s.target);
    return s;
}

struct load *rig_open(const struct load_spec *spec)
{
    struct err e = {""};
    struct load *l = load_open(spec, &e);
    if (!l)
        fail_msg("%s", e.text);
    assert_true(load_wait_open(l, 10000 * MS));
    return l;
}

void rig_at_nobody(struct load_spec *s)
{
    struct net_listen how = {.backlog = 1};
    net_addr_set_port(&s->target, 0);
    int fd = net_listen(&s->target, &how, NULL);
    assert_true(fd >= 0);
    net_addr_set_port(&s->target, net_local_port(fd));
    close(fd);
}

void rig_sleep(uint64_t ns)
{
    clock_sleep_until(clock_ns() + ns);
}

void rig_turn(struct load *l, uint64_t settle_ns, uint64_t measure_ns)
{
    /* With none, what a busy machine lets through in it would not be counted. */
    if (settle_ns > 0) {
        load_set_phase(l, LOAD_SETTLE);
        rig_sleep(settle_ns);
    }
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(measure_ns);
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 8000 * MS));
}

int rig_holds(bool is, const char *what)
{
    if (!is)
        print_message("not this time: %s\n", what);
    return is;
}

void rig_try(struct fake **f, bool (*once)(struct fake *f, const void *arg), const void *arg)
{
    enum { TRIES = 5 };
    for (int i = 1; !once(*f, arg); i++) {
        if (i == TRIES)
            fail_msg("not once in %d tries", TRIES);
        fake_stop(*f);
        *f = fake_start(1024);
    }
}

long rig_established(struct load *l, long n)
{
    for (int i = 0; i < 500 && load_established(l) != n; i++)
        rig_sleep(10 * MS);
    return load_established(l);
}

uint64_t rig_errors(const struct load_counts *c)
{
    return c->errors_refused + c->errors_reset + c->errors_timeout + c->errors_port +
           c->errors_fd + c->errors_bytes;
}

uint64_t rig_wait_errors(struct load *l, uint64_t least, struct load_counts *c)
{
    load_read(l, c);
    for (int i = 0; i < 1000 && rig_errors(c) < least; i++) {
        rig_sleep(10 * MS);
        load_read(l, c);
    }
    return rig_errors(c);
}

void rig_wait_asked(struct fake *f, long n)
{
    const struct fake_stamp *stamps;
    for (int i = 0; i < 1000 && fake_stamps(f, &stamps) < n; i++)
        rig_sleep(10 * MS);
    assert_true(fake_stamps(f, &stamps) >= n);
}

uint64_t rig_most_due(uint64_t start_ns, uint64_t rate, uint64_t slack)
{
    return (clock_ns() - start_ns) * rate / NS_PER_S + slack;
}

struct hist_copy *rig_hist(struct load *l, enum load_hist which)
{
    struct hist_copy *h = malloc(sizeof *h);
    assert_non_null(h);
    load_read_hist(l, which, h);
    return h;
}
