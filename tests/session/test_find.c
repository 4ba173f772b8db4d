/* SPDX-License-Identifier: MIT */
/* Conditions on figures, and the search for the highest rate, over rows that a made-up machine
 * gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "session/find.h"
#include "session/sample_rows.h"

static void conditions_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *model;
        enum metric_id metric;
        enum expr_op op;
        double number;
    } good[] = {
        {"response_p99_us<2000", "", METRIC_response_p99_us, EXPR_LESS, 2000},
        {"epoll-lt.requests_per_s>=20k", "epoll-lt", METRIC_requests_per_s, EXPR_MORE_EQUAL, 20000},
        {" select . errors > 0 ", "select", METRIC_errors, EXPR_MORE, 0},
        {"cpu_us_per_request<=1.5", "", METRIC_cpu_us_per_request, EXPR_LESS_EQUAL, 1.5},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct expr x;
        struct err e = {""};
        if (expr_parse("--fail-if", good[i].text, &x, &e) < 0)
            fail_msg("%s", e.text);
        assert_string_equal(x.model, good[i].model);
        assert_int_equal(x.metric, good[i].metric);
        assert_int_equal(x.op, good[i].op);
        assert_true(x.number == good[i].number);
        assert_string_equal(x.text, good[i].text);
    }
}

static void bad_conditions_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "must be"},
        {"response_p99_us", "must be"},
        {"response_p99_us=3", "must be"},
        {".errors>0", "must be"},
        {"<3", "no such metric"},
        {"errors>", "nothing is no number"},
        {"errors>many", "many is no number"},
        {"errors>1 2", "no number"},
        {"errors>nan", "no number"},
        {"errors>-1", "no number"},
        {"respons_p99_us<3", "did you mean response_p99_us?"},
        {"epol-lt.errors>0", "did you mean epoll-lt?"},
        {"zzzzzz.errors>0", "no such model"},
        {"a.b.errors>0", "no such model"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct expr x;
        struct err e = {""};
        assert_int_equal(expr_parse("--fail-if", bad[i].text, &x, &e), -EINVAL);
        if (!strstr(e.text, bad[i].says) || !strstr(e.text, "--fail-if"))
            fail_msg("\"%s\": %s", bad[i].text, e.text);
    }
}

static void conditions_hold(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool below, equal, above;
    } cases[] = {{"errors<5", true, false, false}, {"errors<=5", true, true, false},
                 {"errors>5", false, false, true}, {"errors>=5", false, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr x;
        assert_int_equal(expr_parse("x", cases[i].text, &x, NULL), 0);
        assert_int_equal(expr_holds(&x, 4), cases[i].below);
        assert_int_equal(expr_holds(&x, 5), cases[i].equal);
        assert_int_equal(expr_holds(&x, 6), cases[i].above);
        assert_false(expr_holds(&x, METRIC_NONE));
    }
}

static void conditions_are_checked_against_the_plan(void **state)
{
    (void)state;
    struct plan_row row = {.params = rows_params("transfer")};
    struct plan p = {.count = 1, .rows = &row};
    struct expr x;
    struct err e = {""};
    assert_int_equal(lineup_parse("select,epoll-lt", &row.lineup, &e), 0);
    expr_parse("x", "epoll-lt.errors>0", &x, NULL);
    assert_int_equal(expr_check("x", &x, &p, &e), 0);
    expr_parse("x", "poll.errors>0", &x, NULL);
    assert_int_equal(expr_check("x", &x, &p, &e), -EINVAL);
    assert_non_null(strstr(e.text, "poll"));
    expr_parse("x", "connect_s>0", &x, NULL);
    assert_int_equal(expr_check("x", &x, &p, &e), -EINVAL);
    assert_non_null(strstr(e.text, "transfer does not yield connect_s"));
    expr_parse("x", "response_p99_us>0", &x, NULL);
    assert_int_equal(expr_check_rows("x", &x, &p, &e), 0);
    row.params.rate = PARAM_MAX;
    assert_int_equal(expr_check("x", &x, &p, &e), 0); /* a search sets the rates itself */
    assert_int_equal(expr_check_rows("x", &x, &p, &e), -EINVAL);
    assert_non_null(strstr(e.text, "latency_p99_us"));
    expr_parse("x", "latency_p99_us>0", &x, NULL);
    assert_int_equal(expr_check_rows("x", &x, &p, &e), 0);
}

