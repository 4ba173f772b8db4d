/* SPDX-License-Identifier: MIT */
/* The session with real servers and a real load, short: turns pair, orders are obeyed, a killed
 * server is named and starts again, what was measured stays. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "session/answers.h"
#include "net/protocol.h"
#include "session/session.h"

static struct plan_row ask(const char *workload, const char *models, double connections)
{
    struct plan_row r = {0};
    struct err e = {{0}};
    params_init(&r.params);
    r.params.workload = workload_find(workload);
    r.params.connections = connections;
    r.params.warmup = 0;
    r.params.turn = 0.08;
    r.params.settle = 0.02;
    r.params.samples = 4;
    r.params.repeats = 3;
    workload_resolve(&r.params);
    if (lineup_parse(models, &r.lineup, &e) < 0)
        fail_msg("%s", e.text);
    return r;
}

static struct session *fresh(bool forever)
{
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    struct err e = {{0}};
    struct session_options o = {.pin = true, .forever = forever};
    struct session *s = session_new(&o, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static void run_one(struct session *s, struct plan_row *want)
{
    struct plan plan = {.title = "test", .count = 1, .rows = want,
                        .axis = {PARAM_COUNT, PARAM_COUNT}};
    session_plan(s, &plan);
    assert_true(session_wait(s, 30 * NS_PER_S));
}

/* A load that lost its CPU for a whole turn sent nothing in it: then nothing of a request is
 * measured. */
static bool was_asked(const struct values *x)
{
    double p50 = x->v[METRIC_latency_p50_us];
    if (isnan(p50))
        return false;
    assert_true(p50 > 0 && p50 <= x->v[METRIC_latency_p99_us]);
    assert_true(x->v[METRIC_requests_per_s] > 100);
    assert_true(x->v[METRIC_cpu_us_per_request] > 0);
    assert_true(x->v[METRIC_looks_per_request] > 0);
    assert_true(x->v[METRIC_waits_per_request] > 0);
    assert_true(x->v[METRIC_reads_per_request] > 0.5);
    assert_true(x->v[METRIC_writes_per_request] > 0.5);
    assert_true(x->v[METRIC_sleeps_per_request] >= 0);
    return true;
}

static void rounds_pair(struct plan_row want)
{
    struct session *s = fresh(false);
    run_one(s, &want);
    session_lock(s);
    const struct row *r = session_rows(s)->first;
    assert_non_null(r);
    assert_int_equal(r->state, ROW_DONE);
    int timed = 0;
    for (int i = 0; i < r->pane_count; i++) {
        assert_int_equal(pane_kept(&r->panes[i]), 4);
        for (int k = 0; k < 4; k++) {
            const struct sample *x = pane_at(&r->panes[i], k);
            assert_int_equal(x->index, k + 1);
            timed += was_asked(&x->values);
            assert_true(x->values.v[METRIC_run_wait_pct] >= 0);
            assert_true(x->values.v[METRIC_retransmits] >= 0);
            assert_true(x->values.v[METRIC_tcp_mem_bytes] >= 0);
            assert_true(x->values.v[METRIC_rss_bytes] > 100000);
            assert_true(x->values.v[METRIC_errors] == 0);
            assert_true(x->values.v[METRIC_established] == want.params.connections);
        }
    }
    assert_true(timed >= 2 * r->pane_count); /* of four each */
    session_unlock(s);
    session_free(s);
}

static void two_models_take_turns(void **state)
{
    (void)state;
    rounds_pair(ask("transfer", "select,epoll-lt", 20));
}

static void one_model_runs_on(void **state)
{
    (void)state;
    rounds_pair(ask("transfer", "poll", 20));
}

static void three_and_four_models(void **state)
{
    (void)state;
    rounds_pair(ask("transfer", "select,poll,epoll-lt", 10));
    rounds_pair(ask("transfer", "select,poll,epoll-lt,epoll-et", 10));
}

static void inside_and_blocking(void **state)
{
    (void)state;
    struct plan_row want = ask("transfer", "select,epoll-lt", 20);
    want.params.place = PLACE_INSIDE;
    rounds_pair(want);
    want.params.place = PLACE_PROCESS;
    want.params.engine = ENGINE_BLOCKING;
    rounds_pair(want);
}

static void the_closed_loop_is_not_paced(void **state)
{
    (void)state;
    struct plan_row want = ask("transfer", "epoll-lt,epoll-lt", 20);
    want.params.rate = PARAM_MAX;
    struct session *s = fresh(false);
    run_one(s, &want);
    session_lock(s);
    const struct sample *x = pane_at(&session_rows(s)->first->panes[1], 0);
    assert_non_null(x);
    assert_true(isnan(x->values.v[METRIC_response_p99_us]));
    assert_true(isnan(x->values.v[METRIC_send_late_p99_us]));
    session_unlock(s);
    session_free(s);
}

