/* SPDX-License-Identifier: MIT */
/* Between compare.c, which finds the rows, and compare_figures.c, which judges their figures. */
#ifndef SESSION_COMPARE_INNER_H
#define SESSION_COMPARE_INNER_H

#include "session/compare.h"

/* Calls fn for each pane of each row of a session that is this row; returns how many. */
typedef void (*compare_fn)(void *ctx, const struct row *r, int pane);
int compare_each(const struct compare_session *s, const struct compare_row *like, compare_fn fn,
                 void *ctx);

/* Fills in the figures of the rows that both sides have. */
void compare_judge(struct comparison *c);

#endif
