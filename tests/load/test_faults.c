/* SPDX-License-Identifier: MIT */
/* The mux engines against servers that refuse, stay silent, reset, lie, hang up or are full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"
#include "rig.h"

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

static void measure(struct load *l, uint64_t ns, struct load_counts *c)
{
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(ns);
    load_set_phase(l, LOAD_STOP);
    load_drained(l, 100 * MS);
    load_read(l, c);
}

static void test_closed_port(void **state)
{
    struct load_spec s = rig_spec(*state, 10, 100);
    struct load_counts c;
    rig_at_nobody(&s);
    struct load *l = rig_open(&s); /* all have failed: that is "done" */
    load_read(l, &c);
    assert_int_equal(rig_errors(&c), 0); /* parked */
    assert_int_equal(load_established(l), 0);
    assert_non_null(strstr(load_trouble(l), "refused"));
    int64_t cpu = load_cpu_ns(l);
    uint64_t start = clock_ns();
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_errors(l, 40, &c);
    load_set_phase(l, LOAD_STOP);
    load_drained(l, 100 * MS);
    uint64_t most = rig_most_due(start, 100, 10);
    load_read(l, &c);
    assert_in_range(c.errors_refused, 40, most + 10); /* 10 connections, a try each 100 ms */
    assert_int_equal(rig_errors(&c), c.errors_refused);
    assert_int_equal(c.sent + c.answered + c.replies + c.connects, 0);
    assert_in_range(c.due, 20, most);
    assert_true(load_cpu_ns(l) - cpu < (int64_t)(200 * MS));
    struct hist_copy *h = rig_hist(l, LOAD_LATENCY);
    assert_true(isnan(hist_percentile(h, 50)));
    free(h);
    load_close(l);
}

static void test_silence_is_a_timeout_from_the_send(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 10, PARAM_MAX);
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
    fake_manners(f)->silent = false;
    for (int i = 0; i < 1000 && c.answered == 0; i++) {
        rig_sleep(10 * MS);
        load_read(l, &c);
    }
    assert_true(c.answered > 0);
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 8000 * MS));
    assert_int_equal(rig_established(l, 10), 10);
    load_read(l, &c);
    assert_int_equal(c.connects, 10 + c.errors_timeout); /* reset and opened again */
    load_close(l);
}

static void test_resets_are_counted_and_mended(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 20, 1000);
    struct load_counts c;
    struct load *l = rig_open(&s);
    fake_manners(f)->reset_every = 50;
    measure(l, 1000 * MS, &c);
    assert_in_range(c.errors_reset, 5, 30);
    assert_int_equal(rig_errors(&c), c.errors_reset);
    assert_int_equal(c.closed, c.errors_reset);
    assert_true(c.answered + c.errors_reset >= c.sent && c.answered > 500);
    fake_manners(f)->reset_every = 0;
    measure(l, 300 * MS, &c);
    assert_int_equal(rig_established(l, 20), 20);
    load_close(l);
}

static void test_wrong_bytes(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 20, PARAM_MAX);
    struct load_counts c;
    struct load *l = rig_open(&s);
    fake_manners(f)->wrong_every = 40;
    measure(l, 300 * MS, &c);
    assert_true(c.errors_bytes > 3);
    assert_int_equal(rig_errors(&c), c.errors_bytes);
    assert_int_equal(c.closed, c.errors_bytes);
    assert_int_equal(c.answered + c.errors_bytes, c.sent);
    assert_int_equal(c.reply_bytes, c.replies * 1024);
    load_close(l);
}

static void test_every_reply_wrong_does_not_spin(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 4, PARAM_MAX);
    struct load_counts c;
    struct load *l = rig_open(&s);
    fake_manners(f)->wrong_every = 1;
    measure(l, 1000 * MS, &c);
    assert_in_range(c.errors_bytes, 4, 40); /* at most five a second and connection */
    assert_int_equal(c.answered, 0);
    load_close(l);
}

/* Unless one is owed and goes out before the close is seen, as it happens after a standstill. */
static bool hanging_up_between_requests_is_a_close(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = rig_spec(f, 10, 500);
    struct load_counts c;
    struct load *l = rig_open(&s);
    fake_manners(f)->hang_up_every = 5;
    measure(l, 500 * MS, &c);
    assert_true(c.closed > 10);
    assert_true(c.connects >= c.closed);
    assert_int_equal(rig_errors(&c), c.errors_reset);
    bool sharp = HOLDS(c.errors_reset == 0) & HOLDS(c.answered > 100);
    load_close(l);
    return sharp;
}

static void test_hanging_up_between_requests_is_a_close(void **state)
{
    struct fake *f = *state;
    rig_try(&f, hanging_up_between_requests_is_a_close, NULL);
    *state = f;
}

/* A select server at the end of its descriptors: the surplus is closed at once, tried once a
 * second, named, and no error. */
