/* SPDX-License-Identifier: MIT */
/* Scales that do not jump about, gaps for what was not measured, a foot for a measured 0, and the
 * same picture however it came about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ui/graph.h"

static char text[4096];

static const char *graph_text(struct graph *g, int w, int h)
{
    struct canvas *c = canvas_new(w, h);
    g->r = (struct rect){0, 0, w, h};
    graph_draw(c, g);
    char *at = text;
    for (int y = 0; y < h; y++) {
        canvas_line(c, y, at, 512);
        at += strlen(at);
        *at++ = '\n';
    }
    *at = '\0';
    canvas_free(c);
    return text;
}

static void scales_are_round(void **state)
{
    (void)state;
    const double cpu[] = {83, 12, NAN}, over[] = {396}, tiny[] = {0.0031}, none[] = {NAN, NAN};
    assert_true(scale_for(cpu, 3, 100, false).high == 100);
    assert_true(scale_for(over, 1, 100, false).high == 400); /* four busy threads */
    assert_true(fabs(scale_for(tiny, 1, 0, false).high - 0.004) < 1e-12);
    assert_true(scale_for(none, 2, 0, false).high > 0);
    assert_true(scale_for(none, 0, 0, true).high > scale_for(none, 0, 0, true).low);
    const double big[] = {1e9}, inf[] = {INFINITY, 5};
    assert_true(scale_for(big, 1, 0, false).high == 1e9);
    assert_true(isfinite(scale_for(inf, 2, 0, false).high));
    struct scale l = scale_for((const double[]){3, 2000}, 2, 0, true);
    assert_true(l.low == 1 && l.high == 10000);
    assert_true(scale_place(&l, 100) == 0.5);
    assert_true(scale_place(&l, 0) == 0 && isnan(scale_place(&l, NAN)));
}

/* A steady figure with noise keeps one scale for ten minutes. */
static void a_steady_figure_keeps_its_scale(void **state)
{
    (void)state;
    unsigned seed = 1;
    double values[600], top = 0;
    for (int i = 0; i < 600; i++) {
        seed = seed * 1103515245u + 12345u;
        values[i] = 70 + (seed >> 16) % 100 / 10.0;
        struct scale s = scale_for(values, i + 1, 0, false);
        assert_true(i == 0 || s.high == top);
        top = s.high;
    }
}

static void gaps_and_zeros_differ(void **state)
{
    (void)state;
    const double values[] = {0, NAN, 50, 100};
    struct graph g = {.values = values,
                      .count = 4,
                      .scale = {0, 100, false},
                      .cursor = -1,
                      .charset = CHARSET_ASCII};
    assert_string_equal(graph_text(&g, 9, 3), " 100┤   #\n"
                                              "    │  :#\n"
                                              "   0┤. ##\n");
    g.charset = CHARSET_BLOCK;
    assert_string_equal(graph_text(&g, 9, 2), " 100┤   █\n"
                                              "   0┤▁ ██\n");
    g.charset = CHARSET_BRAILLE; /* narrow: two values a cell */
    g.time_line = false;
    assert_string_equal(graph_text(&g, 7, 2), " 100┤ ⢸\n"
                                              "   0┤⡀⣿\n");
}

static void braille_gives_a_wide_value_its_cell(void **state)
{
    (void)state;
    const double values[] = {25, 50, 75, 100, 0, NAN};
    struct graph g = {.values = values,
                      .count = 6,
                      .scale = {0, 100, false},
                      .cursor = -1,
                      .charset = CHARSET_BRAILLE};
    const char *got = graph_text(&g, 40, 1);
    assert_non_null(strstr(got, "⣀⣤⣶⣿⣀"));
    assert_int_equal(graph_slots(40, CHARSET_BRAILLE), 35);
    assert_int_equal(graph_slots(20, CHARSET_BRAILLE), 30);
    assert_int_equal(graph_slots(20, CHARSET_BLOCK), 15);
    assert_int_equal(graph_slots(3, CHARSET_BLOCK), 0);
}

