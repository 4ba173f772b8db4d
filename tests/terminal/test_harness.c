/* SPDX-License-Identifier: MIT */
/* The harness itself, over programs whose behaviour is known: what it says of the dashboard is
 * worth nothing unless it sees a terminal that was left broken. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/harness.h"

static struct tty *run_shell(const char *script)
{
    const char *const args[] = {"-c", script, NULL};
    return tty_open(&(struct tty_want){.program = "/bin/sh", .args = args});
}

static void sees_text_where_it_stands(void **state)
{
    (void)state;
    struct tty *t = run_shell("printf '\\033[3;5H\\342\\243\\277x\\n'; exit 7");
    assert_true(tty_until_ended(t, 5000));
    assert_int_equal(tty_status(t), 7);
    char *part = tty_part(t, 4, 2, 10, 1);
    assert_string_equal(part, "\342\243\277x\n");
    free(part);
}

static void sees_modes_and_cursor_left_wrong(void **state)
{
    (void)state;
    struct tty *t = run_shell("printf '\\033[?1049h\\033[?25l'; stty -echo; exit 0");
    assert_true(tty_until_ended(t, 5000));
    assert_false(tty_modes_restored(t));
    assert_false(tty_cursor_visible(t));
    assert_true(tty_alternate(t));
}

static void sees_modes_given_back(void **state)
{
    (void)state;
    struct tty *t = run_shell("stty -echo; printf '\\033[?1049h\\033[?25l'; stty echo;"
                              "printf '\\033[?25h\\033[?1049l'; kill -TERM $$");
    assert_true(tty_until_ended(t, 5000));
    assert_int_equal(tty_status(t), 128 + SIGTERM);
    assert_true(tty_modes_restored(t));
    assert_true(tty_cursor_visible(t));
    assert_false(tty_alternate(t));
}

static void stops_and_goes_on(void **state)
{
    (void)state;
    struct tty *t = run_shell("echo begin; read x; echo \"<$x>\"");
    assert_true(tty_until_text(t, "begin", 5000));
    tty_keys(t, "\032");
    assert_true(tty_until_stopped(t, 5000));
    tty_foreground(t);
    tty_keys(t, "again\n");
    assert_true(tty_until_ended(t, 5000));
    assert_true(tty_shows(t, "<again>"));
}

static bool one_child(struct tty *t, void *child)
{
    return children_of(tty_pid(t), "600", child, 4) == 1;
}

/* The last bytes come some time after the end; a status alone says nothing about them. */
static void has_all_that_was_written_before_the_end(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct tty *t = run_shell("printf '\\033[?25l%2000s\\033[?25h' x");
        assert_true(tty_until_ended(t, 5000));
        assert_int_equal(tty_bytes(t), 2000 + 12);
        assert_true(tty_cursor_visible(t));
        tty_close(t);
    }
}

static void counts_children_and_resizes(void **state)
{
    (void)state;
    pid_t child[4];
    /* The script itself does not hold the word: a child has it until its exec. */
    struct tty *t = run_shell("trap 'stty size' WINCH; n=60; sleep ${n}0 & echo up;"
                              "while :; do sleep 0.05; done");
    assert_true(tty_until_text(t, "up", 5000));
    assert_true(tty_until(t, one_child, child, 5000));
    tty_resize(t, 30, 100);
    assert_true(tty_until_text(t, "30 100", 5000));
    tty_signal(t, SIGKILL);
    assert_true(tty_until_ended(t, 5000));
    assert_true(process_runs(child[0]));
    kill(child[0], SIGKILL);
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(sees_text_where_it_stands),     IN_TERMINAL(sees_modes_and_cursor_left_wrong),
        IN_TERMINAL(sees_modes_given_back),         IN_TERMINAL(stops_and_goes_on),
        IN_TERMINAL(counts_children_and_resizes),
        IN_TERMINAL(has_all_that_was_written_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
