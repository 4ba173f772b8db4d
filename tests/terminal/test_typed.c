/* SPDX-License-Identifier: MIT */
/* The claims view, the settings and the prompt in the real program: a claim that a mere trial
 * decides is tried, a parameter is typed well and badly, and a command is found by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/live.h"

static void tries_a_claim(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_keys(t, "6");
    live_expect(t, "[6 claims]");
    live_expect(t, "Not tried yet: p tries all");
    tty_keys(t, "\033OB\033OB\033OB"); /* down to one that no row measures */
    live_expect(t, "delete from epoll before close is needed: n tries it");
    tty_keys(t, "n");
    live_expect(t, "told: no; with a copy");
    live_expect(t, "true here  ✘ false here  ~ depends, see how");
    tty_keys(t, "y");
    live_expect(t, "saved as iodash-claims-");
    tty_keys(t, "q");
    live_expect(t, "[1 live]");
    live_leave(t);
}

static void types_parameters_and_commands(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_keys(t, ":conn");
    live_expect(t, "connections");
    tty_keys(t, "ections 37\r");
    live_expect(t, "[37 connections]");
    tty_keys(t, ":conections 5\r");
    live_expect(t, "did you mean connections?");
    tty_keys(t, "\033");
    live_expect_gone(t, "did you mean");
    tty_keys(t, ":rate 0\r");
    live_expect(t, "rate 0: must be");
    tty_keys(t, "\b3k\r"); /* mended in place */
    live_expect(t, "3k/s asked");
    tty_keys(t, ":settings\r");
    live_expect(t, "settings: what is measured, and how");
    tty_keys(t, "/backl");
    live_expect(t, "▶ backlog");
    tty_keys(t, "\r\r20\r");
    live_expect(t, "20*          length of the");
    tty_keys(t, ",");
    live_expect(t, "[1 live]");
    live_expect(t, "[37 connections]");
    live_leave(t);
}

/* Keys above the arrows as some terminals send them, whatever TERM says; one that nobody knows, and
 * a mouse that was not asked for, are no Esc and no letters. */
static void takes_keys_whole(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_keys(t, ":connections 37");
    live_expect(t, "connections 37");
    tty_keys(t, "\033[99~\033[1;5R\033[?62c\033[<0;5;5M\033[[Z\033[4~1\r");
    live_expect(t, "[371 connections]");
    tty_keys(t, "\033[99~\033[5;3~"); /* Esc would leave */
    tty_keys(t, "2");
    live_expect(t, "[2 table]");
    tty_keys(t, "1");
    live_leave(t);
}

int main(void)
{
#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(tries_a_claim),
        IN_TERMINAL(types_parameters_and_commands),
        IN_TERMINAL(takes_keys_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
