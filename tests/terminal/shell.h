/* SPDX-License-Identifier: MIT */
/* The small shell between the pty and the program under test: starts it in the foreground, reports
 * when it stopped or ended, continues it on order. It keeps the terminal open after the program
 * ended, so that the modes it left can be read. */
#ifndef TERMINAL_SHELL_H
#define TERMINAL_SHELL_H

#include "terminal/harness.h"

enum report_kind { REPORT_STARTED, REPORT_STOPPED, REPORT_ENDED };

struct report {
    int kind;  /* enum report_kind */
    int value; /* pid when started, status as of a shell when ended */
};

/* Written to the terminal before a stop or an end is reported. The kernel hands on what a program
 * wrote some time after its end; once the mark has come, everything before it has too. The program
 * itself never writes this byte. */
#define SHELL_MARK '\005'

/* Body of the pty's child. Reports go to one descriptor; a byte on the other means "go on". */
_Noreturn void shell_main(const struct tty_want *want, const char *folder, int reports,
                          int commands);

#endif
