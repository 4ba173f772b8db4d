/* SPDX-License-Identifier: MIT */
/* Ramps from rows made by hand: how each ends, its knee, what is said, and who sits out a step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "session/ramp.h"
#include "session/sample_rows.h"

static const char *const models[] = {"select", "epoll-lt"};

/* A step whose samples all have these rates; below 0: the pane was not asked. */
static struct row *step(struct rows *rows, double clients, double a, double b)
{
    struct params p = rows_params("ramp");
    double rates[] = {a, b};
    p.connections = clients;
    struct row *r = rows_make(rows, &p, models, 2);
    for (int pane = 0; pane < 2; pane++) {
        r->panes[pane].verdict = rates[pane] < 0 ? VERDICT_SKIPPED : VERDICT_FULL;
        for (int i = 0; rates[pane] >= 0 && i < 5; i++)
            rows_sample(r, pane, METRIC_requests_per_s, rates[pane]);
    }
    return r;
}

static struct ramp read_ramp(const struct rows *rows, int pane)
{
    struct ramp m;
    ramp_read(rows, rows->last, pane, INFINITY, &m);
    return m;
}

static void test_no_collapse_is_a_result(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct answer a;
    step(&rows, 50, 1000, 2000);
    step(&rows, 100, 1900, 2100);
    step(&rows, 150, 2000, 2050);
    struct ramp m = read_ramp(&rows, 0);
    assert_int_equal(m.end, RAMP_GOES_ON);
    assert_int_equal(m.steps, 3);
    assert_true(m.best == 2000 && m.best_at == 150 && m.last == 150);
    assert_true(m.knee == 100); /* 1900 are 95 % of 2000 */
    m = read_ramp(&rows, 1);
    assert_true(m.best == 2100 && m.best_at == 100 && m.knee == 50);
    memset(&a, 0, sizeof a);
    ramp_answer(&rows, rows.last, 1, &a);
    assert_non_null(strstr(a.answer, "select: no collapse up to 150 clients, best 2.00k/s at 150"));
    assert_non_null(strstr(a.answer, "; epoll-lt: no collapse up to 150 clients"));
    rows_free(&rows);
}

static void test_half_of_the_best_is_the_end(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct answer a = {"", "", ""};
    step(&rows, 50, 1000, 1000);
    step(&rows, 100, 501, 1000);
    struct row *last = step(&rows, 150, 500, 1000);
    struct ramp m = read_ramp(&rows, 0);
    assert_int_equal(m.end, RAMP_HALF);
    assert_ptr_equal(m.row, last);
    ramp_note(&rows, last);
    assert_true(row_summary(last, 0, METRIC_collapse_connections).mean == 150);
    assert_true(isnan(row_summary(last, 1, METRIC_collapse_connections).mean));
    ramp_answer(&rows, last, 1, &a);
    assert_non_null(strstr(a.answer, "select: collapsed at 150 clients, under half of its best"));
    last->panes[0].verdict = VERDICT_NOISY; /* somebody else had the CPU: it is tried further */
    assert_int_equal(read_ramp(&rows, 0).end, RAMP_GOES_ON);
    last->panes[0].verdict = VERDICT_TOO_FEW;
    assert_int_equal(read_ramp(&rows, 0).end, RAMP_GOES_ON);
    rows_free(&rows);
}

static void test_silence_and_limits_are_the_end(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct answer a = {"", "", ""};
    step(&rows, 50, 1000, 1000);
    struct row *last = step(&rows, 100, 900, 900);
    last->panes[0].silent = true; /* in its last moments */
    last->panes[1].verdict = VERDICT_FD_LIMIT;
    snprintf(last->panes[1].reason, sizeof last->panes[1].reason, "its descriptors end at 1024");
    assert_int_equal(read_ramp(&rows, 0).end, RAMP_SILENT);
    assert_int_equal(read_ramp(&rows, 1).end, RAMP_LIMIT);
    ramp_note(&rows, last);
    assert_true(row_summary(last, 0, METRIC_collapse_connections).mean == 100);
    assert_true(isnan(row_summary(last, 1, METRIC_collapse_connections).mean));
    ramp_answer(&rows, last, 1, &a);
    assert_non_null(strstr(a.answer, "without a reply"));
    assert_non_null(strstr(a.answer, "ended at 100 clients (fd-limit), best"));
    assert_non_null(strstr(a.why, "its descriptors end at 1024"));
    rows_free(&rows);
}

