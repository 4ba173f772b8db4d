/* SPDX-License-Identifier: MIT */
/* Figures over an axis: the rows of one workload and lineup that differ in one parameter, a line a
 * pane, each point the figure of a row with its interval; and where two lines meet. Pure; the
 * caller holds the rows' lock while they are made. */
#ifndef SESSION_CURVES_H
#define SESSION_CURVES_H

#include "session/rows.h"

struct curve_point {
    struct summary s;
    enum verdict verdict;
    bool ranks; /* its verdict lets figures like this one rank */
};

struct curve_at { /* all lines at one value of the axis */
    double x;     /* PARAM_MAX too */
    int row;      /* its number */
    struct curve_point line[LINEUP_MAX];
    struct paired ratio; /* pane A over `against` */
    bool withheld;       /* that ratio is no result */
};

struct curves {
    const struct workload *workload;
    const char *path;
    struct params params; /* all but the axis are what the rows have in common */
    enum param_id axis;   /* PARAM_COUNT: nothing varies, one point at most */
    enum metric_id figure;
    int lines, against;
    char model[LINEUP_MAX][32];
    int count;
    struct curve_at *at; /* heap, ascending; curves_free */
    const struct curves *with; /* those of before: their values lie on the axis, too; NULL: none */
};

/* Parameters that are numbers, and of which the rows like this one in all else have several values,
 * most values first; of two with as many the usual axis of the workload. How long and how often was
 * measured does not count as different. Returns how many, at most `most` (1 or more). */
int curves_axes(const struct rows *rows, const struct row *like, enum param_id *out, int most);

struct curves_wish {
    enum param_id axis;    /* PARAM_COUNT, or one that does not vary: the usual one */
    enum metric_id figure; /* METRIC_COUNT: the main one */
    int against;           /* pane beside A */
    bool keep;             /* that axis even where it does not vary */
};

/* Of several rows at one value the newest that has 3 kept samples. */
void curves_make(const struct rows *rows, const struct row *like, const struct curves_wish *w,
                 struct curves *out);
void curves_free(struct curves *c);

/* The row of the next curve over this axis (step 1 or -1) of the same table, in its order; NULL:
 * there is none. */
const struct row *curves_next(const struct rows *rows, const struct row *like, enum param_id axis,
                              int step);

/* The row whose curves are meant where `like` stands alone: the newest one of its table that has an
 * axis; else `like`. */
const struct row *curves_row(const struct rows *rows, const struct row *like);

/* The curves of a row, and those that stand as "before" over the same axis, which may be theirs
 * where the row has none yet. False: there is nothing of before. Both stay where they are. */
bool curves_pair(const struct rows *rows, const struct row *like, const struct curves_wish *w,
                 struct curves *now, struct curves *before);

/* The row of the period before whose figures stand as "before" beside `like`: of the same workload
 * with as many panes, as like it as there is; NULL: none. */
const struct row *curves_before(const struct rows *rows, const struct row *like);

/* Which axes are logarithmic. Usual: x where its values are spread so, y not. */
enum curve_axes { AXES_USUAL, AXES_LOG, AXES_LINEAR, AXES_COUNT };
struct curve_logs {
    bool x, y;
};
struct curve_logs curves_logs(const struct curves *c, enum curve_axes axes);

/* 0 .. 1: where a value stands along the axis. 0 on a logarithmic axis and "max" on any have a
 * place of their own, a gap away from the numbers. */
double curves_place(const struct curves *c, bool log_x, double x);

/* Are both lines measured at this point? And which is above: 1: pane A, -1: the other, 0: not
 * told. */
bool curves_both(const struct curves *c, int i);
int curves_told(const struct curves *c, int i);

enum meeting_kind {
    MEETS_CROSS, /* the one that was above is below from there on */
    MEETS_JOIN,  /* from there on they are not told apart */
    MEETS_PART,  /* up to there they are not */
};

struct meeting {
    enum meeting_kind kind;
    int from, to;  /* points between which it lies */
    double place;  /* along the axis, as drawn */
    double x, y;   /* x NaN: between a number and what is none (0 on a log axis, max) */
};

/* Where pane A and `against` meet, as straight lines between the points on these axes, told by the
 * 99 % intervals of their ratio at the points. Returns how many, at most `most`. */
int curves_meet(const struct curves *c, struct curve_logs logs, struct meeting *out, int most);

#endif
