/* SPDX-License-Identifier: MIT */
/* A connection takes one descriptor here (the server's end lies in its own process) and one local
 * port towards its server; two servers listen on two ports, so each has all local ports. */
#include "cli/reach.h"

#include "base/limits.h"

/* Files, the terminal, epoll sets, lifelines: what plan_check_limits() sets aside too. */
#define HOUSEHOLD 64

void reach_limits_read(struct reach_limits *out)
{
    out->nofile = limits_nofile_hard();
    out->used = HOUSEHOLD;
    out->ports = limits_local_ports();
    out->time_wait = limits_time_wait();
}

void reach_of(const struct workload *w, const struct reach_limits *l, int models,
              struct reach *out)
{
    struct params p;
    params_init(&p);
    p.workload = (double)(w - workload_table);
    workload_resolve(&p);
    long descriptors = (l->nofile - l->used) / (w->repeat ? 1 : models);
    long ports = l->ports - (l->time_wait > 0 ? l->time_wait : 0);
    bool by_ports = l->ports >= 0 && ports < descriptors;
    out->connections = by_ports ? ports : descriptors;
    out->why = by_ports ? "local ports" : "descriptors";
    if (out->connections < 0)
        out->connections = 0;
    out->wanted = (long)(p.connections + p.idle);
}
