/* SPDX-License-Identifier: MIT */
/* Lists to choose from: typing narrows, Enter takes, Esc leaves everything as it was; and the field
 * in which a number is typed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/protocol.h"
#include "ui/show.h"

static struct app a;

static int setup(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    fake_rounds(a.session, fake_row(a.session, &want), 3, 9);
    app_take(&a);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    show_fini(&a);
    return 0;
}

static void a_model_is_found_by_typing(void **state)
{
    (void)state;
    show_keys(&a, "m");
    assert_true(show_has(&a, "model of pane A"));
    assert_true(show_has(&a, "kernel calls"));
    assert_true(show_has(&a, "▶ select"));
    show_keys(&a, "edge");
    assert_true(show_has(&a, "find: edge_"));
    assert_true(show_has(&a, "▶ epoll-et"));
    assert_int_equal(fake_orders(a.session)->live, 0);
    show_keys(&a, "<enter>");
    assert_false(show_has(&a, "model of pane A"));
    assert_int_equal(fake_orders(a.session)->live, 1);
    assert_string_equal(fake_orders(a.session)->want.lineup.models[0]->id, "epoll-et");
    assert_string_equal(fake_orders(a.session)->want.lineup.models[1]->id, "epoll-lt");
    assert_true(show_has(&a, "A epoll-et"));
}

static void escape_changes_nothing(void **state)
{
    (void)state;
    static const char *const opened[] = {"m", "w", "p", "g", "<enter>"};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
        show_keys(&a, opened[i]);
        assert_int_not_equal(a.dialog, DIALOG_NONE);
        show_keys(&a, "q<down>q<esc>");
        assert_int_equal(a.dialog, DIALOG_NONE);
        assert_false(a.quit);
    }
    assert_int_equal(fake_orders(a.session)->live + fake_orders(a.session)->plans, 0);
}

static void a_filter_that_finds_nothing(void **state)
{
    (void)state;
    show_keys(&a, "mzzzz");
    assert_true(show_has(&a, "nothing is called that"));
    show_keys(&a, "<enter><down><up>");
    assert_int_equal(a.dialog, DIALOG_PICKER);
    show_keys(&a, "<back><back><back><back><back>");
    assert_true(show_has(&a, "▶ select"));
}

static void the_other_pane_has_its_own(void **state)
{
    (void)state;
    show_keys(&a, "<tab>m");
    assert_true(show_has(&a, "model of pane B"));
    assert_true(show_has(&a, "▶ epoll-lt"));
    show_keys(&a, "<up><enter>");
    assert_ptr_equal(fake_orders(a.session)->want.lineup.models[1],
                     io_model_table[io_model_find("epoll-lt") - 1]);
}

static void a_greyed_item_says_why(void **state)
{
    (void)state;
    struct picker p;
    picker_open(&p, 0, "list");
    struct picker_item *one = picker_add(&p), *two = picker_add(&p);
    snprintf(one->name, sizeof one->name, "uring");
    snprintf(one->why_not, sizeof one->why_not, "io_uring is not allowed here");
    snprintf(two->name, sizeof two->name, "poll");
    picker_start(&p, 0);
    p.at = 0;
    assert_int_equal(picker_key(&p, TERM_ENTER), PICKER_STAY);
    assert_string_equal(p.message, "uring: io_uring is not allowed here");
    struct picker_place place;
    picker_draw(a.canvas, &p, &place);
    assert_int_equal(picker_key(&p, TERM_DOWN), PICKER_STAY);
    assert_int_equal(picker_key(&p, TERM_ENTER), PICKER_TAKE);
    assert_int_equal(p.at, 1);
}

static void long_lists_keep_the_cursor_in_sight(void **state)
{
    (void)state;
    static const struct {
        int w, h;
    } sizes[] = {{60, 15}, {80, 24}, {160, 50}};
    for (int i = 0; i < 3; i++) {
        canvas_resize(a.canvas, sizes[i].w, sizes[i].h);
        show_keys(&a, "g");
        assert_true(show_has(&a, " more ↓ ") || i == 2);
        for (int k = 0; k < METRIC_COUNT + 3; k++) {
            char mark[64];
            snprintf(mark, sizeof mark, "▶ %.8s", a.picker.items[a.picker.at].name);
            if (!show_has(&a, mark))
                fail_msg("%s is out of sight at %dx%d", mark, sizes[i].w, sizes[i].h);
            show_keys(&a, "<down>");
        }
        assert_true(show_has(&a, " more ↑ ") || i == 2);
        show_keys(&a, "<esc>");
    }
}

static void figures_are_those_of_the_workload(void **state)
{
    (void)state;
    const enum metric_id *yields = workload_of(&a.want.params)->yields;
    int n = 0;
    show_keys(&a, "g");
    for (; yields[n] != METRIC_COUNT; n++)
        assert_int_equal(a.picker.items[n + 1].value, yields[n]);
    assert_int_equal(a.picker.count, n + 1); /* and its usual picture */
    show_keys(&a, "<esc>");
}

