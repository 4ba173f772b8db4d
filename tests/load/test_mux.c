/* SPDX-License-Identifier: MIT */
/* The mux engines against a server that behaves: phases, pace, closed loop, adjusting, draining. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
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

static void once_more(void **state, bool (*once)(struct fake *f, const void *arg), const void *arg)
{
    struct fake *f = *state;
    rig_try(&f, once, arg);
    *state = f;
}

static bool opens_parks_and_closes(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = rig_spec(f, 50, PARAM_MAX);
    s.params.idle = 30;
    struct load *l = rig_open(&s);
    struct load_counts c;
    assert_int_equal(load_established(l), 80);
    assert_string_equal(load_trouble(l), "");
    assert_int_equal(load_threads(l), 1);
    int64_t cpu = load_cpu_ns(l);
    rig_sleep(300 * MS);
    bool sharp = HOLDS(load_cpu_ns(l) - cpu < (int64_t)(5 * MS)); /* parked: asleep */
    load_read(l, &c);
    assert_int_equal(c.connects, 80);
    assert_int_equal(c.closed + c.replies + c.sent + rig_errors(&c), 0);
    load_close(l);
    load_close(NULL);
    for (int i = 0; i < 200 && fake_open(f); i++)
        rig_sleep(10 * MS);
    assert_int_equal(fake_open(f), 0);
    return sharp;
}

static void test_opens_parks_and_closes(void **state)
{
    once_more(state, opens_parks_and_closes, NULL);
}

struct loop {
    int threads;
    double wait, size;
};

static bool closed_loop(struct fake *f, const void *arg)
{
    const struct loop *how = arg;
    struct load_spec s = rig_spec(f, 20, PARAM_MAX);
    s.params.load_threads = how->threads;
    s.params.load_wait = how->wait;
    s.params.size = how->size;
    s.cpu_count = how->threads;
    struct load *l = rig_open(&s);
    struct load_counts c;
    assert_int_equal(load_spins(l), how->wait == WAIT_SPIN);
    rig_turn(l, 50 * MS, 300 * MS);
    load_read(l, &c);
    struct hist_copy *h = rig_hist(l, LOAD_LATENCY), *r = rig_hist(l, LOAD_RESPONSE);
    bool sharp = HOLDS(c.sent > 50);
    assert_int_equal(c.answered, c.sent); /* drained: each has its answer */
    assert_int_equal(c.due, 0);
    assert_true(c.replies + 20 >= c.sent && c.replies <= c.sent + 20);
    assert_int_equal(c.reply_bytes, c.replies * (uint64_t)how->size);
    assert_int_equal(h->count, c.answered);
    assert_int_equal(r->count, 0);
    assert_int_equal(rig_errors(&c), 0);
    assert_int_equal(c.connects, 20);
    assert_true(how->wait == WAIT_SPIN || c.sleeps > 0);
    assert_int_equal(load_established(l), 20);
    free(h);
    free(r);
    load_close(l);
    return sharp;
}

static void test_closed_loop_spinning(void **state)
{
    once_more(state, closed_loop, &(struct loop){1, WAIT_SPIN, 1024});
}

static void test_closed_loop_blocking_wait(void **state)
{
    once_more(state, closed_loop, &(struct loop){1, WAIT_BLOCK, 1});
}

static void test_closed_loop_two_threads(void **state)
{
    /* Replies of several reads. */
    once_more(state, closed_loop, &(struct loop){2, WAIT_BLOCK, 100000});
}

static void test_only_the_measured_part_counts(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 10, PARAM_MAX);
    struct load *l = rig_open(&s);
    struct load_counts c;
    load_set_phase(l, LOAD_SETTLE);
    rig_wait_asked(f, 11);
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    assert_int_equal(c.sent + c.answered + c.replies, 0);
    const struct fake_stamp *stamps;
    long asked = fake_stamps(f, &stamps);
    rig_sleep(100 * MS); /* parked: nothing more is sent */
    assert_int_equal(fake_stamps(f, &stamps), asked);
    load_close(l);
}

