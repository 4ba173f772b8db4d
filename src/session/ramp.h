/* SPDX-License-Identifier: MIT */
/* The steps of a ramp are rows that differ in the number of their clients alone; a workload with
 * a next_step is one. What they say together is worked out from them each time. Pure; the caller
 * holds the rows' lock. */
#ifndef SESSION_RAMP_H
#define SESSION_RAMP_H

#include "session/answers.h"
#include "session/plan.h"
#include "session/rows.h"

#define RAMP_SILENCE_S 5 /* without a reply: the end of a ramp */

enum ramp_end { RAMP_GOES_ON, RAMP_HALF, RAMP_SILENT, RAMP_LIMIT };

struct ramp {
    int steps;             /* that were measured, the last one too */
    double best, best_at;  /* most requests/s, with so many clients */
    double knee;           /* fewest clients that reached 95 % of it; more only wait longer */
    double last;           /* clients of the last step */
    enum ramp_end end;     /* the first of: half of the best (not by chance), silence, a limit */
    const struct row *row; /* the step that was the end; NULL */
    const struct row *top; /* the step that was the best; NULL */
};

/* One pane's steps, of the ramp to which `like` belongs, with fewer than `below` clients. */
void ramp_read(const struct rows *rows, const struct row *like, int pane, double below,
               struct ramp *out);

/* Before a step: which panes (as bits) have come to their end with fewer clients. */
unsigned ramp_over(const struct rows *rows, const struct plan_row *step);

/* After a step: it is written into the samples of a pane that collapsed with it. */
void ramp_note(const struct rows *rows, struct row *step);

/* Puts ANSWER and WHY of the whole ramp in place of those of its last step, once it has two steps
 * or an end. */
void ramp_answer(const struct rows *rows, const struct row *r, int pane, struct answer *out);

#endif