/* The last pass of each pane can be seen whole, however short it was. */
static void watched_to_the_end(struct session *s, int panes, double connections)
{
    struct session_now *now = session_now_new();
    session_read(s, now);
    assert_int_equal(now->watch_pane, -1);
    for (int i = 0; i < panes; i++) {
        const struct load_watch *w = &now->watch[i];
        assert_true(w->points > 0);
        assert_true(w->series[0][w->points - 1] == connections);
        assert_true(w->series[1][w->points - 1] == connections);
    }
    session_now_free(now);
}

static void connect_repeats(void **state)
{
    (void)state;
    for (int arrival = ARRIVAL_SERIAL; arrival <= ARRIVAL_STORM; arrival++) {
        struct plan_row want = ask("connect", "select,epoll-lt", 100);
        want.params.arrival = arrival;
        struct session *s = fresh(false);
        run_one(s, &want);
        session_lock(s);
        const struct row *r = session_rows(s)->first;
        assert_int_equal(r->state, ROW_DONE);
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 3; k++) {
                const struct sample *x = pane_at(&r->panes[i], k);
                assert_true(x->values.v[METRIC_connect_s] > 0);
                assert_true(x->values.v[METRIC_accepted_s] > 0);
                assert_true(x->values.v[METRIC_established] == 100);
                assert_true(x->values.v[METRIC_accepted] == 100);
            }
        session_unlock(s);
        watched_to_the_end(s, 2, 100);
        session_free(s);
    }
}

/* Waits until pane 0 of the newest row has `least` samples. */
static const struct row *newest_with(struct session *s, int least)
{
    for (uint64_t end = clock_ns() + 20 * NS_PER_S; clock_ns() < end;) {
        session_lock(s);
        const struct row *r = session_rows(s)->last;
        bool there = r && r->panes[0].count >= least;
        session_unlock(s);
        if (there)
            return r;
        clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
    }
    fail_msg("no row with %d samples", least);
    return NULL;
}

static int samples_of(struct session *s, const struct row *r, int pane)
{
    session_lock(s);
    int n = r->panes[pane].count;
    session_unlock(s);
    return n;
}

static enum verdict verdict_of(struct session *s, const struct row *r, int pane)
{
    session_lock(s);
    enum verdict v = r->panes[pane].verdict;
    session_unlock(s);
    return v;
}

static void a_change_starts_a_row_and_keeps_connections(void **state)
{
    (void)state;
    struct session *s = fresh(true);
    struct plan_row want = ask("transfer", "select,epoll-lt", 20);
    session_live(s, &want);
    const struct row *first = newest_with(s, 4);
    pid_t pid = session_server_pid(s, 0);
    want.params.connections = 40;
    session_live(s, &want);
    const struct row *second = first;
    for (int i = 0; i < 500 && second == first; i++) {
        clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
        session_lock(s);
        second = session_rows(s)->last;
        session_unlock(s);
    }
    assert_ptr_not_equal(first, second);
    newest_with(s, 2);
    assert_int_equal(session_server_pid(s, 0), pid);
    session_lock(s);
    assert_true(first->state == ROW_STOPPED || first->state == ROW_DONE);
    session_unlock(s);
    /* Asking for the first again goes on in its row. */
    int before = samples_of(s, first, 0);
    want.params.connections = 20;
    session_live(s, &want);
    for (int i = 0; i < 500 && samples_of(s, first, 0) <= before; i++)
        clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
    assert_true(samples_of(s, first, 0) > before);
    session_free(s);
}

static void wait_alive(struct session *s, struct session_now *now, bool alive)
{
    for (int i = 0; i < 500; i++) {
        session_read(s, now);
        if (now->panes[0].alive == alive && (alive || now->panes[0].trouble[0]))
            return;
        clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
    }
    fail_msg("pane A never became %s", alive ? "alive" : "dead");
}