static void full_server(struct fake *f, double rate)
{
    struct load_spec s = rig_spec(f, 30, rate);
    struct load_counts c;
    fake_manners(f)->capacity = 20;
    struct load *l = rig_open(&s);
    assert_int_equal(rig_established(l, 20), 20);
    assert_string_equal(load_trouble(l), "the server closed 10 connections at once");
    measure(l, 1250 * MS, &c);
    assert_int_equal(rig_errors(&c), 0);
    assert_in_range(c.connects, 40, 70);
    assert_true(c.answered > 50);
    assert_string_equal(load_trouble(l), "the server closed 10 connections at once");
    fake_manners(f)->capacity = 30; /* there is room now */
    measure(l, 1500 * MS, &c);
    assert_int_equal(rig_established(l, 30), 30);
    assert_string_equal(load_trouble(l), "");
    assert_int_equal(rig_errors(&c), 0);
    load_close(l);
}

static void test_full_server_paced(void **state)
{
    full_server(*state, 300);
}

static void test_full_server_closed_loop(void **state)
{
    full_server(*state, PARAM_MAX);
}

static void test_no_descriptors(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 20, 200);
    struct load_counts c;
    struct rlimit before, low;
    struct load *l = rig_open(&s);
    for (int i = 0; i < 200 && fake_open(f) < 20; i++)
        rig_sleep(10 * MS);
    getrlimit(RLIMIT_NOFILE, &before);
    low = before;
    low.rlim_cur = (rlim_t)limits_open_fds() + 40; /* both ends are in this process */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    s.params.idle = 100;
    load_adjust(l, &s.params);
    assert_true(load_wait_open(l, 5000 * MS));
    assert_in_range(load_established(l), 20, 62);
    assert_non_null(strstr(load_trouble(l), "no descriptor: "));
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_errors(l, 51, &c);
    for (int i = 0; i < 1000 && c.answered <= 20; i++) {
        rig_sleep(10 * MS);
        load_read(l, &c);
    }
    load_set_phase(l, LOAD_STOP);
    load_drained(l, 100 * MS);
    load_read(l, &c);
    assert_true(c.errors_fd > 50);
    assert_int_equal(rig_errors(&c), c.errors_fd);
    assert_true(c.answered > 20); /* those that there are work */
    setrlimit(RLIMIT_NOFILE, &before);
    measure(l, 400 * MS, &c); /* and the others come when they can */
    assert_int_equal(rig_established(l, 120), 120);
    load_close(l);
}

/* Closed while nothing was outstanding, then refused; unless one was owed, as hanging up above. */
static bool server_ends(struct fake **f)
{
    struct load_spec s = rig_spec(*f, 10, 500);
    struct load_counts c;
    s.server_read = NULL; /* it is soon gone */
    struct load *l = rig_open(&s);
    measure(l, 100 * MS, &c);
    assert_int_equal(rig_errors(&c), 0);
    fake_stop(*f);
    load_set_phase(l, LOAD_MEASURE);
    for (int i = 0; i < 1000 && c.errors_refused < 10; i++) {
        rig_sleep(10 * MS);
        load_read(l, &c);
    }
    load_set_phase(l, LOAD_STOP);
    load_drained(l, 100 * MS);
    load_read(l, &c);
    bool sharp = HOLDS(c.errors_reset == 0);
    assert_true(c.errors_refused >= 10);
    assert_int_equal(load_established(l), 0);
    load_close(l);
    *f = fake_start(1024);
    return sharp;
}

static void test_server_ends_and_another_comes(void **state)
{
    struct fake *f = *state;
    for (int tries = 1; !server_ends(&f); tries++)
        assert_true(tries < 5);
    *state = f;
}

/* A deaf server with a full queue: connecting takes until its time-out; stopping does not. */
static void test_connects_that_hang(void **state)
{
    struct fake *f = *state;
    fake_stop(f);
    *state = f = fake_start(1);
    fake_deafen(f);
    struct load_spec s = rig_spec(f, 10, 100);
    struct err e;
    struct load_counts c;
    s.params.timeout = 0.4;
    struct load *l = load_open(&s, &e);
    assert_non_null(l);
    assert_false(load_wait_open(l, 100 * MS));
    assert_true(load_wait_open(l, 3000 * MS));
    assert_in_range(load_established(l), 1, 5);
    assert_string_equal(load_trouble(l), "connecting took too long");
    measure(l, 700 * MS, &c);
    assert_true(c.errors_timeout > 0);
    uint64_t start = clock_ns();
    load_close(l);
    assert_true(clock_ns() - start < NS_PER_S);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    enum { SHARED = 4 }; /* the first ones hold whichever way a thread waits */
    const struct CMUnitTest tests[] = {
        T(test_every_reply_wrong_does_not_spin),
        T(test_full_server_paced),
        T(test_silence_is_a_timeout_from_the_send),
        T(test_connects_that_hang),
        T(test_closed_port),
        T(test_resets_are_counted_and_mended),
        T(test_wrong_bytes),
        T(test_hanging_up_between_requests_is_a_close),
        T(test_full_server_closed_loop),
        T(test_no_descriptors),
        T(test_server_ends_and_another_comes),
    };
    const struct rig_tests all = {tests, sizeof tests / sizeof *tests, SHARED};
    return rig_each_engine(&all);
}
