/* SPDX-License-Identifier: MIT */
/* How many connections a row can have on this machine, and what stops it there. Pure but for the
 * two that ask the machine. */
#ifndef SESSION_REACH_H
#define SESSION_REACH_H

#include "session/plan.h"

struct reach_limits {
    long nofile; /* descriptors of one table, -1: unknown */
    long ports;  /* local ports of one address towards one listener, -1: unknown */
};

struct reach {
    double connections; /* a model, asking and idle, most */
    double of;          /* the limit that ends them: descriptors, ports */
    const char *why;    /* "descriptors", "local ports", "threads" */
};

/* Raises the soft limit of descriptors first. */
void reach_limits_read(struct reach_limits *out);

/* `models` servers at once. */
void reach_of(const struct params *p, const struct reach_limits *l, int models, struct reach *out);

/* More connections than that in a row of the plan? 0, or -EMFILE with the number possible. */
int reach_check(const struct plan *p, const struct reach_limits *l, struct err *e);

/* The same on this machine, whose soft limit it raises. -ENOSYS: a load engine that cannot run
 * here, and why. */
int reach_check_here(const struct plan *p, struct err *e);

#endif
