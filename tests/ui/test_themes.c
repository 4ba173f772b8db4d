/* SPDX-License-Identifier: MIT */
/* Themes: each one that ships is whole, keeps panes apart and stands out on its background; a
 * broken file is named with its line and the built-in one taken; one file serves all kinds of
 * terminals. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"
#include "ui/show.h"
#include "ui/theme.h"

static const int kinds[] = {0, 8, 16, 88, 256};

static bool shipped(const char *name, struct theme *out)
{
    struct err e;
    for (int i = 0; theme_shipped(i, out, &e); i++)
        if (!strcmp(out->name, name))
            return true;
    return false;
}

static void colours_only_add(const struct theme *t)
{
    for (int k = 0; k < 5; k++)
        for (int r = 0; r < ROLE_COUNT; r++)
            assert_true(theme_style(t, (enum role)r, kinds[k]).color < (kinds[k] ? kinds[k] : 1));
    for (int r = 0; r < ROLE_COUNT; r++)
        assert_int_equal(theme_style(t, (enum role)r, 0).color, -1);
}

static void panes_differ(const struct theme *t)
{
    for (int k = 1; k < 5; k++)
        for (int a = ROLE_PANE_A; a <= ROLE_PANE_D; a++)
            for (int b = ROLE_PANE_A; b < a; b++)
                assert_int_not_equal(theme_style(t, (enum role)a, kinds[k]).color,
                                     theme_style(t, (enum role)b, kinds[k]).color);
}

static void every_theme_is_whole(void **state)
{
    (void)state;
    struct theme t;
    struct err e;
    int count = 0;
    for (; theme_shipped(count, &t, &e); count++) {
        if (e.text[0] || !t.title[0])
            fail_msg("%s: %s", t.name, e.text);
        colours_only_add(&t);
        if (strcmp(t.name, "mono") != 0)
            panes_differ(&t);
        assert_true(theme_style(&t, ROLE_SELECTED, 0).reverse);
    }
    assert_true(count >= 5);
}

/* --- contrast: the ratio of luminances that the accessibility guidelines of the web define ---- */

static double linear(int v)
{
    double c = v / 255.0;
    return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(int color)
{
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    int n = color - 16, grey = 8 + 10 * (color - 232);
    if (color >= 232)
        return linear(grey);
    return 0.2126 * linear(levels[n / 36]) + 0.7152 * linear(levels[n / 6 % 6]) +
           0.0722 * linear(levels[n % 6]);
}

static void stands_out(const char *name, bool on_black, bool on_white, double least)
{
    struct theme t;
    assert_true(shipped(name, &t));
    for (int r = 0; r < ROLE_COUNT; r++) {
        int color = theme_style(&t, (enum role)r, 256).color;
        if (color < 0)
            continue;
        double black = (luminance(color) + 0.05) / 0.05, white = 1.05 / (luminance(color) + 0.05);
        if ((on_black && black < least) || (on_white && white < least))
            fail_msg("%s: %s has a contrast of %.1f on black, %.1f on white", name, theme_roles[r],
                     black, white);
    }
}

static void colours_stand_out(void **state)
{
    (void)state;
    stands_out("default", true, true, 3.5);
    stands_out("default-light", false, true, 3.5);
    stands_out("high-contrast", true, false, 7);
    stands_out("high-contrast-light", false, true, 7);
}

/* What is used without assets is what ships. */
static void the_built_in_one_is_the_file(void **state)
{
    (void)state;
    struct theme t;
    assert_true(shipped("default", &t));
    assert_string_equal(t.title, theme_builtin.title);
    for (int k = 0; k < 5; k++)
        for (int r = 0; r < ROLE_COUNT; r++) {
            struct style a = theme_style(&t, (enum role)r, kinds[k]),
                         b = theme_style(&theme_builtin, (enum role)r, kinds[k]);
            if (a.color != b.color || a.bold != b.bold || a.dim != b.dim ||
                a.reverse != b.reverse || a.underline != b.underline)
                fail_msg("%s at %d colours", theme_roles[r], kinds[k]);
        }
}

/* --- files ------------------------------------------------------------------------------------ */

static int from_text(const char *text, struct theme *out, struct err *e)
{
    char path[SCRATCH_PATH];
    int fd = mkstemps(scratch_path(path, "theme-XXXXXX.ini"), 4);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    int rc = theme_load(path, out, e);
    unlink(path);
    return rc;
}

static void one_file_for_all_terminals(void **state)
{
    (void)state;
    struct theme t;
    struct err e;
    assert_int_equal(from_text("; mine\npane_a = bold red, bright-blue 99\npane_b = green\n"
                               "pane_c = 200\nframe = dim 240\n", &t, &e), 0);
    assert_string_equal(e.text, "");
    assert_int_equal(theme_style(&t, ROLE_PANE_A, 8).color, 1);
    assert_int_equal(theme_style(&t, ROLE_PANE_A, 16).color, 12);
    assert_int_equal(theme_style(&t, ROLE_PANE_A, 256).color, 99);
    assert_true(theme_style(&t, ROLE_PANE_A, 0).bold);
    assert_int_equal(theme_style(&t, ROLE_PANE_B, 256).color, 2);
    assert_int_equal(theme_style(&t, ROLE_PANE_C, 16).color, -1);
    assert_true(theme_style(&t, ROLE_FRAME, 8).dim && !theme_style(&t, ROLE_FRAME, 256).dim);
    assert_int_equal(theme_style(&t, ROLE_PANE_D, 256).color, 29); /* not there: as built in */
}

static void broken_files_are_named_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line, *word;
    } broken[] = {
        {"pane_a = red\npane_b = gren\n", "line 2", "did you mean green?"},
        {"pane_a = 256\n", "line 1", "256"},
        {"pane_a = -1\n", "line 1", "-1"},
        {"\n\npane_e = red\n", "line 3", "did you mean pane_"},
        {"wings = red\n", "line 1", "no such role"},
        {"dim = red blue\n", "line 1", "two colours"},
        {"dim =\n", "line 1", "characters"},
        {"[dark]\ndim = red\n", "line 2", "no sections"},
        {"what is this\n", "line 1", "KEY = VALUE"},
        {"\x1b[2J\xff = red\n", "line 1", ""},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct theme t;
        struct err e;
        assert_int_equal(from_text(broken[i].text, &t, &e), 0);
        if (!strstr(e.text, broken[i].line) || !strstr(e.text, broken[i].word) ||
            !strstr(e.text, ".ini") || strchr(e.text, '\x1b'))
            fail_msg("%s said: %s", broken[i].text, e.text);
        assert_memory_equal(t.look, theme_builtin.look, sizeof t.look);
    }
}

