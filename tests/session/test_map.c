/* SPDX-License-Identifier: MIT */
/* The map: in which order its places come, which rows they are taken from, how they are marked,
 * which of them are looked at again, and what it says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "session/map.h"
#include "session/plan.h"
#include "session/sample_rows.h"

static const struct reach_limits machine = {.nofile = 20000, .ports = 28232};

static struct plan_row want(const char *models)
{
    struct plan_row row = {.params = rows_params("transfer")};
    struct err e;
    if (lineup_parse(models, &row.lineup, &e) < 0)
        fail_msg("%s", e.text);
    return row;
}

static struct map_axes axes(const char *connections, const char *rates)
{
    struct map_axes a = {.has_at = false};
    struct err e;
    if (axis_parse(PARAM_connections, connections, &a.connections, &e) < 0 ||
        axis_parse(PARAM_rate, rates, &a.rate, &e) < 0)
        fail_msg("%s", e.text);
    return a;
}

static struct map made(const struct plan_row *w, const struct map_axes *a, const struct rows *rows)
{
    struct map m;
    map_make(&(struct map_ask){w, a, 1, METRIC_cpu_us_per_request, &machine}, rows, &m);
    return m;
}

/* A place's row: its rounds cost so much, and use so much of a CPU. */
static struct row *place(struct rows *rows, const struct plan_row *w, double c, double rate,
                         const double us[2])
{
    struct params p = w->params;
    const char *models[] = {w->lineup.models[0]->id, w->lineup.models[1]->id};
    p.connections = c;
    p.rate = rate;
    p.samples = 1;
    p.warmup = p.trim = 0;
    struct row *r = rows_make(rows, &p, models, 2);
    for (int i = 0; i < 2; i++) {
        struct sample *s = rows_sample(r, i, METRIC_cpu_us_per_request, us[i]);
        s->values.v[METRIC_server_cpu_pct] = fmin(100, us[i] * rate / 1e4);
        s->values.v[METRIC_load_spare_pct] = 50;
        r->panes[i].verdict = VERDICT_TOO_FEW;
    }
    return r;
}

static void round_again(struct row *r, double a, double b)
{
    rows_sample(r, 0, METRIC_cpu_us_per_request, a);
    rows_sample(r, 1, METRIC_cpu_us_per_request, b);
}

/* --- order ------------------------------------------------------------------------------------ */

static void corners_come_first_then_halves(void **state)
{
    (void)state;
    struct plan_row w = want("poll,epoll-lt");
    struct map_axes a = axes("1,2,3,4,5", "10,20,30,40,50");
    struct rows rows = {0};
    struct map m = made(&w, &a, &rows);
    struct plan p;
    static const double first[][2] = {{1, 10}, {1, 50}, {5, 10}, {5, 50},
                                      {1, 30}, {3, 10}, {3, 30}, {3, 50}, {5, 30}};
    map_plan(&m, &p);
    assert_int_equal(p.count, 25);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        assert_true(p.rows[i].params.connections == first[i][0]);
        assert_true(p.rows[i].params.rate == first[i][1]);
    }
    for (int i = 0; i < 25; i++) { /* each once, and all alike */
        const struct params *q = &p.rows[i].params;
        for (int k = 0; k < i; k++)
            assert_false(p.rows[k].params.connections == q->connections &&
                         p.rows[k].params.rate == q->rate);
        assert_true(row_asks_one(q) && q->trim == 0 && q->turn == 0.25);
    }
    assert_true(p.more == map_refine);
    plan_free(&p);
    map_free(&m);
}

static void the_usual_map_takes_about_a_minute(void **state)
{
    (void)state;
    struct plan_row w = want("poll,epoll-lt");
    struct map_axes a;
    struct rows rows = {0};
    struct plan p;
    map_axes_of(NULL, &a);
    struct map m = made(&w, &a, &rows);
    map_plan(&m, &p);
    assert_int_equal(p.count, 49);
    assert_true(p.seconds > 45 && p.seconds < 85);
    plan_free(&p);
    map_free(&m);

    struct err e; /* the same places as a plan */
    struct map_axes b;
    assert_int_equal(plan_from_file("map", NULL, &p, &e), 0);
    map_axes_of(&p, &b);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(row_asks_one(&p.rows[0].params) && p.more == map_refine);
    plan_free(&p);
}

