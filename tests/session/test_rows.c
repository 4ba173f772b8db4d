/* SPDX-License-Identifier: MIT */
/* Figures of a row from its samples, pairs across panes, and which of them may rank. */
#include <string.h>

#include "base/check.h"
#include "session/answers.h"
#include "session/sample_rows.h"
static const char *const two[] = {"select", "epoll-lt"};

static struct row *new_row(struct rows *r, const char *workload)
{
    struct params p = rows_params(workload);

    *r = (struct rows){0};
    return rows_make(r, &p, two, 2);
}

static void samples_never_move(void **state)
{
    (void)state;
    struct rows rows;
    struct row *row = new_row(&rows, "transfer");
    struct sample *first = rows_sample(row, 0, METRIC_errors, 0);

    for (int i = 1; i < 5 * SAMPLE_CHUNK; i++)
        rows_sample(row, 0, METRIC_errors, i);
    assert_ptr_equal(pane_at(&row->panes[0], 0), first);
    for (int i = 0; i < 5 * SAMPLE_CHUNK; i++)
        assert_true(pane_at(&row->panes[0], i)->values.v[METRIC_errors] == i);
    assert_null(pane_at(&row->panes[0], -1));
    assert_null(pane_at(&row->panes[0], 5 * SAMPLE_CHUNK));
    assert_true(isnan(first->values.v[METRIC_rss_bytes]));
    rows_free(&rows);
    assert_null(rows.first);
}

static void summary_keeps_the_published_rule(void **state)
{
    (void)state;
    struct rows rows;
    struct row *row = new_row(&rows, "transfer");

    for (int i = 0; i < 12; i++)
        rows_sample(row, 0, METRIC_server_cpu_pct, i == 0 ? 1000 : i);
    rows_sample(row, 0, METRIC_server_cpu_pct, 77)->kept = KEPT_WARMUP;
    rows_sample(row, 0, METRIC_server_cpu_pct, 88)->kept = KEPT_BROKEN;
    rows_sample(row, 0, METRIC_server_cpu_pct, 99)->kept = KEPT_EXTRA;
    rows_sample(row, 0, METRIC_server_cpu_pct, METRIC_NONE);

    struct summary s = row_summary(row, 0, METRIC_server_cpu_pct);
    assert_int_equal(s.taken, 12);
    assert_int_equal(s.used, 10);
    assert_true(s.mean == 6.5 && s.min == 2 && s.max == 11);
    assert_true(s.low < 6.5 && s.high > 6.5);
    assert_int_equal(pane_kept(&row->panes[0]), 13);
    assert_int_equal(row_summary(row, 1, METRIC_server_cpu_pct).taken, 0);
    assert_true(isnan(row_summary(row, 1, METRIC_server_cpu_pct).mean));
    rows_free(&rows);
}

static void few_values_are_shown_without_interval(void **state)
{
    (void)state;
    struct rows rows;
    struct row *row = new_row(&rows, "connect");

    rows_sample(row, 0, METRIC_connect_s, 4);
    struct summary one = row_summary(row, 0, METRIC_connect_s);
    assert_true(one.used == 1 && one.mean == 4 && isnan(one.low) && isnan(one.high));
    rows_sample(row, 0, METRIC_connect_s, 6);
    struct summary two_values = row_summary(row, 0, METRIC_connect_s);
    assert_true(two_values.used == 2 && two_values.mean == 5 && isnan(two_values.low));
    row->params.trim = 0;
    assert_true(row_summary(row, 0, METRIC_connect_s).mean == 5);
    rows_free(&rows);
}

static void errors_are_summed(void **state)
{
    (void)state;
    struct rows rows;
    struct row *row = new_row(&rows, "transfer");

    for (int i = 0; i < 6; i++)
        rows_sample(row, 0, METRIC_errors, i == 3 ? 9007199254740992.0 : 0);
    struct summary s = row_summary(row, 0, METRIC_errors);
    assert_true(s.mean == 9007199254740992.0 && s.used == 6 && s.min == 0 && isnan(s.low));
    assert_true(isnan(row_summary(row, 1, METRIC_errors).mean));
    rows_free(&rows);
}