static void found_in_rows(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("transfer");
    struct row *r = rows_make(&rows, &p, (const char *const[]){"select", "epoll-lt"}, 2);
    struct expr x;
    char said[160] = "";
    for (int i = 0; i < 4; i++) {
        rows_sample(r, 0, METRIC_response_p99_us, 2310);
        rows_sample(r, 1, METRIC_response_p99_us, 120);
    }
    expr_parse("x", "response_p99_us>2000", &x, NULL);
    assert_true(expr_found(&x, &rows, said, sizeof said));
    assert_string_equal(said, "select at 11.5k/s: 2310");
    expr_parse("x", "response_p99_us>100", &x, NULL);
    assert_true(expr_found(&x, &rows, said, sizeof said));
    assert_string_equal(said, "select at 11.5k/s: 2310; epoll-lt at 11.5k/s: 120 (2 in all)");
    assert_true(expr_found(&x, &rows, said, 80)); /* never past its room */
    expr_parse("x", "epoll-lt.response_p99_us>2000", &x, NULL);
    assert_false(expr_found(&x, &rows, said, sizeof said));
    expr_parse("x", "epoll-lt.latency_p99_us>2000", &x,
               NULL); /* a gate that cannot be tried fails */
    assert_true(expr_found(&x, &rows, said, sizeof said));
    assert_string_equal(said, "epoll-lt at 11.5k/s: not measured");
    r->params.rate = PARAM_MAX; /* flat out nothing was due: there is nothing to fail */
    expr_parse("x", "response_p99_us>2000", &x, NULL);
    assert_false(expr_found(&x, &rows, said, sizeof said));
    r->params.rate = 11500;
    r->state = ROW_DROPPED;
    assert_false(expr_found(&x, &rows, said, sizeof said));
    rows_free(&rows);
}

/* --- the search ------------------------------------------------------------------------------- */

struct machine {
    double peak[2];     /* what each can do */
    double keeps[2];    /* the rate above which its p99 is too long */
    bool noisy_once;    /* the first paced row fails for a reason of the machine */
    bool always_noisy;
    int rows;
};

static void measure(struct machine *m, struct rows *rows, double rate)
{
    struct params p = rows_params("transfer");
    p.rate = rate;
    p.trim = 0;
    struct row *r = rows_make(rows, &p, (const char *const[]){"select", "epoll-lt"}, 2);
    bool noise = m->noisy_once && m->rows == 1;
    m->rows++;
    for (int i = 0; i < 2; i++) {
        double served = fmin(rate, m->peak[i]);
        r->panes[i].verdict = noise || m->always_noisy ? VERDICT_NOISY : VERDICT_OK;
        for (int k = 0; k < 3; k++) {
            struct sample *s = rows_sample(r, i, METRIC_requests_per_s, served);
            s->interval_s = 1;
            s->values.v[METRIC_cpu_us_per_request] = 10;
            if (isfinite(rate))
                s->values.v[METRIC_response_p99_us] = rate > m->keeps[i] || noise ? 4130 : 300;
        }
    }
}

/* Runs a search to its end; the rows stay in `rows`. */
static struct find search(struct machine *m, const char *limit, struct rows *rows)
{
    struct expr x;
    struct find f;
    struct lineup l;
    double rate;
    assert_int_equal(expr_parse("x", limit, &x, NULL), 0);
    assert_int_equal(lineup_parse("select,epoll-lt", &l, NULL), 0);
    find_init(&f, &x, &l);
    int most = find_most(&f);
    while (find_next(&f, &rate)) {
        assert_true(m->rows > 0 ? rate > 0 : isinf(rate));
        measure(m, rows, rate);
        find_take(&f, rows->last);
        assert_true(f.rows <= most);
    }
    return f;
}

static void the_bracket_holds_the_rate(void **state)
{
    (void)state;
    static const struct machine machines[] = {
        {.peak = {23000, 84000}, .keeps = {17000, 61500}},
        {.peak = {23000, 84000}, .keeps = {1e9, 1e9}}, /* only what it can serve ends it */
        {.peak = {84000, 84000}, .keeps = {40000, 40000}},
        {.peak = {1.7, 3}, .keeps = {1, 2.2}},
        {.peak = {23000, 84000}, .keeps = {17000, 61500}, .noisy_once = true},
        {.peak = {23000, 84000}, .keeps = {17000, 61500}, .always_noisy = true},
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct machine m = machines[i];
        struct rows rows = {0};
        struct find f = search(&m, "response_p99_us<2000", &rows);
        for (int k = 0; k < 2; k++) {
            /* below 2 % too little is not yet behind */
            double truth = fmin(m.keeps[k], m.peak[k]), wide = f.pane[k].high / f.pane[k].low;
            if (!(f.pane[k].low <= truth * 1.03 && f.pane[k].high >= truth && wide <= 1.06))
                fail_msg("machine %zu, pane %d: %g .. %g for %g", i, k, f.pane[k].low,
                         f.pane[k].high, truth);
        }
        rows_free(&rows);
    }
}