static void a_killed_server_is_named_and_restarts(void **state)
{
    (void)state;
    struct session *s = fresh(true);
    struct session_now *now = session_now_new();
    struct plan_row want = ask("transfer", "select,epoll-lt", 20);
    want.params.turn = 0.4; /* a round of 1.6 s, seen after one of its turns */
    session_live(s, &want);
    const struct row *r = newest_with(s, 1);
    while (samples_of(s, r, 1) < samples_of(s, r, 0)) /* its half of the round comes at once */
        clock_sleep_until(clock_ns() + NS_PER_MS);
    int others = samples_of(s, r, 1);
    kill(session_server_pid(s, 0), SIGKILL);
    wait_alive(s, now, false);
    assert_non_null(strstr(now->panes[0].trouble, "SIGKILL"));
    assert_int_equal(samples_of(s, r, 1), others);
    for (int i = 0; i < 500 && verdict_of(s, r, 0) != VERDICT_DIED; i++)
        clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
    assert_int_equal(verdict_of(s, r, 0), VERDICT_DIED);
    for (int i = 0; i < 500 && samples_of(s, r, 1) <= others; i++)
        clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
    assert_true(samples_of(s, r, 1) > others);
    session_restart(s, 0);
    wait_alive(s, now, true);
    assert_string_equal(now->panes[0].trouble, "");
    session_now_free(now);
    session_free(s);
}

static void load_off_and_on(void **state)
{
    (void)state;
    struct session *s = fresh(true);
    struct session_now *now = session_now_new();
    struct plan_row want = ask("transfer", "epoll-lt", 10);
    session_live(s, &want);
    newest_with(s, 1);
    session_load(s, false);
    for (int i = 0; i < 250; i++, clock_sleep_until(clock_ns() + 20 * NS_PER_MS)) {
        session_read(s, now);
        if (now->phase == PHASE_OFF)
            break;
    }
    assert_int_equal(now->phase, PHASE_OFF);
    assert_int_equal(now->row_number, 1); /* its figures stand */
    session_lock(s);
    bool kept = row_kept(session_rows(s)->first) > 0;
    assert_int_equal(session_rows(s)->first->state, kept ? ROW_STOPPED : ROW_DROPPED);
    session_unlock(s);
    unsigned long pushed = now->panes[0].trace_pushed;
    clock_sleep_until(clock_ns() + 700 * NS_PER_MS);
    session_read(s, now);
    assert_int_equal(now->panes[0].trace_pushed, pushed);
    session_load(s, true);
    for (int i = 0; i < 250 && now->panes[0].trace_pushed <= pushed; i++) {
        clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
        session_read(s, now);
    }
    assert_true(now->panes[0].trace_pushed > pushed);
    session_lock(s);
    assert_int_equal(session_rows(s)->count, kept ? 1 : 2); /* and it goes on */
    session_unlock(s);
    session_now_free(now);
    session_free(s);
}

/* A graph never joins the figures of two models; a pane that keeps its model keeps its history. */
static void another_model_begins_its_graph_anew(void **state)
{
    (void)state;
    struct session *s = fresh(true);
    struct session_now *now = session_now_new();
    struct plan_row want = ask("transfer", "select,epoll-lt", 10);
    session_live(s, &want);
    const struct row *first = newest_with(s, 3), *r = first;
    session_read(s, now);
    int before = now->panes[1].trace_count;
    assert_true(before >= 2); /* pane A comes first in a round */
    want.lineup.models[0] = io_model_table[io_model_find("poll")];
    session_live(s, &want);
    for (int i = 0; i < 500 && r == first; i++)
        r = newest_with(s, 1), clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
    session_read(s, now);
    assert_string_equal(r->panes[0].model, "poll");
    assert_in_range(now->panes[0].trace_count, 1, samples_of(s, r, 0));
    assert_true(now->panes[1].trace_count >= before);
    session_now_free(now);
    session_free(s);
}

/* What is left falls while a plan runs, and is nothing when it is over. */
static void what_is_left_is_counted_down(void **state)
{
    (void)state;
    struct session *s = fresh(false);
    struct session_now *now = session_now_new();
    struct plan_row want[2] = {ask("transfer", "epoll-lt", 10), ask("connect", "epoll-lt", 10)};
    struct plan plan = {
        .title = "test", .count = 2, .rows = want, .axis = {PARAM_COUNT, PARAM_COUNT}};
    double most = plan_row_seconds(&want[0]) + plan_row_seconds(&want[1]) + 0.1, last = most;
    bool later = false;
    session_plan(s, &plan);
    while (!session_wait(s, 50 * NS_PER_MS)) {
        session_read(s, now);
        assert_true(now->plan_left_s >= 0 && now->plan_left_s <= most);
        assert_true(now->row_left_s <= now->plan_left_s + 1e-9 || now->plan_count == 0);
        later |= now->plan_left_s > 0 && now->plan_left_s < last;
        last = now->plan_left_s > 0 ? now->plan_left_s : last;
    }
    assert_true(later);
    session_read(s, now);
    assert_true(now->plan_left_s == 0);
    session_now_free(now);
    session_free(s);
}

