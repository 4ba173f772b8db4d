/* SPDX-License-Identifier: MIT */
/* What `run` leaves on stdout: the table of each lineup, and the three answer lines. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdio.h>

#include "session/session.h"

/* Rows, by number, that the answers are about. */
struct print_rows {
    int count;
    int number[32];
};

/* Tables and answers as text or Markdown; the caller holds the session's lock. An answer is about
 * the last row of a table, or about those of `about` that stand in it. */
void print_session(FILE *out, struct session *s, const struct print_rows *about, bool markdown);

#endif
