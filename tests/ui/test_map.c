/* SPDX-License-Identifier: MIT */
/* The map view: what it shows at which size, that it measures nothing by itself, and what its keys
 * order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "ui/actions.h"
#include "ui/show.h"

static struct app a;
static struct fake_orders *got;

static void start(const char *models, int w, int h, enum term_charset charset)
{
    struct plan_row want = fake_want("transfer", models);
    show_init(&a, &want, w, h, charset);
    a.limits = (struct reach_limits){.nofile = 20000, .ports = 28232};
    got = fake_orders(a.session);
}

/* One round at the first `count` places of the plan that n would start. */
static void measured(int count)
{
    struct plan plan;
    show_keys(&a, "4");
    map_plan(&a.scene->map, &plan);
    for (int i = 0; i < plan.count && i < count; i++) {
        struct row *r = fake_row(a.session, &plan.rows[i]);
        fake_rounds(a.session, r, 0, 1);
        r->state = ROW_DONE;
    }
    plan_free(&plan);
    a.changed = true;
    app_take(&a);
}

static void screen(const char *name)
{
    char path[64], *text = show_screen(&a);
    snprintf(path, sizeof path, "ui/golden/%s", name);
    golden_is(path, text);
    free(text);
    show_fini(&a);
}

static void screens(void **state)
{
    (void)state;
    struct err e;
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "4");
    screen("map-80x24-empty");
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    measured(49);
    show_keys(&a, "<up><right>");
    screen("map-80x24");
    start("select,epoll-lt", 80, 24, CHARSET_ASCII);
    measured(20);
    screen("map-80x24-ascii");
    start("poll,epoll-lt", 60, 15, CHARSET_BRAILLE);
    measured(49);
    show_keys(&a, "<down><down><down><down><down><right><right><right><right><right><right>");
    screen("map-60x15");
    start("epoll-lt,poll", 160, 50, CHARSET_BRAILLE);
    assert_int_equal(map_at_parse("2000,3k", &a.map_axes, &e), 0);
    measured(50);
    screen("map-160x50");
}

/* The place that is measured now, and what is left of the plan. */
static void shows_how_far_it_is(void **state)
{
    (void)state;
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    measured(31);
    struct session_now *n = fake_now(a.session);
    n->plan_count = 49;
    n->plan_done = 31;
    n->plan_left_s = 22;
    app_take(&a);
    assert_true(show_has(&a, "31/49  00:22 left"));
    show_fini(&a);
}

static void measures_nothing_by_itself(void **state)
{
    (void)state;
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "4<right><down>");
    assert_int_equal(got->plans + got->live + got->more, 0);
    assert_true(show_has(&a, "n measures 49 places"));
    show_keys(&a, "n");
    assert_int_equal(got->plans, 1);
    assert_int_equal(got->plan_rows, 49);
    assert_true(show_has(&a, "Esc stops it"));
    show_keys(&a, "n<enter>"); /* while it runs */
    assert_int_equal(got->plans, 1);
    assert_int_equal(got->live, 0);
    show_keys(&a, "<esc>");
    assert_int_equal(got->stops, 1);
    assert_int_equal(a.view, VIEW_MAP);
    show_fini(&a);
}

/* What is left first; then more rounds. */
static void n_goes_on_then_refines(void **state)
{
    (void)state;
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    measured(40);
    assert_true(show_has(&a, "(9 places are left: n goes on.)"));
    assert_true(show_has(&a, "n measure it"));
    show_keys(&a, "n");
    assert_int_equal(got->plan_rows, 9);
    show_keys(&a, "<esc>");
    measured(9);
    assert_true(show_has(&a, "n refine"));
    show_keys(&a, "n");
    assert_int_equal(got->plans, 2);
    assert_true(got->plan_rows > 1 && got->plan_rows < 15);
    show_fini(&a);
}