static void a_figure_goes_into_the_graphs(void **state)
{
    (void)state;
    show_keys(&a, "glooks a r<enter>");
    assert_int_equal(a.figure, METRIC_looks_per_request);
    assert_true(show_has(&a, "looks a request"));
    show_keys(&a, "l");
    assert_true(show_has(&a, "looks a request, log"));
}

static void a_workload_brings_its_defaults(void **state)
{
    (void)state;
    a.want.params.turn = 0.5; /* what was asked for otherwise stays */
    show_keys(&a, "wconnect");
    assert_true(show_has(&a, "about "));
    show_keys(&a, "<enter>");
    struct params *p = &fake_orders(a.session)->want.params;
    assert_string_equal(workload_of(p)->id, "connect");
    assert_true(p->connections == 1000);
    assert_true(p->repeats == 11);
    assert_true(p->turn == 0.5);
    assert_true(show_has(&a, "[1000 connections]"));
    show_keys(&a, "r");
    assert_true(show_has(&a, "connect has no use for rate"));
    show_keys(&a, "wtransfer<enter>");
    assert_true(fake_orders(a.session)->want.params.connections == 400);
    assert_true(fake_orders(a.session)->want.params.rate == 11500);
}

static void a_sweep_says_its_time(void **state)
{
    (void)state;
    show_keys(&a, "p");
    assert_true(show_has(&a, "▶ sweep connections  about "));
    assert_true(show_has(&a, "100 to 800, 8 rows"));
    show_keys(&a, "<enter>");
    assert_int_equal(fake_orders(a.session)->plans, 1);
    assert_int_equal(fake_orders(a.session)->plan_rows, 8);
    assert_true(show_has(&a, "0/8  "));
    assert_true(show_has(&a, " left"));
    assert_true(show_has(&a, "Esc stop"));
}

/* A ramp is all of its steps; transfer after it has nothing left of it. */
static void a_ramp_is_a_plan(void **state)
{
    (void)state;
    show_keys(&a, "wramp");
    assert_true(show_has(&a, "ramp"));
    assert_true(show_has(&a, "about 3 min"));
    show_keys(&a, "<enter>");
    assert_int_equal(fake_orders(a.session)->plans, 1);
    assert_int_equal(fake_orders(a.session)->plan_rows, 18);
    assert_string_equal(fake_orders(a.session)->plan_title, "ramp, connections 50 to 1000");
    const struct params *p = &fake_orders(a.session)->want.params;
    assert_true(p->connections == 50 && p->keepalive == KEEPALIVE_OFF && p->warmup == 0);
    assert_string_equal(protocol_table[(int)p->protocol]->id, "echo");
    app_take(&a);
    show_keys(&a, "<esc>wtransfer<enter>");
    p = &fake_orders(a.session)->want.params;
    assert_true(p->connections == 400 && p->keepalive == KEEPALIVE_ON && p->rate == 11500);
    assert_true(p->warmup == PARAM_AUTO && p->duration == PARAM_AUTO);
    assert_string_equal(protocol_table[(int)p->protocol]->id, "fetch");
}

