/* SPDX-License-Identifier: MIT */
/* Differences over the time in which one server's connections were opened and nothing else was. A
 * connection's memory in the kernel lies in slabs (sockets, files, epoll's items), of which there
 * is one sum for the whole machine: among few connections what others did to it would be counted
 * as theirs. Those that a server refused would be in the sum and not in the count. */
#include "session/opening.h"

#include <unistd.h>

#include "base/clock.h"
#include "metrics/proc.h"

#define ENOUGH 1000 /* connections that stand out from the machine's other use of memory */
#define LEAST 4096  /* bytes: the sockets of both ends alone are more */
#define MOST 32768  /* an idle connection has nothing that takes as much */

static int64_t kernel_bytes(void)
{
    struct proc_net net;
    int64_t slabs = proc_socket_bytes();
    proc_net_read(&net);
    return slabs < 0 || net.mem_bytes < 0 ? -1 : slabs + net.mem_bytes;
}

/* Of a server inside it would be the load's as well. */
static int64_t rss_bytes(const struct server *s)
{
    struct proc_stat stat;
    if (server_pid(s) == getpid())
        return -1;
    return proc_stat_read(server_pid(s), &stat, NULL) < 0 ? -1 : stat.rss_bytes;
}

void opening_begin(struct server *s, struct opening *out)
{
    out->kernel_bytes = kernel_bytes();
    out->rss_bytes = rss_bytes(s);
    server_read(s, &out->server);
    out->t_ns = clock_ns();
}

double opening_kernel_each(int64_t from, int64_t to, double n, const char **why)
{
    double each = (double)(to - from) / n;
    *why = from < 0 || to < 0 ? "/proc/slabinfo is for root"
           : n < ENOUGH       ? "it takes 1000 connections"
           : each < LEAST     ? "others gave memory back meanwhile"
           : each > MOST      ? "others took memory meanwhile"
                              : "";
    return **why ? METRIC_NONE : each;
}

static double rss_each(int64_t from, int64_t to, double n)
{
    return from < 0 || to < from || n < ENOUGH ? METRIC_NONE : (double)(to - from) / n;
}

bool opening_end(struct server *s, const struct opening *from, struct values *out, const char **why)
{
    struct server_counts now;
    server_read(s, &now);
    double n = (double)(now.accepts - from->server.accepts);
    bool refused = now.refusals != from->server.refusals;
    values_clear(out);
    out->v[METRIC_kernel_per_connection] =
        opening_kernel_each(from->kernel_bytes, kernel_bytes(), n, why);
    if (refused) {
        out->v[METRIC_kernel_per_connection] = METRIC_NONE;
        *why = "it refused connections";
    }
    out->v[METRIC_rss_per_connection] = rss_each(from->rss_bytes, rss_bytes(s), n);
    if (n > 0 && now.last_accept_ns > from->t_ns)
        out->v[METRIC_accepts_per_s] = n * 1e9 / (double)(now.last_accept_ns - from->t_ns);
    return n > 0 || refused;
}
