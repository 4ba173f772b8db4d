/* SPDX-License-Identifier: MIT */
/* Three things end the number of connections. A server's table of descriptors: each of several
 * workers has one. The load's: threads of the mux engines take tables of their own as they need
 * them; what connects from one thread, or a thread a connection, shares the process's. And local
 * ports: on loopback the load takes another source address once one has given many
 * (NET_PER_SOURCE), so only a smaller range than that ends anything. */
#include "session/reach.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <stdio.h>

#include "base/limits.h"
#include "load/workloads.h"
#include "net/sock.h"

/* Of a table: terminal, files, wake-ups, lifelines, epoll sets, listeners. */
#define HOUSEHOLD 64
#define BLOCKING_MOST 4000

void reach_limits_read(struct reach_limits *out)
{
    out->nofile = limits_raise_nofile();
    out->ports = limits_local_ports();
}

static void at_most(struct reach *r, double connections, double of, const char *why)
{
    if (connections >= r->connections)
        return;
    *r = (struct reach){fmax(connections, 0), of, why};
}

/* Connections that stand in one table for each that a server has: the fullest one's. */
static double in_a_table(const struct params *p, int models)
{
    const struct workload *w = workload_of(p);
    bool shares = w->one_table || p->engine == ENGINE_BLOCKING;

    return fmax(1 / p->workers, shares ? (w->repeat ? 1 : models) : 0);
}

void reach_of(const struct params *p, const struct reach_limits *l, int models, struct reach *out)
{
    const struct workload *w = workload_of(p);
    double table = l->nofile < 0 ? INFINITY : (double)l->nofile - HOUSEHOLD;

    *out = (struct reach){INFINITY, INFINITY, ""};
    at_most(out, floor(table / in_a_table(p, models) + 1e-6), (double)l->nofile, "descriptors");
    if (p->engine == ENGINE_BLOCKING && !w->one_table)
        at_most(out, BLOCKING_MOST + (p->idle > 0 ? p->idle : 0), BLOCKING_MOST, "threads");
    if (l->ports >= 0 && l->ports < NET_PER_SOURCE)
        at_most(out, (double)l->ports, (double)l->ports, "local ports");
}

static int too_many(const struct plan_row *row, const struct reach *r, struct err *e)
{
    const struct params *p = &row->params;
    const struct io_model *first = row->lineup.models[0];
    double n = p->connections + p->idle, each = in_a_table(p, row->lineup.count);
    bool table = !strcmp(r->why, "descriptors"), helps = !first || !first->target;
    struct params more = *p;
    char needs[40] = "";

    more.workers = 2;
    helps = helps && p->workers == 1 && in_a_table(&more, row->lineup.count) < each;
    if (table)
        snprintf(needs, sizeof needs, ", %.0f needed", ceil(n * each) + HOUSEHOLD);
    return err_set(e, EMFILE, "%.0f connections to a server, at most %.0f here: %.0f %s%s%s", n,
                   r->connections, r->of, r->why, needs,
                   table && helps ? "; each of --workers has a table" : "");
}

int reach_check(const struct plan *p, const struct reach_limits *l, struct err *e)
{
    for (int i = 0; i < p->count; i++) {
        const struct plan_row *row = &p->rows[i];
        struct reach r;

        reach_of(&row->params, l, row->lineup.count, &r);
        if (row->params.connections + row->params.idle > r.connections)
            return too_many(row, &r, e);
    }
    return 0;
}

int reach_check_here(const struct plan *p, struct err *e)
{
    struct reach_limits l;

    for (int i = 0; i < p->count; i++) {
        int failed = load_probe(&p->rows[i].params, e);
        if (failed)
            return failed;
    }
    reach_limits_read(&l);
    return reach_check(p, &l, e);
}