static void rounds_pair_by_index(void **state)
{
    (void)state;
    struct rows rows;
    struct row *row = new_row(&rows, "transfer");
    enum metric_id m = METRIC_cpu_us_per_request;

    for (int i = 0; i < 12; i++)
        rows_sample(row, 0, m, 50 + i);
    for (int i = 0; i < 12; i++)
        rows_sample(row, 1, m, (50 + i) / 5.0)->index = i + 3; /* two rounds late */
    struct paired p = row_ratio(row, 1, m);
    assert_int_equal(p.pairs, 10);
    assert_true(p.ratio > 4.7 && p.ratio < 5.3);

    for (int i = 0; i < 12; i++)
        ((struct sample *)pane_at(&row->panes[1], i))->index = i + 1;
    ((struct sample *)pane_at(&row->panes[1], 4))->kept = KEPT_BROKEN;
    ((struct sample *)pane_at(&row->panes[0], 5))->values.v[m] = METRIC_NONE;
    p = row_ratio(row, 1, m);
    assert_int_equal(p.pairs, 10);
    assert_true(fabs(p.ratio - 5) < 1e-9);
    assert_int_equal(p.outcome, OUTCOME_CHEAPER);
    row->panes[0].verdict = VERDICT_ERRORS;
    assert_int_equal(row_ratio(row, 1, m).outcome, OUTCOME_WITHHELD);
    rows_free(&rows);
}

/* What so many pairs would decide is decided with the trim that so many will have. */
static void few_pairs_need_what_the_trim_drops_too(void **state)
{
    (void)state;
    struct rows rows;
    struct row *row = new_row(&rows, "transfer");
    enum metric_id m = METRIC_cpu_us_per_request;

    row->params.trim = 2;
    for (int n = 1; n <= 6; n++) {
        rows_sample(row, 0, m, 50 + n % 2);
        rows_sample(row, 1, m, 10);
        struct paired p = row_ratio(row, 1, m);
        assert_int_equal(p.pairs, n);
        assert_int_equal(p.outcome, OUTCOME_CANNOT_TELL);
        assert_int_equal(p.pairs_needed, 7);
    }
    rows_free(&rows);
}

static void more_requests_are_cheaper(void **state)
{
    (void)state;
    struct rows rows;
    struct row *row = new_row(&rows, "transfer");

    row->panes[0].verdict = row->panes[1].verdict = VERDICT_FULL;
    for (int i = 0; i < 12; i++) {
        rows_sample(row, 0, METRIC_requests_per_s, 2000 + i % 3);
        rows_sample(row, 1, METRIC_requests_per_s, 1000 + i % 2);
    }
    struct paired p = row_ratio(row, 1, METRIC_requests_per_s);
    assert_true(p.ratio > 1.9);
    assert_int_equal(p.outcome, OUTCOME_DEARER);
    rows_free(&rows);
}

