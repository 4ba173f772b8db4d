/* SPDX-License-Identifier: MIT */
/* However it ends, the terminal is given back: each signal at start, in mid-run and in a dialog;
 * Ctrl-C; Ctrl-Z and fg. And the two keys that other programs get wrong: Esc and slow arrows. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/live.h"

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV};
enum { DEADLY = sizeof deadly / sizeof *deadly };
static const int others[] = {SIGXCPU, SIGSYS,    SIGTRAP, SIGUSR1, SIGUSR2, SIGALRM,
                             SIGPROF, SIGVTALRM, SIGPOLL, SIGPWR,  SIGSTKFLT,
                             34,      64}; /* the first and the last real-time signal */
enum { OTHERS = sizeof others / sizeof *others };

/* Ends by that signal or because of it, gives the terminal back, leaves no server behind. */
static void ends_well(struct tty *t, int number, const char *when)
{
    pid_t servers[8];
    char what[64];
    int count = children_of(tty_pid(t), "--server-child", servers, 8);
    const char *name = sigabbrev_np(number);
    snprintf(what, sizeof what, "signal %d, SIG%s, %s", number, name ? name : "RT", when);
    tty_signal(t, number);
    if (!tty_until_ended(t, SOON))
        fail_msg("%s: still runs", what);
    if (tty_status(t) == 0)
        fail_msg("%s: status 0", what);
    live_given_back(t, what);
    for (int i = 0; i < count; i++) {
        long long end = now_ms() + 2000 * SLOW;
        while (process_runs(servers[i]) && now_ms() < end)
            tty_pump(t, 50);
        if (process_runs(servers[i]))
            fail_msg("%s: server process %d still runs", what, (int)servers[i]);
    }
    tty_close(t);
}

static void at_start(void **state)
{
    (void)state;
    for (int i = 0; i < DEADLY; i++)
        for (int delay = 0; delay <= 60; delay += 20) {
            struct tty *t = live_start((struct tty_want){0});
            tty_pump(t, delay);
            ends_well(t, deadly[i], "at start");
        }
}

static bool wrote_something(struct tty *t, void *arg)
{
    (void)arg;
    return tty_bytes(t) > 0;
}

/* The moment the first byte is on the terminal is the most dangerous one. */
static void at_the_first_byte(void **state)
{
    (void)state;
    for (int i = 0; i < DEADLY + OTHERS; i++) {
        struct tty *t = live_start((struct tty_want){0});
        assert_true(tty_until(t, wrote_something, NULL, SOON));
        ends_well(t, i < DEADLY ? deadly[i] : others[i - DEADLY], "at the first byte");
    }
}

static void in_mid_run(void **state)
{
    (void)state;
    for (int i = 0; i < DEADLY; i++)
        ends_well(live_open(0, 0), deadly[i], "in mid-run");
}

static void in_a_dialog(void **state)
{
    (void)state;
    for (int i = 0; i < DEADLY; i++) {
        struct tty *t = live_open(0, 0);
        tty_keys(t, "m");
        live_expect(t, "model of pane A");
        ends_well(t, deadly[i], "in a dialog");
    }
}

static void control_c(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_keys(t, "\003");
    assert_true(tty_until_ended(t, SOON));
    assert_int_equal(tty_status(t), 130);
    live_given_back(t, "after Ctrl-C");
}

static void stopped_and_continued(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    int within_a_second = 0;
    for (int i = 0; i < 6 && within_a_second < 2; i++) { /* a machine may stand still, too */
        tty_keys(t, "\032");
        assert_true(tty_until_stopped(t, SOON));
        tty_pump(t, 100);
        live_given_back(t, "stopped");
        tty_pump(t, 300);
        long long start = now_ms();
        tty_foreground(t);
        live_expect(t, "B epoll");
        within_a_second += now_ms() - start < 1000 * SLOW;
        assert_true(tty_alternate(t));
        assert_false(tty_modes_restored(t));
    }
    assert_int_equal(within_a_second, 2);
    live_expect(t, "µs CPU a request");
    live_leave(t);
}

static bool panes_differ(struct tty *t, void *before)
{
    char *now = tty_part(t, 0, 3, 80, 11);
    bool differ = strcmp(now, before) != 0;
    free(now);
    return differ;
}

static void still_measured(struct tty *t)
{
    char *before = tty_part(t, 0, 3, 80, 11);
    bool moves = tty_until(t, panes_differ, before, SOON);
    free(before);
    if (!moves || tty_shows(t, "starts it again")) {
        tty_dump(t, "nothing is measured any more");
        fail();
    }
}

