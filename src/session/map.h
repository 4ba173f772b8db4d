/* SPDX-License-Identifier: MIT */
/* A map: two models beside each other at every combination of connections and requests/s, one
 * round a place, so that about a minute shows where it matters which one is taken. Its places are
 * rows like all others, looked up again each time; whatever else was measured of a place (a live
 * row, a sweep) counts too, the one with most rounds. Pure; the caller holds the rows' lock for
 * what takes rows. */
#ifndef SESSION_MAP_H
#define SESSION_MAP_H

#include "params/axis.h"
#include "session/reach.h"
#include "session/rows.h"

struct map_axes {
    struct axis connections, rate; /* ascending */
    bool has_at;
    double at[2]; /* connections and rate of somebody's own server */
};

/* The lists that the plan's rows were made from; those it has not (or no plan at all) are usual
 * ones. */
void map_axes_of(const struct plan *p, struct map_axes *out);

/* "3000,8k" into has_at and at. Returns 0 or -EINVAL with one line. */
int map_at_parse(const char *text, struct map_axes *out, struct err *e);

/* NOTHING: not measured yet. CANNOT: it cannot be here, and nobody tries. FAILED: was tried. */
enum map_kind { MAP_NOTHING, MAP_CANNOT, MAP_FAILED, MAP_FIGURE };

struct map_cell {
    enum map_kind kind;
    double connections, rate;
    const struct row *row;        /* it was measured in; NULL: in none */
    int rounds;
    double figure[2], cpu_pct[2]; /* of pane A and the other; NaN: not measured */
    bool full[2];                 /* no CPU left */
    struct paired ratio;
    double times; /* how many times better the other is than A; below 1: A is; NaN */
    bool doubt;   /* its verdict lets no figure of this class rank; `reason` says why */
    char reason[160];
};

struct map_ask {
    const struct plan_row *want; /* whose models and parameters; its connections and rate aside */
    const struct map_axes *axes;
    int pane;                    /* beside A */
    enum metric_id metric;
    const struct reach_limits *limits;
};

struct map {
    struct plan_row base; /* what a place is measured with: one round, nothing dropped */
    struct map_axes axes;
    int pane;
    enum metric_id metric;
    struct map_cell *cell; /* heap: a line for each rate, then the one of `at`; map_free */
};

/* Why there can be no map of this; "" when there can. */
const char *map_refused(const struct plan_row *want);

/* Only where map_refused() says "". */
void map_make(const struct map_ask *ask, const struct rows *rows, struct map *out);
void map_free(struct map *m);

int map_columns(const struct map *m);
int map_rows(const struct map *m);
const struct map_cell *map_cell(const struct map *m, int column, int row);
const struct map_cell *map_at(const struct map *m); /* NULL: none was asked for */
const char *map_model(const struct map *m, int side); /* id of pane A's (0) or the other's (1) */

/* 0: the same within 5 %; 1 to 4: the other is better by up to 1.5, 3, 8 times and above; negative:
 * A is. */
int map_class(double times);

/* --- plans (map_plan.c) ----------------------------------------------------------------------- */

/* All places that can be measured and are not yet, coarse first; at its end more rounds where the
 * two are close. plan_free. */
void map_plan(const struct map *m, struct plan *out);

/* More rounds: at this place (NULL: none) and where the two are close, nearest to the border
 * between the same and a difference first, as many as some 20 s hold. */
void map_plan_more(const struct map *m, const struct map_cell *focus, struct plan *out);

/* A place of its own at the head of a plan over connections and rate: --at of `run`. Returns 0, or
 * -EINVAL with one line where the plan is none. */
int map_plan_at(struct plan *p, const struct map_axes *axes, struct err *e);

/* Is it a plan over connections and rate? */
bool map_is_plan(const struct plan *p);

/* A plan_more_fn: a plan's places where the two are close, with more rounds. */
void map_refine(const struct rows *rows, struct plan *p);

/* --- words (map_say.c) ------------------------------------------------------------------------ */

/* Two columns that show the class: "▒▒" the other is better, "A▒" A is, "= " the same; what has no
 * ratio: blanks. */
char *map_mark(const struct map_cell *c, bool ascii, char *buf, size_t size);
/* What its marks mean, as one line. */
void map_legend(const struct map *m, bool ascii, bool brief, char *buf, size_t size);
/* Where a place is: 10, 1k, 11.5k, max. */
char *map_number(double v, char *buf, size_t size);
/* How many times, whichever way: 1.04, 1.4, 10, 85. */
char *map_times(double times, char *buf, size_t size);
/* "CPU a request: A select over B epoll-lt" */
void map_title(const struct map *m, char *buf, size_t size);
/* One place: where, both figures, the ratio, what limits it. */
void map_say(const struct map *m, const struct map_cell *c, char *buf, size_t size);
/* What the map says as a whole; "" before anything is measured. */
void map_answer(const struct map *m, char *buf, size_t size);
/* How far to trust it. */
void map_trust(const struct map *m, char *buf, size_t size);

#endif
