/* SPDX-License-Identifier: MIT */
/* Connecting costs the client more than accepting costs the server, so a server that accepts as
 * they come is never seen at its own speed. Here all of them are established before it accepts the
 * first one: the kernel does that for as many as the backlog holds. */
#include "load/accept_drain.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "load/dial.h"
#include "load/drain.h"

#define LOOK_NS (200 * NS_PER_US)
#define MOST_NS (5 * NS_PER_S) /* of connecting, of draining, of closing */

static bool queue_holds(const struct params *p)
{
    long most = limits_somaxconn();
    return p->connections <= p->backlog && (most < 0 || p->connections <= (double)most);
}

static bool called_off(void *off)
{
    return off && atomic_load((const _Atomic bool *)off);
}

/* How many came about. */
static int connect_all(const struct load_spec *spec, int *fds, int n, const _Atomic bool *off)
{
    struct dial d = {&spec->target, spec->params.nodelay != 0, clock_ns() + MOST_NS, called_off,
                     (void *)off};
    int made = 0;
    while (made < n && (fds[made] = dial(&d)) >= 0)
        made++;
    return made;
}

static struct server_counts counts(const struct load_spec *spec)
{
    struct server_counts c;
    spec->server_read(spec->server_ctx, &c);
    return c;
}

/* Until n more were accepted, or (closed) as many were closed as were accepted. */
static bool wait_for(const struct load_spec *spec, const struct server_counts *before, uint64_t n,
                     bool closed)
{
    for (uint64_t end = clock_ns() + MOST_NS; clock_ns() < end;) {
        struct server_counts c = counts(spec);
        if (closed ? c.closes >= c.accepts : c.accepts - before->accepts >= n)
            return true;
        clock_sleep_until(clock_ns() + LOOK_NS);
    }
    return false;
}

static double drain(const struct load_spec *spec, struct drain *d, int n)
{
    struct server_counts before = counts(spec);
    struct gate_reading g;
    drain_open(d);
    if (!wait_for(spec, &before, (uint64_t)n, false))
        return METRIC_NONE;
    clock_sleep_until(clock_ns() + NS_PER_MS); /* the time of an accept is noted after its count */
    spec->gate_read(spec->server_ctx, &g);
    uint64_t last_ns = counts(spec).last_accept_ns;
    return last_ns > g.passed_ns ? n / ((double)(last_ns - g.passed_ns) / 1e9) : METRIC_NONE;
}

double accept_drain_per_s(const struct load_spec *spec, const _Atomic bool *off, char *note,
                          size_t size)
{
    struct drain d;
    int n = (int)spec->params.connections;
    double per_s = METRIC_NONE;
    if (!spec->server_read || !queue_holds(&spec->params))
        return METRIC_NONE;
    int *fds = xcalloc((size_t)n + 1, sizeof *fds);
    bool shut = drain_shut(&d, spec, GATE_PASSES_ACCEPTS, note, size);
    int made = shut ? connect_all(spec, fds, n, off) : 0;
    if (made == n)
        per_s = drain(spec, &d, n);
    drain_end(&d);
    for (int i = 0; i < made; i++)
        net_close_reset(fds[i]);
    if (shut)
        wait_for(spec, NULL, 0, true);
    free(fds);
    return per_s;
}
