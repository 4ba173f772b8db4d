/* SPDX-License-Identifier: MIT */
/* Saved sessions beside saved sessions: what was measured before (A) and after (B), or here and
 * there. The session is the unit: within one everything drifts together, so its rounds say
 * nothing of the next. Three or more a side show how far sessions lie apart, and only then a
 * difference can be told from that. Pure but for compare_open(). Thread: the caller's. */
#ifndef SESSION_COMPARE_H
#define SESSION_COMPARE_H

#include "session/csv.h"

#define COMPARE_LEAST 3        /* sessions a side */
#define COMPARE_CONFIDENCE 0.95 /* that no figure at all is named wrongly */

enum { SIDE_A, SIDE_B, SIDES };

struct compare_session {
    const char *name; /* of its file, the caller's */
    char id[64];      /* "" where the file has none */
    struct rows rows;
    struct environment env;
};

/* A row of one model, in as many sessions of each side as have it. */
struct compare_row {
    const struct row *row; /* the first of them, and its pane */
    int pane;
    int sessions[SIDES];
    char verdicts[SIDES][80]; /* "ok", "full in 2 of 3, ok in 1 of 3" */
    bool worse; /* it died or erred in every session of B and in none of A */
};

/* One figure of it. */
struct compare_figure {
    int at;                    /* in the rows */
    enum metric_id metric;
    int n[SIDES];              /* sessions used */
    double mean[SIDES];        /* of them; NaN: not measured */
    double least[SIDES], most[SIDES];
    double ratio, low, high;   /* B over A, and the interval that was judged by; NaN: none */
    enum outcome outcome;      /* DEARER: B is worse, CHEAPER: B is better */
    char reason[96];           /* why it was withheld; "" */
};

struct comparison {
    struct compare_session *session[SIDES];
    int sessions[SIDES];
    bool known;       /* enough sessions a side to know how far they lie apart */
    double spread;    /* given in its place, as a fraction; NaN: not given */
    int judged;       /* figures that could have been named; each at confidence */
    double confidence;
    struct compare_row *row;
    int rows;
    struct compare_figure *figure; /* counts before all else */
    int figures;
};

/* Opens a file into the next session of a side. note: what was left out of it, or that it is one
 * that stands there already (then it is not counted and 0 is returned); "" when all is well.
 * Returns samples read or what csv_open() returned. */
int compare_open(struct comparison *c, int side, const char *name, char note[200], struct err *e);

/* Matches rows by workload, path, model and every parameter, and judges. */
void compare_make(struct comparison *c);

/* Rows that both sides have. */
int compare_common(const struct comparison *c);

/* "transfer select, connections 400, rate 11.5k/s": with whatever differs among the rows. */
char *compare_label(const struct comparison *c, const struct compare_row *r, char *buf,
                    size_t size);

/* The i-th thing in which the machines differ, as a line; false past the last. */
bool compare_difference(const struct comparison *c, int i, char *buf, size_t size);

/* Figures with that outcome; and rows that are worse, of DEARER. */
int compare_count(const struct comparison *c, enum outcome o);

/* "worse", "better", "same", "cannot tell", "withheld": of B. */
const char *compare_word(enum outcome o);

/* A call that nobody makes is not worth a line. */
bool compare_worth(const struct compare_figure *f);

/* By what it was judged, and what is missing. */
char *compare_trust(const struct comparison *c, char *buf, size_t size);

/* All of it as one table. */
void compare_to(const struct comparison *c, struct sink *to);

void compare_free(struct comparison *c);

#endif