static void the_newest_stands_at_the_right(void **state)
{
    (void)state;
    double values[20];
    for (int i = 0; i < 20; i++)
        values[i] = i < 19 ? 0 : 100;
    struct graph g = {.values = values,
                      .count = 20,
                      .scale = {0, 100, false},
                      .cursor = -1,
                      .charset = CHARSET_ASCII,
                      .time_line = true,
                      .span_s = 10};
    const char *got = graph_text(&g, 21, 3);
    assert_non_null(strstr(got, "               #\n"));
    assert_non_null(strstr(got, "└10 s ago─────now\n"));
}

/* A log axis names powers of ten alone, a row of passes says how many. */
static void labels_are_numbers_one_reads(void **state)
{
    (void)state;
    const double values[] = {3, 8, 5};
    struct graph g = {.values = values,
                      .count = 3,
                      .scale = scale_for(values, 3, 0, true),
                      .cursor = -1,
                      .charset = CHARSET_ASCII,
                      .time_line = true,
                      .span_s = NAN};
    const char *got = graph_text(&g, 40, 6);
    assert_null(strstr(got, "3.1"));
    assert_non_null(strstr(got, "└3 passes ago"));
    g.scale.high = 100;
    assert_non_null(strstr(graph_text(&g, 40, 6), "  10┤"));
}

/* All of a linear axis by one thousand; on a logarithmic one each by its own. */
static void labels_have_one_form(void **state)
{
    (void)state;
    static const struct {
        struct scale s;
        const char *top, *middle, *bottom;
    } all[] = {
        {{0, 1e4, false}, " 10k", "  5k", "   0"},   {{0, 5000, false}, "5000", "2500", "   0"},
        {{0, 5e6, false}, "  5M", "2.5M", "   0"},    {{0, 1e7, false}, " 10M", "  5M", "   0"},
        {{5000, 20000, true}, " 20k", " 10k", "  5k"}, {{1, 100, true}, " 100", "  10", "   1"},
        {{0, 0.0005, false}, " .5m", ".25m", "   0"}, {{0, 1, false}, "   1", "  .5", "   0"},
        {{0, 1e300, false}, "huge", "huge", "   0"},  {{0, 1e-30, false}, "tiny", "tiny", "   0"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct graph g = {.scale = all[i].s, .cursor = -1, .charset = CHARSET_ASCII};
        const char *want[] = {all[i].top, NULL, all[i].middle, NULL, all[i].bottom};
        const char *got = graph_text(&g, 20, 5);
        for (int y = 0; y < 5; y++, got = strchr(got, '\n') + 1)
            if (want[y] && strncmp(got, want[y], 4) != 0)
                fail_msg("scale %zu, line %d: %.4s", i, y, got);
    }
}

static void labels_keep_four_columns(void **state)
{
    (void)state;
    static const double tops[] = {0.004, 0.05, 0.5, 1,   40,  100, 1000,
                                  5000,  1e4,  2e5, 4e6, 1e9, 1e12};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        struct graph g = {.scale = {0, tops[i], false}, .cursor = -1, .charset = CHARSET_ASCII};
        const char *got = graph_text(&g, 20, 5);
        for (int y = 0; y < 5; y++, got = strchr(got, '\n') + 1) {
            const char *axis = strpbrk(got, "\xe2");
            assert_non_null(axis);
            assert_int_equal(axis - got, 4);
        }
        g.scale.log = true, g.scale.low = tops[i] / 100;
        graph_text(&g, 20, 5);
    }
}

