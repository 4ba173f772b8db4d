/* SPDX-License-Identifier: MIT */
/* What opening its connections took of a server: how fast it accepted them, and what each costs its
 * memory and the kernel's. Thread: the runner's. */
#ifndef SESSION_OPENING_H
#define SESSION_OPENING_H

#include "metrics/metrics.h"
#include "servers/server.h"

struct opening {
    uint64_t t_ns;
    struct server_counts server;
    int64_t rss_bytes, kernel_bytes; /* -1: not measured */
};

/* Just before the first connect, while no other load opens or closes any. */
void opening_begin(struct server *s, struct opening *out);

/* When all are there: accepts_per_s, rss_per_connection, kernel_per_connection; METRIC_NONE each
 * where it was not measured, and of the last the reason, a clause; else "". False: none came. */
bool opening_end(struct server *s, const struct opening *from, struct values *out,
                 const char **why);

/* The kernel's memory for each of n connections, from the sums before and after (-1: not known). */
double opening_kernel_each(int64_t from, int64_t to, double n, const char **why);

#endif
