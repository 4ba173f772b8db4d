/* SPDX-License-Identifier: MIT */
/* Curves over rows made by hand: which rows stand on one, where two lines meet, what is said of it;
 * and the texts that a picture is made of. */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "session/curves_say.h"
#include "session/plot.h"
#include "session/sample_rows.h"

static const char *const two[] = {"select", "epoll-lt"};
static const struct curves_wish usual = {PARAM_COUNT, METRIC_COUNT, 1, false};

/* Five samples a pane around these costs, the same noise in both: their ratio is exact. */
static struct row *costs(struct rows *r, const struct params *p, double a, double b)
{
    struct row *row = rows_make(r, p, two, 2);
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 2; k++) {
            double v = (k ? b : a) * (1 + (i - 3) * 0.001);
            struct sample *s = rows_sample(row, k, METRIC_cpu_us_per_request, v);
            s->elapsed_s = row->number * 10 + i;
            s->values.v[METRIC_response_p50_us] = 100 * v;
            s->values.v[METRIC_response_p99_us] = 300 * v;
        }
    return row;
}

static struct row *at_rate(struct rows *r, double rate, double a, double b)
{
    struct params p = rows_params("transfer");
    p.rate = rate;
    return costs(r, &p, a, b);
}

/* select falls through epoll's line between 16k and 32k, where it has half of each. */
static struct row *falling(struct rows *r)
{
    static const double rate[] = {64000, 1000, 32000, 4000, 16000, 2000, 8000};
    static const double cost[] = {5, 40, 6, 30, 14, 35, 20};
    struct row *last = NULL;
    for (int i = 0; i < 7; i++)
        last = at_rate(r, rate[i], cost[i], 10);
    return last;
}

static void make(const struct rows *rows, const struct row *like, struct curves *c)
{
    curves_make(rows, like, &usual, c);
}

static const char *said(const struct curves *c, bool log_x)
{
    static char text[400];
    struct meeting m[8];
    struct text t = {text, sizeof text, 0};
    *text = '\0';
    int n = curves_meet(c, (struct curve_logs){log_x, false}, m, 8);
    curves_say_meet(c, m, n, &t);
    return text;
}

static void rows_become_points(void **state)
{
    struct rows rows = {0};
    struct curves c;
    (void)state;
    struct row *like = falling(&rows);
    make(&rows, like, &c);
    assert_int_equal(c.axis, PARAM_rate);
    assert_int_equal(c.figure, METRIC_cpu_us_per_request);
    assert_int_equal(c.count, 7);
    for (int i = 1; i < c.count; i++)
        assert_true(c.at[i - 1].x < c.at[i].x);
    assert_near(c.at[0].line[0].s.mean, 40, 1e-9);
    assert_true(c.at[0].line[0].s.low < 40 && c.at[0].line[0].s.high > 40);
    assert_near(c.at[6].ratio.ratio, 0.5, 1e-9);
    assert_false(c.at[6].withheld);
    assert_true(curves_logs(&c, AXES_USUAL).x && !curves_logs(&c, AXES_USUAL).y);
    assert_near(curves_place(&c, true, 8000), 0.5, 1e-9);
    assert_near(curves_place(&c, false, 32500), 0.5, 1e-9);
    curves_free(&c);
    like->panes[0].verdict = VERDICT_NOISY;
    make(&rows, like, &c);
    assert_true(c.at[3].withheld); /* 8k, the last row made */
    curves_free(&c);
    rows_free(&rows);
}

static void lines_meet_where_one_sees_it(void **state)
{
    struct rows rows = {0};
    struct meeting m[4];
    struct curves c;
    (void)state;
    make(&rows, falling(&rows), &c);
    assert_int_equal(curves_meet(&c, (struct curve_logs){true, false}, m, 4), 1);
    assert_int_equal(m[0].kind, MEETS_CROSS);
    assert_near(m[0].x, 16000 * sqrt(2), 1);
    assert_near(m[0].y, 10, 1e-9);
    assert_int_equal(curves_meet(&c, (struct curve_logs){false, false}, m, 4), 1);
    assert_near(m[0].x, 24000, 1e-6);
    assert_int_equal(curves_meet(&c, (struct curve_logs){true, true}, m, 4), 1);
    /* 14 / 10 is less than 10 / 6 */
    assert_true(m[0].x > 16000 && m[0].x < 16000 * sqrt(2));
    assert_string_equal(said(&c, true), "They meet near 23k/s");
    assert_string_equal(said(&c, false), "They meet near 24k/s");
    curves_free(&c);
    rows_free(&rows);
}