static void shipped_plans_are_listed(void **state)
{
    (void)state;
    struct plan_info info;
    if (!plan_shipped(0, &info)) {
        print_message("[  SKIPPED ] there are no shipped plans beside the build\n");
        skip();
    }
    show_keys(&a, "p");
    for (int i = 0; plan_shipped(i, &info); i++)
        assert_true(show_has(&a, info.name));
    show_keys(&a, "quick<enter>");
    assert_int_equal(fake_orders(a.session)->plans, 1);
}

static void a_number_is_typed(void **state)
{
    (void)state;
    show_keys(&a, "<enter>25");
    assert_true(show_has(&a, "25_"));
    show_keys(&a, "0<back>5<enter>");
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_true(fake_orders(a.session)->want.params.connections == 255);
    assert_true(show_has(&a, "[255 connections]"));
    show_keys(&a, "r<enter>max<enter>");
    assert_true(isinf(fake_orders(a.session)->want.params.rate));
    assert_true(show_has(&a, "[max rate]"));
}

static void a_bad_number_says_what_is_allowed(void **state)
{
    (void)state;
    show_keys(&a, "<enter>");
    assert_true(show_has(&a, "a whole number, 1 to 1000000"));
    show_keys(&a, "many<enter>");
    assert_int_equal(a.dialog, DIALOG_ENTRY);
    assert_true(show_has(&a, "many"));
    assert_true(show_has(&a, "1 to 1000000"));
    assert_int_equal(fake_orders(a.session)->live, 0);
    show_keys(&a, "<back><back><back><back>7<enter>");
    assert_true(fake_orders(a.session)->want.params.connections == 7);
    show_keys(&a, "<enter>0123456789012345678901234567890123456789<esc>"); /* no overflow */
    assert_int_equal(fake_orders(a.session)->live, 1);
}

/* What was asked for at the start stays where the workload has a use for it, also over one that has
 * none. */
static void what_was_given_stays(void **state)
{
    (void)state;
    a.given.connections = a.want.params.connections = 100;
    a.given.samples = a.want.params.samples = 3;
    a.given.idle = a.want.params.idle = 7;
    a.given.repeats = a.want.params.repeats = 3;
    struct params first = a.want.params;
    show_keys(&a, "wconnect<enter>");
    struct plan_row *want = &fake_orders(a.session)->want;
    assert_string_equal(workload_of(&want->params)->id, "connect");
    assert_true(want->params.connections == 100);
    assert_true(want->params.idle == 0);
    assert_true(want->params.repeats == 3);
    show_keys(&a, "wtransfer<enter>");
    assert_string_equal(workload_of(&want->params)->id, "transfer");
    assert_true(want->params.connections == 100);
    assert_true(want->params.idle == 7);
    /* Nothing is left over of the other one: what was measured before goes on. */
    for (int id = 0; id < PARAM_COUNT; id++) {
        double now = params_get(&want->params, id), then = params_get(&first, id);
        assert_true(now == then || (isnan(now) && isnan(then)));
    }
    a.given.connections = NAN; /* not asked for: by workload */
    show_keys(&a, "wconnect<enter>");
    assert_true(want->params.connections != 100);
}

int main(void)
{
#define FRESH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        FRESH(a_model_is_found_by_typing),
        FRESH(escape_changes_nothing),
        FRESH(a_filter_that_finds_nothing),
        FRESH(the_other_pane_has_its_own),
        FRESH(a_greyed_item_says_why),
        FRESH(long_lists_keep_the_cursor_in_sight),
        FRESH(figures_are_those_of_the_workload),
        FRESH(a_figure_goes_into_the_graphs),
        FRESH(a_workload_brings_its_defaults),
        FRESH(what_was_given_stays),
        FRESH(a_sweep_says_its_time),
        FRESH(a_ramp_is_a_plan),
        FRESH(shipped_plans_are_listed),
        FRESH(a_number_is_typed),
        FRESH(a_bad_number_says_what_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
