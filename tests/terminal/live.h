/* SPDX-License-Identifier: MIT */
/* The dashboard in its usual state, and what must be true of a terminal it has left. Asserts with
 * cmocka. */
#ifndef TERMINAL_LIVE_H
#define TERMINAL_LIVE_H

#include "terminal/harness.h"

/* Milliseconds that anything may take here before it counts as not happening. */
#define SOON (4000 * SLOW)
#define LATER (15000 * SLOW)

/* Starts the dashboard with a small load (20 connections, short turns), 24x80 where rows is 0, and
 * waits until both panes show figures. */
struct tty *live_open(int rows, int cols);
/* The same with more in `want` (args are added after the small load); does not wait. */
struct tty *live_start(struct tty_want want);
/* Until both panes are drawn and measured. */
void live_until_measured(struct tty *t);

/* text appears; prints the screen when not. */
void live_expect(struct tty *t, const char *text);
void live_expect_gone(struct tty *t, const char *text);

/* Files of that pattern in the program's folder; and the only one, which the caller frees (NULL:
 * none or several). */
int live_files(struct tty *t, const char *pattern);
char *live_file(struct tty *t, const char *pattern);

/* q, and the program ends by itself with status 0. */
void live_leave(struct tty *t);
/* Modes, cursor and main screen are as before the program started. */
void live_given_back(struct tty *t, const char *when);

#endif