/* Turns back to back: 100/s over 50 connections, 1.2 s measured in 6 turns. */
static bool pace_over_turns(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = rig_spec(f, 50, 100);
    s.params.load_threads = 2;
    struct load *l = rig_open(&s);
    struct load_counts c;
    uint64_t start = clock_ns();
    for (int i = 0; i < 6; i++) {
        rig_turn(l, 50 * MS, 200 * MS);
        rig_sleep(20 * MS);
    }
    uint64_t most = rig_most_due(start, 100, 20);
    load_read(l, &c);
    assert_in_range(c.due, 108, most); /* 120 and what the sleeps were longer */
    assert_int_equal(c.sent, c.answered);
    assert_true(c.sent <= c.due);
    /* Due at a stop and not sent any more. */
    bool sharp = HOLDS(c.due <= 140) & HOLDS(c.due - c.sent <= 12);
    assert_int_equal(rig_errors(&c), 0);
    const struct fake_stamp *stamps;
    long n = fake_stamps(f, &stamps);
    int seen[FAKE_FDS] = {0}, different = 0;
    for (long i = 0; i < n; i++)
        different += !seen[stamps[i].fd]++;
    sharp &= HOLDS(different == 50);
    load_close(l);
    return sharp;
}

static void test_pace_over_turns(void **state)
{
    once_more(state, pace_over_turns, NULL);
}

/* 10/s over 100 connections in turns of 0.1 s: each connection has its turn within 10 s of virtual
 * time, so in 1.5 s some 15 different ones ask, and none of them twice. */
static bool slow_pace_reaches_different_connections(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = rig_spec(f, 100, 10);
    struct load *l = rig_open(&s);
    uint64_t start = clock_ns();
    for (int i = 0; i < 15; i++)
        rig_turn(l, 10 * MS, 90 * MS);
    uint64_t most = rig_most_due(start, 10, 5);
    const struct fake_stamp *stamps;
    long n = fake_stamps(f, &stamps);
    int seen[FAKE_FDS] = {0};
    assert_true(n <= (long)most);
    bool sharp = HOLDS(n >= 11);
    for (long i = 0; i < n; i++)
        assert_int_equal(seen[stamps[i].fd]++, 0);
    load_close(l);
    return sharp;
}

static void test_slow_pace_reaches_different_connections(void **state)
{
    once_more(state, slow_pace_reaches_different_connections, NULL);
}

/* None comes early; a second in which the load had no CPU owes to the next. */
static bool pace_each_second(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = rig_spec(f, 50, 100);
    struct load *l = rig_open(&s);
    uint64_t start = clock_ns();
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(3100 * MS);
    const struct fake_stamp *stamps;
    long n = fake_stamps(f, &stamps), in_second[3] = {0};
    for (long i = 0; i < n; i++)
        if (stamps[i].t_ns - start < 3 * NS_PER_S)
            in_second[(stamps[i].t_ns - start) / NS_PER_S]++;
    long sum = 0;
    bool sharp = true;
    for (int i = 0; i < 3; i++) {
        sum += in_second[i];
        sharp &= HOLDS(in_second[i] >= 90 && in_second[i] <= 110);
        assert_true(sum <= 100 * (i + 1) + 10);
    }
    load_close(l);
    return sharp;
}

static void test_pace_each_second(void **state)
{
    once_more(state, pace_each_second, NULL);
}

