/* SPDX-License-Identifier: MIT */
/* A server as threads of this process. The owner opens listeners and wake-up, so that a port in use
 * is told at once; the server's first thread takes a descriptor table of its own (unshare(2)),
 * closes what is not the server's, moves that to low numbers and becomes the first worker. So
 * select's limit is as honest as in a process, and whatever leaks ends with the threads. Under
 * ThreadSanitizer the table stays shared, because it keeps its state by descriptor number. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/fds.h"
#include "net/sock.h"
#include "servers/place.h"

static int take_own_table(struct server *s, struct err *e)
{
    struct crew *c = &s->crew;
    int keep[WORKERS_MAX + 1];
    memcpy(keep, c->listeners, (size_t)c->workers * sizeof *keep);
    keep[c->workers] = c->wake;
    int failed = fds_own_table(keep, c->workers + 1);
    if (failed)
        return failed == -ENOSYS ? 0 : err_set(e, -failed, "unshare: %s", strerror(-failed));
    s->own_table = true;
    c->wake = fds_lower(c->wake);
    for (int i = 0; i < c->workers; i++)
        c->listeners[i] = fds_lower(c->listeners[i]);
    return 0;
}

static void *first_main(void *arg)
{
    struct server *s = arg;
    struct err why = {""};
    int rc = take_own_table(s, &s->start_error);
    if (rc == 0)
        rc = crew_start(&s->crew, &s->start_error);
    s->start_code = rc;
    sem_post(&s->started);
    if (rc == 0)
        crew_work(&s->crew);
    if (!crew_join(&s->crew, &why))
        shared_fail(s->shared, &why);
    else
        shared_set_state(s->shared, SHARED_STOPPED);
    return NULL;
}

/* Signals are the owner's; those that a fault raises must still find their handler. */
static int spawn_first(struct server *s, struct err *e)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&s->thread, NULL, first_main, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0 : err_set(e, rc, "cannot start the server's thread: %s", strerror(rc));
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static void wait_started(struct server *s)
{
    while (sem_wait(&s->started) < 0 && errno == EINTR)
        ;
}

static int inside_start(struct server *s, int memfd, struct err *e)
{
    int mine[WORKERS_MAX + 1];
    close(memfd);
    s->pid = getpid();
    sem_init(&s->started, 0, 0);
    int rc = crew_init(&s->crew, s->shared, e);
    if (rc == 0)
        rc = crew_listen(&s->crew, e);
    memcpy(mine, s->crew.listeners, sizeof s->crew.listeners);
    mine[WORKERS_MAX] = s->crew.wake;
    s->wake = fcntl(s->crew.wake, F_DUPFD_CLOEXEC, 3);
    if (rc == 0 && s->wake < 0)
        rc = err_sys(e, "descriptor of a server's wake-up");
    if (rc == 0)
        rc = spawn_first(s, e);
    if (rc < 0) {
        close_all(mine, WORKERS_MAX + 1);
        close_all(&s->wake, 1);
        crew_fini(&s->crew);
        sem_destroy(&s->started);
        return rc;
    }
    wait_started(s);
    if (s->own_table)
        close_all(mine, WORKERS_MAX + 1); /* else they are the crew's to close */
    if (s->start_code == 0) {
        shared_set_state(s->shared, SHARED_READY);
        return 0;
    }
    if (e)
        *e = s->start_error;
    rc = s->start_code;
    place_inside.stop(s);
    return rc;
}

static void inside_stop(struct server *s)
{
    crew_let_go(&s->crew);
    net_wake_signal(s->wake);
    pthread_join(s->thread, NULL);
    close(s->wake);
    crew_fini(&s->crew);
    sem_destroy(&s->started);
}

static bool inside_alive(struct server *s, struct err *why)
{
    enum shared_state state = shared_state_of(s->shared);
    if (state != SHARED_FAILED && state != SHARED_STOPPED)
        return true;
    err_set(why, EIO, "its threads ended: %s", s->shared->error.text);
    return false;
}

static int64_t inside_cpu_ns(const struct server *s)
{
    return crew_cpu_ns(&s->crew);
}

static int64_t inside_worker_cpu_ns(const struct server *s, int worker)
{
    return crew_worker_cpu_ns(&s->crew, worker);
}

const struct placement place_inside = {
    .start = inside_start,
    .stop = inside_stop,
    .alive = inside_alive,
    .cpu_ns = inside_cpu_ns,
    .worker_cpu_ns = inside_worker_cpu_ns,
};