static void test_a_silence_that_was_saved(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct row *last = step(&rows, 50, 0, 0);
    for (int i = 0; i < 2; i++)
        rows_sample(last, i, METRIC_requests_per_s, 0);
    last->panes[0].silent = true;
    ramp_note(&rows, last);
    last->panes[0].silent = false; /* a file does not say it */
    assert_int_equal(read_ramp(&rows, 0).end, RAMP_SILENT);
    assert_int_equal(read_ramp(&rows, 1).end, RAMP_GOES_ON);
    rows_free(&rows);
}

static void test_steps_count_in_the_order_of_clients(void **state)
{
    (void)state;
    struct rows rows = {0};
    step(&rows, 150, 400, 1);
    step(&rows, 50, 1000, 1);
    step(&rows, 100, 900, 1);
    struct ramp m = read_ramp(&rows, 0);
    assert_int_equal(m.end, RAMP_HALF);
    assert_true(m.row->params.connections == 150 && m.best_at == 50);
    rows_free(&rows);
}

static void test_other_rows_do_not_belong(void **state)
{
    (void)state;
    struct rows rows = {0};
    step(&rows, 50, 1000, 1000);
    struct row *other = step(&rows, 100, 1, 1);
    other->params.backlog = 7; /* another ramp */
    other = step(&rows, 100, 1, 1);
    other->state = ROW_DROPPED;
    step(&rows, 150, 990, 990);
    struct ramp m = read_ramp(&rows, 0);
    assert_int_equal(m.end, RAMP_GOES_ON);
    assert_int_equal(m.steps, 2);
    rows_free(&rows);
}

static void test_a_running_step_decides_nothing(void **state)
{
    (void)state;
    struct rows rows = {0};
    step(&rows, 50, 1000, 1000);
    step(&rows, 100, 10, 10)->state = ROW_RUNNING;
    assert_int_equal(read_ramp(&rows, 0).end, RAMP_GOES_ON);
    rows_free(&rows);
}

static void test_who_has_ended_sits_out(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct plan_row next = {.params = rows_params("ramp"), .lineup.count = 2};
    for (int i = 0; i < 2; i++)
        next.lineup.models[i] = io_model_table[io_model_find(models[i])];
    next.params.connections = 50;
    assert_int_equal(ramp_over(&rows, &next), 0);
    step(&rows, 50, 1000, 1000);
    step(&rows, 100, 300, 1000);
    step(&rows, 150, -1, 400);
    next.params.connections = 100; /* measured again: nothing before it was an end */
    assert_int_equal(ramp_over(&rows, &next), 0);
    next.params.connections = 150;
    assert_int_equal(ramp_over(&rows, &next), 1);
    next.params.connections = 200;
    assert_int_equal(ramp_over(&rows, &next), 3);
    struct ramp m = read_ramp(&rows, 0); /* that it sat out is not what ended it */
    assert_int_equal(m.end, RAMP_HALF);
    assert_true(m.row->params.connections == 100 && m.last == 100);
    rows_free(&rows);
}

static void test_nothing_answered_at_all(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct answer a = {"was", "was", ""};
    step(&rows, 50, 0, 0);
    struct ramp m = read_ramp(&rows, 0);
    assert_int_equal(m.end, RAMP_GOES_ON); /* only silence of 5 s says more */
    assert_true(m.best == 0 && isnan(m.best_at) && isnan(m.knee));
    ramp_answer(&rows, rows.last, 1, &a);
    assert_string_equal(a.answer, "was"); /* one step is no ramp */
    rows_free(&rows);
}

