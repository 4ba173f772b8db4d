/* SPDX-License-Identifier: MIT */
/* keepalive off, in each engine: a connection a request, against a server whose manners are
 * known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "rig.h"

struct world {
    struct fake *fake;
    double engine;
};

static struct load_spec fresh(const struct world *w, int connections, double rate)
{
    struct load_spec s = rig_spec(w->fake, connections, rate);
    s.params.engine = w->engine;
    s.params.keepalive = KEEPALIVE_OFF;
    return s;
}

static struct server_counts server_of(const struct world *w)
{
    struct server_counts c;
    fake_read(w->fake, &c);
    return c;
}

/* The server has seen all ends. */
static void wait_gone(const struct world *w)
{
    for (int i = 0; i < 500 && fake_open(w->fake); i++)
        rig_sleep(10 * MS);
    assert_int_equal(fake_open(w->fake), 0);
}

/* Turns until `more` are answered: in one of them the load may have had no CPU. Returns how many
 * turns that took. */
static uint64_t turns_until(struct load *l, uint64_t more, struct load_counts *c)
{
    uint64_t turns = 0;
    load_read(l, c);
    for (uint64_t until = c->answered + more; turns < 50 && c->answered < until; turns++) {
        rig_turn(l, 10 * MS, 50 * MS);
        load_read(l, c);
    }
    assert_true(turns < 50);
    return turns;
}

static void whole_cycles(struct world *w, double how)
{
    struct load_spec s = fresh(w, 20, PARAM_MAX);
    s.params.close = how;
    struct load *l = rig_open(&s);
    struct load_counts c;
    assert_int_equal(load_established(l), 0); /* nothing is opened before it is asked over */
    assert_int_equal(server_of(w).accepts, 0);
    rig_turn(l, 20 * MS, 100 * MS);
    uint64_t turns = 1 + turns_until(l, 21, &c), edges = 20 * turns;
    wait_gone(w);
    assert_int_equal(c.answered, c.sent);
    assert_true(c.replies <= c.sent + edges && c.replies + edges >= c.sent);
    assert_int_equal(rig_errors(&c), 0);
    assert_int_equal(c.connects, server_of(w).accepts);
    assert_int_equal(c.connects, server_of(w).requests); /* one each */
    assert_int_equal(c.closed, c.connects);
    assert_int_equal(load_established(l), 0);
    struct hist_copy *h = rig_hist(l, LOAD_LATENCY);
    assert_int_equal(h->count, c.answered);
    free(h);
    struct load_counts again;
    turns_until(l, 1, &again); /* and again after a pause */
    assert_int_equal(rig_errors(&again), 0);
    load_close(l);
}

static void test_whole_cycles_by_reset(void **state)
{
    whole_cycles(*state, CLOSE_RST);
}

static void test_whole_cycles_by_fin(void **state)
{
    whole_cycles(*state, CLOSE_FIN);
}

static bool paced(struct fake *f, const void *arg)
{
    const struct world w = {f, *(const double *)arg};
    struct load_spec s = fresh(&w, 25, 400);
    struct load *l = rig_open(&s);
    struct load_counts c;
    uint64_t start = clock_ns();
    rig_turn(l, 20 * MS, 300 * MS);
    uint64_t most = (clock_ns() - start) * 400 / NS_PER_S + 10;
    load_read(l, &c);
    struct hist_copy *late = rig_hist(l, LOAD_LATE), *resp = rig_hist(l, LOAD_RESPONSE);
    assert_in_range(c.due, 105, most);
    assert_true(c.sent <= c.due);
    bool sharp = HOLDS(c.due - c.sent <= 25); /* due at the stop and not sent any more */
    assert_int_equal(c.answered, c.sent);
    assert_int_equal(resp->count, c.answered);
    assert_int_equal(late->count, c.sent);
    assert_int_equal(rig_errors(&c), 0);
    free(late);
    free(resp);
    load_close(l);
    return sharp;
}

static void test_paced(void **state)
{
    struct world *w = *state;
    rig_try(&w->fake, paced, &w->engine);
}

/* What is due while the one before is out goes out with its reply, and waits until then. */
static void test_owed_requests_count_from_when_they_were_due(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 4, 200);
    struct load *l = rig_open(&s);
    struct load_counts c;
    fake_manners(w->fake)->delay_ns = 60 * MS; /* 4 in 60 ms: 67/s of 200 */
    rig_turn(l, 0, 300 * MS);
    load_read(l, &c);
    struct hist_copy *lat = rig_hist(l, LOAD_LATENCY), *resp = rig_hist(l, LOAD_RESPONSE);
    assert_in_range(c.answered, 4, 48);
    assert_true(c.due > 45);
    assert_true(hist_percentile(lat, 1) >= 59e6);
    assert_true(hist_percentile(resp, 90) > 1.5 * hist_percentile(lat, 50));
    free(lat);
    free(resp);
    load_close(l);
}

