/* SPDX-License-Identifier: MIT */
/* The command table: each command is reached by each of its keys in each of its views, no key means
 * two things in a view, a letter means the same in all, every key is in the help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ui/commands.h"
#include "ui/keys.h"
#include "ui/show.h"

static const enum view views[] = {VIEW_LIVE,   VIEW_TABLE, VIEW_CURVES,   VIEW_MAP,    VIEW_WHY,
                                  VIEW_CLAIMS, VIEW_HELP,  VIEW_SETTINGS, VIEW_COMPARE};
enum { VIEWS = sizeof views / sizeof *views };

static void each_key_reaches_its_command(void **state)
{
    (void)state;
    char word[16];
    for (int i = 0; i < command_count; i++) {
        const struct command *c = &command_table[i];
        assert_true(keys_word(c->keys, 0, word, sizeof word));
        for (int k = 0; keys_word(c->keys, k, word, sizeof word); k++) {
            int code = keys_code(word);
            if (!code)
                fail_msg("%s: no key is called %s", c->name, word);
            for (int v = 0; v < VIEWS; v++)
                if ((c->views & views[v]) && command_find(views[v], code) != c)
                    fail_msg("%s: %s reaches %s", c->name, word,
                             command_find(views[v], code)->name);
        }
    }
}

/* The same wish, of what each view shows. */
static bool akin(const struct command *a, const struct command *b)
{
    static const char *const families[][4] = {
        {"figure", "y-axis", "map-figure"},        {"log-axis", "axes"},
        {"more", "map-measure", "claim-again"},    {"plan", "claims-try"},
        {"copy", "claims-copy"},                   {"before", "before-live"},
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        int found = 0;
        for (int k = 0; k < 4 && families[i][k]; k++)
            found += !strcmp(families[i][k], a->name) + !strcmp(families[i][k], b->name);
        if (found == 2)
            return true;
    }
    return a == b;
}

static void a_letter_means_the_same_everywhere(void **state)
{
    (void)state;
    for (int key = 33; key < 127; key++) {
        const struct command *first = NULL;
        for (int v = 0; v < VIEWS; v++) {
            const struct command *c = command_find(views[v], key);
            if (c && first && !akin(c, first))
                fail_msg("%c is %s and %s", key, first->name, c->name);
            first = first ? first : c;
        }
        if (isupper(key) && first)
            fail_msg("%c is a capital", key);
    }
}

static void rows_are_whole(void **state)
{
    (void)state;
    for (int i = 0; i < command_count; i++) {
        const struct command *c = &command_table[i];
        assert_true(c->name[0] && c->help[0] && c->views && c->run);
        assert_true(c->help[strlen(c->help) - 1] != '.');
        for (int k = 0; k < i; k++)
            if (!strcmp(command_table[k].name, c->name))
                fail_msg("two commands are called %s", c->name);
    }
}

/* What the manual promises: this letter does this. */
static void the_promised_keys(void **state)
{
    (void)state;
    static const struct {
        int key;
        const char *name;
    } live[] = {
        {'1', "live"},
        {'2', "table"},
        {'?', "help"},
        {'h', "help"},
        {TERM_F1, "help"},
        {TERM_ESC, "stop"},
        {'q', "back"},
        {TERM_F10, "quit"},
        {'s', "save"},
        {'f', "freeze"},
        {'g', "figure"},
        {'n', "more"},
        {'l', "log-axis"},
        {TERM_LEFT, "model-before"},
        {TERM_RIGHT, "model-next"},
        {'m', "model"},
        {TERM_TAB, "pane"},
        {TERM_UP, "step-up"},
        {'+', "plus"},
        {TERM_DOWN, "step-down"},
        {'-', "minus"},
        {',', "settings"},
        {':', "prompt"},
        {'o', "open"},
        {'y', "copy"},
        {'3', "curves"},
        {'4', "map"},
        {'6', "claims"},
        {'c', "connections"},
        {'i', "idle"},
        {'r', "rate"},
        {'z', "size"},
        {TERM_ENTER, "type"},
        {'w', "workload"},
        {'a', "add"},
        {'d', "drop"},
        {'p', "plan"},
        {' ', "load"},
        {'u', "up-again"},
        {'5', "why"},
        {'e', "explain"},
    };
    for (size_t i = 0; i < sizeof live / sizeof *live; i++) {
        const struct command *c = command_find(VIEW_LIVE, live[i].key);
        if (!c || strcmp(c->name, live[i].name) != 0)
            fail_msg("%s is not on its key", live[i].name);
    }
    for (int key = '7'; key <= '9'; key++) /* no views that are not there */
        assert_null(command_find(VIEW_LIVE, key));
}

/* All pages of the help of a view. */
static char *help_text(struct app *a, const char *view)
{
    canvas_resize(a->canvas, 120, 200);
    show_keys(a, view);
    show_keys(a, "?");
    return show_screen(a);
}

static void the_help_has_every_key(void **state)
{
    (void)state;
    static const char *const keys[] = {"1", "2", "3", "4", "5", "6"};
    for (int v = 0; v < 6; v++) {
        static struct app a;
        struct plan_row want = fake_want("transfer", "select,epoll-lt");
        show_init(&a, &want, 120, 200, CHARSET_BRAILLE);
        char *help = help_text(&a, keys[v]), shown[48], row[80];
        for (int i = 0; i < command_count; i++) {
            if (!(command_table[i].views & views[v]))
                continue;
            snprintf(row, sizeof row, "\n  %s ",
                     keys_show(command_table[i].keys, shown, sizeof shown));
            if (!strstr(help, row))
                fail_msg("%s is not in the help", command_table[i].name);
        }
        free(help);
        show_fini(&a);
    }
}

static void footers_fit(void **state)
{
    (void)state;
    static struct app a;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    char text[400];
    for (int v = 0; v < VIEWS; v++)
        for (int w = 60; w <= 200; w++) {
            command_footer(&a, views[v], w, text, sizeof text);
            assert_true(canvas_width(text) <= w);
            assert_non_null(strstr(text, "? help  q "));
        }
    command_footer(&a, VIEW_LIVE, 60, text, sizeof text);
    assert_string_equal(text, " ? help  q quit");
    command_footer(&a, VIEW_LIVE, 80, text, sizeof text);
    assert_string_equal(text,
                        " ←→ model  ↑↓ connections  w workload  p plan  s save  m models  ? help"
                        "  q quit");
    show_keys(&a, "rf");
    command_footer(&a, VIEW_LIVE, 80, text, sizeof text);
    assert_non_null(strstr(text, "←→ read off  ↑↓ rate"));
    show_fini(&a);
}

/* No key does harm in any view, whatever is open: the sanitizers look. */
static void any_key_anywhere(void **state)
{
    (void)state;
    static struct app a;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    fake_rounds(a.session, fake_row(a.session, &want), 3, 9);
    unsigned seed = 5;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245u + 12345u;
        int n = (int)(seed >> 16) % 140, key = n < 110 ? 17 + n : TERM_UP + n % 14;
        if (key == 's' || key == 'y' || key == 'v')
            continue; /* writes a file */
        app_key(&a, key);
        a.quit = false;
        if (i % 7 == 0)
            app_take(&a);
        if (i % 31 == 0)
            app_draw(&a);
    }
    show_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_reaches_its_command),
        cmocka_unit_test(a_letter_means_the_same_everywhere),
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(the_promised_keys),
        cmocka_unit_test(the_help_has_every_key),
        cmocka_unit_test(footers_fit),
        cmocka_unit_test(any_key_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