/* What may not rank is drawn, and said to be no result. */
static void withheld_and_too_few(void **state)
{
    struct rows rows = {0};
    struct curves c;
    (void)state;
    struct row *like = falling(&rows);
    like->panes[0].verdict = VERDICT_NOISY;
    make(&rows, like, &c);
    assert_string_equal(said(&c, true), "They meet near 23k/s (withheld at 1 of 7 points)");
    curves_free(&c);
    rows_free(&rows);
    for (int i = 1; i <= 2; i++) {
        struct params p = rows_params("transfer");
        p.connections = i;
        like = rows_make(&rows, &p, two, 2);
        rows_sample(like, 0, METRIC_cpu_us_per_request, 90);
        rows_sample(like, 1, METRIC_cpu_us_per_request, 9);
    }
    make(&rows, like, &c);
    assert_string_equal(said(&c, false), "Too few samples a point to tell where they meet");
    curves_free(&c);
    rows_free(&rows);
}

static void lines_that_do_not_meet(void **state)
{
    struct rows rows = {0};
    struct curves c;
    (void)state;
    at_rate(&rows, 1000, 40, 10);
    make(&rows, at_rate(&rows, 64000, 30, 10), &c);
    assert_string_equal(said(&c, true),
                        "No crossing between 1k/s and 64k/s: A select is above throughout");
    curves_free(&c);
    rows_free(&rows);
    at_rate(&rows, 1000, 10, 10);
    make(&rows, at_rate(&rows, 64000, 10, 10), &c);
    assert_string_equal(said(&c, true), "No difference can be told between 1k/s and 64k/s");
    curves_free(&c);
    rows_free(&rows);
}

/* A difference that goes away is no crossing: the scatter would decide where. */
static void lines_join_and_part(void **state)
{
    struct rows rows = {0};
    struct curves c;
    (void)state;
    at_rate(&rows, 1000, 40, 10);
    at_rate(&rows, 4000, 20, 10);
    at_rate(&rows, 16000, 10, 10);
    make(&rows, at_rate(&rows, 64000, 9, 9), &c);
    assert_string_equal(said(&c, true), "From 16k/s on they are the same");
    curves_free(&c);
    rows_free(&rows);
    at_rate(&rows, 1000, 10, 10);
    at_rate(&rows, 4000, 11, 10);
    make(&rows, at_rate(&rows, 16000, 12, 10), &c);
    assert_string_equal(said(&c, true), "At 1k/s they are the same");
    curves_free(&c);
    rows_free(&rows);
}

/* 0 on a logarithmic axis and "max" are no numbers that could be interpolated to. */
static void what_is_no_number_has_a_place_of_its_own(void **state)
{
    struct rows rows = {0};
    struct meeting m[4];
    struct curves c;
    (void)state;
    at_rate(&rows, 1000, 40, 10);
    at_rate(&rows, 64000, 20, 10);
    make(&rows, at_rate(&rows, PARAM_MAX, 8, 10), &c);
    assert_near(curves_place(&c, true, PARAM_MAX), 1, 1e-12);
    assert_true(curves_place(&c, true, 64000) < 0.95);
    assert_string_equal(said(&c, true), "They meet between 64k/s and max");
    assert_int_equal(curves_meet(&c, (struct curve_logs){true, false}, m, 4), 1);
    assert_true(isnan(m[0].x) && m[0].place > curves_place(&c, true, 64000) && m[0].place < 1);
    curves_free(&c);
    rows_free(&rows);
    static const double idle[] = {0, 10, 1000};
    struct params p = rows_params("idle-mix");
    struct row *last = NULL;
    for (int i = 0; i < 3; i++) {
        p.idle = idle[i];
        last = costs(&rows, &p, 8 + i, 8);
    }
    struct curves_wish cost = {PARAM_idle, METRIC_cpu_us_per_request, 1, false};
    curves_make(&rows, last, &cost, &c);
    assert_near(curves_place(&c, true, 0), 0, 1e-12);
    assert_true(curves_place(&c, true, 10) > 0.05);
    curves_free(&c);
    rows_free(&rows);
}

