/* SPDX-License-Identifier: MIT */
/* Signals as bytes in a pipe, so that the event loop deals with them between two frames, whichever
 * thread they were delivered to. Fatal ones give the terminal back and go on to what they did
 * before. Thread: the screen's. */
#ifndef UI_SIGNALS_H
#define UI_SIGNALS_H

#include "base/err.h"

/* Catches INT TERM HUP QUIT TSTP CONT WINCH (to the pipe) and the others that end a program, unless
 * they are ignored (restore() then the old action). restore must be async-signal-safe. */
int signals_open(void (*restore)(void), struct err *e);

/* Puts every action back. */
void signals_close(void);

int signals_fd(void);   /* readable when one is waiting */
int signals_take(void); /* the next signal, 0 when there is none */

#endif
