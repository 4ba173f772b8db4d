/* SPDX-License-Identifier: MIT */
/* What comes in between: Ctrl-Z, a terminal that is gone, a paste, keys faster than the screen. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/live.h"

/* True when each sample that is kept took less than so long. (A round of which no turn was over yet
 * leaves no broken sample either.) */
static bool stop_is_left_out(const char *file, double most_s)
{
    char command[700];
    snprintf(command, sizeof command,
             "python3 -c \"import csv,sys; r=list(csv.DictReader(open(sys.argv[1])));"
             "k=[float(x['interval_s']) for x in r if x['kept'] in ('yes','extra')];"
             "print(max(k), [x['kept'] for x in r].count('broken'), file=sys.stderr);"
             "sys.exit(max(k) >= %f)\" '%s'",
             most_s, file);
    return system(command) == 0;
}

/* Measured from its first round on. */
static struct tty *at_once(void)
{
    static const char *const args[] = {"--warmup", "0", NULL};
    struct tty *t = live_start((struct tty_want){.args = args});
    live_expect(t, " mean of ");
    return t;
}

static void a_stop_breaks_the_round(void **state)
{
    (void)state;
    enum { STOP_MS = 1500 };
    struct tty *t = at_once();
    for (int i = 0; i < 2; i++) {
        if (i)
            tty_signal(t, SIGSTOP); /* behind its back */
        else
            tty_keys(t, "\032");
        assert_true(tty_until_stopped(t, SOON));
        tty_pump(t, STOP_MS);
        tty_foreground(t);
        tty_pump(t, 700);
    }
    long long end = now_ms() + LATER;
    do /* a busy machine may have only broken rounds so far */
        tty_keys(t, "s");
    while (!tty_until_text(t, "saved as", 500 * SLOW) && now_ms() < end);
    live_expect(t, "saved as");
    char *file = live_file(t, "iodash-*[0-9].csv");
    assert_non_null(file);
    if (!stop_is_left_out(file, STOP_MS / 1e3))
        fail_msg("a stop is in a kept sample");
    free(file);
    live_leave(t);
}

/* script(1) opens a terminal for the program alone. */
static void ctrl_z_without_a_shell_stops_nothing(void **state)
{
    (void)state;
    static const char *const args[] = {"-qec", "exec \"$IODASH_EXE\" -c 5", "/dev/null", NULL};
    struct tty *t = tty_open(&(struct tty_want){.program = "/usr/bin/script", .args = args});
    live_expect(t, "B epoll");
    live_expect(t, "? help");
    tty_keys(t, "\032");
    tty_pump(t, 300);
    tty_keys(t, "2");
    live_expect(t, "[2 table]");
    tty_keys(t, "1");
    live_expect(t, "[1 live]");
    live_leave(t);
}

/* No signal comes: the shell that leads the session ignores it. Reading says it. */
static void a_terminal_that_is_gone(void **state)
{
    (void)state;
    pid_t servers[8];
    struct tty *t = at_once();
    int count = children_of(tty_pid(t), "--server-child", servers, 8);
    assert_int_equal(count, 2);
    tty_hang_up(t);
    if (!tty_until_ended(t, SOON))
        fail_msg("still runs without a terminal");
    assert_int_not_equal(tty_status(t), 0);
    long long end = now_ms() + 2000 * SLOW;
    for (int i = 0; i < count; i++) {
        while (process_runs(servers[i]) && now_ms() < end)
            tty_pump(t, 20);
        assert_false(process_runs(servers[i]));
    }
    if (live_files(t, "iodash/*.csv") == 0)
        fail_msg("what was measured is not saved");
}

/* --- input ------------------------------------------------------------------------------------ */

static char *pasted(bool marked)
{
    static char text[2100];
    size_t n = 0;
    n += (size_t)snprintf(text, sizeof text, "%s", marked ? "\033[200~" : "");
    for (int i = 0; n < 2048; i++)
        text[n++] = "sdp\ra+ mwq1x2\n"[i % 14];
    snprintf(text + n, sizeof text - n, "%s", marked ? "\033[201~" : "");
    return text;
}

/* It has letters of many commands and Enter: nothing is saved, dropped or begun, nobody leaves. */
static void a_paste_is_no_keys(void **state)
{
    (void)state;
    struct tty *t = NULL;
    for (int marked = 0; marked < 2; marked++) {
        if (t)
            live_leave(t);
        t = live_start((struct tty_want){.term = marked ? NULL : "linux"}); /* which marks none */
        live_expect(t, "B epoll");
        live_expect(t, "? help");
        tty_keys(t, pasted(marked));
        tty_pump(t, 500 * SLOW);
        assert_int_equal(tty_status(t), -1);
        assert_true(tty_shows(t, "[1 live]") && tty_shows(t, "[20 connections]"));
        assert_true(tty_shows(t, "A select") && tty_shows(t, "B epoll"));
        assert_false(tty_shows(t, "model of") || tty_shows(t, "saved as"));
        assert_int_equal(live_files(t, "iodash-*.csv"), 0);
    }
    tty_keys(t, "c\r");
    live_expect(t, "Enter take");
    tty_keys(t, "\033[200~3\n7\033[201~"); /* into what is being typed, but for the line's end */
    live_expect(t, "37_");
    tty_keys(t, "\r");
    live_expect(t, "[37 connections]");
    live_leave(t);
}

/* A key that is held comes faster than a frame; all of them count. */
static void no_key_is_lost(void **state)
{
    (void)state;
    struct tty *t = live_start((struct tty_want){0});
    live_expect(t, "? help");
    char text[32] = "";
    tty_keys(t, "c\r");
    live_expect(t, "Enter take");
    for (int i = 0; i < 24; i++) {
        char key[2] = {(char)('0' + i % 10), 0};
        strcat(text, key);
        tty_keys(t, key);
        if (i % 3 == 0)
            tty_pump(t, 3);
    }
    live_expect(t, text);
    tty_keys(t, "\033");
    live_expect_gone(t, "Enter take");
    tty_keys(t, "?");
    live_expect(t, "keys of the live view");
    for (int i = 0; i < 40; i++)
        tty_keys(t, i % 4 == 3 ? "\033[A" : "\033[B"); /* 30 down, 10 up */
    tty_keys(t, "q");
    live_expect_gone(t, "keys of the live view");
    for (int i = 0; i < 12; i++)
        tty_keys(t, "\t"); /* there and back, six times */
    tty_keys(t, "\t");
    live_expect(t, "▶B epoll");
    for (int i = 0; i < 7; i++)
        tty_keys(t, "  "); /* off and on */
    live_expect(t, "load on");
    live_leave(t);
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(a_stop_breaks_the_round),
        IN_TERMINAL(ctrl_z_without_a_shell_stops_nothing),
        IN_TERMINAL(a_terminal_that_is_gone),
        IN_TERMINAL(a_paste_is_no_keys),
        IN_TERMINAL(no_key_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
