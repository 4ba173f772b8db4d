/* SPDX-License-Identifier: MIT */
/* Sessions beside sessions, made by hand: what is worse, better, the same, withheld, cannot be
 * told. */
#include "session/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "metrics/random.h"
#include "session/sample_rows.h"

/* A figure of the model in each session, as its three samples; ends with 0. */
struct plant {
    enum metric_id metric;
    double value[SIDES][8];
    enum verdict verdict[SIDES];
};

static const char *const two[] = {"select", "epoll-lt"};

static void give(struct row *row, int pane, enum metric_id m, double v)
{
    struct pane *p = &row->panes[pane];

    for (int i = 0; i < 3; i++) {
        if (p->count < 3)
            rows_sample(row, pane, METRIC_errors, 0);
        p->first->samples[i].values.v[m] = v * (1 + (i - 1) * 0.001);
    }
}

static struct compare_session *add_session(struct comparison *c, int side)
{
    size_t n = (size_t)c->sessions[side] + 1;

    c->session[side] = xrealloc(c->session[side], n, sizeof **c->session);
    struct compare_session *s = &c->session[side][c->sessions[side]++];
    *s = (struct compare_session){.name = "made by hand", .env = rows_environment()};
    return s;
}

/* A row of two models in each session: pane 0 has the plants, pane 1 always the same. */
static void plant(struct comparison *c, const struct plant *all, int count)
{
    struct params p = rows_params("transfer");

    *c = (struct comparison){.spread = NAN};
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; all->value[side][i] > 0; i++) {
            struct row *row = rows_make(&add_session(c, side)->rows, &p, two, 2);

            for (int k = 0; k < count; k++) {
                give(row, 0, all[k].metric, all[k].value[side][i]);
                give(row, 1, all[k].metric, 5 + 0.01 * i);
                if (all[k].verdict[side])
                    row->panes[0].verdict = all[k].verdict[side];
            }
        }
}

static const struct compare_figure *figure_of(const struct comparison *c, const char *model,
                                              enum metric_id m)
{
    for (int i = 0; i < c->figures; i++) {
        const struct compare_row *r = &c->row[c->figure[i].at];
        if (c->figure[i].metric == m && strcmp(r->row->panes[r->pane].model, model) == 0)
            return &c->figure[i];
    }
    return NULL;
}

/* What is said of select's figure. */
static struct compare_figure outcome_of(const struct plant *all, double spread)
{
    struct comparison c;
    struct compare_figure f;

    plant(&c, all, 1);
    c.spread = spread;
    compare_make(&c);
    const struct compare_figure *at = figure_of(&c, "select", all->metric);
    assert_non_null(at);
    f = *at;
    compare_free(&c);
    return f;
}

#define COST METRIC_cpu_us_per_request

static void test_three_a_side(void **state)
{
    static const struct {
        struct plant p;
        enum outcome is;
    } cases[] = {
        {{COST, {{14.3, 14.4, 14.35}, {16.3, 16.4, 16.5}}, {0}}, OUTCOME_DEARER},
        {{COST, {{16.3, 16.4, 16.5}, {14.3, 14.4, 14.35}}, {0}}, OUTCOME_CHEAPER},
        {{COST, {{14.3, 14.4, 14.35}, {14.3, 14.42, 14.36}}, {0}}, OUTCOME_SAME},
        {{COST, {{14.3, 15.9, 13.2}, {16.3, 14.4, 18.5}}, {0}}, OUTCOME_CANNOT_TELL},
        {{METRIC_requests_per_s, {{990, 1000, 1010}, {790, 800, 810}},
          {VERDICT_FULL, VERDICT_FULL}}, OUTCOME_DEARER},
        {{METRIC_requests_per_s, {{990, 1000, 1010}, {790, 800, 810}}, {0}}, OUTCOME_WITHHELD},
        {{COST, {{14.3, 14.4, 14.35}, {16.3, 16.4, 16.5}}, {0, VERDICT_NOISY}}, OUTCOME_WITHHELD},
        {{METRIC_waits_per_request, {{0.5, 0.5, 0.51}, {1, 1, 1.01}}, {0, VERDICT_NOISY}},
         OUTCOME_DEARER},
        {{METRIC_response_p99_us, {{99, 100, 101}, {149, 150, 151}}, {0}}, OUTCOME_DEARER},
        {{METRIC_response_p99_us, {{99, 100, 101}, {149, 150, 151}}, {0, VERDICT_FULL}},
         OUTCOME_WITHHELD},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct compare_figure f = outcome_of(&cases[i].p, NAN);
        if (f.outcome != cases[i].is)
            fail_msg("case %zu: %s, expected %s", i, compare_word(f.outcome),
                     compare_word(cases[i].is));
    }
}

