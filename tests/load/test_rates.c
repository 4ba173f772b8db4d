/* SPDX-License-Identifier: MIT */
/* What a rate must show, whichever engine asks: a pause counts against every request that was
 * due in it, a rate far below the number of connections is kept, and one reply that takes long
 * is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "net/protocol.h"
#include "rig.h"

static double engines[] = {ENGINE_MUX, ENGINE_BLOCKING, ENGINE_MUX_URING};
static size_t engine_count = sizeof engines / sizeof *engines; /* the last may be missing here */
#define EACH_ENGINE size_t e = 0; e < engine_count; e++

static struct load *open_engine(struct fake *f, size_t engine, int connections, double rate)
{
    struct load_spec s = rig_spec(f, connections, rate);
    s.params.engine = engines[engine];
    return rig_open(&s);
}

static void measure(struct load *l, uint64_t ns)
{
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(ns);
}

static void finish(struct load *l)
{
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 10000 * MS));
}

/* A fifth of the time the server stands still. Who was due at the beginning waited for nearly
 * all of it, though most of them were sent only when it was over: the latency hides what the
 * response shows. */
static void test_a_pause_is_everybodys(void **state)
{
    struct fake *f = *state;
    for (EACH_ENGINE) {
        struct load *l = open_engine(f, e, 4, 400);
        uint64_t pause_ns = 150 * MS;
        load_set_phase(l, LOAD_SETTLE);
        rig_sleep(20 * MS);
        measure(l, 200 * MS);
        fake_manners(f)->pause_ns = pause_ns;
        rig_sleep(500 * MS);
        finish(l);
        struct hist_copy *response = rig_hist(l, LOAD_RESPONSE),
                         *latency = rig_hist(l, LOAD_LATENCY);
        assert_true(response->count > 200);
        assert_true(hist_percentile(response, 99) >= 0.9 * (double)pause_ns);
        /* Only 4 were under way when it began: under 1 %. */
        assert_true(hist_percentile(latency, 98) < hist_percentile(response, 98));
        free(response);
        free(latency);
        load_close(l);
    }
}

/* 100/s over 1000 connections: each asks once in ten seconds. None of them waits for another. */
static void test_a_rate_far_below_the_connections(void **state)
{
    struct fake *f = *state;
    for (EACH_ENGINE) {
        struct load *l = open_engine(f, e, engines[e] == ENGINE_BLOCKING ? 200 : 1000, 100);
        struct load_counts c;
        uint64_t start = clock_ns();
        fake_manners(f)->delay_ns = 1 * MS;
        measure(l, 400 * MS);
        finish(l);
        double most = (double)(clock_ns() - start) / 1e9 * 100;
        load_read(l, &c);
        struct hist_copy *response = rig_hist(l, LOAD_RESPONSE);
        assert_in_range(c.due, 30, (unsigned long)most + 11); /* shares of tenths of a second */
        assert_true(c.sent >= c.due * 2 / 3); /* what was due when it stopped is dropped */
        assert_int_equal(c.answered, c.sent);
        assert_true(hist_percentile(response, 50) < 0.5e9); /* not the ten seconds of a cycle */
        free(response);
        load_close(l);
    }
}

/* However long one reply takes, and however few they are, it is the maximum. */
static void test_long_replies_are_seen(void **state)
{
    struct fake *f = *state;
    for (EACH_ENGINE) {
        struct load *l = open_engine(f, e, 10, 500);
        fake_manners(f)->slow_every = 80;
        fake_manners(f)->slow_ns = 400 * MS;
        measure(l, 200 * MS);
        fake_manners(f)->slow_every = 0;
        finish(l);
        struct hist_copy *latency = rig_hist(l, LOAD_LATENCY),
                         *response = rig_hist(l, LOAD_RESPONSE);
        assert_true(hist_max(latency) >= 400e6);
        assert_true(hist_max(response) >= 400e6);
        assert_true(hist_percentile(latency, 50) < hist_max(latency));
        free(latency);
        free(response);
        load_close(l);
    }
}

/* In the closed loop nothing is due: there is no response time to speak of. */
static void test_the_closed_loop_has_no_response(void **state)
{
    struct fake *f = *state;
    for (EACH_ENGINE) {
        struct load *l = open_engine(f, e, 4, PARAM_MAX);
        measure(l, 50 * MS);
        finish(l);
        struct hist_copy *response = rig_hist(l, LOAD_RESPONSE), *late = rig_hist(l, LOAD_LATE);
        struct hist_copy *latency = rig_hist(l, LOAD_LATENCY);
        assert_int_equal(response->count, 0);
        assert_int_equal(late->count, 0);
        assert_true(latency->count > 0);
        free(response);
        free(late);
        free(latency);
        load_close(l);
    }
}

static int setup(void **state)
{
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    *state = fake_start(1024);
    return 0;
}

static int teardown(void **state)
{
    fake_stop(*state);
    return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_pause_is_everybodys),
        T(test_a_rate_far_below_the_connections),
        T(test_long_replies_are_seen),
        T(test_the_closed_loop_has_no_response),
    };
    struct params p = {.engine = ENGINE_MUX_URING};
    struct err why = {""};
    if (load_probe(&p, &why) < 0) {
        print_message("[  SKIPPED ] mux-uring: %s\n", why.text);
        engine_count--;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