/* System calls are interrupted in the middle of a load: a stop of the dashboard, of its servers, of
 * all of them, and sizes that change; whoever served before serves afterwards. */
static void servers_live_through_stops_and_sizes(void **state)
{
    (void)state;
    pid_t servers[8], after[8];
    struct tty *t = live_open(0, 0);
    assert_int_equal(children_of(tty_pid(t), "--server-child", servers, 8), 2);
    for (int i = 0; i < 50; i++) {
        tty_resize(t, 15 + i % 30, 60 + 3 * (i % 40));
        tty_pump(t, 30);
        kill(servers[i % 2], i % 4 < 2 ? SIGSTOP : SIGCONT);
    }
    kill(servers[0], SIGCONT);
    kill(servers[1], SIGCONT);
    tty_resize(t, 24, 80);
    for (int i = 0; i < 2; i++) {
        tty_keys(t, "\032");
        assert_true(tty_until_stopped(t, SOON));
        tty_pump(t, 700);
        tty_foreground(t);
        live_expect(t, "B epoll");
    }
    still_measured(t);
    assert_int_equal(children_of(tty_pid(t), "--server-child", after, 8), 2);
    assert_true((after[0] == servers[0] && after[1] == servers[1]) ||
                (after[0] == servers[1] && after[1] == servers[0]));
    live_leave(t);
}

/* Each look costs a millisecond or two; the best of five is what the program needs. */
static void escape_closes_at_once(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    long long best = 1000000;
    for (int i = 0; i < 5; i++) {
        tty_keys(t, "m");
        live_expect(t, "model of pane A");
        tty_pump(t, 150);
        long long start = now_ms();
        tty_keys(t, "\033");
        live_expect_gone(t, "model of pane A");
        if (now_ms() - start < best)
            best = now_ms() - start;
        tty_pump(t, 100);
    }
    if (best >= 100 * SLOW)
        fail_msg("Esc took %lld ms", best);
    live_leave(t);
}

/* An arrow whose bytes come 15 ms apart. Where the machine stands still for longer it is an Esc, so
 * that may happen, but not each time. */
static bool slow_arrow_moves(struct tty *t)
{
    tty_keys(t, "m");
    live_expect(t, "▶ select  ");
    tty_keys(t, "\033");
    tty_pump(t, 15);
    tty_keys(t, "OB");
    live_expect_gone(t, "▶ select  ");
    return tty_shows(t, "model of pane A");
}

static void slow_arrows_still_move(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    for (int i = 1; !slow_arrow_moves(t); i++) {
        assert_true(i < 5);
        tty_close(t);
        t = live_open(0, 0);
    }
    tty_keys(t, "\033OA");
    live_expect(t, "▶ select  ");
    tty_keys(t, "\033");
    live_expect_gone(t, "model of pane A");
    live_leave(t);
}

/* A terminal that is gone has nothing to read either: these had something. Of a q that comes
 * together with the byte before it curses makes one bad character, which happens where this machine
 * stands still: so it is pressed again. */
static void bytes_that_are_no_character_are_no_keys(void **state)
{
    (void)state;
    struct tty *t = live_start((struct tty_want){0});
    live_expect(t, "B epoll");
    for (int i = 0; i < 5; i++) {
        tty_keys(t, i % 2 ? "\xe3\x81" : "\xe9");
        tty_pump(t, 60);
    }
    for (int i = 0; i < 100 && !tty_until_ended(t, 300); i++)
        tty_keys(t, "q");
    assert_int_equal(tty_status(t), 0);
    live_given_back(t, "after bytes that are no character");
}

static void f10_leaves_a_paste_without_an_end(void **state)
{
    (void)state;
    struct tty *t = live_start((struct tty_want){0});
    live_expect(t, "B epoll");
    tty_keys(t, "\033[200~q");
    for (int i = 0; i < 100 && !tty_until_ended(t, 100); i++)
        tty_keys(t, "\033[21~");
    assert_int_equal(tty_status(t), 0);
    live_given_back(t, "after F10");
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(at_start),      IN_TERMINAL(at_the_first_byte),
        IN_TERMINAL(in_mid_run),    IN_TERMINAL(in_a_dialog),
        IN_TERMINAL(control_c),     IN_TERMINAL(stopped_and_continued),
        IN_TERMINAL(servers_live_through_stops_and_sizes),
        IN_TERMINAL(escape_closes_at_once), IN_TERMINAL(slow_arrows_still_move),
        IN_TERMINAL(bytes_that_are_no_character_are_no_keys),
        IN_TERMINAL(f10_leaves_a_paste_without_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