/* The response of a paced request counts from when it was due, and nobody owes after a stop. */
static bool a_pause_shows_in_the_response(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = rig_spec(f, 10, 500);
    struct load *l = rig_open(&s);
    struct load_counts c;
    load_set_phase(l, LOAD_SETTLE);
    rig_sleep(50 * MS);
    uint64_t start = clock_ns();
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(200 * MS);
    fake_manners(f)->pause_ns = 400 * MS;
    rig_sleep(1000 * MS);
    load_set_phase(l, LOAD_STOP);
    uint64_t most = rig_most_due(start, 500, 80);
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    struct hist_copy *late = rig_hist(l, LOAD_LATE), *resp = rig_hist(l, LOAD_RESPONSE);
    struct hist_copy *lat = rig_hist(l, LOAD_LATENCY);
    assert_in_range(c.due, 570, most); /* what came due in the pause is counted and sent later */
    assert_true(c.sent <= c.due);
    assert_int_equal(c.answered, c.sent);
    assert_int_equal(resp->count, c.answered);
    assert_int_equal(late->count, c.sent);
    assert_true(hist_percentile(resp, 99) > 300e6); /* some 200 of 600 waited, up to 0.4 s */
    bool sharp = HOLDS(c.due <= 680) & HOLDS(c.due - c.sent <= 10) &
                 HOLDS(hist_percentile(resp, 75) > 50e6) &
                 HOLDS(hist_percentile(lat, 90) < hist_percentile(resp, 90));
    assert_true(hist_max(late) > 300e6);
    free(late);
    free(resp);
    free(lat);
    load_close(l);
    return sharp;
}

static void test_a_pause_shows_in_the_response(void **state)
{
    once_more(state, a_pause_shows_in_the_response, NULL);
}

static bool nothing_owed_is_carried_over(struct fake *f, const void *arg)
{
    (void)arg;
    struct load_spec s = rig_spec(f, 4, 400);
    struct load *l = rig_open(&s);
    struct load_counts before, after;
    fake_manners(f)->delay_ns = 200 * MS; /* 4 in 0.2 s: 76 of 80 stay owed */
    uint64_t start = clock_ns();
    rig_turn(l, 10 * MS, 200 * MS);
    uint64_t slow = rig_most_due(start, 20, 4); /* each of the 4 five times a second */
    load_read(l, &before);
    assert_true(before.sent <= slow && before.due > 60);
    fake_manners(f)->delay_ns = 0;
    start = clock_ns();
    rig_turn(l, 10 * MS, 200 * MS);
    uint64_t most = rig_most_due(start, 400, 4);
    load_read(l, &after);
    uint64_t sent = after.sent - before.sent, due = after.due - before.due;
    assert_true(sent <= most);
    bool sharp = HOLDS(before.sent <= 8) & HOLDS(sent >= 65) & HOLDS(due - sent <= 4);
    load_close(l);
    return sharp;
}

static void test_nothing_owed_is_carried_over(void **state)
{
    once_more(state, nothing_owed_is_carried_over, NULL);
}

static void test_one_slow_reply_is_visible(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 20, 200);
    struct load *l = rig_open(&s);
    fake_manners(f)->slow_ns = 800 * MS;
    fake_manners(f)->slow_every = 30;
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_asked(f, 45);
    fake_manners(f)->slow_every = 0;
    load_set_phase(l, LOAD_STOP); /* its reply comes long after the stop */
    assert_true(load_drained(l, 8000 * MS));
    struct hist_copy *h = rig_hist(l, LOAD_LATENCY);
    assert_true(hist_max(h) >= 780e6);
    assert_true(hist_percentile(h, 50) < 400e6);
    free(h);
    load_close(l);
}

static void test_adjust_keeps_what_both_need(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 40, PARAM_MAX);
    s.params.load_threads = 2;
    struct load *l = rig_open(&s);
    struct load_counts c;
    static const struct {
        int connections, idle;
        double rate;
        uint64_t connects, closed; /* so far */
    } steps[] = {{100, 0, PARAM_MAX, 100, 0}, {60, 40, 300, 100, 0}, {60, 0, 300, 100, 40},
                 {60, 100, 100, 200, 40},     {160, 0, PARAM_MAX, 200, 40}, {1, 0, 10, 200, 199}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct params p = s.params;
        p.connections = steps[i].connections;
        p.idle = steps[i].idle;
        p.rate = steps[i].rate;
        p.size = 100 + 1000 * (double)i;
        load_adjust(l, &p);
        assert_true(load_wait_open(l, 5000 * MS));
        assert_int_equal(load_established(l), steps[i].connections + steps[i].idle);
        struct load_counts before;
        load_read(l, &before);
        assert_int_equal(before.connects, steps[i].connects);
        assert_int_equal(before.closed, steps[i].closed);
        c = before;
        for (int k = 0; k < 20 && c.replies == before.replies; k++) {
            rig_turn(l, 20 * MS, 150 * MS);
            load_read(l, &c);
        }
        assert_true(c.replies > before.replies);
        assert_int_equal(c.reply_bytes - before.reply_bytes,
                         (c.replies - before.replies) * (100 + 1000 * i));
        assert_int_equal(rig_errors(&c), 0);
    }
    load_close(l);
}

