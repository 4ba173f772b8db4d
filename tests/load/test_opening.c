/* SPDX-License-Identifier: MIT */
/* Opening many connections: the accept queue stays under half full however slow the server is, and
 * who is connected, served and never answered is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "net/protocol.h"
#include "rig.h"

#define BACKLOG 32

static int setup(void **state)
{
    *state = fake_start(BACKLOG);
    return 0;
}

static int teardown(void **state)
{
    fake_stop(*state);
    return 0;
}

static long accepted(struct fake *f)
{
    struct server_counts c;
    fake_read(f, &c);
    return (long)c.accepts;
}

static void keeps_below_the_backlog(struct fake *f, int threads)
{
    struct load_spec spec = rig_spec(f, 300, PARAM_MAX);
    struct err e = {""};
    spec.params.backlog = BACKLOG;
    spec.params.load_threads = threads;
    long before = accepted(f);
    struct load *l = load_open(&spec, &e);
    assert_non_null(l);
    uint64_t end = clock_ns() + 20000 * MS;
    while (!load_wait_open(l, MS / 4) && clock_ns() < end) {
        long established = load_established(l);
        /* Each thread may have begun one while another one did. */
        assert_true(established - (accepted(f) - before) <= BACKLOG / 2 + threads);
    }
    assert_int_equal(load_established(l), 300);
    load_close(l);
}

static void test_a_slow_server_drops_nothing(void **state)
{
    fake_manners(*state)->accept_gap_ns = MS / 2;
    keeps_below_the_backlog(*state, 1);
    keeps_below_the_backlog(*state, 3);
}

static void test_a_server_that_takes_none_is_not_waited_for_for_ever(void **state)
{
    struct load_spec spec = rig_spec(*state, 40, PARAM_MAX);
    struct err e = {""};
    spec.params.backlog = BACKLOG;
    fake_deafen(*state);
    struct load *l = load_open(&spec, &e);
    assert_non_null(l);
    assert_true(rig_established(l, BACKLOG / 2) >= BACKLOG / 2);
    for (int i = 0; i < 500 && load_established(l) <= BACKLOG / 2; i++)
        rig_sleep(10 * MS);
    assert_true(load_established(l) > BACKLOG / 2); /* more than half, after a while */
    load_close(l);
}

/* Five workers that each keep one connection: the others are connected and get nothing. */
static void served(struct fake *f, int engine)
{
    struct load_spec spec = rig_spec(f, 20, PARAM_MAX);
    spec.params.engine = engine;
    struct load *l = rig_open(&spec);
    assert_int_equal(load_served(l), 0);
    assert_int_equal(load_never_answered(l), 0);
    load_set_phase(l, LOAD_MEASURE);
    for (int i = 0; i < 500 && load_served(l) + load_never_answered(l) < 20; i++)
        rig_sleep(10 * MS);
    for (int i = 0; i < 500 && load_served(l) < 5; i++)
        rig_sleep(10 * MS);
    assert_int_equal(load_established(l), 20);
    assert_int_equal(load_served(l), 5);
    assert_int_equal(load_never_answered(l), 15);
    load_set_phase(l, LOAD_STOP);
    load_give_up(l);
    load_close(l);
}

static void test_connected_served_and_never_answered(void **state)
{
    fake_manners(*state)->serves = 5;
    served(*state, ENGINE_MUX);
    fake_manners(*state)->serves = accepted(*state) + 5;
    served(*state, ENGINE_BLOCKING);
}

/* Of `hold`: everything stays open and nothing is asked. */
static void test_held_connections_ask_nothing(void **state)
{
    const struct fake_stamp *stamps;
    struct load_spec spec = rig_spec(*state, 100, PARAM_MAX);
    spec.params.workload = workload_find("hold");
    spec.params.backlog = BACKLOG;
    struct load *l = rig_open(&spec);
    assert_int_equal(load_established(l), 100);
    rig_turn(l, 10 * MS, 50 * MS);
    assert_int_equal(fake_stamps(*state, &stamps), 0);
    struct params p = spec.params;
    p.connections = 150;
    load_adjust(l, &p);
    assert_true(load_wait_open(l, 10000 * MS));
    assert_int_equal(load_established(l), 150);
    for (int i = 0; i < 500 && accepted(*state) < 150; i++)
        rig_sleep(10 * MS);
    assert_int_equal(accepted(*state), 150);
    load_close(l);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_slow_server_drops_nothing),
        TEST(test_a_server_that_takes_none_is_not_waited_for_for_ever),
        TEST(test_connected_served_and_never_answered),
        TEST(test_held_connections_ask_nothing),
    };
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