static void what_cannot_be_is_not_tried(void **state)
{
    (void)state;
    struct plan_row w = want("select,epoll-lt");
    struct map_axes a = axes("10,1000,1024,30000", "1k,max");
    struct rows rows = {0};
    struct map m = made(&w, &a, &rows);
    struct plan p;
    char text[200];
    map_plan(&m, &p);
    assert_int_equal(p.count, 4);
    assert_int_equal(map_cell(&m, 1, 0)->kind, MAP_NOTHING);
    assert_int_equal(map_cell(&m, 2, 0)->kind, MAP_CANNOT);
    map_say(&m, map_cell(&m, 2, 0), text, sizeof text);
    assert_string_equal(text, "1.024k connections at 1k/s: cannot be: A select takes descriptors "
                              "below 1024 only");
    assert_non_null(strstr(map_cell(&m, 3, 1)->reason, "at most 19936 connections"));
    plan_free(&p);
    map_free(&m);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void a_place_is_the_row_with_most_rounds(void **state)
{
    (void)state;
    struct plan_row w = want("poll,epoll-lt");
    struct map_axes a = axes("10,100", "1k,2k");
    struct rows rows = {0};
    struct row *one = place(&rows, &w, 100, 2000, (double[]){30, 15});
    struct map m = made(&w, &a, &rows);
    struct plan p;
    const struct map_cell *c = map_cell(&m, 1, 1);
    assert_int_equal(c->kind, MAP_FIGURE);
    assert_int_equal(c->rounds, 1);
    assert_near(c->times, 2, 1e-9);
    assert_true(isnan(c->ratio.low));
    assert_false(c->doubt);
    map_plan(&m, &p);
    assert_int_equal(p.count, 3); /* it is not measured again */
    plan_free(&p);
    map_free(&m);

    struct params live = w.params; /* looked at live: more rounds, and a better figure */
    live.connections = 100;
    live.rate = 2000;
    struct row *r = rows_make(&rows, &live, (const char *const[]){"poll", "epoll-lt"}, 2);
    for (int i = 0; i < 5; i++)
        round_again(r, 40, 10);
    m = made(&w, &a, &rows);
    assert_true(map_cell(&m, 1, 1)->row == r);
    assert_near(map_cell(&m, 1, 1)->times, 4, 1e-9);
    map_free(&m);

    assert_false(row_in_table(one, r)); /* a table of figures is not mixed with single rounds */
    r->params.size = 9;                 /* another question */
    m = made(&w, &a, &rows);
    assert_true(map_cell(&m, 1, 1)->row == one);
    map_free(&m);
    rows.period = 1; /* what was kept as "before" is none of it */
    m = made(&w, &a, &rows);
    assert_int_equal(map_cell(&m, 1, 1)->kind, MAP_NOTHING);
    map_free(&m);
    rows_free(&rows);
}

static void what_limits_a_place_is_said(void **state)
{
    (void)state;
    struct plan_row w = want("poll,epoll-lt");
    struct map_axes a = axes("10,100", "1k,80k");
    struct rows rows = {0};
    char text[300];
    place(&rows, &w, 10, 80000, (double[]){30, 10});
    struct row *r = place(&rows, &w, 100, 1000, (double[]){30, 15});
    r->panes[0].verdict = VERDICT_NOISY;
    snprintf(r->panes[0].reason, sizeof r->panes[0].reason, "others took 9 %%");
    r = place(&rows, &w, 100, 80000, (double[]){30, 15});
    r->panes[1].verdict = VERDICT_ERRORS;
    snprintf(r->panes[1].reason, sizeof r->panes[1].reason, "7 errors: 7 reset");
    struct map m = made(&w, &a, &rows);

    const struct map_cell *c = map_cell(&m, 0, 1);
    assert_true(c->kind == MAP_FIGURE && c->full[0] && !c->full[1] && !c->doubt);
    map_say(&m, c, text, sizeof text);
    assert_string_equal(text, "10 connections at 80k/s: A 30.0 µs, 100 % CPU (full); B 10.0 "
                              "µs, 80 % CPU: 3.0 times (1 round)");
    c = map_cell(&m, 1, 0);
    assert_true(c->kind == MAP_FIGURE && c->doubt);
    map_say(&m, c, text, sizeof text);
    assert_non_null(strstr(text, "not to be relied on: A is noisy, others took 9 %"));
    c = map_cell(&m, 1, 1);
    assert_int_equal(c->kind, MAP_FAILED);
    map_say(&m, c, text, sizeof text);
    assert_string_equal(text, "100 connections at 80k/s: B epoll-lt: 7 errors: 7 reset");
    map_free(&m);
    rows_free(&rows);
}

static void a_share_does_not_rank_where_one_is_full(void **state)
{
    (void)state;
    struct plan_row w = want("poll,epoll-lt");
    struct map_axes a = axes("10,20", "1k,80k");
    struct rows rows = {0};
    struct map m;
    place(&rows, &w, 10, 80000, (double[]){30, 10});
    place(&rows, &w, 10, 1000, (double[]){30, 10});
    map_make(&(struct map_ask){&w, &a, 1, METRIC_server_cpu_pct, &machine}, &rows, &m);
    assert_true(map_cell(&m, 0, 1)->doubt);
    assert_false(map_cell(&m, 0, 0)->doubt);
    map_free(&m);
    rows_free(&rows);
}

static void there_is_no_map_of_one_model(void **state)
{
    (void)state;
    struct plan_row w = want("poll");
    assert_non_null(strstr(map_refused(&w), "a adds a pane"));
    w = want("poll,epoll-lt");
    assert_string_equal(map_refused(&w), "");
    w.params = rows_params("connect");
    assert_non_null(strstr(map_refused(&w), "w picks transfer"));
    w.params = rows_params("ramp");
    assert_true(*map_refused(&w));
}

/* --- marks ------------------------------------------------------------------------------------ */

static void classes_go_both_ways(void **state)
{
    (void)state;
    static const struct {
        double times;
        int class;
        const char *mark;
    } all[] = {{1, 0, "= "},      {1.05, 0, "= "},   {1 / 1.05, 0, "= "}, {1.06, 1, "░░"},
               {1.5, 1, "░░"},    {1.51, 2, "▒▒"},   {3, 2, "▒▒"},        {3.1, 3, "▓▓"},
               {8, 3, "▓▓"},      {8.1, 4, "██"},    {1e6, 4, "██"},      {1 / 1.06, -1, "A░"},
               {1 / 2.0, -2, "A▒"}, {1 / 9.0, -4, "A█"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct map_cell c = {.kind = MAP_FIGURE, .times = all[i].times};
        char buf[16];
        assert_int_equal(map_class(all[i].times), all[i].class);
        assert_string_equal(map_mark(&c, false, buf, sizeof buf), all[i].mark);
        map_mark(&c, true, buf, sizeof buf);
        assert_true(strlen(buf) == 2 && (unsigned char)buf[0] < 0x80);
    }
    /* In letters too each class has a sign of its own. */
    static const double one_each[] = {1, 1.2, 2, 5, 20};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++) {
            struct map_cell x = {.kind = MAP_FIGURE, .times = one_each[i]};
            struct map_cell y = {.kind = MAP_FIGURE, .times = one_each[k]};
            char a[16], b[16];
            assert_string_not_equal(map_mark(&x, true, a, sizeof a),
                                    map_mark(&y, true, b, sizeof b));
        }
}

static void more_requests_are_better_not_dearer(void **state)
{
    (void)state;
    struct plan_row w = want("poll,epoll-lt");
    struct map_axes a = axes("10,20", "1k,2k");
    struct rows rows = {0};
    struct map m;
    struct row *r = place(&rows, &w, 10, 1000, (double[]){1, 1});
    for (int i = 0; i < 2; i++) /* A serves half of what B does */
        r->panes[i].first->samples[0].values.v[METRIC_requests_per_s] = 500 + 500 * i;
    map_make(&(struct map_ask){&w, &a, 1, METRIC_requests_per_s, &machine}, &rows, &m);
    assert_near(map_cell(&m, 0, 0)->times, 2, 1e-9);
    map_free(&m);
    rows_free(&rows);
}

/* --- more rounds ------------------------------------------------------------------------------ */

static void the_nearest_to_the_border_come_first(void **state)
{
    (void)state;
    struct plan_row w = want("poll,epoll-lt");
    struct map_axes a = axes("10,20,30,40", "1k,2k");
    struct rows rows = {0};
    place(&rows, &w, 10, 1000, (double[]){20, 10});   /* far */
    place(&rows, &w, 20, 1000, (double[]){12, 10});   /* close */
    place(&rows, &w, 30, 1000, (double[]){10, 10.6}); /* closer, the other way round */
    place(&rows, &w, 40, 1000, (double[]){10, 10});
    struct row *done = place(&rows, &w, 40, 2000, (double[]){10, 10.5}); /* decided */
    round_again(done, 10.001, 10.5);
    round_again(done, 9.999, 10.5);
    struct map m = made(&w, &a, &rows);
    struct plan p;
    map_plan_more(&m, NULL, &p);
    assert_int_equal(p.count, 3);
    assert_true(p.rows[0].params.connections == 30);
    assert_true(p.rows[1].params.connections == 40 && p.rows[1].params.rate == 1000);
    assert_true(p.rows[2].params.connections == 20);
    assert_int_equal(p.rows[0].had, 1);
    assert_int_equal(p.rows[0].rounds, 3);
    assert_near(p.seconds, 3 * 2.1, 0.1); /* only the rounds that are added */
    plan_free(&p);

    map_plan_more(&m, map_cell(&m, 0, 0), &p); /* the place in focus before all others */
    assert_int_equal(p.count, 4);
    assert_true(p.rows[0].params.connections == 10);
    plan_free(&p);
    map_free(&m);
    rows_free(&rows);
}

static void refining_is_bounded_in_time(void **state)
{
    (void)state;
    struct plan_row w = want("poll,epoll-lt");
    struct map_axes a = axes("1..20:1", "1k,2k");
    struct rows rows = {0};
    struct plan p;
    struct map m = made(&w, &a, &rows);
    map_plan(&m, &p);
    int before = p.count;
    for (int i = 0; i < before; i++)
        place(&rows, &w, p.rows[i].params.connections, p.rows[i].params.rate,
              (double[]){10 + i * 0.01, 10});
    map_refine(&rows, &p);
    double seconds = 0;
    for (int i = before; i < p.count; i++) {
        seconds += plan_row_seconds(&p.rows[i]);
        assert_int_equal(p.rows[i].rounds, 3);
    }
    assert_true(p.count > before && seconds <= 12);
    plan_free(&p);
    map_free(&m);
    rows_free(&rows);
}

/* --- words ------------------------------------------------------------------------------------ */

static void answer_is(struct rows *rows, const struct map_axes *a, const char *expected)
{
    struct plan_row w = want("poll,epoll-lt");
    struct map m = made(&w, a, rows);
    char text[600];
    map_answer(&m, text, sizeof text);
    if (strcmp(text, expected) != 0)
        fail_msg("\n%s\nin place of\n%s", text, expected);
    map_free(&m);
}

/* A model that walks its connections, one that does not, and rates at which both are full. */
static void a_law(struct rows *rows, const struct map_axes *a)
{
    struct plan_row w = want("poll,epoll-lt");
    for (int x = 0; x < a->connections.count; x++)
        for (int y = 0; y < a->rate.count; y++) {
            double n = a->connections.values[x], rate = a->rate.values[y];
            double dear = rate >= 80000 ? 14 : 14 + 0.15 * n;
            place(rows, &w, n, rate, (double[]){dear, 14});
        }
}

static void says_up_to_where_and_where_it_counts(void **state)
{
    (void)state;
    struct map_axes a = axes("10,30,100,300,1000", "500,5k,80k");
    struct rows rows = {0};
    answer_is(&rows, &a, "");
    a_law(&rows, &a);
    answer_is(&rows, &a,
              "up to 30 connections: at most 1.3 times. 1k connections at 5k/s: poll 12 times, 82 "
              "% of a CPU against 7. At 80k/s both are full: no difference.");
    rows_free(&rows);
}

static void says_that_there_is_no_difference(void **state)
{
    (void)state;
    struct map_axes a = axes("10,30", "500,5k");
    struct plan_row w = want("poll,epoll-lt");
    struct rows rows = {0};
    for (int i = 0; i < 4; i++)
        place(&rows, &w, a.connections.values[i % 2], a.rate.values[i / 2], (double[]){10, 10.2});
    answer_is(&rows, &a, "no difference at 4 places measured.");
    rows_free(&rows);
}

static void says_where_it_is_the_other_way_round(void **state)
{
    (void)state;
    struct map_axes a = axes("10,1000", "500,5k");
    struct plan_row w = want("poll,epoll-lt");
    struct rows rows = {0};
    place(&rows, &w, 10, 500, (double[]){10, 14});
    place(&rows, &w, 10, 5000, (double[]){10, 12});
    place(&rows, &w, 1000, 500, (double[]){100, 10});
    place(&rows, &w, 1000, 5000, (double[]){100, 10});
    answer_is(&rows, &a,
              "up to 10 connections: at most 1.4 times. 1k connections at 5k/s: poll 10 times, 50 "
              "% of a CPU against 5. A is the better one at 2 of 4 places, by up to 1.4 times.");
    rows_free(&rows);
}

static void says_what_it_is_at_ones_own_place(void **state)
{
    (void)state;
    struct map_axes a = axes("10,1000", "500,5k");
    struct plan_row w = want("poll,epoll-lt");
    struct rows rows = {0};
    struct plan p;
    struct err e;
    assert_int_equal(map_at_parse("300,2k", &a, &e), 0);
    struct map m = made(&w, &a, &rows);
    map_plan(&m, &p);
    assert_int_equal(p.count, 5); /* it comes first */
    assert_true(p.rows[0].params.connections == 300 && p.rows[0].params.rate == 2000);
    plan_free(&p);
    map_free(&m);
    place(&rows, &w, 10, 500, (double[]){14, 10});
    answer_is(&rows, &a, "Yours, 300 connections at 2k/s: not measured yet. Nowhere more than 1.4 "
                         "times.");
    place(&rows, &w, 300, 2000, (double[]){60, 15});
    answer_is(&rows, &a, "Yours, 300 connections at 2k/s: poll 4.0 times, 12 % of a CPU against 3. "
                         "Nowhere more than 1.4 times.");
    rows_free(&rows);
}

static void a_bad_place_is_refused_in_one_line(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"3000", "CONNECTIONS,RATE"}, {"", "CONNECTIONS,RATE"},
                                         {"1,2,3", "CONNECTIONS,RATE"}, {"x,8k", "connections x"},
                                         {"0,8k", "connections 0"},     {"3000,-1", "rate -1"},
                                         {"3000,", "rate"}};
    struct map_axes a = {.has_at = false};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {""};
        assert_int_equal(map_at_parse(bad[i][0], &a, &e), -EINVAL);
        assert_memory_equal(e.text, "--at ", 5);
        assert_null(strchr(e.text, '\n'));
        if (!strstr(e.text, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], e.text);
        assert_false(a.has_at);
    }
    struct err e;
    assert_int_equal(map_at_parse("3000,max", &a, &e), 0);
    assert_true(a.has_at && a.at[0] == 3000 && a.at[1] == PARAM_MAX);
    struct plan p = {.axis = {PARAM_connections, PARAM_COUNT}};
    assert_int_equal(map_plan_at(&p, &a, &e), -EINVAL);
    assert_non_null(strstr(e.text, "--plan map"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_come_first_then_halves),
        cmocka_unit_test(the_usual_map_takes_about_a_minute),
        cmocka_unit_test(what_cannot_be_is_not_tried),
        cmocka_unit_test(a_place_is_the_row_with_most_rounds),
        cmocka_unit_test(what_limits_a_place_is_said),
        cmocka_unit_test(a_share_does_not_rank_where_one_is_full),
        cmocka_unit_test(there_is_no_map_of_one_model),
        cmocka_unit_test(classes_go_both_ways),
        cmocka_unit_test(more_requests_are_better_not_dearer),
        cmocka_unit_test(the_nearest_to_the_border_come_first),
        cmocka_unit_test(refining_is_bounded_in_time),
        cmocka_unit_test(says_up_to_where_and_where_it_counts),
        cmocka_unit_test(says_that_there_is_no_difference),
        cmocka_unit_test(says_where_it_is_the_other_way_round),
        cmocka_unit_test(says_what_it_is_at_ones_own_place),
        cmocka_unit_test(a_bad_place_is_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
