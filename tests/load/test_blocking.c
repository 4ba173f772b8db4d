/* SPDX-License-Identifier: MIT */
/* The blocking engine: a thread a connection. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "rig.h"

/* Linked in place of pthread_create: fails once `threads_left` are made. */
static int threads_left = -1;
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return __real_pthread_create(t, a, f, arg);
}

static int setup(void **state)
{
    *state = fake_start(1024);
    return 0;
}

static int teardown(void **state)
{
    fake_stop(*state);
    return 0;
}

static struct load_spec blocking(struct fake *f, int connections, double rate)
{
    struct load_spec s = rig_spec(f, connections, rate);
    s.params.engine = ENGINE_BLOCKING;
    return s;
}

static void test_two_hundred_threads_closed_loop(void **state)
{
    struct load_spec s = blocking(*state, 200, PARAM_MAX);
    struct load *l = rig_open(&s);
    struct load_counts c;
    assert_int_equal(load_established(l), 200);
    assert_int_equal(load_threads(l), 200);
    assert_false(load_spins(l));
    load_read(l, &c);
    for (int i = 0; i < 20 && c.sent <= 200; i++) {
        rig_turn(l, 50 * MS, 300 * MS);
        load_read(l, &c);
    }
    struct hist_copy *h = rig_hist(l, LOAD_LATENCY);
    assert_true(c.sent > 200);
    assert_int_equal(c.answered, c.sent);
    assert_int_equal(h->count, c.answered);
    assert_int_equal(c.reply_bytes, c.replies * 1024);
    assert_int_equal(rig_errors(&c) + c.closed, 0);
    int64_t cpu = load_cpu_ns(l);
    assert_true(cpu > 0);
    rig_sleep(200 * MS);
    assert_true(load_cpu_ns(l) == cpu); /* all rest */
    free(h);
    load_close(l);
}

static bool paced(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = blocking(f, 50, 200);
    struct load *l = rig_open(&s);
    struct load_counts c;
    uint64_t start = clock_ns();
    for (int i = 0; i < 4; i++)
        rig_turn(l, 50 * MS, 250 * MS);
    uint64_t most = rig_most_due(start, 200, 10);
    load_read(l, &c);
    struct hist_copy *r = rig_hist(l, LOAD_RESPONSE), *late = rig_hist(l, LOAD_LATE);
    assert_in_range(c.due, 185, most);
    assert_true(c.sent <= c.due);
    bool sharp = HOLDS(c.due <= 225) & HOLDS(c.due - c.sent <= 4);
    assert_int_equal(c.answered, c.sent);
    assert_int_equal(r->count, c.answered);
    assert_int_equal(late->count, c.sent);
    assert_int_equal(rig_errors(&c), 0);
    free(r);
    free(late);
    load_close(l);
    return sharp;
}

static void once_more(void **state, bool (*once)(struct fake *f, const void *arg))
{
    struct fake *f = *state;
    rig_try(&f, once, NULL);
    *state = f;
}

static void test_paced(void **state)
{
    once_more(state, paced);
}

static bool owed_requests_go_out_late_and_end_at_the_stop(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = blocking(f, 4, 200);
    struct load *l = rig_open(&s);
    struct load_counts c, d;
    fake_manners(f)->delay_ns = 100 * MS;
    rig_turn(l, 10 * MS, 500 * MS);
    load_read(l, &c);
    struct hist_copy *r = rig_hist(l, LOAD_RESPONSE);
    bool sharp = HOLDS(c.sent >= 12 && c.sent <= 24) & HOLDS(c.due >= 90 && c.due <= 115);
    sharp &= HOLDS(hist_max(r) > 250e6); /* the fifth of a connection was due long before */
    fake_manners(f)->delay_ns = 0;
    rig_turn(l, 10 * MS, 300 * MS);
    load_read(l, &d);
    sharp &= HOLDS(d.sent - c.sent >= 50 && d.sent - c.sent <= 75);
    free(r);
    load_close(l);
    return sharp;
}

static void test_owed_requests_go_out_late_and_end_at_the_stop(void **state)
{
    once_more(state, owed_requests_go_out_late_and_end_at_the_stop);
}

static void test_adjust(void **state)
{
    struct fake *f = *state;
    struct load_spec s = blocking(f, 20, PARAM_MAX);
    struct load *l = rig_open(&s);
    struct load_counts c;
    static const struct {
        int connections, idle, threads;
        uint64_t connects, closed;
    } steps[] = {{40, 0, 40, 40, 0},
                 {40, 10, 41, 50, 0},
                 {10, 10, 11, 50, 30},
                 {10, 0, 11, 50, 40}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct params p = s.params;
        p.connections = steps[i].connections;
        p.idle = steps[i].idle;
        p.size = 300;
        load_adjust(l, &p);
        assert_true(load_wait_open(l, 5000 * MS));
        assert_int_equal(load_established(l), steps[i].connections + steps[i].idle);
        assert_int_equal(load_threads(l), steps[i].threads);
        rig_turn(l, 20 * MS, 100 * MS);
        load_read(l, &c);
        assert_int_equal(c.connects, steps[i].connects);
        assert_int_equal(c.closed, steps[i].closed);
        assert_int_equal(c.reply_bytes, c.replies * 300);
        assert_int_equal(rig_errors(&c), 0);
    }
    load_close(l);
}

