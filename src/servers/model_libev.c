/* SPDX-License-Identifier: MIT */
/* libev: one ev_io watcher a connection, embedded where we want it (48 bytes), over epoll,
 * level-triggered: an idle connection costs memory and no time. A change of interest is only noted
 * down; the library does it by one epoll_ctl before its next wait, none when a watcher was stopped
 * (the close does that, and an event nobody waits for makes it up). Traps: whatever fails is
 * reported by perror and abort() unless a callback was set; a descriptor that epoll refuses is no
 * longer watched and comes back as an event with EV_ERROR, but only after the wait that follows;
 * its emulation of libevent exports event_* names. One run of the loop is exactly one wait.
 * Sources: ev(3), libev's ev.c and ev_epoll.c. */
#include <errno.h>
#include <ev.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "servers/by_fd.h"
#include "servers/libraries.h"
#include "servers/ready.h"

struct libev_state {
    struct ev_loop *loop;
    ev_io wake, listener;
    ev_timer timer;
    struct by_fd watchers; /* ev_io */
    uint64_t found;        /* in this run of the loop */
    int error;             /* an errno that ends the worker */
};

/* --- the library as a whole ------------------------------------------------------------------- */

static _Thread_local int libev_errno;

static void libev_syserr(const char *text) EV_NOEXCEPT
{
    (void)text;
    libev_errno = errno;
}

static void *libev_memory(void *p, long size) EV_NOEXCEPT
{
    if (size > 0)
        return xrealloc(p, 1, (size_t)size);
    free(p);
    return NULL;
}

static void libev_set_up(void)
{
    ev_set_syserr_cb(libev_syserr);
    ev_set_allocator(libev_memory);
}

static int libev_probe(struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!(ev_supported_backends() & EVBACKEND_EPOLL))
        return err_set(e, ENOSYS, "this libev has no epoll");
    pthread_once(&once, libev_set_up);
    return 0;
}

static void libev_note(char *buf, size_t size)
{
    snprintf(buf, size, "libev %d.%d", ev_version_major(), ev_version_minor());
}

/* --- watchers --------------------------------------------------------------------------------- */

/* The library gave the descriptor up. Ended, the socket tells so to whoever reads or writes. */
static unsigned libev_not_watched(struct worker *w, int fd)
{
    worker_trouble(w, "libev cannot watch descriptor %d", fd);
    shutdown(fd, SHUT_RDWR);
    return READY_IN | READY_OUT | READY_HUP;
}

static void libev_on_conn(struct ev_loop *loop, ev_io *io, int what)
{
    struct worker *w = ev_userdata(loop);
    struct libev_state *s = w->state;
    unsigned bits = (what & EV_READ ? READY_IN : 0u) | (what & EV_WRITE ? READY_OUT : 0u);
    s->found++;
    if (what & EV_ERROR)
        bits = libev_not_watched(w, io->fd);
    ready_event(w, &w->conns[io->fd], bits);
}

/* The server cannot go on without these two. */
static void libev_on_listener(struct ev_loop *loop, ev_io *io, int what)
{
    struct worker *w = ev_userdata(loop);
    struct libev_state *s = w->state;
    (void)io;
    s->found++;
    if (what & EV_ERROR)
        s->error = EIO;
    else
        ready_accept(w);
}

static void libev_on_wake(struct ev_loop *loop, ev_io *io, int what)
{
    struct worker *w = ev_userdata(loop);
    struct libev_state *s = w->state;
    (void)io;
    s->found++;
    if (what & EV_ERROR)
        s->error = EIO;
}

static void libev_on_timer(struct ev_loop *loop, ev_timer *timer, int what)
{
    (void)loop, (void)timer, (void)what;
}

static void libev_start(struct worker *w, ev_io *io)
{
    const struct libev_state *s = w->state;
    counter_add(&w->count->controls, 1); /* before the next wait */
    ev_io_start(s->loop, io);
}

static int libev_add(struct worker *w, struct conn *c)
{
    const struct libev_state *s = w->state;
    ev_io *io = by_fd_at(&s->watchers, c->fd);
    ev_io_init(io, libev_on_conn, c->fd, EV_READ);
    libev_start(w, io);
    return 0;
}

static void libev_drop(struct worker *w, struct conn *c)
{
    const struct libev_state *s = w->state;
    ev_io_stop(s->loop, by_fd_at(&s->watchers, c->fd));
}

static void libev_want(struct worker *w, struct conn *c)
{
    const struct libev_state *s = w->state;
    ev_io *io = by_fd_at(&s->watchers, c->fd);
    ev_io_stop(s->loop, io);
    ev_io_set(io, c->fd, c->wants == READY_OUT ? EV_WRITE : EV_READ);
    libev_start(w, io);
}

static void libev_listen(struct worker *w, bool on)
{
    struct libev_state *s = w->state;
    if (on)
        libev_start(w, &s->listener);
    else
        ev_io_stop(s->loop, &s->listener);
}

static const struct ready_ops libev_ops = {
    .add = libev_add,
    .want = libev_want,
    .drop = libev_drop,
    .listen = libev_listen,
};

/* --- the loop --------------------------------------------------------------------------------- */

static int libev_open(struct worker *w, struct err *e)
{
    struct libev_state *s = w->state;
    int rc = libev_probe(e);
    if (rc == 0)
        rc = by_fd_open(&s->watchers, w->fd_limit, sizeof(ev_io), e);
    if (rc < 0)
        return rc;
    ready_start(w, &libev_ops);
    s->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    if (!s->loop)
        return err_sys(e, "libev: no loop over epoll");
    ev_set_userdata(s->loop, w);
    ev_timer_init(&s->timer, libev_on_timer, 0., 0.);
    ev_io_init(&s->wake, libev_on_wake, w->wake, EV_READ);
    ev_io_init(&s->listener, libev_on_listener, w->listener, EV_READ);
    libev_start(w, &s->wake);
    libev_start(w, &s->listener);
    return 0;
}

static void libev_wake_in(struct libev_state *s, int ms)
{
    ev_timer_stop(s->loop, &s->timer);
    ev_timer_set(&s->timer, ms / 1000., 0.);
    ev_timer_start(s->loop, &s->timer);
}

static int libev_loop(struct worker *w, struct err *e)
{
    struct libev_state *s = w->state;
    libev_errno = 0;
    while (worker_goes_on(w)) {
        int ms = ready_timeout_ms(w);
        if (ms > 0)
            libev_wake_in(s, ms);
        s->found = 0;
        ev_run(s->loop, ms == 0 ? EVRUN_NOWAIT : EVRUN_ONCE);
        int error = libev_errno ? libev_errno : s->error;
        if (error)
            return err_set(e, error, "libev: its wait failed: %s", strerror(error));
        counter_add(&w->count->waits, 1);
        counter_add(&w->count->events, s->found);
        counter_add(&w->count->looks, s->found);
        ready_after(w);
    }
    return 0;
}

static void libev_close(struct worker *w)
{
    struct libev_state *s = w->state;
    if (s->loop)
        ev_loop_destroy(s->loop);
    by_fd_close(&s->watchers);
    memset(s, 0, sizeof *s);
}

const struct io_model model_libev = {
    LIBEV_ROW,
    .state_size = sizeof(struct libev_state),
    .probe = libev_probe,
    .note = libev_note,
    .open = libev_open,
    .loop = libev_loop,
    .close = libev_close,
};