static void only_the_axis_differs(void **state)
{
    struct rows rows = {0};
    struct curves c;
    enum param_id axes[4];
    (void)state;
    struct params p = rows_params("transfer");
    for (int i = 1; i <= 4; i++) {
        p.connections = 100 * i;
        costs(&rows, &p, 10 * i, 10);
    }
    p.samples = 99; /* how long it was measured makes no other curve, and the newest row counts */
    struct row *like = costs(&rows, &p, 44, 10);
    p.rate = 2000;
    costs(&rows, &p, 77, 10);
    p.size = 64;
    costs(&rows, &p, 99, 10);
    make(&rows, like, &c);
    assert_int_equal(c.axis, PARAM_connections);
    assert_int_equal(c.count, 4);
    assert_near(c.at[3].line[0].s.mean, 44, 1e-9);
    curves_free(&c);
    assert_int_equal(curves_axes(&rows, like, axes, 4), 2);
    assert_int_equal(axes[0], PARAM_connections);
    assert_int_equal(axes[1], PARAM_rate);
    curves_make(&rows, like, &(struct curves_wish){PARAM_rate, METRIC_COUNT, 1, false}, &c);
    assert_int_equal(c.count, 2);
    assert_near(c.at[0].line[0].s.mean, 77, 1e-9);
    curves_free(&c);
    /* The last row has one neighbour, on an axis of its own; one with none is stood for. */
    p.connections = 7777;
    p.backlog = 1;
    struct row *alone = costs(&rows, &p, 1, 1);
    assert_int_equal(curves_axes(&rows, alone, axes, 4), 0);
    assert_ptr_not_equal(curves_row(&rows, alone), alone);
    for (int i = 0; i < 20; i++) /* the newest that has one, whatever was asked for again since */
        costs(&rows, &p, 1, 1);
    const struct row *meant = curves_row(&rows, rows.last);
    assert_int_equal(curves_axes(&rows, meant, axes, 4) > 0, 1);
    for (const struct row *r = meant->next; r; r = r->next)
        assert_int_equal(curves_axes(&rows, r, axes, 4), 0);
    rows_free(&rows);
}

/* The buffer of stream is as long as a message unless somebody said otherwise. */
static void what_follows_the_axis_is_no_difference(void **state)
{
    struct rows rows = {0};
    struct curves c;
    struct row *last = NULL;
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct params p = rows_params("stream");
        p.size = 100 << i;
        p.buffer = p.size;
        last = costs(&rows, &p, 5, 4);
    }
    make(&rows, last, &c);
    assert_int_equal(c.axis, PARAM_size);
    assert_int_equal(c.count, 3);
    curves_free(&c);
    rows_free(&rows);
}

/* From a file, too. */
static void comes_back(const struct rows *rows)
{
    struct environment env = rows_environment(), read;
    struct csv_session s = {rows, &env, "id"};
    struct rows back = {0};
    struct err e;
    char folder[SCRATCH_PATH], note[200];
    folder_enter(folder);
    assert_int_equal(csv_save(&s, "a.csv", &e), 0);
    assert_true(csv_open("a.csv", &back, &read, note, &e) > 0);
    assert_int_equal(back.first->period, 0);
    assert_int_equal(back.last->period, 1);
    assert_int_equal(back.period, 1);
    assert_non_null(curves_before(&back, back.last));
    rows_free(&back);
    folder_leave(folder);
}

static void before_stands_apart(void **state)
{
    struct rows rows = {0};
    struct curves c;
    (void)state;
    falling(&rows);
    assert_null(curves_before(&rows, rows.last));
    rows.period = 1;
    at_rate(&rows, 1000, 30, 10);
    struct row *like = at_rate(&rows, 2000, 30, 10);
    make(&rows, like, &c);
    assert_int_equal(c.count, 2);
    curves_free(&c);
    const struct row *was = curves_before(&rows, like);
    assert_non_null(was);
    make(&rows, was, &c);
    assert_int_equal(c.count, 7);
    curves_free(&c);
    assert_false(row_in_table(was, like));
    comes_back(&rows);
    rows_free(&rows);
}

/* --- pictures --------------------------------------------------------------------------------- */