static void test_a_ramp_of_one_step(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct answer a = {"was", "was", ""};
    struct row *r = step(&rows, 50, 1000, 2000);
    ramp_answer(&rows, r, 1, &a);
    assert_string_equal(a.answer, "was"); /* more steps are to come */
    r->params.until = 50;
    ramp_answer(&rows, r, 1, &a);
    assert_non_null(strstr(a.answer, "select: no collapse up to 50 clients, best 1.00k/s at 50"));
    rows_free(&rows);
}

static struct args args_of(const char *until, const char *const *more)
{
    static struct args a;
    const char *argv[16] = {"run", "-w", "ramp", "--until", until};
    struct args_rules rules = {0};
    struct err e;
    int argc = 5;
    for (; *more; more++)
        argv[argc++] = *more;
    rows_params("ramp"); /* binds the tables */
    if (args_parse(argc, (char **)argv, &rules, &a, &e) < 0)
        fail_msg("%s", e.text);
    return a;
}

static void test_the_plan_has_the_steps(void **state)
{
    (void)state;
    static const double want[] = {50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600};
    struct args a = args_of("600", (const char *const[]){NULL});
    struct plan p;
    struct err e = {""};
    assert_int_equal(plan_from_args(&a, &p, &e), 0);
    assert_int_equal(p.count, 12);
    for (int i = 0; i < p.count; i++) {
        assert_true(p.rows[i].params.connections == want[i]);
        assert_true(p.rows[i].params.keepalive == KEEPALIVE_OFF);
        assert_true(p.rows[i].params.warmup == 0);
        assert_true(p.rows[i].params.duration == 10); /* 5 s each */
    }
    assert_true(p.seconds >= 120 && p.seconds < 180);
    plan_free(&p);
    static const char *const late[] = {"-c", "1900", "--keepalive", "on", "-m", "poll", NULL};
    a = args_of("2000", late);
    assert_int_equal(plan_from_args(&a, &p, &e), 0);
    assert_int_equal(p.count, 2); /* the last step is the one that was asked for */
    assert_true(p.rows[1].params.connections == 2000);
    assert_true(p.rows[0].params.keepalive == KEEPALIVE_ON);
    plan_free(&p);
    a = args_of("3", (const char *const[]){NULL});
    assert_int_equal(plan_from_args(&a, &p, &e), 0);
    assert_int_equal(p.count, 1); /* fewer than the usual first step */
    assert_true(p.rows[0].params.connections == 3);
    plan_free(&p);
}

static void test_plans_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *more[5], *says;
    } bad[] = {
        {{"-c", "50,100", NULL}, "connections"},
        {{"--backlog", "1,2", "--workers", "1,2", NULL}, "one more list"},
        {{"-c", "900", NULL}, "--until 600"},
        {{"--protocol", "discard", NULL}, "replies"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct args a = args_of("600", bad[i].more);
        struct plan p;
        struct err e = {""};
        assert_true(plan_from_args(&a, &p, &e) < 0);
        assert_non_null(strstr(e.text, bad[i].says));
        plan_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_collapse_is_a_result),
        cmocka_unit_test(test_half_of_the_best_is_the_end),
        cmocka_unit_test(test_silence_and_limits_are_the_end),
        cmocka_unit_test(test_a_silence_that_was_saved),
        cmocka_unit_test(test_steps_count_in_the_order_of_clients),
        cmocka_unit_test(test_other_rows_do_not_belong),
        cmocka_unit_test(test_a_running_step_decides_nothing),
        cmocka_unit_test(test_who_has_ended_sits_out),
        cmocka_unit_test(test_nothing_answered_at_all),
        cmocka_unit_test(test_a_ramp_of_one_step),
        cmocka_unit_test(test_the_plan_has_the_steps),
        cmocka_unit_test(test_plans_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
