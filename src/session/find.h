/* SPDX-License-Identifier: MIT */
/* The highest rate that keeps a limit, for each model of a lineup. The closed loop comes first:
 * what a model does there is above anything that it can keep. Then each row is measured at the
 * middle of a bracket that is still wide, and says something about every model. Pure: who
 * measures asks for the next rate and hands in the row. */
#ifndef SESSION_FIND_H
#define SESSION_FIND_H

#include "session/expr.h"

#define FIND_ROWS_EACH 7  /* most rows for a model, beside the first, */
#define FIND_AGAIN_EACH 3 /* and most of what failed on a noisy machine and is tried once more */
#define FIND_RATIO 1.05   /* a bracket this narrow is enough */

struct find_pane {
    bool over;        /* nothing can be found: see why */
    double low, high; /* the highest rate it kept, 0: none yet; the lowest that it did not */
    double at_low;    /* the figure there, */
    int low_row;      /* the number of the row that gave it, */
    char low_note[32]; /* and what is to be said of that row: ", noisy, second try" */
    int rows;         /* spent on it */
    char why[160];    /* what happened at `high`, or why there is nothing */
};

struct find {
    struct expr limit;
    int panes, rows, agains;
    bool peaked;  /* the closed loop was measured */
    double again; /* a rate that failed on a noisy machine and is tried once more; 0: none */
    struct find_pane pane[LINEUP_MAX];
};

/* The limit concerns the panes of its model; the others are not looked for. */
void find_init(struct find *f, const struct expr *limit, const struct lineup *l);

/* Most rows that it may take. */
int find_most(const struct find *f);

/* The rate of the next row, PARAM_MAX first; false when there is no more to find. */
bool find_next(struct find *f, double *rate);

/* A row measured at that rate. */
void find_take(struct find *f, const struct row *r);

/* The number of the row that shows the end best: the highest rate that all keep who keep one. 0:
 * none keeps any. */
int find_row(const struct find *f);

/* "epoll-lt keeps response_p99_us<2000 up to 61.2k/s (1830), not at 64.1k/s: response_p99_us 4130
 * (noisy, second try)"; false for a pane that was not looked for. */
bool find_say(const struct find *f, const struct row *r, int pane, char *buf, size_t size);

#endif
