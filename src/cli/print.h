/* SPDX-License-Identifier: MIT */
/* What `run` leaves on stdout: the table of each lineup, and the three answer lines. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdio.h>

#include "session/session.h"

/* Tables and answers as text or Markdown; the caller holds the session's lock. */
void print_session(FILE *out, struct session *s, bool markdown);

#endif
