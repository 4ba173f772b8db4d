/* SPDX-License-Identifier: MIT */
/* What one idle connection costs, over rows made of known prices; and what is said of held ones. */
#include <string.h>

#include "base/check.h"
#include "session/answers.h"
#include "session/sample_rows.h"
#include "session/slopes.h"
#include "session/table.h"

static const char *const two[] = {"poll", "epoll-lt"};

/* A request costs 8 us; poll pays 70 ns for each idle connection in each of its waits, and finds
 * more requests in a wait the more idle ones there are. */
static struct row *mixed(struct rows *r, double idle)
{
    struct params p = rows_params("idle-mix");
    p.idle = idle;
    struct row *row = rows_make(r, &p, two, 2);
    double waits = idle > 1000 ? 0.25 : 0.5; /* a request */
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++) {
            double cost = 8 + (k ? 0 : 0.070 * idle * waits) + (i - 2) * 1e-3;
            struct sample *s = rows_sample(row, k, METRIC_cpu_us_per_request, cost);
            s->values.v[METRIC_exchange_s] = cost * 0.04;
            s->values.v[METRIC_waits_per_request] = waits;
        }
    return row;
}

static struct row *sweep(struct rows *r)
{
    static const double idle[] = {0, 10, 100, 1000, 5000, 10240};
    struct row *last = NULL;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        last = mixed(r, idle[i]);
    return last;
}

static void slopes_are_the_prices(void **state)
{
    struct rows rows = {0};
    struct row *like = sweep(&rows);
    struct slopes a, b;
    (void)state;
    assert_true(slopes_of(&rows, like, 0, &a));
    assert_int_equal(a.rows, 6);
    assert_near(a.wait_ns, 70, 0.01);
    assert_true(a.wait_half < 0.1);
    assert_true(a.request_ns > 15 && a.request_ns < 35); /* a quarter or a half of it */
    assert_true(slopes_of(&rows, like, 1, &b));
    assert_true(fabs(b.wait_ns) <= b.wait_half + 1e-9);
    rows_free(&rows);
}

static void rows_that_do_not_hold_are_left_out(void **state)
{
    struct rows rows = {0};
    struct row *like = sweep(&rows);
    struct slopes s;
    (void)state;
    for (struct row *r = rows.first; r != like; r = r->next)
        r->panes[0].verdict = VERDICT_FD_LIMIT;
    assert_false(slopes_of(&rows, like, 0, &s)); /* one is left: it has no slope */
    assert_int_equal(s.rows, 1);
    rows_free(&rows);
    like = mixed(&rows, 500);
    assert_false(slopes_of(&rows, like, 0, &s));
    struct params other = like->params;
    other.size = 64;
    rows_make(&rows, &other, two, 2);
    assert_false(slopes_of(&rows, like, 0, &s));
    rows_free(&rows);
}

static void they_stand_under_the_table_and_in_the_reason(void **state)
{
    struct rows rows = {0};
    struct row *like = sweep(&rows);
    struct table t;
    struct answer a;
    (void)state;
    table_make(&rows, like, &t);
    assert_non_null(strstr(t.foot, "poll 70.0 ns a wait"));
    assert_non_null(strstr(t.foot, "epoll-lt under"));
    table_free(&t);
    answer_sweep(&rows, like, 1, &a);
    assert_non_null(strstr(a.why, "poll 70.0 ns a wait"));
    assert_non_null(strstr(a.answer, "epoll-lt"));
    rows_free(&rows);
    table_make(&rows, mixed(&rows, 10), &t);
    assert_string_equal(t.foot, "");
    table_free(&t);
    rows_free(&rows);
}

/* --- hold ------------------------------------------------------------------------------------- */

static struct row *held(struct rows *r, double accepted)
{
    struct params p = rows_params("hold");
    struct row *row = rows_make(r, &p, two, 2);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 2; k++) {
            struct sample *s = rows_sample(row, k, METRIC_established, 10000);
            s->values.v[METRIC_accepted] = k ? accepted : 10000;
            if (i == 0) {
                s->values.v[METRIC_accepts_per_s] = 31000;
                s->values.v[METRIC_kernel_per_connection] = 9800;
                s->values.v[METRIC_rss_per_connection] = 64;
            }
        }
    return row;
}

static void held_connections_are_told_and_not_ranked(void **state)
{
    struct rows rows = {0};
    struct answer a;
    struct table t;
    (void)state;
    struct row *row = held(&rows, 9000);
    answer_sweep(&rows, row, 1, &a);
    assert_non_null(strstr(a.answer, "poll holds 10000 of 10000, accepted 31"));
    assert_non_null(strstr(a.answer, "epoll-lt holds 9000 of 10000 "
                                     "(1000 more were never accepted)"));
    assert_non_null(strstr(a.why, "kernel memory a connection, both ends"));
    assert_null(strstr(a.answer, "withheld"));
    assert_null(strstr(a.trust, "apart"));
    table_make(&rows, row, &t);
    for (int i = 0; i < t.columns; i++)
        assert_string_not_equal(t.column[i].head[1], "ratio");
    table_free(&t);
    rows_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_the_prices),
        cmocka_unit_test(rows_that_do_not_hold_are_left_out),
        cmocka_unit_test(they_stand_under_the_table_and_in_the_reason),
        cmocka_unit_test(held_connections_are_told_and_not_ranked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