static void names_that_are_none(void **state)
{
    (void)state;
    struct theme t;
    struct err e;
    assert_int_equal(theme_load("high-contrst", &t, &e), -EINVAL);
    assert_non_null(strstr(e.text, "did you mean high-contrast?"));
    assert_int_equal(theme_load("zzzzzzzzzzzzzz", &t, &e), -EINVAL);
    assert_non_null(strstr(e.text, "mono"));
    assert_int_equal(theme_load("./not-there.ini", &t, &e), -ENOENT);
    assert_non_null(strstr(e.text, "not-there.ini"));
    assert_string_equal(t.name, "default");
}

static void a_light_background_that_is_told_of(void **state)
{
    (void)state;
    static const struct {
        const char *both, *name;
    } cases[] = {{"0;15", "default-light"}, {"0;default;7", "default-light"}, {"15;0", "default"},
                 {"", "default"},           {"nonsense", "default"}};
    struct theme t;
    struct err e;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("COLORFGBG", cases[i].both, 1);
        assert_int_equal(theme_load(NULL, &t, &e), 0);
        assert_string_equal(t.name, cases[i].name);
        assert_int_equal(theme_load("mono", &t, &e), 0); /* what is asked for is taken */
        assert_string_equal(t.name, "mono");
    }
    unsetenv("COLORFGBG");
}

static void picked_with_a_key(void **state)
{
    (void)state;
    static struct app a;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "t");
    assert_true(show_has(&a, "▶ default "));
    assert_true(show_has(&a, "high-contrast-light"));
    show_keys(&a, "mono<enter>");
    assert_string_equal(a.theme.name, "mono");
    assert_true(a.theme_new);
    assert_true(show_has(&a, "theme mono"));
    show_keys(&a, "t");
    assert_true(show_has(&a, "▶ mono"));
    show_keys(&a, "<up><up>"); /* tried at once, */
    assert_string_equal(a.theme.name, "high-contrast");
    show_keys(&a, "<esc>"); /* and given up */
    assert_string_equal(a.theme.name, "mono");
    show_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_theme_is_whole),
        cmocka_unit_test(colours_stand_out),
        cmocka_unit_test(the_built_in_one_is_the_file),
        cmocka_unit_test(one_file_for_all_terminals),
        cmocka_unit_test(broken_files_are_named_with_their_line),
        cmocka_unit_test(names_that_are_none),
        cmocka_unit_test(a_light_background_that_is_told_of),
        cmocka_unit_test(picked_with_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
