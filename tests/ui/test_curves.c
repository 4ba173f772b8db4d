/* SPDX-License-Identifier: MIT */
/* The curves view as screens, and its keys: reading off, axes, figures, "before". */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "ui/show.h"

static struct app a;

/* select's cost falls with the rate until it crosses epoll's. */
static void set_cost(struct row *r, double cost)
{
    for (struct sample_chunk *c = r->panes[0].first; c; c = c->next)
        for (int i = 0; i < c->count; i++)
            c->samples[i].values.v[METRIC_cpu_us_per_request] *=
                cost / (14 + r->params.connections * 0.146);
}

static void rates(struct app *app, double factor)
{
    static const double rate[] = {1000, 2000, 4000, 8000, 16000, 32000, 64000, PARAM_MAX};
    static const double cost[] = {88, 85, 81, 70, 50, 28, 16, 9};
    struct plan_row want = app->want;
    for (int i = 0; i < 8; i++) {
        want.params.rate = rate[i];
        struct row *r = fake_row(app->session, &want);
        fake_rounds(app->session, r, 3, 15);
        set_cost(r, cost[i] * factor);
        r->state = ROW_DONE;
    }
    app->want.params.rate = PARAM_MAX; /* the last one goes on */
    app->changed = true;
}

static void sweep(const char *models, int w, int h, enum term_charset charset)
{
    struct plan_row want = fake_want("transfer", models);
    show_init(&a, &want, w, h, charset);
    rates(&a, 1);
    app_take(&a);
}

static void golden(const char *name, const char *keys)
{
    char path[80];
    snprintf(path, sizeof path, "ui/golden/%s", name);
    show_keys(&a, keys);
    char *got = show_screen(&a);
    golden_is(path, got);
    free(got);
    show_fini(&a);
}

static void screens(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("curves-80x24", "3<left><left><left>");
    sweep("select,epoll-lt", 80, 24, CHARSET_ASCII);
    golden("curves-80x24-ascii", "3<left><left><left>");
    sweep("select,epoll-lt,poll,epoll-et", 80, 24, CHARSET_BLOCK);
    golden("curves-80x24-four", "3<left>");
    sweep("select,epoll-lt", 60, 15, CHARSET_BRAILLE);
    golden("curves-60x15", "3");
    sweep("select,epoll-lt", 160, 50, CHARSET_BRAILLE);
    golden("curves-160x50", "3l");
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "3b");
    rates(&a, 0.8);
    golden("curves-80x24-before", "<left><left>");
}

static void read_off(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "3");
    assert_true(show_has(&a, "at max:")); /* the row that is shown */
    assert_true(show_has(&a, "They meet between 64k/s and max"));
    show_keys(&a, "<left>");
    assert_true(show_has(&a, "at 64k/s:"));
    show_keys(&a, "<left><left><left><left><left><left><left><left><left>");
    assert_true(show_has(&a, "at 1k/s:"));
    assert_true(show_has(&a, "A/B 6."));
    show_keys(&a, "<right>");
    assert_true(show_has(&a, "at 2k/s:"));
    show_keys(&a, "<enter>");
    assert_int_equal(a.view, VIEW_LIVE);
    assert_true(fake_orders(a.session)->want.params.rate == 2000);
    show_fini(&a);
}

static void axes_and_figures(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "3");
    assert_true(show_has(&a, "y: CPU a request, µs   x: requests/s asked, log"));
    show_keys(&a, "l");
    assert_true(show_has(&a, "y: CPU a request, µs, log   x: requests/s asked, log"));
    show_keys(&a, "l");
    assert_true(show_has(&a, "y: CPU a request, µs   x: requests/s asked  "));
    show_keys(&a, "l");
    assert_true(show_has(&a, "y: CPU a request, µs   x: requests/s asked, log"));
    show_keys(&a, "gserver CPU<enter>");
    assert_true(show_has(&a, "y: server CPU, %"));
    show_keys(&a, "g");
    assert_true(show_has(&a, "figure of the y axis"));
    show_keys(&a, "<esc>x");
    assert_true(show_has(&a, "requests a second of all connections"));
    show_keys(&a, "<enter>1");
    assert_false(show_has(&a, "y: server CPU")); /* the live view keeps its own */
    show_keys(&a, "3");
    assert_true(show_has(&a, "y: server CPU, %"));
    show_fini(&a);
}