static void test_silence(void **state)
{
    struct fake *f = *state;
    struct load_spec s = blocking(f, 10, PARAM_MAX);
    struct load_counts c;
    s.params.timeout = 0.3;
    struct load *l = rig_open(&s);
    fake_manners(f)->silent = true;
    uint64_t start = clock_ns();
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_errors(l, 1, &c);
    assert_true(clock_ns() - start >= 300 * MS);
    rig_wait_errors(l, 10, &c);
    assert_in_range(c.errors_timeout, 10, 10 * ((clock_ns() - start) / (300 * MS)));
    assert_int_equal(rig_errors(&c), c.errors_timeout);
    assert_int_equal(c.answered, 0);
    assert_int_equal(rig_established(l, 10), 10);
    load_read(l, &c);
    assert_in_range(c.connects, 20, 10 + c.errors_timeout);
    load_close(l);
}

static void test_giving_up_and_closing_are_quick(void **state)
{
    struct fake *f = *state;
    struct load_spec s = blocking(f, 50, PARAM_MAX);
    struct load_counts c;
    s.params.timeout = 30;
    struct load *l = rig_open(&s);
    fake_manners(f)->silent = true;
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_asked(f, 50);
    load_set_phase(l, LOAD_STOP);
    assert_false(load_drained(l, 50 * MS));
    load_give_up(l);
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    assert_int_equal(c.errors_timeout, 50);
    assert_int_equal(rig_errors(&c), 50);
    assert_int_equal(rig_established(l, 50), 50); /* opened again */
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_asked(f, 100); /* all wait for a reply that does not come */
    uint64_t start = clock_ns();
    load_close(l);
    assert_true(clock_ns() - start < 5 * NS_PER_S);
}

static void test_resets_and_wrong_bytes(void **state)
{
    struct fake *f = *state;
    struct load_spec s = blocking(f, 10, PARAM_MAX);
    struct load_counts c;
    struct load *l = rig_open(&s);
    fake_manners(f)->reset_every = 50;
    fake_manners(f)->wrong_every = 70;
    rig_turn(l, 0, 300 * MS);
    load_read(l, &c);
    assert_true(c.errors_reset > 0 && c.errors_bytes > 0);
    assert_int_equal(rig_errors(&c), c.errors_reset + c.errors_bytes);
    assert_int_equal(c.closed, rig_errors(&c));
    load_close(l);
}

static void test_full_server(void **state)
{
    struct fake *f = *state;
    struct load_spec s = blocking(f, 15, 200);
    struct load_counts c;
    fake_manners(f)->capacity = 10;
    struct load *l = rig_open(&s);
    assert_int_equal(rig_established(l, 10), 10);
    assert_string_equal(load_trouble(l), "the server closed 5 connections at once");
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(1400 * MS);
    load_read(l, &c);
    assert_int_equal(rig_errors(&c), 0);
    assert_in_range(c.connects, 20, 30);
    load_close(l);
}

static void test_closed_port(void **state)
{
    struct fake *f = *state;
    struct load_spec s = blocking(f, 5, 100);
    struct load_counts c;
    s.server_read = NULL; /* it is gone */
    fake_stop(f);
    struct load *l = rig_open(&s);
    assert_non_null(strstr(load_trouble(l), "refused"));
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(350 * MS);
    load_read(l, &c);
    assert_in_range(c.errors_refused, 10, 30);
    assert_int_equal(c.connects, 0);
    load_close(l);
    *state = fake_start(1024);
}

static void test_too_many_threads_are_refused(void **state)
{
    struct load_spec s = blocking(*state, 4001, 100);
    struct err e = {""};
    assert_null(load_open(&s, &e));
    assert_non_null(strstr(e.text, "4000"));
}

static void test_threads_that_cannot_be_made(void **state)
{
    struct fake *f = *state;
    struct load_spec s = blocking(f, 50, PARAM_MAX);
    struct err e = {""};
    threads_left = 30;
    assert_null(load_open(&s, &e));
    threads_left = -1;
    assert_non_null(strstr(e.text, "only 30 of 50 blocking threads"));
    s.params.connections = 10;
    struct load *l = rig_open(&s); /* and when it grows: those that there are go on */
    s.params.connections = 40;
    threads_left = 5;
    load_adjust(l, &s.params);
    threads_left = -1;
    assert_true(load_wait_open(l, 3000 * MS));
    assert_int_equal(load_established(l), 15);
    assert_non_null(strstr(load_trouble(l), "only 15 of 40"));
    struct load_counts c;
    rig_turn(l, 10 * MS, 50 * MS);
    load_read(l, &c);
    assert_true(c.answered > 0);
    load_close(l);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_two_hundred_threads_closed_loop),
        T(test_paced),
        T(test_owed_requests_go_out_late_and_end_at_the_stop),
        T(test_adjust),
        T(test_silence),
        T(test_giving_up_and_closing_are_quick),
        T(test_resets_and_wrong_bytes),
        T(test_full_server),
        T(test_closed_port),
        T(test_too_many_threads_are_refused),
        T(test_threads_that_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
