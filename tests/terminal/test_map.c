/* SPDX-License-Identifier: MIT */
/* The map as a person uses it: look, let it be measured, stop it, see a place live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/live.h"

static const char *const small_map[] = {"-m", "poll,epoll-lt", "--at", "15,700", NULL};

/* The lists of the sweep that was asked for are the map's, and its own place stands on it. */
static void is_measured_and_read(void **state)
{
    (void)state;
    static const char *const args[] = {
        "-m", "poll,epoll-lt", "-c", "10,20", "--rate", "500,1k", "--samples", "1",
        "--warmup", "0", "--trim", "0", "--turn", "0.05", "--at", "15,700", NULL};
    struct tty *t = tty_open(&(struct tty_want){.args = args});
    live_expect(t, "CPU a request: A poll over B epoll-lt");
    live_expect(t, "Yours, 15 connections at 700/s");
    live_expect(t, "ANSWER");
    live_expect(t, "n refine");
    live_expect(t, "load on"); /* the plan is over */
    tty_keys(t, "\033OA"); /* up */
    live_expect(t, "20 connections at 500/s: A ");
    tty_keys(t, "\r");
    live_expect(t, "[20 connections]");
    live_leave(t);
}

static void waits_and_can_be_stopped(void **state)
{
    (void)state;
    struct tty *t = live_start((struct tty_want){.args = small_map});
    live_expect(t, "n measures "); /* the usual map, and nothing before that */
    tty_keys(t, "n");
    live_expect(t, "one round a place: ");
    live_expect(t, "Yours, 15 connections at 700/s: ");
    tty_keys(t, "\033");
    live_expect(t, "are left: n goes on");
    tty_keys(t, "1");
    live_expect(t, "[20 connections]");
    live_leave(t);
}

/* Its models are the map's: select would not come that far. */
static void asked_for_ones_own_place_alone(void **state)
{
    (void)state;
    static const char *const args[] = {"--at", "3000,8k", NULL};
    struct tty *t = live_start((struct tty_want){.args = args});
    live_expect(t, "A poll over B epoll-lt");
    live_expect(t, "3k connections at 10k/s");
    live_expect(t, "the models of the plan map");
    tty_keys(t, "1");
    live_expect(t, "[20 connections]");
    live_leave(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(is_measured_and_read, tty_close_all),
        cmocka_unit_test_teardown(waits_and_can_be_stopped, tty_close_all),
        cmocka_unit_test_teardown(asked_for_ones_own_place_alone, tty_close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
