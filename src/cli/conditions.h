/* SPDX-License-Identifier: MIT */
/* --fail-if and --find-rate of `run`: read and checked before any load, told of after it. */
#ifndef CLI_CONDITIONS_H
#define CLI_CONDITIONS_H

#include "params/args.h"
#include "session/expr.h"
#include "session/find.h"

struct conditions {
    int fail_count;
    struct expr fail_if[ARGS_TEXTS];
    bool finds;
    struct expr limit; /* of --find-rate */
};

/* -EINVAL with one line. A plan for --find-rate becomes one of short rows whose rate is open. */
int conditions_take(const struct args *a, struct plan *plan, struct conditions *out, struct err *e);

/* Tells on stderr which conditions hold; true when one does. The caller holds the rows' lock. */
bool conditions_failed(const struct conditions *c, const struct rows *rows);

/* How many rows finding may take for all rows of the plan, and about how long. */
int conditions_find_most(const struct conditions *c, const struct plan *p, double *seconds);

#endif