static void a_changed_scale_leaves_nothing_behind(void **state)
{
    (void)state;
    double values[64];
    struct canvas *c = canvas_new(60, 8);
    for (int i = 0; i < 600; i++) {
        for (int k = 0; k < 64; k++)
            values[k] = (i + k) % 7 == 0 ? NAN : (i + k) % 5 == 0 ? 0 : pow(10, (i + k) % 10);
        struct graph g = {.r = {0, 0, 60, 8},
                          .values = values,
                          .count = 64,
                          .cursor = i % 70 - 1,
                          .scale = scale_for(values, 64, 0, i % 2),
                          .charset = CHARSET_BRAILLE,
                          .time_line = true,
                          .span_s = 60};
        canvas_clear(c);
        graph_draw(c, &g);
        struct canvas *fresh = canvas_new(60, 8);
        graph_draw(fresh, &g);
        assert_memory_equal(c->cells, fresh->cells, 60 * 8 * sizeof *c->cells);
        canvas_free(fresh);
    }
    canvas_free(c);
}

static void two_lines_over_time(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3}, a[] = {10, 20, 30}, b[] = {0, 10, 30};
    struct canvas *c = canvas_new(17, 5);
    struct graph_pair g = {.r = {0, 0, 17, 5},
                           .x = x,
                           .a = a,
                           .b = b,
                           .count = 3,
                           .x_high = 4,
                           .scale = {0, 30, false},
                           .charset = CHARSET_ASCII};
    graph_pair_draw(c, &g);
    char got[5][128];
    for (int y = 0; y < 5; y++)
        canvas_line(c, y, got[y], sizeof got[y]);
    assert_string_equal(got[4], "    └0 s──────4 s");
    assert_non_null(strstr(got[3], "#")); /* established reaches the axis */
    int open = 0;
    for (int y = 0; y < 4; y++)
        open += strchr(got[y], 'o') != NULL;
    assert_true(open >= 2); /* accepted is drawn with a shape of its own */
    canvas_clear(c);
    g.b = NULL;
    graph_pair_draw(c, &g);
    for (int y = 0; y < 5; y++) {
        canvas_line(c, y, got[y], sizeof got[y]);
        assert_null(strchr(got[y], 'o'));
    }
    canvas_clear(c); /* a line much shorter than a column shows where it ended */
    const double begin_end[] = {0, 0.01}, none_all[] = {0, 30};
    g.x = begin_end, g.a = none_all, g.count = 2;
    graph_pair_draw(c, &g);
    canvas_line(c, 0, got[0], sizeof got[0]);
    assert_non_null(strstr(got[0], "#"));
    g.count = 0;
    graph_pair_draw(c, &g);
    canvas_free(c);
}

static void small_ones(void **state)
{
    (void)state;
    struct canvas *c = canvas_new(10, 1);
    meter_draw(c, canvas_at(0, 0, 8), ROLE_TEXT, 50);
    canvas_line(c, 0, text, sizeof text);
    assert_string_equal(text, "▮▮▮▮▯▯▯▯");
    meter_draw(c, canvas_at(0, 0, 8), ROLE_TEXT, NAN);
    canvas_line(c, 0, text, sizeof text);
    assert_string_equal(text, "▯▯▯▯▯▯▯▯");
    meter_draw(c, canvas_at(0, 0, 8), ROLE_TEXT, 400);
    canvas_line(c, 0, text, sizeof text);
    assert_string_equal(text, "▮▮▮▮▮▮▮▮");
    canvas_clear(c);
    spark_draw(c, (struct rect){0, 0, 4, 1}, ROLE_TEXT, (const double[]){9, 0, NAN, 5, 10}, 5);
    canvas_line(c, 0, text, sizeof text);
    assert_string_equal(text, "▁ ▃▆");
    canvas_free(c);
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_are_round),
        cmocka_unit_test(a_steady_figure_keeps_its_scale),
        cmocka_unit_test(gaps_and_zeros_differ),
        cmocka_unit_test(braille_gives_a_wide_value_its_cell),
        cmocka_unit_test(the_newest_stands_at_the_right),
        cmocka_unit_test(labels_are_numbers_one_reads),
        cmocka_unit_test(labels_have_one_form),
        cmocka_unit_test(labels_keep_four_columns),
        cmocka_unit_test(a_changed_scale_leaves_nothing_behind),
        cmocka_unit_test(two_lines_over_time),
        cmocka_unit_test(small_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