/* The axis, its word and what is read off have one unit, the one that fits. */
static void times_have_a_fitting_unit(void **state)
{
    (void)state;
    static const struct {
        double s;
        const char *word, *top, *read;
    } seen[] = {
        {0.00162, "y: exchanges, ms   ", "   2┤", "A 1.62"},
        {0.0000041, "y: exchanges, µs   ", "   5┤", "A 4.10"},
        {3.2, "y: exchanges, s   ", "   4┤", "A 3.20"},
    };
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
        struct rows *rows = session_rows_edit(a.session);
        for (struct row *r = rows->first; r; r = r->next)
            for (int p = 0; p < 2; p++)
                for (struct sample_chunk *c = r->panes[p].first; c; c = c->next)
                    for (int k = 0; k < c->count; k++)
                        c->samples[k].values.v[METRIC_exchange_s] = seen[i].s / (p + 1);
        a.curves.figure = METRIC_exchange_s;
        show_keys(&a, "3<left>");
        char *screen = show_screen(&a);
        if (!strstr(screen, seen[i].word) || !strstr(screen, seen[i].top) ||
            !strstr(screen, seen[i].read))
            fail_msg("%s", screen);
        free(screen);
        show_fini(&a);
    }
}

/* Two parameters: a curve for each value of the other one. */
static void other_curves(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    a.want.params.connections = 100;
    rates(&a, 0.5);
    show_keys(&a, "3");
    assert_true(show_has(&a, "transfer, 100 connections"));
    show_keys(&a, "<down>");
    assert_true(show_has(&a, "transfer, 400 connections"));
    show_keys(&a, "<up>");
    assert_true(show_has(&a, "transfer, 100 connections"));
    show_keys(&a, "<up>");
    assert_true(show_has(&a, "no other curve over this axis before"));
    show_keys(&a, "x<down><enter>");
    assert_true(show_has(&a, "x: connections"));
    show_fini(&a);
}

static void one_row_has_no_curve(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "3");
    assert_true(show_has(&a, "nothing is measured of this yet"));
    show_keys(&a, "<left><enter>lex3");
    fake_rounds(a.session, fake_row(a.session, &want), 3, 15);
    a.changed = true;
    assert_true(show_has(&a, "One row has no curve. p measures a sweep"));
    show_keys(&a, "x");
    assert_true(show_has(&a, "no parameter was varied yet"));
    show_keys(&a, "<enter><esc><right>");
    show_fini(&a);
}

static void before_and_now(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "b");
    assert_true(show_has(&a, "nothing was measured that could be kept"));
    rates(&a, 1);
    show_keys(&a, "3b");
    assert_true(show_has(&a, "8 rows kept as \"before\""));
    show_keys(&a, "b");
    assert_true(show_has(&a, "nothing was measured that could be kept"));
    rates(&a, 0.5);
    show_keys(&a, "<left>");
    assert_true(show_has(&a, "now 0.5") || show_has(&a, "now 0.49"));
    show_keys(&a, "1"); /* the row shown there is the last one, at max */
    assert_true(show_has(&a, "of it"));
    fake_now(a.session)->plan_count = 3;
    a.changed = true;
    app_take(&a);
    show_keys(&a, "b");
    assert_true(show_has(&a, "a plan runs"));
    show_fini(&a);
}

/* Every size, and every pane count: nothing is written outside, nothing crashes. */
static void all_sizes(void **state)
{
    (void)state;
    static const char *const lineups[] = {"select", "select,epoll-lt", "select,epoll-lt,poll",
                                          "select,epoll-lt,poll,epoll-et"};
    for (int i = 0; i < 4; i++) {
        sweep(lineups[i], 80, 24, i % 2 ? CHARSET_ASCII : CHARSET_BRAILLE);
        show_keys(&a, "3b");
        rates(&a, 0.8);
        for (int w = 60; w <= 200; w += 35)
            for (int h = 15; h <= 60; h += 3) {
                canvas_resize(a.canvas, w, h);
                char *first = show_screen(&a), *again = show_screen(&a);
                assert_string_equal(first, again);
                assert_non_null(strstr(first, "at max:"));
                free(first);
                free(again);
            }
        show_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens),
        cmocka_unit_test(read_off),
        cmocka_unit_test(axes_and_figures),
        cmocka_unit_test(times_have_a_fitting_unit),
        cmocka_unit_test(other_curves),
        cmocka_unit_test(one_row_has_no_curve),
        cmocka_unit_test(before_and_now),
        cmocka_unit_test(all_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
