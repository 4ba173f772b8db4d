/* SPDX-License-Identifier: MIT */
/* The placement of a server that is not ours and that runs already: nothing is started and nothing
 * ends with it. It lives as long as its process does, when that is known, and its CPU is that
 * process's and of all below it. Its counters stay zero and mean nothing: server_counted() says
 * so. */
#include "servers/place.h"

#include <errno.h>
#include <unistd.h>

#include "servers/target.h"

static const struct target *target_of(const struct server *s)
{
    return s->spec.model->target;
}

static int ended(const struct target *t, struct err *e)
{
    return err_set(e, ESRCH, "process %d (%.40s) ended", t->pid, t->name);
}

/* Whoever listens there now is another one: its CPU is that of a process that nobody named. */
static int cannot_again(const struct target *t, struct err *e)
{
    struct err why = {""};
    if (target_reach(t, &why) < 0)
        return err_set(e, ESRCH, "process %d (%.40s) ended; %.90s", t->pid, t->name, why.text);
    return err_set(e, ESRCH,
                   "process %d (%.40s) ended; another one listens there: attach it by its own pid",
                   t->pid, t->name);
}

static int target_start(struct server *s, int memfd, struct err *e)
{
    const struct target *t = target_of(s);
    close(memfd);
    if (t->pid)
        s->tree = tree_new(&(struct tree_root){
            .pid = t->pid, .itself = true, .start_ticks = t->start_ticks});
    if (t->pid && !tree_lives(s->tree))
        return cannot_again(t, e);
    s->spec.listen = t->addr;
    s->shared->port = net_addr_port(&s->spec.listen);
    s->pid = t->pid;
    return t->knock ? target_reach(t, e) : 0;
}

static void target_stop(struct server *s)
{
    (void)s;
}

static bool target_alive(struct server *s, struct err *why)
{
    const struct target *t = target_of(s);
    if (!t->pid || tree_lives(s->tree))
        return true;
    ended(t, why);
    return false;
}

static int64_t target_cpu_ns(const struct server *s)
{
    return s->tree ? tree_cpu_ns(s->tree) : -1;
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
