/* SPDX-License-Identifier: MIT */
/* A click takes what it is on, the wheel moves lists, and neither reaches what lies below a dialog.
 * Places are found by the text on the screen, as a person does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ui/show.h"

static struct app a;

static void open_live(const char *models, int w, int h)
{
    struct plan_row want = fake_want("transfer", models);
    show_init(&a, &want, w, h, CHARSET_ASCII); /* a byte is a column */
    for (int i = 3; i <= 4; i++) {
        want.params.connections = 100 * i;
        struct row *r = fake_row(a.session, &want);
        fake_rounds(a.session, r, 3, 13);
        if (i == 3)
            r->state = ROW_DONE;
    }
    a.changed = true;
    app_take(&a);
}

/* Does this with the mouse on the first place where the text stands. */
static void point(const char *text, enum mouse_what what)
{
    char *screen = show_screen(&a), *at = strstr(screen, text);
    if (!at)
        fail_msg("not on the screen: %s\n%s", text, screen);
    struct term_mouse m = {.what = what};
    for (const char *p = screen; p < at; p++) {
        m.x = *p == '\n' ? 0 : m.x + 1;
        m.y += *p == '\n';
    }
    free(screen);
    mouse_event(&a, m);
    app_take(&a);
}

static void click(const char *text)
{
    point(text, MOUSE_CLICK);
}

static void tabs_and_words_of_the_footer(void **state)
{
    (void)state;
    open_live("select,epoll-lt", 80, 24);
    click("2 table");
    assert_int_equal(a.view, VIEW_TABLE);
    click("5 why");
    assert_int_equal(a.view, VIEW_WHY);
    click("? help");
    assert_int_equal(a.view, VIEW_HELP);
    click("q back");
    assert_int_equal(a.view, VIEW_WHY);
    click("1 live");
    assert_int_equal(a.view, VIEW_LIVE);
    click("w workload");
    assert_int_equal(a.dialog, DIALOG_PICKER);
    show_keys(&a, "<esc>");
    click("q quit");
    assert_true(a.quit);
    show_fini(&a);
}

static void panes_and_numbers(void **state)
{
    (void)state;
    open_live("select,epoll-lt,poll,epoll-et", 80, 24);
    click("D epoll-et");
    assert_int_equal(a.pane, 3);
    click("A select");
    assert_int_equal(a.pane, 0);
    click("r 11.5k/s");
    assert_int_equal(a.field, PARAM_rate);
    click("400 connections");
    assert_int_equal(a.field, PARAM_connections);
    show_fini(&a);
}

static void rows(void **state)
{
    (void)state;
    open_live("select,epoll-lt", 80, 24);
    show_keys(&a, "2");
    click("   300  ");
    assert_true(show_has(&a, "> "));
    assert_int_equal(a.scene->table_row, 1);
    click("   400  ");
    assert_int_equal(a.scene->table_row, 2);
    show_keys(&a, "5e");
    click("sleep  ");
    assert_int_equal(a.why_line, BILL_SLEEP);
    show_fini(&a);
}

/* The wheel steps a number only where it is on it. */
static void the_wheel_in_the_live_view(void **state)
{
    (void)state;
    open_live("select,epoll-lt", 80, 24);
    int orders = fake_orders(a.session)->live;
    point("A select", MOUSE_WHEEL_UP);
    point("ANSWER", MOUSE_WHEEL_DOWN);
    assert_int_equal(fake_orders(a.session)->live, orders);
    point("400 connections", MOUSE_WHEEL_UP);
    assert_int_equal(fake_orders(a.session)->live, orders + 1);
    assert_true(a.want.params.connections == 500);
    point("r 11.5k/s", MOUSE_WHEEL_DOWN);
    assert_int_equal(a.field, PARAM_rate);
    assert_true(a.want.params.rate == 10000);
    show_fini(&a);
}

static void the_wheel_moves_lists(void **state)
{
    (void)state;
    open_live("select,epoll-lt", 80, 24);
    show_keys(&a, "?");
    point("keys of", MOUSE_WHEEL_DOWN);
    assert_int_equal(a.help_top, 1);
    show_keys(&a, "q2");
    int row = a.scene->table_row;
    point("ANSWER", MOUSE_WHEEL_UP);
    assert_int_equal(a.scene->table_row, row - 1);
    show_keys(&a, "1m");
    int at = a.picker.at;
    point("type to find", MOUSE_WHEEL_DOWN);
    assert_int_equal(a.picker.at, at + 1);
    show_fini(&a);
}

static void a_dialog_covers_the_rest(void **state)
{
    (void)state;
    open_live("select,epoll-lt", 80, 24);
    show_keys(&a, "m");
    click("poll  ");
    assert_string_equal(a.picker.items[a.picker.at].name, "poll");
    assert_int_equal(a.dialog, DIALOG_PICKER); /* first under the cursor, then taken */
    click("> poll");
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_string_equal(a.want.lineup.models[0]->id, "poll");
    show_keys(&a, "<enter>");
    click("2 table");
    assert_int_equal(a.view, VIEW_LIVE);
    assert_int_equal(a.dialog, DIALOG_ENTRY);
    show_fini(&a);
}

/* Anywhere at all, on any size, with anything open: the sanitizers look. */
static void everywhere(void **state)
{
    (void)state;
    static const char *const keys[] = {"", "2", "?", "5e", "m", "<enter>", "t"};
    unsigned seed = 3;
    for (size_t i = 0; i < 3 * sizeof keys / sizeof *keys; i++) {
        open_live("select,epoll-lt,poll", i % 3 ? 80 : 60, i % 3 ? 24 : 15);
        show_keys(&a, keys[i / 3]);
        for (int k = 0; k < 80 && !a.quit; k++) {
            seed = seed * 1103515245u + 12345u;
            struct term_mouse m = {.what = (enum mouse_what)(k % 3),
                                   .x = (int)(seed >> 20) % 90 - 2,
                                   .y = (int)(seed >> 10) % 30 - 2};
            char *screen = show_screen(&a);
            free(screen);
            if (m.y < a.canvas->h - 1) /* the footer saves files */
                mouse_event(&a, m);
        }
        show_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tabs_and_words_of_the_footer),
        cmocka_unit_test(panes_and_numbers),
        cmocka_unit_test(rows),
        cmocka_unit_test(the_wheel_in_the_live_view),
        cmocka_unit_test(the_wheel_moves_lists),
        cmocka_unit_test(a_dialog_covers_the_rest),
        cmocka_unit_test(everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