static void alike_models_share_their_rows(void **state)
{
    (void)state;
    struct machine m = {.peak = {84000, 84000}, .keeps = {40000, 40000}};
    struct rows rows = {0};
    search(&m, "response_p99_us<2000", &rows);
    assert_in_range(m.rows, 4, 1 + FIND_ROWS_EACH);
    rows_free(&rows);
}

static void only_the_named_model_is_looked_for(void **state)
{
    (void)state;
    struct machine m = {.peak = {23000, 84000}, .keeps = {17000, 61500}};
    struct rows rows = {0};
    char text[300] = "";
    struct find f = search(&m, "epoll-lt.response_p99_us<2000", &rows);
    assert_in_range(m.rows, 4, 1 + FIND_ROWS_EACH);
    assert_false(find_say(&f, rows.last, 0, text, sizeof text));
    assert_true(find_say(&f, rows.last, 1, text, sizeof text));
    assert_non_null(strstr(text, "epoll-lt keeps response_p99_us<2000 up to "));
    assert_non_null(strstr(text, "/s (300), not at "));
    assert_non_null(strstr(text, "response_p99_us 4130"));
    rows_free(&rows);
}

/* The closed loop, then a rate that fails by noise, then the same rate again, which is kept. */
static void a_second_try_is_told(void **state)
{
    (void)state;
    struct machine m = {.peak = {23000, 84000}, .keeps = {17000, 61500}, .noisy_once = true};
    struct rows rows = {0};
    struct expr x;
    struct find f;
    struct lineup l;
    double rate;
    char text[300] = "";
    expr_parse("x", "response_p99_us<2000", &x, NULL);
    lineup_parse("select,epoll-lt", &l, NULL);
    find_init(&f, &x, &l);
    for (int i = 0; i < 3 && find_next(&f, &rate); i++) {
        measure(&m, &rows, rate);
        find_take(&f, rows.last);
    }
    assert_int_equal(find_row(&f), 3);
    assert_true(find_say(&f, rows.last, 0, text, sizeof text));
    assert_non_null(strstr(text, "/s (300, second try), not at "));
    rows_free(&rows);
}

static void noise_is_told_of_both_ends(void **state)
{
    (void)state;
    struct machine m = {.peak = {84000, 84000}, .keeps = {40000, 40000}, .always_noisy = true};
    struct rows rows = {0};
    char text[300] = "";
    struct find f = search(&m, "response_p99_us<2000", &rows);
    assert_true(find_say(&f, rows.last, 0, text, sizeof text));
    assert_non_null(strstr(text, "/s (300, noisy"));
    assert_non_null(strstr(text, "response_p99_us 4130 (noisy"));
    const struct row *r = rows.first;
    while (r && r->number != find_row(&f))
        r = r->next;
    assert_non_null(r);
    assert_true(r->params.rate == f.pane[0].low);
    rows_free(&rows);
}

static void what_cannot_be_had_is_said(void **state)
{
    (void)state;
    struct machine m = {.peak = {23000, 0}, .keeps = {0, 0}};
    struct rows rows = {0};
    char text[300] = "";
    struct find f = search(&m, "response_p99_us<2000", &rows);
    assert_true(find_say(&f, rows.last, 0, text, sizeof text));
    assert_non_null(strstr(text, "select does not keep response_p99_us<2000 down to"));
    assert_int_equal(find_row(&f), 0);
    assert_true(find_say(&f, rows.last, 1, text, sizeof text));
    assert_non_null(strstr(text, "epoll-lt: nothing found"));
    rows_free(&rows);
}

static int setup(void **state)
{
    (void)state;
    rows_params("transfer"); /* binds the tables */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_are_read),
        cmocka_unit_test(bad_conditions_are_refused),
        cmocka_unit_test(conditions_hold),
        cmocka_unit_test(conditions_are_checked_against_the_plan),
        cmocka_unit_test(found_in_rows),
        cmocka_unit_test(the_bracket_holds_the_rate),
        cmocka_unit_test(alike_models_share_their_rows),
        cmocka_unit_test(only_the_named_model_is_looked_for),
        cmocka_unit_test(a_second_try_is_told),
        cmocka_unit_test(noise_is_told_of_both_ends),
        cmocka_unit_test(what_cannot_be_had_is_said),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