static void texts_of_a_picture(void **state)
{
    struct rows rows = {0};
    struct plot_text t;
    struct err e;
    (void)state;
    struct row *like = falling(&rows);
    struct plot_wish w = {PLOT_CURVES, like, usual, AXES_USUAL};
    assert_int_equal(plot_make(&rows, &w, &t, &e), 0);
    assert_non_null(strstr(t.data, "x \"A select\" low high\n 1000 "));
    assert_non_null(strstr(t.head, "log_x = 1\n"));
    assert_non_null(strstr(t.data, "x \"they meet\" low high\n 22627."));
    assert_non_null(strstr(t.head, "note_text = 'They meet near 23k/s'\n"));
    assert_non_null(strstr(t.head, "'64k' 64000"));
    plot_text_free(&t);
    w.kind = PLOT_TIME;
    assert_int_equal(plot_make(&rows, &w, &t, &e), 0);
    assert_non_null(strstr(t.data, "x \"row\"\n 10 \"64k/s\"\n"));
    plot_text_free(&t);
    w.kind = PLOT_LATENCY;
    assert_int_equal(plot_make(&rows, &w, &t, &e), 0);
    assert_non_null(strstr(t.head, "from when it was due"));
    assert_non_null(strstr(t.data, " NaN NaN NaN\n")); /* p90 was not measured */
    plot_text_free(&t);
    rows_free(&rows);
}

static void what_cannot_be_drawn_says_why(void **state)
{
    struct rows rows = {0};
    struct plot_text t;
    struct err e;
    (void)state;
    struct plot_wish w = {PLOT_CURVES, at_rate(&rows, 1000, 1, 1), usual, AXES_USUAL};
    assert_int_equal(plot_make(&rows, &w, &t, &e), -ENODATA);
    assert_non_null(strstr(e.text, "nothing was varied"));
    struct params p = rows_params("transfer");
    p.rate = 4000;
    w.row = rows_make(&rows, &p, two, 2);
    w.kind = PLOT_LATENCY;
    assert_int_equal(plot_make(&rows, &w, &t, &e), -ENODATA);
    w.kind = PLOT_TIME;
    w.curves.figure = METRIC_exchange_s;
    assert_int_equal(plot_make(&rows, &w, &t, &e), -ENODATA);
    assert_non_null(strstr(e.text, "exchange_s"));
    rows_free(&rows);
}

/* What a file calls its models is text and nothing else. */
static void names_end_no_string(void **state)
{
    struct rows rows = {0};
    struct plot_text t;
    struct err e;
    (void)state;
    struct params p = rows_params("transfer");
    struct row *row = NULL;
    for (int i = 1; i < 3; i++) {
        p.connections = i;
        row = rows_make(&rows, &p, (const char *const[]){"';system 'x';\"\n`y`\\z", "poll"}, 2);
        rows_sample(row, 0, METRIC_cpu_us_per_request, i);
        rows_sample(row, 1, METRIC_cpu_us_per_request, i);
    }
    struct plot_wish w = {PLOT_CURVES, row, usual, AXES_USUAL};
    assert_int_equal(plot_make(&rows, &w, &t, &e), 0);
    assert_non_null(strstr(t.data, "x \"A ';system 'x';'  y  z\" low high\n"));
    assert_null(strchr(t.head, '`'));
    for (const char *line = t.head; *line; line = strchr(line, '\n') + 1) {
        int quotes = 0;
        for (const char *at = line; *at != '\n'; at++)
            quotes += *at == '\'';
        assert_int_equal(quotes % 2, 0);
    }
    plot_text_free(&t);
    rows_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_become_points),
        cmocka_unit_test(lines_meet_where_one_sees_it),
        cmocka_unit_test(withheld_and_too_few),
        cmocka_unit_test(lines_that_do_not_meet),
        cmocka_unit_test(lines_join_and_part),
        cmocka_unit_test(what_is_no_number_has_a_place_of_its_own),
        cmocka_unit_test(only_the_axis_differs),
        cmocka_unit_test(what_follows_the_axis_is_no_difference),
        cmocka_unit_test(before_stands_apart),
        cmocka_unit_test(texts_of_a_picture),
        cmocka_unit_test(what_cannot_be_drawn_says_why),
        cmocka_unit_test(names_end_no_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