/* By hand: the ratio of geometric means; two figures are judged, select's and epoll's, so each
 * interval is one of 97.5 %. scipy 1.10: Welch's df 2.552, low and high as below. */
static void test_the_figures_of_a_comparison(void **state)
{
    static const struct plant p = {COST, {{14.3, 14.4, 14.35}, {16.3, 16.4, 16.6}}, {0}};
    struct compare_figure f = outcome_of(&p, NAN);

    (void)state;
    assert_near(f.mean[SIDE_A], 14.35, 1e-9);
    assert_near(f.least[SIDE_B], 16.3, 1e-9);
    assert_near(f.most[SIDE_B], 16.6, 1e-9);
    assert_int_equal(f.n[SIDE_A], 3);
    assert_near(f.ratio,
                exp((log(16.3) + log(16.4) + log(16.6) - log(14.3) - log(14.4) - log(14.35)) / 3),
                1e-9);
    assert_near(f.low, 1.1143018380246248, 1e-6);
    assert_near(f.high, 1.1768557303764673, 1e-6);
    assert_string_equal(compare_word(f.outcome), "worse");
}

static void test_a_server_that_ends(void **state)
{
    static const struct plant all = {COST, {{10, 10, 10}, {10, 10, 10}}, {0, VERDICT_DIED}};
    static const struct plant both = {
        COST, {{10, 10, 10}, {10, 10, 10}}, {VERDICT_DIED, VERDICT_DIED}};
    static const struct plant one = {COST, {{10}, {10}}, {0, VERDICT_DIED}};
    static const struct plant *const plants[] = {&all, &both, &one};
    struct comparison c;

    (void)state;
    for (int i = 0; i < 3; i++) {
        plant(&c, plants[i], 1);
        compare_make(&c);
        assert_int_equal(compare_count(&c, OUTCOME_DEARER), i == 0);
        assert_string_equal(c.row[0].verdicts[SIDE_B], "died");
        compare_free(&c);
    }
}

static void test_fewer_name_nothing(void **state)
{
    static const struct plant one = {COST, {{10}, {30}}, {0}},
                              pair = {COST, {{10, 11}, {30, 31}}, {0}};
    static const struct plant three_one = {COST, {{10, 10.1, 10.2}, {30}}, {0}};

    (void)state;
    assert_int_equal(outcome_of(&one, NAN).outcome, OUTCOME_CANNOT_TELL);
    assert_near(outcome_of(&one, NAN).ratio, 3, 1e-9);
    assert_nan(outcome_of(&one, NAN).low);
    assert_int_equal(outcome_of(&pair, NAN).outcome, OUTCOME_CANNOT_TELL);
    assert_int_equal(outcome_of(&three_one, NAN).outcome, OUTCOME_CANNOT_TELL);
}

static void test_a_spread_that_is_given(void **state)
{
    static const struct plant up = {COST, {{10}, {10.8}}, {0}}, down = {COST, {{10.8}, {10}}, {0}};
    static const struct plant noisy = {COST, {{10}, {30}}, {VERDICT_NOISY}};

    (void)state;
    assert_int_equal(outcome_of(&up, 0.05).outcome, OUTCOME_DEARER);
    assert_int_equal(outcome_of(&down, 0.05).outcome, OUTCOME_CHEAPER);
    assert_int_equal(outcome_of(&up, 0.10).outcome, OUTCOME_CANNOT_TELL);
    assert_near(outcome_of(&up, 0.05).low, 1.08 / 1.05, 1e-9);
    assert_int_equal(outcome_of(&noisy, 0.05).outcome, OUTCOME_WITHHELD);
}

static void test_a_call_that_is_new(void **state)
{
    struct plant p = {METRIC_controls_per_request, {{1, 1, 1}, {1, 1, 1}}, {0}};
    struct comparison c;

    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        plant(&c, &p, 1);
        for (int side = 0; side < SIDES; side++)
            for (int i = 0; i < 3; i++)
                give(c.session[side][i].rows.first, 0, p.metric, side == gone ? 0 : 1);
        compare_make(&c);
        assert_int_equal(figure_of(&c, "select", p.metric)->outcome,
                         gone ? OUTCOME_CHEAPER : OUTCOME_DEARER);
        compare_free(&c);
    }
}

