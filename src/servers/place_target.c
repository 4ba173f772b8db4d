/* SPDX-License-Identifier: MIT */
/* The placement of a server that is not ours: nothing is started and nothing ends with it. It lives
 * as long as its process does, when that is known, and its CPU clock is that process's. Its
 * counters stay zero and mean nothing: server_counted() says so. */
#include "servers/place.h"

#include <errno.h>
#include <unistd.h>

#include "metrics/proc.h"
#include "servers/target.h"

static const struct target *target_of(const struct server *s)
{
    return s->spec.model->target;
}

static bool lives(const struct target *t)
{
    struct proc_stat stat;
    return proc_stat_read(t->pid, &stat, NULL) == 0 && stat.start_ticks == t->start_ticks &&
           stat.state != 'Z' && stat.state != 'X';
}

static int ended(const struct target *t, struct err *e)
{
    return err_set(e, ESRCH, "process %d (%.40s) ended", t->pid, t->name);
}

static int target_start(struct server *s, int memfd, struct err *e)
{
    close(memfd);
    if (target_of(s)->pid && !lives(target_of(s)))
        return ended(target_of(s), e);
    s->spec.listen = target_of(s)->addr;
    s->shared->port = net_addr_port(&s->spec.listen);
    s->pid = target_of(s)->pid;
    return 0;
}

static void target_stop(struct server *s)
{
    (void)s;
}

static bool target_alive(struct server *s, struct err *why)
{
    const struct target *t = target_of(s);
    if (!t->pid || lives(t))
        return true;
    ended(t, why);
    return false;
}

static int64_t target_cpu_ns(const struct server *s)
{
    return s->pid && lives(target_of(s)) ? proc_cpu_ns(s->pid) : -1;
}

static int64_t target_worker_cpu_ns(const struct server *s, int worker)
{
    (void)s, (void)worker;
    return -1;
}

const struct placement place_target = {
    .start = target_start,
    .stop = target_stop,
    .alive = target_alive,
    .cpu_ns = target_cpu_ns,
    .worker_cpu_ns = target_worker_cpu_ns,
};