/* Another server: it accepts nothing, and its accept queue is soon full. */
static void deafen(struct world *w, struct load_spec *s)
{
    fake_stop(w->fake);
    w->fake = fake_start(1);
    fake_address(w->fake, &s->target);
    s->server_ctx = w->fake;
    fake_deafen(w->fake);
}

/* A full accept queue drops SYNs, which the kernel sends again after a second: the request goes out
 * then, and its latency has the connect in it. */
static void test_a_connect_that_waits(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 4, PARAM_MAX);
    struct load_counts c;
    deafen(w, &s);
    struct load *l = rig_open(&s);
    load_set_phase(l, LOAD_MEASURE);
    load_read(l, &c);
    for (int i = 0; i < 1000 && c.connects == 0; i++) {
        rig_sleep(10 * MS);
        load_read(l, &c);
    }
    rig_sleep(200 * MS);
    load_read(l, &c);
    assert_in_range(c.connects, 1, 3); /* what the queue holds */
    load_set_phase(l, LOAD_STOP);
    fake_manners(w->fake)->deaf = false;
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    struct hist_copy *h = rig_hist(l, LOAD_LATENCY);
    assert_int_equal(c.answered, 4);
    assert_int_equal(c.answered, c.sent);
    assert_int_equal(rig_errors(&c), 0);
    assert_true(hist_max(h) > 900e6);
    wait_gone(w); /* it counts a reply behind its send */
    assert_int_equal(c.connects, server_of(w).requests);
    free(h);
    load_close(l);
}

static void test_silence_is_a_timeout(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 10, PARAM_MAX);
    struct load_counts c;
    s.params.timeout = 0.3;
    struct load *l = rig_open(&s);
    fake_manners(w->fake)->silent = true;
    uint64_t start = clock_ns();
    load_set_phase(l, LOAD_MEASURE);
    assert_true(rig_wait_errors(l, 10, &c) >= 10);
    assert_true(c.errors_timeout <= (clock_ns() - start) / (300 * MS) * 10);
    assert_int_equal(rig_errors(&c), c.errors_timeout);
    assert_int_equal(c.answered, 0);
    fake_manners(w->fake)->silent = false;
    for (int i = 0; i < 300 && c.answered < 20; i++) {
        rig_sleep(10 * MS);
        load_read(l, &c);
    }
    assert_true(c.answered >= 20);
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 5000 * MS));
    load_close(l);
}

/* Nobody replies any more: the last that a drain waits for is the clock. */
static void test_time_outs_end_a_drain(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 10, PARAM_MAX);
    struct load_counts c;
    s.params.timeout = 0.3;
    struct load *l = rig_open(&s);
    fake_manners(w->fake)->silent = true;
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_asked(w->fake, 10);
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    assert_true(c.errors_timeout >= 10);
    assert_int_equal(rig_errors(&c), c.errors_timeout);
    assert_int_equal(c.answered, 0);
    load_close(l);
}

static void test_a_drain_can_be_given_up(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 8, PARAM_MAX);
    const struct fake_stamp *stamps;
    struct load *l = rig_open(&s);
    struct load_counts c;
    fake_manners(w->fake)->silent = true;
    load_set_phase(l, LOAD_MEASURE);
    for (int i = 0; i < 1000 && fake_stamps(w->fake, &stamps) < 8; i++)
        rig_sleep(10 * MS);
    load_set_phase(l, LOAD_STOP);
    assert_false(load_drained(l, 50 * MS));
    load_give_up(l);
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    assert_int_equal(c.errors_timeout, 8);
    assert_int_equal(c.answered, 0);
    wait_gone(w);
    fake_manners(w->fake)->silent = false;
    turns_until(l, 9, &c);
    assert_int_equal(rig_errors(&c), 8);
    load_close(l);
}

static void test_errors_by_kind(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 20, PARAM_MAX);
    struct load *l = rig_open(&s);
    struct load_counts c;
    fake_manners(w->fake)->reset_every = 20;
    fake_manners(w->fake)->wrong_every = 33;
    load_read(l, &c);
    load_set_phase(l, LOAD_MEASURE);
    for (int i = 0; i < 100 && !(c.errors_reset && c.errors_bytes); i++) {
        rig_sleep(100 * MS);
        load_read(l, &c);
    }
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 8000 * MS));
    load_read(l, &c);
    uint64_t asked = c.connects; /* each carried one request */
    assert_true(c.errors_reset > 0 && c.errors_bytes > 0);
    assert_int_equal(rig_errors(&c), c.errors_reset + c.errors_bytes);
    assert_true(c.errors_reset <= asked / 20 && c.errors_reset + 1 >= asked / 20);
    assert_true(c.errors_bytes <= asked / 33 + 1);
    assert_true(c.answered < c.sent && c.answered + rig_errors(&c) >= c.sent);
    wait_gone(w);
    load_close(l);
}

