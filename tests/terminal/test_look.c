/* SPDX-License-Identifier: MIT */
/* Every kind of terminal, with and without colours, themes, and the mouse. All terminals of a test
 * are open at once: they start while others are looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"
#include "terminal/live.h"

static bool all_ascii(struct tty *t)
{
    const char *raw = tty_raw(t);
    for (size_t i = 0; i < tty_bytes(t); i++)
        if ((unsigned char)raw[i] > 0x7f)
            return false;
    return true;
}

static void dialogs_work(struct tty *t)
{
    tty_keys(t, "m");
    live_expect(t, "model of pane A");
    tty_keys(t, "\033");
    live_expect_gone(t, "model of pane A");
}

static void every_terminal_shows_it(void **state)
{
    (void)state;
    static const struct {
        const char *term;
        int colors;
        bool ascii; /* by itself, for its font has no more */
    } kinds[] = {
        {"linux", 8, true},   {"xterm", 8, false},       {"xterm-256color", 256, false},
        {"screen", 8, false}, {"tmux-256color", 256, false}, {"vt100", 0, true},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct tty *t[KINDS];
    for (int i = 0; i < KINDS; i++)
        t[i] = live_start((struct tty_want){.term = kinds[i].term});
    for (int i = 0; i < KINDS; i++) {
        int highest;
        live_expect(t[i], "B epoll");
        live_expect(t[i], "? help");
        int n = tty_coloured(t[i], &highest);
        if ((n > 0) != (kinds[i].colors > 0) || highest >= kinds[i].colors)
            fail_msg("%s: %d cells with a colour, the highest is %d", kinds[i].term, n, highest);
        if (kinds[i].colors == 256 && highest < 16)
            fail_msg("%s: 256 colours, and %d is the highest", kinds[i].term, highest);
        dialogs_work(t[i]);
        if (all_ascii(t[i]) != kinds[i].ascii)
            fail_msg("%s: ASCII is %d", kinds[i].term, all_ascii(t[i]));
        live_leave(t[i]);
    }
}

/* The charset that is asked for wins where the locale can show it. */
static void charsets_that_are_asked_for(void **state)
{
    (void)state;
    static const char *const args[][3] = {
        {"--charset", "block"}, {"--charset", "braille"}, {"--charset", "ascii"}};
    static const char *const shows[] = {"█", "⣿", "+--"}, *const not[] = {"⣿", "█", "⣿"};
    static const char *const terms[] = {"linux", "vt100", "xterm"};
    struct tty *t[3];
    for (int i = 0; i < 3; i++)
        t[i] = live_start((struct tty_want){.term = terms[i], .args = args[i]});
    for (int i = 0; i < 3; i++) {
        tty_keys(t[i], "gRSS\r"); /* a full picture from the first sample on */
        live_expect(t[i], shows[i]);
        assert_false(tty_shows(t[i], not[i]));
        assert_int_equal(all_ascii(t[i]), i == 2);
        live_leave(t[i]);
    }
}

static void no_colour_wins(void **state)
{
    (void)state;
    static const char *const none[] = {NULL}, *const off[] = {"NO_COLOR=1", NULL},
                      *const empty[] = {"NO_COLOR=", NULL},
                      *const assets[] = {"IODASH_ASSETS=/nowhere", NULL};
    static const char *const no_color[] = {"--no-color", NULL},
                             *const mono[] = {"--theme", "mono", NULL},
                             *const both[] = {"--theme", "high-contrast", NULL};
    static const struct {
        const char *const *env, *const *args;
        bool colours;
    } cases[] = {{off, none, false}, {none, no_color, false}, {none, mono, false},
                 {off, both, false}, {empty, both, true},     {assets, none, true}};
    enum { CASES = sizeof cases / sizeof *cases };
    struct tty *t[CASES];
    for (int i = 0; i < CASES; i++)
        t[i] = live_start((struct tty_want){.env = cases[i].env, .args = cases[i].args});
    for (int i = 0; i < CASES; i++) {
        int highest;
        live_expect(t[i], "B epoll");
        live_expect(t[i], "? help");
        if ((tty_coloured(t[i], &highest) > 0) != cases[i].colours)
            fail_msg("case %d: colours up to %d", i, highest);
        live_leave(t[i]);
    }
}

static bool colours_change(struct tty *t, void *before)
{
    int highest;
    return tty_coloured(t, &highest) && highest != *(int *)before;
}

