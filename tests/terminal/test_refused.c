/* SPDX-License-Identifier: MIT */
/* Terminals that cannot show it, and streams that are none: one clear line, a status that is not 0,
 * and not one escape byte. LC_ALL=C: nothing above 0x7f, graphs all the same. One column: bare pty,
 * because libvterm 0.1.4 crashes there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/live.h"

/* One line on the terminal that contains the word, status not 0, no escape. */
static void refused(struct tty *t, const char *word)
{
    assert_true(tty_until_ended(t, SOON));
    const char *raw = tty_raw(t);
    char *end = strchr(raw, '\n');
    if (tty_status(t) <= 0 || tty_status(t) >= 126 || !end || end[1] || !strstr(raw, word) ||
        strchr(raw, 033))
        fail_msg("status %d, wrote: %s", tty_status(t), raw);
    live_given_back(t, word);
}

static void terminals_that_cannot_show_it(void **state)
{
    (void)state;
    static const char *const names[] = {"", "dumb", "no-such-terminal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        refused(live_start((struct tty_want){.term = names[i]}), "TERM");
}

static struct tty *through_sh(const char *script)
{
    const char *args[] = {"-c", script, NULL};
    return tty_open(&(struct tty_want){.program = "/bin/sh", .args = args});
}

static void streams_that_are_no_terminal(void **state)
{
    (void)state;
    refused(through_sh("exec \"$IODASH_EXE\" -c 20 </dev/null"), "terminal");
    refused(through_sh("exec \"$IODASH_EXE\" -c 20 >out.txt"), "terminal");
    refused(through_sh("\"$IODASH_EXE\" -c 20 | cat >out.txt; exit 1"), "terminal");
}

/* `run` needs no terminal, known or not. */
static void a_file_gets_no_escape_byte(void **state)
{
    (void)state;
    static const char *const names[] = {"", "dumb", "no-such-terminal", "xterm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char script[400];
        snprintf(script, sizeof script,
                 "export TERM=%s; [ \"$TERM\" ] || unset TERM; \"$IODASH_EXE\" run -c 10 --rate 1k"
                 " --samples 3 --warmup 0 --turn 0.05 --settle 0.01 >out.txt 2>err.txt </dev/null;"
                 " s=$?; ! grep -q \"$(printf '\\033')\" out.txt err.txt && [ -s out.txt ] &&"
                 " exit $s; exit 99",
                 names[i]);
        struct tty *t = through_sh(script);
        assert_true(tty_until_ended(t, LATER));
        assert_int_equal(tty_status(t), 0);
    }
}

static void ascii_only_in_the_c_locale(void **state)
{
    (void)state;
    struct tty *t = live_start((struct tty_want){.locale = "C"});
    live_expect(t, "CPU a request");
    tty_pump(t, 2500);
    tty_keys(t, "m");
    tty_pump(t, 300);
    tty_keys(t, "\033");
    tty_pump(t, 300);
    tty_keys(t, "2");
    tty_pump(t, 500);
    tty_keys(t, "?");
    tty_pump(t, 500);
    tty_keys(t, "\033\0331");
    tty_pump(t, 500);
    char *before = tty_part(t, 0, 3, 40, 12);
    tty_pump(t, 3000);
    char *after = tty_part(t, 0, 3, 40, 12);
    const char *raw = tty_raw(t);
    for (size_t i = 0; i < tty_bytes(t); i++)
        if ((unsigned char)raw[i] > 0x7f)
            fail_msg("byte 0x%02x at %zu", (unsigned char)raw[i], i);
    if (!strcmp(before, after)) {
        tty_dump(t, "the left pane stands still");
        fail();
    }
    free(before);
    free(after);
    live_leave(t);
}

static void one_column_and_one_line(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {24, 1}, {1, 80}, {2, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tty *t = live_start(
            (struct tty_want){.rows = sizes[i][0], .cols = sizes[i][1], .bare = true});
        for (int k = 0; k < 150 && tty_bytes(t) == 0; k++)
            tty_pump(t, 100);
        tty_pump(t, 400 * SLOW);
        assert_int_equal(tty_status(t), -1);
        tty_keys(t, "q");
        if (!tty_until_ended(t, SOON))
            fail_msg("q does not leave at %dx%d", sizes[i][1], sizes[i][0]);
        assert_int_equal(tty_status(t), 0);
        assert_true(tty_modes_restored(t));
    }
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(terminals_that_cannot_show_it), IN_TERMINAL(streams_that_are_no_terminal),
        IN_TERMINAL(a_file_gets_no_escape_byte),    IN_TERMINAL(ascii_only_in_the_c_locale),
        IN_TERMINAL(one_column_and_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
