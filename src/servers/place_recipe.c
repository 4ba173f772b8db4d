/* SPDX-License-Identifier: MIT */
/* The placement of a server that is not ours and that we start: under a keeper, which outlives us
 * by as long as it takes to end it. It is ready once a connection to it is accepted. Its CPU is
 * that of all its processes, and of those that ended as the keeper counts them; it runs on the CPUs
 * that one of ours would have. Its counters stay zero: server_counted() says so. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "servers/place.h"
#include "servers/recipe.h"
#include "servers/target.h"

#define STOP_MS (4 * KEEPER_GRACE_MS)
#define BUILD_S 120
#define POLL_MS 10

static const struct recipe *recipe_of(const struct server *s)
{
    return s->spec.model->target->recipe;
}

/* --- where it listens ------------------------------------------------------------------------- */

/* One can listen there (0: anywhere): a descriptor that does, or -errno. */
static int try_port(int port, struct net_addr *addr, struct err *e)
{
    char text[40];
    snprintf(text, sizeof text, "127.0.0.1:%d", port);
    net_addr_parse(text, true, addr, NULL);
    return net_listen(addr, &(struct net_listen){.backlog = 1}, e);
}

/* Between here and the target's bind() an outgoing connection may get any port of its range: so
 * one below it, if there are some. */
static int try_low_ports(struct net_addr *addr)
{
    enum { FIRST = 1024, TRIES = 50, STEP = 7919 };
    long n = limits_first_local_port() - FIRST;
    uint64_t at = clock_ns() / NS_PER_US + (uint64_t)getpid() * STEP;
    int fd = -EADDRINUSE;
    for (int i = 0; i < TRIES && n >= TRIES && fd < 0; i++)
        fd = try_port(FIRST + (int)((at + (uint64_t)i * STEP) % (uint64_t)n), addr, NULL);
    return fd;
}

/* A port of the recipe's own must be free; else one that is. */
static int choose_port(const struct recipe *r, struct net_addr *addr, struct err *e)
{
    struct err why = {""};
    int fd = r->port ? -EADDRINUSE : try_low_ports(addr);
    if (fd < 0)
        fd = try_port(r->port, addr, &why);
    if (fd == -EADDRINUSE)
        return err_set(e, EADDRINUSE, "port %d is taken, and its recipe has no other", r->port);
    if (fd < 0)
        return err_set(e, -fd, "%s", why.text);
    int port = net_local_port(fd);
    close(fd);
    if (port > 0)
        net_addr_set_port(addr, port);
    return port < 0 ? port : 0;
}

/* As a worker of ours: the first on the server's CPU, the next ones on those behind it, if they may
 * go there; one that decides itself how many it has stays on the first. */
static void choose_cpus(const struct server *s, struct keeper *k)
{
    bool own = s->spec.model->caps & CAP_OWN_WORKERS;
    int n = own ? 1 : s->shared->workers;
    CPU_ZERO(&k->cpus);
    for (int i = 0; s->spec.cpu >= 0 && i < n && s->spec.cpu + i < CPU_SETSIZE; i++)
        if (CPU_ISSET(s->spec.cpu + i, &s->shared->cpus))
            CPU_SET(s->spec.cpu + i, &k->cpus);
    k->cpu_count = CPU_COUNT(&k->cpus);
}

/* --- how it goes ------------------------------------------------------------------------------ */

/* How it ended and what it said last, in one line. */
static int describe_end(struct server *s, struct err *e)
{
    struct keeper *k = s->keeper;
    char how[48], said[160];
    int state = atomic_load(&k->state), code = atomic_load(&k->code);
    if (state < KEEPER_FAILED)
        return err_set(e, EIO, "its keeper ended");
    spawn_end_text(code, atomic_load(&k->status), how, sizeof how);
    keeper_last_lines(k, said, sizeof said);
    return err_set(e, EIO, "%s%s%s%s", state == KEEPER_FAILED ? "its build failed: " : "", how,
                   said[0] ? "; it said: " : "", said);
}

static bool has_ended(struct server *s)
{
    siginfo_t info;
    if (atomic_load(&s->ended))
        return true;
    if (atomic_load(&s->keeper->state) < KEEPER_FAILED && !spawned_ended(&s->child, &info))
        return false;
    describe_end(s, &s->why);
    atomic_store(&s->ended, true);
    return true;
}

static bool listens(const struct server *s)
{
    int fd = net_connect_blocking(&s->spec.listen, true, 1);
    if (fd >= 0)
        net_close_reset(fd);
    return fd >= 0;
}

static int never_listened(const struct server *s, double seconds, struct err *e)
{
    char said[160], where[80];
    keeper_last_lines(s->keeper, said, sizeof said);
    return err_set(e, ETIMEDOUT, "it did not listen on %s within %.0f s%s%s",
                   net_addr_print(&s->spec.listen, where, sizeof where), seconds,
                   said[0] ? "; it said: " : " and said nothing", said);
}