static void a_place_is_seen_live(void **state)
{
    (void)state;
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "4<left><enter>");
    assert_int_equal(a.view, VIEW_LIVE);
    assert_int_equal(got->live, 1);
    assert_true(got->want.params.connections == 100 && got->want.params.rate == 10000);
    assert_true(got->want.params.samples == 12); /* as any other row */
    show_fini(&a);
}

static void a_place_is_explained(void **state)
{
    (void)state;
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "4e");
    assert_int_equal(a.view, VIEW_MAP);
    assert_true(show_has(&a, "nothing is measured there yet"));
    measured(49);
    show_keys(&a, "<right>e");
    assert_int_equal(a.view, VIEW_WHY);
    assert_true(show_has(&a, "1000 connections"));
    assert_true(show_has(&a, "10k/s asked"));
    show_fini(&a);
}

static void the_focus_stays_on_the_map(void **state)
{
    (void)state;
    start("poll,epoll-lt", 60, 15, CHARSET_BRAILLE);
    show_keys(&a, "4<left><left><left><left><up><up><up><up>");
    assert_int_equal(a.map_column + a.map_row, 0);
    for (int i = 0; i < 20; i++)
        show_keys(&a, "<right><down>");
    assert_true(a.map_column == 6 && a.map_row == 6);
    assert_true(show_has(&a, "10k connections at 80k/s"));
    show_fini(&a);
}

static void begins_at_ones_own_place(void **state)
{
    (void)state;
    static const struct {
        const char *at;
        int column, row;
    } own[] = {{"2000,3k", 5, 1}, {"3000,8k", 5, 3}, {"1,1", 0, 0}, {"50k,max", 6, 6}};
    struct err e;
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct map_axes axes = a.map_axes;
        assert_int_equal(map_at_parse(own[i].at, &axes, &e), 0);
        act_map_axes(&a, &axes);
        assert_int_equal(a.map_column, own[i].column);
        assert_int_equal(a.map_row, own[i].row);
    }
    show_fini(&a);
}

static void compares_another_figure(void **state)
{
    (void)state;
    start("poll,epoll-lt", 80, 24, CHARSET_BRAILLE);
    measured(49);
    show_keys(&a, "gp99<enter>");
    assert_true(show_has(&a, "p99: A poll over B epoll-lt"));
    show_keys(&a, "g");
    assert_false(show_has(&a, "memory")); /* a share of memory ranks nobody */
    show_fini(&a);
}

static void says_why_there_is_none(void **state)
{
    (void)state;
    start("poll", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "4n<right><enter>");
    assert_true(show_has(&a, "a map compares two models: a adds a pane"));
    assert_int_equal(got->plans + got->live, 0);
    show_fini(&a);
}

/* Sizes and figures of all kinds: nothing is drawn outside, and a frame drawn twice is the same. */
static void any_size(void **state)
{
    (void)state;
    struct err e;
    start("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    assert_int_equal(map_at_parse("700,max", &a.map_axes, &e), 0);
    measured(30);
    for (int w = 60; w <= 200; w += 7)
        for (int h = 15; h <= 60; h += 3) {
            canvas_resize(a.canvas, w, h);
            show_keys(&a, w % 2 ? "<right>" : "<down>");
            char *one = show_screen(&a), *two = show_screen(&a);
            assert_string_equal(one, two);
            assert_non_null(strstr(one, "ANSWER"));
            free(one);
            free(two);
        }
    show_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens),
        cmocka_unit_test(shows_how_far_it_is),
        cmocka_unit_test(measures_nothing_by_itself),
        cmocka_unit_test(n_goes_on_then_refines),
        cmocka_unit_test(a_place_is_seen_live),
        cmocka_unit_test(a_place_is_explained),
        cmocka_unit_test(the_focus_stays_on_the_map),
        cmocka_unit_test(begins_at_ones_own_place),
        cmocka_unit_test(compares_another_figure),
        cmocka_unit_test(says_why_there_is_none),
        cmocka_unit_test(any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