static void themes(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    int fd = mkstemps(scratch_path(path, "broken-XXXXXX.ini"), 4), before;
    assert_true(fd >= 0 && write(fd, "frame = dim\npane_a = bleu\n", 26) == 26);
    close(fd);
    const char *const args[] = {"--theme", path, NULL}, *const wrong[] = {"--theme", "mon", NULL};
    struct tty *t = live_start((struct tty_want){.args = args, .cols = 120});
    struct tty *u = live_start((struct tty_want){.args = wrong});
    live_expect(t, "line 2: bleu: no such colour; did you mean blue?");
    unlink(path);
    tty_coloured(t, &before);
    assert_true(before >= 16); /* the usual ones */
    tty_keys(t, "t");
    live_expect(t, "high-contrast-light");
    tty_keys(t, "high-contrast\r"); /* itself, not the first that begins so */
    live_expect_gone(t, "high-contrast-light");
    if (!tty_until(t, colours_change, &before, SOON))
        fail_msg("the colours are the same, up to %d", before);
    live_leave(t);
    assert_true(tty_until_ended(u, SOON));
    assert_int_equal(tty_status(u), 2);
    assert_non_null(strstr(tty_raw(u), "did you mean mono?"));
}

/* --- the mouse -------------------------------------------------------------------------------- */

/* Press and release, which come together where the program is kept from reading. */
static void press(struct tty *t, int button, const char *text)
{
    char bytes[128];
    int x, y, n;
    live_expect(t, text); /* a frame may come in parts */
    assert_true(tty_find(t, text, &x, &y));
    bool sgr = strstr(tty_raw(t), "\033[?1006"); /* as it was asked for */
    n = snprintf(bytes, sizeof bytes, sgr ? "\033[<%d;%d;%dM" : "\033[M%c%c%c",
                 sgr ? button : 32 + button, sgr ? x + 1 : 33 + x, sgr ? y + 1 : 33 + y);
    if (button < 64) /* a wheel is not released */
        snprintf(bytes + n, sizeof bytes - (size_t)n, sgr ? "\033[<%d;%d;%dm" : "\033[M%c%c%c",
                 sgr ? button : 35, sgr ? x + 1 : 33 + x, sgr ? y + 1 : 33 + y);
    tty_keys(t, bytes);
}

/* A button is released later than it is pressed: the picture must not wait for another key. */
static void press_and_rest(struct tty *t, const char *text)
{
    char bytes[64];
    int x, y;
    live_expect(t, text);
    assert_true(tty_find(t, text, &x, &y));
    bool sgr = strstr(tty_raw(t), "\033[?1006");
    for (int i = 0; i < 4; i++) { /* the third button, too, which means nothing */
        snprintf(bytes, sizeof bytes, sgr ? "\033[<%d;%d;%d%c" : "\033[M%c%c%c",
                 sgr ? i / 2 * 2 : 32 + (i % 2 ? 3 : i), sgr ? x + 1 : 33 + x,
                 sgr ? y + 1 : 33 + y, i % 2 ? 'm' : 'M');
        tty_keys(t, bytes);
        tty_pump(t, 30);
    }
    tty_pump(t, 300 * SLOW);
    size_t before = tty_bytes(t);
    long long end = now_ms() + SOON;
    while (tty_bytes(t) == before && now_ms() < end)
        tty_pump(t, 100);
    assert_true(tty_bytes(t) > before); /* its clock, at least */
}

static void clicks_and_wheel(void **state)
{
    (void)state;
    static const char *const terms[] = {"xterm-256color", "screen"};
    struct tty *t[2];
    for (int i = 0; i < 2; i++)
        t[i] = live_start((struct tty_want){.term = terms[i]});
    for (int i = 0; i < 2; i++) {
        live_expect(t[i], "B epoll");
        press(t[i], 0, "B epoll");
        live_expect(t[i], "▶B epoll");
        press(t[i], 0, "2 table");
        live_expect(t[i], "[2 table]");
        press(t[i], 0, "1 live");
        live_expect(t[i], "[1 live]");
        press(t[i], 64, "20 connections");
        live_expect(t[i], "[50 connections]");
        press(t[i], 65, "[50");
        live_expect(t[i], "[20 connections]");
        tty_keys(t[i], "m");
        live_expect(t[i], "model of pane B");
        press(t[i], 0, "poll  ");
        live_expect(t[i], "▶ poll");
        press(t[i], 0, "▶ poll");
        live_expect(t[i], "▶B poll");
        press_and_rest(t[i], "A select");
        live_leave(t[i]);
        const char *on = strstr(tty_raw(t[i]), "1000h"), *off = strstr(tty_raw(t[i]), "1000l");
        while (off && strstr(off + 1, "1000l"))
            off = strstr(off + 1, "1000l");
        if (!on || !off || strstr(off, "1000h"))
            fail_msg("%s: the mouse is not given back", terms[i]);
    }
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(every_terminal_shows_it), IN_TERMINAL(charsets_that_are_asked_for),
        IN_TERMINAL(no_colour_wins),          IN_TERMINAL(themes),
        IN_TERMINAL(clicks_and_wheel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
