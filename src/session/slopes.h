/* SPDX-License-Identifier: MIT */
/* What one idle connection costs: straight lines through the rows of a sweep that differ in their
 * idle connections alone. One row has no slope. Pure; the caller holds the rows' lock. */
#ifndef SESSION_SLOPES_H
#define SESSION_SLOPES_H

#include "session/rows.h"
#include "session/say.h"

struct slopes {
    int rows;
    double wait_ns, wait_half; /* server CPU of a wait for each, the kernel's price; half of */
    double request_ns, request_half; /* the 95 % interval; the same of a request */
};

/* False when there are fewer than 3 rows whose cost holds. */
bool slopes_of(const struct rows *rows, const struct row *like, int pane, struct slopes *out);

/* "poll pays 74 ns a wait, 240 ns a request". */
void slopes_say(struct text *t, const char *model, const struct slopes *s);

#endif
