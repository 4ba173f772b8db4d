/* SPDX-License-Identifier: MIT */
/* A list of rows to measure: from arguments (every combination of up to two axes), from a key, or
 * from a plan file (assets/plans/NAME.ini: keys are parameter ids, "models" and "title"). A sweep
 * goes coarse first: both ends, then halves. Thread: the owner's; plan_row_seconds() any. */
#ifndef SESSION_PLAN_H
#define SESSION_PLAN_H

#include "params/args.h"
#include "servers/io_models.h"

struct plan_row {
    struct params params; /* resolved */
    struct lineup lineup;
    unsigned over; /* of a ramp: panes, as bits, that came to their end in an earlier step */
    int had, rounds; /* goes on with the row measured before: kept rounds it has, and is to have;
                      * 0 of 0: what the parameters ask */
    char claim[32]; /* name of the claim that it tries; "": none */
};

struct rows;
struct plan;
/* Called once, under the lock, when a plan's rows are measured: may append more. */
typedef void (*plan_more_fn)(const struct rows *rows, struct plan *p);

struct plan {
    char title[80];
    int count;
    struct plan_row *rows; /* heap; plan_free */
    enum param_id axis[2]; /* PARAM_COUNT where there is none */
    double seconds;        /* about how long it takes, without what fails */
    plan_more_fn more;     /* NULL: nothing comes behind its rows */
};

/* From parsed arguments; models NULL: select,epoll-lt. Returns 0 or -errno with one line. */
int plan_from_args(const struct args *a, struct plan *out, struct err *e);

/* Sets the protocol that the servers of a lineup that are not ours speak, where there is one. 0, or
 * -EINVAL: they speak different ones, or p asks for another. */
int plan_speak(const struct lineup *l, struct params *p, struct err *e);

/* The same for a resolved order that comes after another one, or back to what was given at the
 * start when none of those servers is left. */
int plan_speak_after(struct plan_row *want, const struct plan_row *before,
                     const struct params *given, struct err *e);

/* The same for this lineup, whatever models were given: it may hold a target. */
int plan_for(const struct args *a, const struct lineup *lineup, struct plan *out, struct err *e);

/* From NAME (looked for in the shipped plans) or a path. Arguments given on the command line win
 * over the file; a may be NULL. Unknown name or key, bad value: -EINVAL, with file, line and
 * what is allowed; a path that cannot be read: its -errno. */
int plan_from_file(const char *name, const struct args *a, struct plan *out, struct err *e);

/* One axis over the given row's params: the sweep of the key p. NULL: the steps of its workload.
 * Always 0. */
int plan_sweep(const struct plan_row *base, const struct axis *axis, struct plan *out);

/* Every combination of two axes over the row's params: corners first, then halves. */
void plan_grid(const struct plan_row *base, const struct axis axes[2], struct plan *out);

/* What being a step of a ramp makes of a row, nothing of others: each model is asked for
 * step_length, from the first moment, because waiting until the figures are steady would hide
 * what a new number of clients does. */
void plan_as_step(struct plan_row *r);

void plan_free(struct plan *p);

/* About how long one row takes, in seconds: samples and turns are sums, the warm-up and the time of
 * a pass of a repeated workload are guesses. */
double plan_row_seconds(const struct plan_row *r);

/* The i-th shipped plan (sorted by name): its name, title and seconds; false past the last. */
struct plan_info {
    char name[32], title[80];
    double seconds; /* NaN: it cannot run here, title says why */
};
bool plan_shipped(int i, struct plan_info *out);

/* Where plans were looked for when none are shipped; NULL when there are some. */
const char *plan_looked(void);

#endif