static void test_idle_ones_never_ask(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 5, PARAM_MAX);
    s.params.idle = 100;
    struct load *l = rig_open(&s);
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_asked(f, 100);
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 8000 * MS));
    const struct fake_stamp *stamps;
    long n = fake_stamps(f, &stamps);
    int seen[FAKE_FDS] = {0}, different = 0;
    for (long i = 0; i < n; i++)
        different += !seen[stamps[i].fd]++;
    assert_int_equal(different, 5);
    assert_int_equal(load_established(l), 105);
    load_close(l);
}

static void test_drain_waits_and_gives_up(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 8, PARAM_MAX);
    struct load *l = rig_open(&s);
    struct load_counts c;
    fake_manners(f)->delay_ns = 700 * MS;
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_asked(f, 8);
    load_set_phase(l, LOAD_STOP);
    assert_false(load_drained(l, 50 * MS));
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    assert_int_equal(c.answered, 8);
    assert_int_equal(c.replies, 0); /* they came after the stop */
    fake_manners(f)->silent = true;
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_asked(f, 16);
    load_set_phase(l, LOAD_STOP);
    assert_false(load_drained(l, 50 * MS));
    load_give_up(l);
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    assert_int_equal(c.errors_timeout, 8);
    assert_int_equal(c.answered, 8);
    assert_int_equal(c.closed, 8);
    assert_int_equal(c.connects, 16);
    assert_int_equal(rig_established(l, 8), 8);
    fake_manners(f)->silent = false;
    fake_manners(f)->delay_ns = 0;
    rig_turn(l, 10 * MS, 100 * MS);
    load_read(l, &c);
    assert_true(c.answered > 8);
    load_close(l);
}

static void test_close_in_a_turn_is_quick(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 8, 1);
    s.params.load_wait = WAIT_BLOCK;
    struct load *l = rig_open(&s);
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(20 * MS);
    uint64_t start = clock_ns();
    load_close(l);
    assert_true(clock_ns() - start < 2 * NS_PER_S); /* not until the next request is due */
}

static void test_stop_wakes_a_sleeping_pace(void **state)
{
    struct fake *f = *state;
    struct load_spec s = rig_spec(f, 1, 0.01);
    s.params.load_wait = WAIT_BLOCK;
    struct load *l = rig_open(&s);
    load_set_phase(l, LOAD_SETTLE);
    rig_sleep(50 * MS);
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 8000 * MS));
    load_close(l);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    enum { SHARED = 7 }; /* the first ones hold whichever way a thread waits */
    const struct CMUnitTest tests[] = {
        T(test_pace_over_turns),
        T(test_slow_pace_reaches_different_connections),
        T(test_pace_each_second),
        T(test_nothing_owed_is_carried_over),
        T(test_stop_wakes_a_sleeping_pace),
        T(test_a_pause_shows_in_the_response),
        T(test_one_slow_reply_is_visible),
        T(test_opens_parks_and_closes),
        T(test_closed_loop_spinning),
        T(test_closed_loop_blocking_wait),
        T(test_closed_loop_two_threads),
        T(test_only_the_measured_part_counts),
        T(test_adjust_keeps_what_both_need),
        T(test_idle_ones_never_ask),
        T(test_drain_waits_and_gives_up),
        T(test_close_in_a_turn_is_quick),
    };
    const struct rig_tests all = {tests, sizeof tests / sizeof *tests, SHARED};
    return rig_each_engine(&all);
}