/* One letter a class: Cost Rate Share Latency Time N(count). */
static void ranking_is_as_designed(void **state)
{
    (void)state;
    static const struct {
        enum verdict v;
        const char *paced, *closed;
    } rule[] = {
        {VERDICT_NONE, "", ""},
        {VERDICT_SKIPPED, "", ""},
        {VERDICT_DIED, "", ""},
        {VERDICT_ERRORS, "", ""},
        {VERDICT_FD_LIMIT, "", ""},
        {VERDICT_PORT_LIMIT, "N", "N"},
        {VERDICT_ACCEPT_QUEUE, "CTN", "CTN"},
        {VERDICT_BEHIND, "CTN", "CTN"},
        {VERDICT_NOISY, "N", "N"},
        {VERDICT_CLOCK, "N", "N"},
        {VERDICT_CPUS, "CTN", "CTN"},
        {VERDICT_WAKE_UPS, "TN", "TN"},
        {VERDICT_UNSTEADY, "CTN", "CTN"},
        {VERDICT_TOO_FEW, "", ""},
        {VERDICT_FULL, "CRTN", "CRTN"},
        {VERDICT_LOAD_FULL, "CTN", "CTN"},
        {VERDICT_OK, "CSLTN", "CTN"},
    };
    static const struct {
        char letter;
        enum metric_id m;
    } class[] = {
        {'C', METRIC_cpu_us_per_request}, {'R', METRIC_requests_per_s},
        {'S', METRIC_server_cpu_pct},     {'L', METRIC_response_p99_us},
        {'T', METRIC_connect_s},          {'N', METRIC_looks_per_request},
        {'X', METRIC_rss_bytes},
    };
    struct rows rows;
    struct row *row = new_row(&rows, "transfer");

    assert_int_equal(sizeof rule / sizeof *rule, VERDICT_COUNT);
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        for (size_t c = 0; c < sizeof class / sizeof *class; c++) {
            row->panes[0].verdict = row->panes[1].verdict = rule[i].v;
            row->params.rate = 11500;
            assert_int_equal(row_may_rank(row, 1, class[c].m),
                             strchr(rule[i].paced, class[c].letter) != NULL);
            row->params.rate = PARAM_MAX;
            assert_int_equal(row_may_rank(row, 1, class[c].m),
                             strchr(rule[i].closed, class[c].letter) != NULL);
        }
    row->panes[0].verdict = VERDICT_FULL; /* and B ok: cost compares, rate does not */
    assert_true(row_may_rank(row, 1, METRIC_cpu_us_per_request));
    assert_false(row_may_rank(row, 1, METRIC_requests_per_s));
    assert_false(row_may_rank(row, 1, METRIC_server_cpu_pct));
    rows_free(&rows);
}

static void p99_is_the_response_when_paced(void **state)
{
    (void)state;
    struct rows rows;
    struct row *row = new_row(&rows, "transfer");

    assert_int_equal(row_main(row), METRIC_cpu_us_per_request);
    assert_int_equal(row_p99(row), METRIC_response_p99_us);
    row->params.rate = PARAM_MAX;
    assert_int_equal(row_p99(row), METRIC_latency_p99_us);
    assert_string_equal(verdict_words[VERDICT_OK], "ok");
    assert_string_equal(verdict_words[VERDICT_ACCEPT_QUEUE], "accept-queue");
    assert_string_equal(kept_words[KEPT_EXTRA], "extra");
    rows_free(&rows);
}

/* Of a rate that the load ended nothing can be said, but of its cost. */
static void a_rate_that_does_not_rank_leaves_the_cost(void **state)
{
    (void)state;
    static const struct {
        enum verdict verdict;
        enum metric_id by;
        const char *says;
    } want[] = {
        {VERDICT_FULL, METRIC_connections_per_s, "b does"},
        {VERDICT_LOAD_FULL, METRIC_cpu_us_per_request, "a costs"},
        {VERDICT_NOISY, METRIC_connections_per_s, "withheld"},
    };
    struct params p = rows_params("churn");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct rows rows = {0};
        struct row *r = rows_make(&rows, &p, (const char *const[]){"a", "b"}, 2);
        struct answer answer;
        for (int k = 0; k < 8; k++)
            for (int pane = 0; pane < 2; pane++) {
                struct sample *s =
                    rows_sample(r, pane, METRIC_connections_per_s, 1000 * (1 + pane));
                s->values.v[METRIC_cpu_us_per_request] = 30 - 10 * pane + 0.01 * k;
                r->panes[pane].verdict = want[i].verdict;
            }
        assert_int_equal(row_compared(r, 1), want[i].by);
        answer_row(r, 1, &answer);
        assert_non_null(strstr(answer.answer, want[i].says));
        rows_free(&rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_never_move),
        cmocka_unit_test(summary_keeps_the_published_rule),
        cmocka_unit_test(few_values_are_shown_without_interval),
        cmocka_unit_test(errors_are_summed),
        cmocka_unit_test(rounds_pair_by_index),
        cmocka_unit_test(few_pairs_need_what_the_trim_drops_too),
        cmocka_unit_test(more_requests_are_cheaper),
        cmocka_unit_test(ranking_is_as_designed),
        cmocka_unit_test(p99_is_the_response_when_paced),
        cmocka_unit_test(a_rate_that_does_not_rank_leaves_the_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