static void test_closed_port(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 10, PARAM_MAX);
    struct load_counts c;
    rig_at_nobody(&s);
    struct load *l = rig_open(&s);
    uint64_t start = clock_ns();
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_errors(l, 20, &c);
    uint64_t tenths = (clock_ns() - start) / (100 * MS);
    assert_in_range(c.errors_refused, 20, 10 * (tenths + 2)); /* each tries ten times a second */
    assert_int_equal(rig_errors(&c), c.errors_refused);
    assert_int_equal(c.connects + c.sent + c.answered, 0);
    assert_non_null(strstr(load_trouble(l), "refused"));
    load_close(l);
}

/* The accept queue is full: the SYN gets no answer, and the request times out in its connect. */
static void test_a_connect_that_nobody_answers(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 12, PARAM_MAX);
    struct load_counts c;
    deafen(w, &s);
    s.params.timeout = 0.4;
    struct load *l = rig_open(&s);
    uint64_t began = clock_ns();
    load_set_phase(l, LOAD_MEASURE);
    rig_wait_errors(l, 12, &c);
    assert_in_range(c.errors_timeout, 12, 12 * ((clock_ns() - began) / (400 * MS)));
    assert_true(c.connects < 12);
    load_give_up(l);
    uint64_t start = clock_ns();
    load_close(l);
    assert_true(clock_ns() - start < 2 * NS_PER_S);
}

static void test_idle_ones_stay_open(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 5, PARAM_MAX);
    struct load_counts c, before;
    s.params.idle = 30;
    struct load *l = rig_open(&s);
    assert_int_equal(load_established(l), 30);
    rig_turn(l, 0, 100 * MS);
    assert_int_equal(load_established(l), 30);
    load_read(l, &before);
    assert_int_equal(before.connects - before.closed, 30);
    struct params p = s.params;
    p.connections = 20;
    p.idle = 10;
    load_adjust(l, &p);
    assert_true(load_wait_open(l, 5000 * MS));
    assert_int_equal(load_established(l), 10);
    rig_turn(l, 0, 100 * MS);
    p.connections = 2;
    p.idle = 40;
    load_adjust(l, &p);
    assert_true(load_wait_open(l, 5000 * MS));
    assert_int_equal(load_established(l), 40);
    rig_turn(l, 0, 50 * MS);
    load_read(l, &c);
    assert_true(c.answered > before.answered);
    assert_int_equal(rig_errors(&c), 0);
    load_close(l);
    wait_gone(w);
}

static void test_a_server_that_hangs_up_first(void **state)
{
    struct world *w = *state;
    struct load_spec s = fresh(w, 10, PARAM_MAX);
    struct load_counts c;
    struct load *l = rig_open(&s);
    fake_manners(w->fake)->hang_up_every = 1; /* right behind the reply, by a reset */
    rig_turn(l, 0, 150 * MS);
    load_read(l, &c);
    assert_true(c.answered > 0);
    assert_int_equal(c.errors_timeout + c.errors_refused + c.errors_bytes, 0);
    load_close(l);
}

static int setup(void **state)
{
    struct world *w = *state;
    w->fake = fake_start(1024);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    fake_stop(w->fake);
    return 0;
}

int main(void)
{
    static struct world mux = {.engine = ENGINE_MUX}, blocking = {.engine = ENGINE_BLOCKING},
                        uring = {.engine = ENGINE_MUX_URING};
    struct params p = {.engine = ENGINE_MUX_URING};
    struct err e;
#define T(name, world) {#world " " #name, test_##name, setup, teardown, &world}
    const struct CMUnitTest tests[] = {
        T(whole_cycles_by_reset, mux),
        T(whole_cycles_by_fin, mux),
        T(paced, mux),
        T(owed_requests_count_from_when_they_were_due, mux),
        T(a_connect_that_waits, mux),
        T(silence_is_a_timeout, mux),
        T(time_outs_end_a_drain, mux),
        T(a_drain_can_be_given_up, mux),
        T(errors_by_kind, mux),
        T(closed_port, mux),
        T(a_connect_that_nobody_answers, mux),
        T(idle_ones_stay_open, mux),
        T(a_server_that_hangs_up_first, mux),
        T(whole_cycles_by_reset, blocking),
        T(whole_cycles_by_fin, blocking),
        T(paced, blocking),
        T(silence_is_a_timeout, blocking),
        T(time_outs_end_a_drain, blocking),
        T(a_drain_can_be_given_up, blocking),
        T(errors_by_kind, blocking),
        T(closed_port, blocking),
        T(a_connect_that_waits, blocking),
    };
    const struct CMUnitTest more[] = {
        T(whole_cycles_by_reset, uring),
        T(whole_cycles_by_fin, uring),
        T(errors_by_kind, uring),
        T(time_outs_end_a_drain, uring),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (load_probe(&p, &e) == 0)
        return failed + cmocka_run_group_tests(more, NULL, NULL);
    print_message("skipped for mux-uring: %s\n", e.text);
    return failed;
}