static void more_measures_more(void **state)
{
    (void)state;
    struct session *s = fresh(true);
    struct plan_row want = ask("connect", "epoll-lt", 10);
    session_live(s, &want);
    const struct row *r = newest_with(s, 3);
    session_more(s);
    for (int i = 0; i < 500 && samples_of(s, r, 0) < 6; i++)
        clock_sleep_until(clock_ns() + 20 * NS_PER_MS);
    session_lock(s);
    assert_int_equal(pane_kept(&r->panes[0]), 6);
    session_unlock(s);
    session_free(s);
}

/* What a server refused to an earlier load is nothing to a later one that it holds whole. */
static void two_more(const struct rows *rows, struct plan *p)
{
    assert_int_equal(row_kept(rows->first), 1);
    p->rows = xrealloc(p->rows, 2, sizeof *p->rows);
    p->rows[1] = p->rows[0];
    p->rows[1].had = 1;
    p->rows[1].rounds = 3;
    p->count = 2;
}

/* A place of a map: one round, more where the plan says so, and none is lost when it is stopped. */
static void a_plan_may_go_on_with_its_rows(void **state)
{
    (void)state;
    struct session *s = fresh(false);
    struct plan_row want = ask("transfer", "poll,epoll-lt", 5);
    want.params.samples = 1;
    want.params.warmup = want.params.trim = 0;
    struct plan plan = {.title = "test", .count = 1, .rows = &want, .more = two_more,
                        .axis = {PARAM_COUNT, PARAM_COUNT}};
    session_plan(s, &plan);
    assert_true(session_wait(s, 30 * NS_PER_S));
    session_lock(s);
    const struct row *r = session_rows(s)->first;
    assert_null(r->next);
    assert_int_equal(r->state, ROW_DONE);
    assert_int_equal(pane_kept(&r->panes[0]), 3);
    assert_int_equal(pane_at(&r->panes[1], 2)->index, 3);
    session_unlock(s);

    want.had = 3;
    want.rounds = 1000;
    plan.more = NULL;
    session_plan(s, &plan);
    assert_ptr_equal(newest_with(s, 4), r);
    session_stop(s);
    assert_true(session_wait(s, 30 * NS_PER_S));
    session_lock(s);
    assert_int_equal(r->state, ROW_STOPPED);
    assert_null(r->next);
    session_unlock(s);
    session_free(s);
}

static void a_limit_ends_with_its_row(void **state)
{
    (void)state;
    struct plan_row rows[] = {ask("hold", "select", 1100), ask("transfer", "select", 10),
                              ask("hold", "select", 10), ask("hold", "select", 1100)};
    enum verdict limits[] = {VERDICT_FD_LIMIT, VERDICT_OK, VERDICT_OK, VERDICT_FD_LIMIT};
    struct plan plan = {.title = "test", .count = 4, .rows = rows,
                        .axis = {PARAM_COUNT, PARAM_COUNT}};
    struct session *s = fresh(false);
    session_plan(s, &plan);
    assert_true(session_wait(s, 60 * NS_PER_S));
    session_lock(s);
    const struct row *r = session_rows(s)->first;
    for (int i = 0; i < 4; i++, r = r->next) {
        bool limit = r->panes[0].verdict == VERDICT_FD_LIMIT;
        if (limit != (limits[i] == VERDICT_FD_LIMIT)) /* a busy machine may say noisy */
            fail_msg("row %d: %s: %s", i + 1, verdict_words[r->panes[0].verdict],
                     r->panes[0].reason);
    }
    session_unlock(s);
    session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_models_take_turns),
        cmocka_unit_test(one_model_runs_on),
        cmocka_unit_test(three_and_four_models),
        cmocka_unit_test(inside_and_blocking),
        cmocka_unit_test(the_closed_loop_is_not_paced),
        cmocka_unit_test(connect_repeats),
        cmocka_unit_test(a_change_starts_a_row_and_keeps_connections),
        cmocka_unit_test(a_killed_server_is_named_and_restarts),
        cmocka_unit_test(load_off_and_on),
        cmocka_unit_test(more_measures_more),
        cmocka_unit_test(another_model_begins_its_graph_anew),
        cmocka_unit_test(what_is_left_is_counted_down),
        cmocka_unit_test(a_plan_may_go_on_with_its_rows),
        cmocka_unit_test(a_limit_ends_with_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
