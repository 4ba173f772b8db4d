/* SPDX-License-Identifier: MIT */
/* Passes of idle-mix against a server whose behaviour is known: the number of exchanges and how
 * they are shared out are exact, whatever goes wrong; the order of opening is what was asked. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "load/idle_mix.h"
#include "net/protocol.h"
#include "rig.h"

struct seen { /* what the pass told of its measured part */
    struct fake *fake;
    int begins, ends;
    struct server_counts at_begin, at_end;
};

static void read_server(void *ctx, struct server_counts *out)
{
    fake_read(((struct seen *)ctx)->fake, out);
}

static void measured(void *ctx, bool begins)
{
    struct seen *s = ctx;
    *(begins ? &s->begins : &s->ends) += 1;
    read_server(s, begins ? &s->at_begin : &s->at_end);
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

static struct load_spec spec_of(struct seen *s, int connections, int idle, int requests)
{
    struct load_spec spec = rig_spec(s->fake, connections, PARAM_MAX);
    spec.params.workload = workload_find("idle-mix");
    spec.params.idle = idle;
    spec.params.requests = requests;
    spec.server_read = read_server;
    spec.measured = measured;
    spec.server_ctx = s;
    return spec;
}

static void pass(const struct load_spec *spec, struct repeat_result *r)
{
    struct err e = {""};
    if (idle_mix_repeat(spec, NULL, r, &e) < 0)
        fail_msg("%s", e.text);
}

/* Requests of each connection, by the order of its accept, since stamp `from`. */
static long *by_connection(struct fake *f, long from, int most)
{
    const struct fake_stamp *stamps;
    long n = fake_stamps(f, &stamps), *count = calloc((size_t)most + 1, sizeof *count);
    assert_non_null(count);
    for (long i = from; i < n; i++)
        if (stamps[i].nth <= most)
            count[stamps[i].nth]++;
    return count;
}

static long stamps_now(struct fake *f)
{
    const struct fake_stamp *stamps;
    return fake_stamps(f, &stamps);
}

/* --- exact ------------------------------------------------------------------------------------ */

static void exact(struct fake *f, int connections, int requests, int threads, int engine)
{
    struct seen s = {.fake = f};
    struct load_spec spec = spec_of(&s, connections, 20, requests);
    struct repeat_result r;
    long from = stamps_now(f);
    spec.params.load_threads = threads;
    spec.params.engine = engine;
    pass(&spec, &r);
    assert_int_equal(stamps_now(f) - from, requests);
    assert_int_equal(r.counts.replies, requests);
    assert_int_equal(r.counts.sent, requests);
    assert_int_equal(rig_errors(&r.counts), 0);
    assert_int_equal(s.begins, 1);
    assert_int_equal(s.ends, 1);
    /* It counts a reply once it has sent it. */
    assert_in_range(s.at_end.requests - s.at_begin.requests, requests - 1, requests);
    assert_int_equal(s.at_end.accepts, s.at_begin.accepts); /* all were open before */
    assert_true(r.values.v[METRIC_exchange_s] > 0);
    assert_true(r.values.v[METRIC_exchange_s] <= r.duration_s);
    assert_true(r.values.v[METRIC_established] == connections + 20);
    assert_true(r.values.v[METRIC_accepted] == connections + 20);
    assert_int_equal(fake_open(f), 0); /* the next pass begins with none */
}

static void test_the_number_is_exact(void **state)
{
    exact(*state, 10, 4000, 1, ENGINE_MUX);
    exact(*state, 7, 1001, 1, ENGINE_MUX);
    exact(*state, 7, 1001, 3, ENGINE_MUX);
    exact(*state, 2, 101, 5, ENGINE_MUX); /* more threads than connections */
    exact(*state, 10, 3, 1, ENGINE_MUX);  /* and fewer requests */
    exact(*state, 1, 1, 2, ENGINE_MUX);
    exact(*state, 7, 1001, 1, ENGINE_BLOCKING);
    exact(*state, 10, 3, 1, ENGINE_BLOCKING);
}

static void test_the_number_is_exact_over_a_ring(void **state)
{
    struct params p = {.engine = ENGINE_MUX_URING};
    struct err why = {""};
    if (load_probe(&p, &why) < 0) {
        print_message("[  SKIPPED ] mux-uring: %s\n", why.text);
        return;
    }
    exact(*state, 7, 1001, 1, ENGINE_MUX_URING);
    exact(*state, 2, 101, 3, ENGINE_MUX_URING);
    exact(*state, 10, 3, 1, ENGINE_MUX_URING);
}

static void test_shares_differ_by_one_at_most(void **state)
{
    struct seen s = {.fake = *state};
    struct load_spec spec = spec_of(&s, 7, 0, 1000);
    struct repeat_result r;
    int more = 0;
    spec.params.load_threads = 3;
    pass(&spec, &r);
    long *count = by_connection(*state, 0, 7);
    for (int i = 1; i <= 7; i++) {
        assert_in_range(count[i], 142, 143);
        more += count[i] == 143;
    }
    assert_int_equal(more, 6); /* 1000 = 7 * 142 + 6 */
    free(count);
}

/* --- the order of opening --------------------------------------------------------------------- */

static void order(struct fake *f, int active_at, const int *places)
{
    struct seen s = {.fake = f};
    struct load_spec spec = spec_of(&s, 4, 200, 40);
    struct server_counts before;
    struct repeat_result r;
    long from = stamps_now(f);
    fake_read(f, &before);
    spec.params.active_at = active_at;
    pass(&spec, &r);
    long *count = by_connection(f, from, (int)before.accepts + 204);
    for (int i = 0; i < 4; i++)
        assert_int_equal(count[(int)before.accepts + 1 + places[i]], 10);
    free(count);
}

static void test_those_that_ask_are_opened_where_asked(void **state)
{
    order(*state, ACTIVE_FIRST, (int[]){0, 1, 2, 3});
    order(*state, ACTIVE_LAST, (int[]){200, 201, 202, 203});
    order(*state, ACTIVE_SPREAD, (int[]){0, 51, 102, 153});
}

/* --- known figures ---------------------------------------------------------------------------- */

static void test_a_slow_server_takes_as_long_as_it_is(void **state)
{
    struct seen s = {.fake = *state};
    struct load_spec spec = spec_of(&s, 5, 10, 50);
    struct repeat_result r;
    fake_manners(*state)->delay_ns = 5 * MS;
    pass(&spec, &r);
    assert_true(r.values.v[METRIC_exchange_s] >= 10 * 0.005);
    assert_true(r.values.v[METRIC_served] == 5);
    assert_true(r.values.v[METRIC_never_answered] == 0);
}

static void test_lost_requests_are_asked_again(void **state)
{
    struct seen s = {.fake = *state};
    struct load_spec spec = spec_of(&s, 5, 10, 500);
    struct repeat_result r;
    fake_manners(*state)->reset_every = 100;
    pass(&spec, &r);
    assert_int_equal(r.counts.replies, 500);
    assert_int_equal(r.counts.errors_reset, 5);
    assert_int_equal(r.counts.sent, 505);
    assert_false(isnan(r.values.v[METRIC_exchange_s]));
}

static void test_a_silent_server_ends_at_the_time_out(void **state)
{
    struct seen s = {.fake = *state};
    struct load_spec spec = spec_of(&s, 6, 10, 1000);
    struct repeat_result r;
    spec.params.timeout = 0.3;
    fake_manners(*state)->silent = true;
    pass(&spec, &r);
    assert_true(isnan(r.values.v[METRIC_exchange_s]));
    assert_int_equal(r.counts.replies, 0);
    assert_true(r.counts.errors_timeout >= 6);
    assert_true(r.values.v[METRIC_served] == 0);
    assert_true(r.values.v[METRIC_never_answered] == 6);
    assert_string_equal(r.note, "no exchanges: 0 of 1000, then no reply for 0.3 s");
    assert_int_equal(s.begins, 1);
    assert_int_equal(s.ends, 1);
}

static void test_fewer_idle_ones_are_another_figure(void **state)
{
    struct seen s = {.fake = *state};
    struct load_spec spec = spec_of(&s, 5, 50, 1000);
    struct repeat_result r;
    fake_manners(*state)->capacity = 30;
    pass(&spec, &r);
    assert_true(isnan(r.values.v[METRIC_exchange_s]));
    assert_int_equal(r.counts.replies, 0); /* it was not even begun */
    assert_int_equal(s.begins, 0);
    assert_true(r.values.v[METRIC_accepted] == 30);
    assert_int_equal(strncmp(r.note, "no exchanges: ", 14), 0);
}

/* A rate is for workloads that ask at one: a thousand at this one would take half an hour. */
static void test_it_asks_at_no_rate(void **state)
{
    struct seen s = {.fake = *state};
    struct load_spec spec = spec_of(&s, 3, 10, 1000);
    struct repeat_result r;
    spec.params.rate = 0.5;
    pass(&spec, &r);
    assert_int_equal(r.counts.replies, 1000);
    assert_true(r.values.v[METRIC_exchange_s] > 0);
    assert_string_equal(r.note, "");
}

static void *stop_soon(void *watch)
{
    rig_sleep(100 * MS);
    atomic_store(&((struct load_watch *)watch)->stop, true);
    return NULL;
}

static void test_stop_ends_a_pass(void **state)
{
    struct seen s = {.fake = *state};
    struct load_spec spec = spec_of(&s, 5, 50, 1000000);
    struct repeat_result r;
    struct load_watch w;
    struct err e = {""};
    pthread_t t;
    load_watch_init(&w);
    fake_manners(*state)->delay_ns = MS;
    assert_int_equal(pthread_create(&t, NULL, stop_soon, &w), 0);
    assert_int_equal(idle_mix_repeat(&spec, &w, &r, &e), 0);
    pthread_join(t, NULL);
    assert_true(r.duration_s < 10);
    assert_true(isnan(r.values.v[METRIC_exchange_s]));
    load_watch_fini(&w);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_number_is_exact),
        TEST(test_the_number_is_exact_over_a_ring),
        TEST(test_shares_differ_by_one_at_most),
        TEST(test_those_that_ask_are_opened_where_asked),
        TEST(test_a_slow_server_takes_as_long_as_it_is),
        TEST(test_lost_requests_are_asked_again),
        TEST(test_a_silent_server_ends_at_the_time_out),
        TEST(test_fewer_idle_ones_are_another_figure),
        TEST(test_it_asks_at_no_rate),
        TEST(test_stop_ends_a_pass),
    };
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
