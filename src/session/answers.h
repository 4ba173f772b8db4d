/* SPDX-License-Identifier: MIT */
/* The three lines that say what was found, why, and how far to trust it; the same in every view, in
 * the tables CSV and on the terminal after quitting. Pure functions of a row. */
#ifndef SESSION_ANSWERS_H
#define SESSION_ANSWERS_H

#include "session/rows.h"

struct answer {
    char answer[200], why[200], trust[480]; /* without the words ANSWER, WHY, TRUST */
};

/* Of one row: pane A beside the pane in focus (1..; 0 or one model: the figures alone). */
void answer_row(const struct row *r, int pane, struct answer *out);

/* Of all rows of the same workload and lineup as `r` (a sweep): "at 11.5k/s epoll-lt is cheaper at
 * every count, 2.0 to 5.9 times". The same as answer_row when there is one row. */
void answer_sweep(const struct rows *rows, const struct row *r, int pane, struct answer *out);

#endif
