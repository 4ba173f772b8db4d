/* SPDX-License-Identifier: MIT */
/* How many connections a workload can have on this machine, and what stops it there. Pure. */
#ifndef CLI_REACH_H
#define CLI_REACH_H

#include "load/workloads.h"

struct reach_limits {
    long nofile;    /* descriptors that this process may open in all */
    long used;      /* of them wanted for other things */
    long ports;     /* local ports towards one listener */
    long time_wait; /* of them busy for up to a minute */
};

struct reach {
    long connections; /* a model, most */
    const char *why;  /* "descriptors", "local ports" */
    long wanted;      /* its default */
};

void reach_limits_read(struct reach_limits *out);

/* `models` servers at once: a sampled workload keeps the connections of all of them open, a
 * repeated one those of one at a time. */
void reach_of(const struct workload *w, const struct reach_limits *l, int models,
              struct reach *out);

#endif
