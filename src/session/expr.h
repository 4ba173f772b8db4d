/* SPDX-License-Identifier: MIT */
/* A condition on a figure: [MODEL.]METRIC(<|<=|>|>=)NUMBER, "epoll-lt.response_p99_us<2000". What
 * --fail-if and --find-rate take. Pure. */
#ifndef SESSION_EXPR_H
#define SESSION_EXPR_H

#include "session/plan.h"
#include "session/rows.h"

enum expr_op { EXPR_LESS, EXPR_LESS_EQUAL, EXPR_MORE, EXPR_MORE_EQUAL };

struct expr {
    char text[96];  /* as it was typed */
    char model[32]; /* "": every model */
    enum metric_id metric;
    enum expr_op op;
    double number;
};

/* `who` begins the message ("--fail-if"). -EINVAL with one line: what is wrong, and the nearest
 * name of an unknown model or metric. */
int expr_parse(const char *who, const char *text, struct expr *out, struct err *e);

/* What follows the metric: "<=2000". -EINVAL where it is none. */
int expr_parse_limit(const char *text, enum expr_op *op, double *number);

/* The comparison as it is written: "<=". */
extern const char *const expr_op_words[];

/* Can rows of this plan answer it? -EINVAL when no lineup has its model or no workload its
 * metric. */
int expr_check(const char *who, const struct expr *x, const struct plan *p, struct err *e);

/* Likewise, of rows that are measured as they stand: a response time needs a pace. */
int expr_check_rows(const char *who, const struct expr *x, const struct plan *p, struct err *e);

/* False for "not measured" (NaN). */
bool expr_holds(const struct expr *x, double v);

/* Is this pane of a row meant? Its model is the one, and the row yields the metric. */
bool expr_means(const struct expr *x, const struct row *r, int pane);

/* The panes of all rows of which it holds or, failing that, those of which the figure is not
 * measured. True when there are any, and says which: "select at 11.5k/s: 2310; poll at 11.5k/s:
 * 2200 (2 in all)", "... not measured". */
bool expr_found(const struct expr *x, const struct rows *rows, char *said, size_t size);

#endif