/* Three sessions a side, but the row stands in one of B's. */
static void test_a_new_call_in_one_session_names_nothing(void **state)
{
    struct plant p = {METRIC_controls_per_request, {{1, 1, 1}, {1, 1, 1}}, {0}};
    struct comparison c;

    (void)state;
    plant(&c, &p, 1);
    for (int i = 0; i < 3; i++) {
        give(c.session[SIDE_A][i].rows.first, 0, p.metric, 0);
        c.session[SIDE_B][i].rows.first->params.connections += i;
    }
    compare_make(&c);
    assert_int_equal(figure_of(&c, "select", p.metric)->n[SIDE_B], 1);
    assert_int_equal(figure_of(&c, "select", p.metric)->outcome, OUTCOME_CANNOT_TELL);
    assert_int_equal(compare_count(&c, OUTCOME_DEARER), 0);
    compare_free(&c);
}

static void test_rows_match_by_every_parameter(void **state)
{
    struct comparison c = {.spread = NAN};
    struct params p = rows_params("transfer");
    char label[200];

    (void)state;
    for (int side = 0; side < SIDES; side++) {
        struct compare_session *s = add_session(&c, side);
        p.connections = 100;
        give(rows_make(&s->rows, &p, two, 2), 0, COST, 5);
        p.connections = side ? 300 : 200;
        give(rows_make(&s->rows, &p, two, 1), 0, COST, 5);
    }
    compare_make(&c);
    assert_int_equal(c.rows, 4); /* select at 100, 200, 300; epoll-lt at 100 */
    assert_int_equal(compare_common(&c), 2);
    assert_string_equal(compare_label(&c, &c.row[2], label, sizeof label),
                        "transfer select, connections 200");
    assert_int_equal(c.row[2].sessions[SIDE_A], 1);
    assert_int_equal(c.row[2].sessions[SIDE_B], 0);
    compare_free(&c);
}

/* events does nothing in select, so it may differ; what no file knows is no difference. */
static void test_what_a_model_does_not_honour(void **state)
{
    struct comparison c = {.spread = NAN};

    (void)state;
    for (int side = 0; side < SIDES; side++) {
        struct params p = rows_params("transfer");
        p.events = side ? 64 : 256;
        p.timeout = side ? PARAM_UNSET : 30;
        rows_make(&add_session(&c, side)->rows, &p, two, 2);
    }
    compare_make(&c);
    assert_int_equal(compare_common(&c), 1);
    compare_free(&c);
}

static void test_machines(void **state)
{
    static const struct plant p = {COST, {{10, 10, 10}, {10, 10, 10}}, {0}};
    struct comparison c;
    char line[600];

    (void)state;
    plant(&c, &p, 1);
    compare_make(&c);
    assert_false(compare_difference(&c, 0, line, sizeof line));
    snprintf(c.session[SIDE_B][1].env.kernel, 100, "Linux 6.1");
    c.session[SIDE_B][0].env.prices.ns[PRICE_call] =
        c.session[SIDE_B][1].env.prices.ns[PRICE_call] = 2000;
    assert_true(compare_difference(&c, 0, line, sizeof line));
    assert_string_equal(line, "kernel: A Linux 6.18, a kernel; B Linux 6.18, a kernel | Linux 6.1");
    assert_true(compare_difference(&c, 1, line, sizeof line));
    assert_string_equal(line, "prices: call_ns A 971, B 2000 ns");
    assert_false(compare_difference(&c, 2, line, sizeof line));
    compare_free(&c);
}