static void rest(void)
{
    struct timespec t = {0, POLL_MS * NS_PER_MS};
    nanosleep(&t, NULL);
}

static bool called_off(const struct server *s, struct err *e)
{
    bool off = s->spec.orders && atomic_load(s->spec.orders) != s->spec.seen;
    if (off)
        err_set(e, ECANCELED, "its start was called off");
    return off;
}

static int wait_built(struct server *s, struct err *e)
{
    uint64_t end = clock_ns() + BUILD_S * NS_PER_S;
    while (atomic_load(&s->keeper->state) == KEEPER_BUILDS) {
        if (has_ended(s))
            return err_set(e, EIO, "%s", s->why.text);
        if (called_off(s, e))
            return -ECANCELED;
        if (clock_ns() > end)
            return err_set(e, ETIMEDOUT, "its build took longer than %d s", BUILD_S);
        rest();
    }
    return 0;
}

static int wait_ready(struct server *s, struct err *e)
{
    double seconds = recipe_of(s)->timeout_s;
    int rc = wait_built(s, e);
    uint64_t end = clock_ns() + (uint64_t)(seconds * 1e9);
    while (rc == 0) {
        if (has_ended(s))
            return err_set(e, EIO, "it ended at its start: %s", s->why.text);
        if (listens(s))
            return 0;
        if (called_off(s, e))
            return -ECANCELED;
        if (clock_ns() > end)
            return never_listened(s, seconds, e);
        rest();
    }
    return rc;
}

/* --- the placement ---------------------------------------------------------------------------- */

/* Nobody is left after a keeper that ended by itself. After one that was killed there may be some
 * that no look has seen yet; they are in the group of what it started. */
static void kill_orphans(struct server *s, bool killed)
{
    pid_t group = atomic_load(&s->keeper->group);
    if (killed && group > 1)
        kill(-group, SIGKILL);
    if (s->tree)
        tree_kill(s->tree);
}

static void recipe_stop(struct server *s)
{
    siginfo_t info;
    bool killed = spawned_ended(&s->child, &info) && info.si_code != CLD_EXITED;
    killed |= spawned_stop(&s->child, STOP_MS);
    kill_orphans(s, killed);
    keeper_clear(s->keeper); /* the keeper has, unless it was killed */
    keeper_free(s->keeper);
}

static int start_keeper(struct server *s, struct err *e)
{
    int fd = keeper_new(&s->keeper, e);
    if (fd < 0)
        return fd;
    int port = net_addr_port(&s->spec.listen);
    choose_cpus(s, s->keeper);
    int rc = recipe_fill(recipe_of(s), &s->spec.params, port, s->keeper, e);
    if (rc == 0)
        rc = spawn(KEEPER_FLAG, fd, &s->child, e);
    close(fd);
    if (rc < 0) {
        keeper_clear(s->keeper);
        keeper_free(s->keeper);
    }
    return rc;
}

/* What was started, or of a daemon, whose starter has ended, the first process. */
static pid_t main_process(const struct server *s)
{
    pid_t pids[TREE_MOST], started = atomic_load(&s->keeper->pid);
    int n = tree_pids(s->tree, pids, TREE_MOST);
    for (int i = 0; i < n; i++)
        if (pids[i] == started)
            return started;
    return n > 0 ? pids[0] : started;
}

static int recipe_start(struct server *s, int memfd, struct err *e)
{
    close(memfd);
    int rc = choose_port(recipe_of(s), &s->spec.listen, e);
    if (rc == 0)
        rc = start_keeper(s, e);
    if (rc < 0)
        return rc;
    s->shared->port = net_addr_port(&s->spec.listen);
    rc = wait_ready(s, e);
    if (rc < 0) {
        recipe_stop(s);
        return rc;
    }
    s->tree = tree_new(&(struct tree_root){.pid = s->child.pid,
                                           .ended_ns = &s->keeper->ended_cpu_ns});
    s->pid = main_process(s);
    return 0;
}

static bool recipe_alive(struct server *s, struct err *why)
{
    if (!has_ended(s))
        return true;
    if (why)
        *why = s->why;
    return false;
}

static int64_t recipe_cpu_ns(const struct server *s)
{
    return tree_cpu_ns(s->tree);
}

static int64_t recipe_worker_cpu_ns(const struct server *s, int worker)
{
    (void)s, (void)worker;
    return -1;
}

const struct placement place_recipe = {
    .start = recipe_start,
    .stop = recipe_stop,
    .alive = recipe_alive,
    .cpu_ns = recipe_cpu_ns,
    .worker_cpu_ns = recipe_worker_cpu_ns,
};
