/* SPDX-License-Identifier: MIT */
/* Bytes that are no character, in one piece with keys: the keys all count, and a character whose
 * bytes come one by one is one. What goes out at the end leaves nothing behind. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/live.h"

/* Each as long as a sequence that curses would wait for, and cut by a key, a longer one and Esc. */
static void keys_behind_broken_bytes_count(void **state)
{
    static const struct {
        const char *bytes, *shows;
    } pieces[] = {
        {"\xff" "2", "[2 table]"},
        {"\xe3\x81" "3", "[3 curves]"},
        {"\x81\xc3\xff\xf0\x9f" "6", "[6 claims]"},
        {"\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9" "5", "[5 why]"},
        {"\xf0\x9f\x99" "1", "[1 live]"},
    };
    (void)state;
    struct tty *t = live_open(0, 0);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        tty_keys(t, pieces[i].bytes);
        live_expect(t, pieces[i].shows);
    }
    tty_keys(t, ":connections 3\xff" "7\xc3" "1\r");
    live_expect(t, "[371 connections]");
    tty_keys(t, "2\xe3\x81\033");
    live_expect(t, "[1 live]");
    live_leave(t);
}

static void characters_in_pieces_are_whole(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_keys(t, "m");
    live_expect(t, "model of pane");
    tty_keys(t, "\xc3");
    tty_pump(t, 100);
    tty_keys(t, "\xa9\xe2\x82");
    tty_pump(t, 100);
    tty_keys(t, "\xac");
    live_expect(t, "é€");
    tty_keys(t, "\033\033");
    live_expect_gone(t, "é€");
    live_leave(t);
}

/* tmux shows lines of a screen that has grown behind the one it goes back to. */
static void the_screen_is_empty_when_it_is_left(void **state)
{
    (void)state;
    for (int killed = 0; killed < 2; killed++) {
        struct tty *t = live_open(15, 60);
        tty_resize(t, 24, 80);
        live_expect(t, "? help  q quit");
        if (killed)
            tty_signal(t, SIGTERM);
        else
            tty_keys(t, "q");
        assert_true(tty_until_ended(t, 10000 * SLOW));
        const char *wiped = NULL, *raw = tty_raw(t);
        for (const char *at = raw; (at = strstr(at, "\033[H\033[2J")); at++)
            wiped = at;
        assert_non_null(wiped);
        assert_null(strstr(wiped, "help"));
        assert_non_null(strstr(wiped, "\033[?1049l"));
        tty_close(t);
    }
}

int main(void)
{
#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(keys_behind_broken_bytes_count),
        IN_TERMINAL(characters_in_pieces_are_whole),
        IN_TERMINAL(the_screen_is_empty_when_it_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