/* Six sessions of one build, which drift, in every split of three against three. */
static void test_splits_of_one_build(void **state)
{
    static const enum metric_id metrics[] = {COST, METRIC_waits_per_request, METRIC_response_p99_us,
                                             METRIC_looks_per_request};
    uint64_t seed = 3;
    int worse = 0, splits = 0;

    (void)state;
    for (int batch = 0; batch < 40; batch++) {
        struct rows rows[6] = {{0}};
        struct params p = rows_params("transfer");
        for (int i = 0; i < 6; i++) {
            struct row *row = rows_make(&rows[i], &p, two, 2);
            double drift = 0.04 * random_normal(&seed);
            for (int k = 0; k < 8; k++)
                give(row, k % 2, metrics[k / 2], exp(drift + 0.02 * random_normal(&seed)));
        }
        for (unsigned mask = 0; mask < 64; mask++) {
            struct comparison c = {.spread = NAN};
            if (__builtin_popcount(mask) != 3)
                continue;
            for (int i = 0; i < 6; i++)
                add_session(&c, mask >> i & 1)->rows = rows[i];
            compare_make(&c);
            assert_int_equal(c.judged, 8);
            bool any = false;
            for (int i = 0; i < c.figures; i++)
                any |= c.figure[i].outcome == OUTCOME_DEARER;
            worse += any;
            splits++;
            for (int side = 0; side < SIDES; side++)
                for (int i = 0; i < 3; i++)
                    c.session[side][i].rows = (struct rows){0}; /* they are used again */
            compare_free(&c);
        }
        for (int i = 0; i < 6; i++)
            rows_free(&rows[i]);
    }
    assert_int_equal(splits, 800);
    if (worse > splits / 20)
        fail_msg("%d of %d splits of one build name it worse", worse, splits);
}

/* --- files ----------------------------------------------------------------------------------- */

static void save(const char *name, const char *id)
{
    struct rows rows = {0};
    struct environment env = rows_environment();
    struct params p = rows_params("transfer");
    struct err e;
    struct row *row = rows_make(&rows, &p, two, 2);

    give(row, 0, COST, 14);
    give(row, 1, COST, 7);
    assert_int_equal(csv_save(&(struct csv_session){&rows, &env, id}, name, &e), 0);
    rows_free(&rows);
}

static void test_files(void **state)
{
    struct comparison c = {.spread = NAN};
    char folder[SCRATCH_PATH], note[200];
    struct err e;

    (void)state;
    folder_enter(folder);
    save("a.csv", "one");
    save("again.csv", "one");
    save("b.csv", "two");
    file_write("foreign.csv", "x,y\n1,2\n", 8);
    size_t size;
    char *text = file_text("b.csv", &size);
    file_write("cut.csv", text, size - 40);
    free(text);
    assert_int_equal(compare_open(&c, SIDE_A, "a.csv", note, &e), 6);
    assert_string_equal(note, "");
    assert_int_equal(compare_open(&c, SIDE_A, "again.csv", note, &e), 0);
    assert_string_equal(note, "the same session as a.csv: counted once");
    assert_int_equal(compare_open(&c, SIDE_B, "again.csv", note, &e),
                     6); /* beside itself: may be */
    assert_int_equal(compare_open(&c, SIDE_B, "foreign.csv", note, &e), -EBADMSG);
    assert_non_null(strstr(e.text, "foreign.csv"));
    assert_true(compare_open(&c, SIDE_B, "none.csv", note, &e) == -ENOENT);
    assert_true(compare_open(&c, SIDE_B, "a-tables.csv", note, &e) < 0);
    assert_non_null(strstr(e.text, "holds tables"));
    assert_int_equal(compare_open(&c, SIDE_B, "cut.csv", note, &e), 5);
    assert_non_null(strstr(note, "cut"));
    assert_int_equal(c.sessions[SIDE_A], 1);
    assert_int_equal(c.sessions[SIDE_B], 2);
    compare_make(&c);
    assert_int_equal(compare_common(&c), 2);
    compare_free(&c);
    folder_leave(folder);
}

/* What a session kept as "before" is no value of it. */
static void before_is_left_out(void **state)
{
    struct plant all = {COST, {{10}, {10}}, {0}};
    struct comparison c;

    (void)state;
    plant(&c, &all, 1);
    struct rows *rows = &c.session[SIDE_B][0].rows;
    rows->period = 1;
    give(rows_make(rows, &rows->first->params, two, 2), 0, COST, 20);
    compare_make(&c);
    const struct compare_figure *f = figure_of(&c, "select", COST);
    assert_non_null(f);
    assert_near(f->mean[SIDE_B], 20, 0.1);
    compare_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_is_left_out),
        cmocka_unit_test(test_three_a_side),
        cmocka_unit_test(test_the_figures_of_a_comparison),
        cmocka_unit_test(test_a_server_that_ends),
        cmocka_unit_test(test_fewer_name_nothing),
        cmocka_unit_test(test_a_spread_that_is_given),
        cmocka_unit_test(test_a_call_that_is_new),
        cmocka_unit_test(test_a_new_call_in_one_session_names_nothing),
        cmocka_unit_test(test_rows_match_by_every_parameter),
        cmocka_unit_test(test_what_a_model_does_not_honour),
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_splits_of_one_build),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
