/* SPDX-License-Identifier: MIT */
/* A walk over the command table: each command, by each of its keys, in each view where it is valid,
 * does something that one sees or that the session is told; and what it opens can be resized to any
 * size and back and is the same picture. New commands are walked over without a line here, but for
 * those that need to be led to a place where they can do something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"
#include "ui/actions.h"
#include "ui/commands.h"
#include "ui/keys.h"
#include "ui/show.h"
#include "ui/views.h"

static struct app a;
static int idle; /* commands that did nothing */

/* Keys that lead from the view's first picture to one where the command changes something. */
static const struct {
    const char *command, *keys;
} led[] = {
    {"row-down", "<up>"},      {"line-up", "<down>"},      {"scroll-up", "<down><down>"},
    {"page-up", "<pgdn>"},     {"columns-left", "]"},      {"connections", "i"},
    {"claim-up", "<down>"},    {"read-next", "<left>"},    {"place-left", "<right>"},
    {"place-up", "<down>"},
};

static const char *lead(const char *command)
{
    for (size_t i = 0; i < sizeof led / sizeof *led; i++)
        if (!strcmp(led[i].command, command))
            return led[i].keys;
    return "";
}

static const char *key_of(const struct view_row *v)
{
    static char tab[2];
    tab[0] = v->tab[0];
    return v->view == VIEW_HELP ? "?" : v->view == VIEW_SETTINGS ? "," : tab;
}

static void open_view(const struct view_row *v)
{
    struct plan_row want = fake_want("transfer", "select,epoll-lt,poll");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    for (int i = 1; i <= 3; i++) {
        want.params.connections = 100 * i;
        struct row *r = fake_row(a.session, &want);
        fake_rounds(a.session, r, 1, 6);
        if (i < 3)
            r->state = ROW_DONE;
    }
    a.want = want;
    app_take(&a);
    show_keys(&a, key_of(v));
    assert_int_equal(a.view, v->view);
}

struct seen {
    char *screen;
    struct fake_orders orders;
    bool quit;
};

static struct seen look(void)
{
    return (struct seen){show_screen(&a), *fake_orders(a.session), a.quit};
}

static bool same(const struct seen *x, const struct seen *y)
{
    return !strcmp(x->screen, y->screen) && x->quit == y->quit &&
           !memcmp(&x->orders, &y->orders, sizeof x->orders);
}

static void press(int key)
{
    app_key(&a, key);
    app_take(&a);
}

/* A view's own key shows it already. */
static bool shows_itself(const struct command *c, enum view view)
{
    return c->run == act_view && c->arg == (int)view;
}

static void one_key(const struct command *c, const struct view_row *v, int key)
{
    open_view(v);
    show_keys(&a, lead(c->name));
    struct seen before = look();
    press(key);
    struct seen after = look();
    if (same(&before, &after))
        print_error("%s in the %s view changes nothing\n", c->name, v->name), idle++;
    free(before.screen);
    free(after.screen);
    show_fini(&a);
}

static void every_command_by_every_key(void **state)
{
    (void)state;
    int walked = 0;
    for (int i = 0; i < command_count; i++)
        for (int v = 0; v < view_count; v++) {
            const struct command *c = &command_table[i];
            char word[16];
            if (!(c->views & view_table[v].view) || shows_itself(c, view_table[v].view) ||
                view_table[v].view == VIEW_COMPARE) /* to which two files lead */
                continue;
            for (int k = 0; keys_word(c->keys, k, word, sizeof word); k++, walked++)
                one_key(c, &view_table[v], keys_code(word));
        }
    assert_true(walked > command_count);
    assert_int_equal(idle, 0);
}

static void resize_and_back(const char *what, const char *where)
{
    static const int sizes[][2] = {{1, 1},   {2, 60},  {59, 15},  {60, 14},  {60, 15}, {61, 17},
                                   {79, 23}, {80, 23}, {100, 30}, {120, 40}, {200, 60}, {200, 2}};
    char *before = show_screen(&a);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        canvas_resize(a.canvas, sizes[i][0], sizes[i][1]);
        app_draw(&a);
    }
    canvas_resize(a.canvas, 80, 24);
    char *after = show_screen(&a);
    if (strcmp(before, after) != 0)
        fail_msg("after %s in the %s view:\n%s\nand resized:\n%s", what, where, before, after);
    free(before);
    free(after);
}

static void everything_that_opens_resized(void **state)
{
    (void)state;
    for (int i = 0; i < command_count; i++)
        for (int v = 0; v < view_count; v++) {
            const struct command *c = &command_table[i];
            char word[16];
            if (!(c->views & view_table[v].view) || view_table[v].view == VIEW_COMPARE ||
                !keys_word(c->keys, 0, word, sizeof word))
                continue;
            open_view(&view_table[v]);
            press(keys_code(word));
            resize_and_back(c->name, view_table[v].name);
            show_fini(&a);
        }
}

int main(void)
{
    char folder[SCRATCH_PATH], command[SCRATCH_PATH + 16];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_by_every_key),
        cmocka_unit_test(everything_that_opens_resized),
    };
    if (!mkdtemp(scratch_path(folder, "walk-XXXXXX")) || chdir(folder) < 0) /* s saves here */
        return 1;
    setenv("XDG_STATE_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) < 0 ? 1 : failed;
}
