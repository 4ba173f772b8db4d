/* SPDX-License-Identifier: MIT */
/* What harness.c (processes and bytes) and screen.c (the emulator) share. */
#ifndef TERMINAL_TTY_H
#define TERMINAL_TTY_H

#include <vterm.h>

#include "scratch.h"
#include "terminal/harness.h"

struct tty {
    int master, reports, commands;
    pid_t shell, pid;
    int status; /* -1 while it runs */
    bool stopped, cursor, alternate;
    int marks_due, marks; /* SHELL_MARKs: announced by a report, seen in the output */
    struct termios before;
    VTerm *vt; /* NULL when bare */
    VTermScreen *screen;
    int rows, cols;
    char *raw;
    size_t bytes, room;
    char folder[SCRATCH_PATH];
};

void emulator_open(struct tty *t);
void emulator_feed(struct tty *t, const char *bytes, size_t n);

#endif
