/* SPDX-License-Identifier: MIT */
/* libuv: one uv_poll handle a connection over epoll, level-triggered, with recv and send of our
 * own: uv_tcp would read, write and close for us and so change more than the way to wait. An idle
 * connection costs memory (160 bytes of handle, a pointer, the kernel's entry) and no time. A
 * handle belongs to a descriptor's number, not to a connection: it is stopped at a close and
 * started again when the number comes back, which saves uv_poll_init's try (2 epoll_ctl) and
 * uv_close's detour through the end of the loop's pass. Traps: a start is always a stop first (2
 * epoll_ctl); a socket with an error is stopped by the library itself; what epoll_wait or
 * epoll_ctl refuse inside the loop is abort(). Only where 1024 sockets are ready at once does a
 * run of the loop wait more than once. Sources: docs.libuv.org (poll, loop), libuv's
 * src/unix/poll.c and linux-core.c. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "servers/by_fd.h"
#include "servers/libraries.h"
#include "servers/ready.h"

#define LIBUV_BATCH 1024 /* events of one epoll_wait in the library */

struct libuv_state {
    uv_loop_t loop;
    bool opened;
    uv_poll_t wake, listener;
    uv_timer_t timer;
    struct by_fd polls; /* uv_poll_t; of type 0 until its number is first seen */
    uint64_t found;     /* in this run of the loop */
    int error;          /* ends the worker */
};

/* --- the library as a whole ------------------------------------------------------------------- */

static void libuv_set_up(void)
{
    uv_loop_t loop;
    if (uv_loop_init(&loop) == 0)
        uv_loop_close(&loop);
}

/* The first loop of a process makes a pipe that stays, and whose numbers every fork() closes in the
 * child: it must be made by the owner, not in the table of descriptors of a server inside. */
static int libuv_probe(struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)e;
    pthread_once(&once, libuv_set_up);
    return 0;
}

static void libuv_note(char *buf, size_t size)
{
    snprintf(buf, size, "libuv %s", uv_version_string());
}

static int libuv_failed(struct err *e, const char *what, int rc)
{
    return err_set(e, -rc, "libuv: %s: %s", what, uv_strerror(rc));
}

/* --- handles ---------------------------------------------------------------------------------- */

static void libuv_on_conn(uv_poll_t *poll, int status, int what);

static int libuv_start(struct worker *w, uv_poll_t *poll, int what, uv_poll_cb fn)
{
    counter_add(&w->count->controls, 2);
    return uv_poll_start(poll, what, fn);
}

static void libuv_stop(struct worker *w, uv_poll_t *poll)
{
    counter_add(&w->count->controls, 1);
    uv_poll_stop(poll);
}

static void libuv_want(struct worker *w, struct conn *c)
{
    const struct libuv_state *s = w->state;
    libuv_start(w, by_fd_at(&s->polls, c->fd), c->wants == READY_OUT ? UV_WRITABLE : UV_READABLE,
                libuv_on_conn);
}

static int libuv_add(struct worker *w, struct conn *c)
{
    struct libuv_state *s = w->state;
    uv_poll_t *poll = by_fd_at(&s->polls, c->fd);
    if (poll->type != UV_POLL) {
        counter_add(&w->count->controls, 2);
        int rc = uv_poll_init(&s->loop, poll, c->fd);
        if (rc < 0) {
            memset(poll, 0, sizeof *poll);
            return rc;
        }
    }
    return libuv_start(w, poll, UV_READABLE, libuv_on_conn);
}

static void libuv_drop(struct worker *w, struct conn *c)
{
    const struct libuv_state *s = w->state;
    libuv_stop(w, by_fd_at(&s->polls, c->fd));
}

static void libuv_on_conn(uv_poll_t *poll, int status, int what)
{
    struct worker *w = poll->loop->data;
    struct libuv_state *s = w->state;
    struct conn *c = &w->conns[by_fd_of(&s->polls, poll)];
    s->found++;
    if (status == 0) {
        ready_event(w, c, (what & UV_READABLE ? READY_IN : 0u) |
                          (what & UV_WRITABLE ? READY_OUT : 0u));
        return;
    }
    /* Stopped by the library. What had come before the error may be read first. */
    ready_event(w, c, READY_IN | READY_OUT | READY_HUP);
    if (c->owner == w->index + 1 && !uv_is_active((uv_handle_t *)poll))
        libuv_want(w, c);
}

static void libuv_on_listener(uv_poll_t *poll, int status, int what)
{
    struct worker *w = poll->loop->data;
    struct libuv_state *s = w->state;
    (void)what;
    s->found++;
    if (status < 0)
        s->error = status;
    else
        ready_accept(w);
}

static void libuv_on_wake(uv_poll_t *poll, int status, int what)
{
    const struct worker *w = poll->loop->data;
    struct libuv_state *s = w->state;
    (void)what;
    s->found++;
    if (status < 0)
        s->error = status;
}

static void libuv_on_timer(uv_timer_t *timer)
{
    (void)timer;
}

static void libuv_listen(struct worker *w, bool on)
{
    struct libuv_state *s = w->state;
    if (on)
        libuv_start(w, &s->listener, UV_READABLE, libuv_on_listener);
    else
        libuv_stop(w, &s->listener);
}

static const struct ready_ops libuv_ops = {
    .add = libuv_add,
    .want = libuv_want,
    .drop = libuv_drop,
    .listen = libuv_listen,
};

/* --- the loop --------------------------------------------------------------------------------- */

static int libuv_watch(struct worker *w, uv_poll_t *poll, int fd, uv_poll_cb fn)
{
    struct libuv_state *s = w->state;
    counter_add(&w->count->controls, 2);
    int rc = uv_poll_init(&s->loop, poll, fd);
    return rc < 0 ? rc : libuv_start(w, poll, UV_READABLE, fn);
}

static int libuv_open(struct worker *w, struct err *e)
{
    struct libuv_state *s = w->state;
    int rc = by_fd_open(&s->polls, w->fd_limit, sizeof(uv_poll_t), e);
    if (rc < 0)
        return rc;
    ready_start(w, &libuv_ops);
    rc = uv_loop_init(&s->loop);
    if (rc < 0)
        return libuv_failed(e, "uv_loop_init", rc);
    s->opened = true;
    s->loop.data = w;
    uv_timer_init(&s->loop, &s->timer);
    rc = libuv_watch(w, &s->wake, w->wake, libuv_on_wake);
    if (rc == 0)
        rc = libuv_watch(w, &s->listener, w->listener, libuv_on_listener);
    return rc < 0 ? libuv_failed(e, "cannot watch the listener", rc) : 0;
}

static void libuv_wake_in(struct libuv_state *s, int ms)
{
    uv_update_time(&s->loop);
    uv_timer_start(&s->timer, libuv_on_timer, (uint64_t)ms, 0);
}

static int libuv_loop(struct worker *w, struct err *e)
{
    struct libuv_state *s = w->state;
    while (worker_goes_on(w)) {
        int ms = ready_timeout_ms(w);
        if (ms > 0)
            libuv_wake_in(s, ms);
        s->found = 0;
        uv_run(&s->loop, ms == 0 ? UV_RUN_NOWAIT : UV_RUN_ONCE);
        if (s->error)
            return libuv_failed(e, "its listener or wake-up failed", s->error);
        counter_add(&w->count->waits, 1 + s->found / LIBUV_BATCH);
        counter_add(&w->count->events, s->found);
        counter_add(&w->count->looks, s->found);
        ready_after(w);
    }
    return 0;
}

static void libuv_close_one(uv_handle_t *h, void *arg)
{
    (void)arg;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static void libuv_close(struct worker *w)
{
    struct libuv_state *s = w->state;
    if (s->opened) {
        uv_walk(&s->loop, libuv_close_one, NULL);
        uv_run(&s->loop, UV_RUN_DEFAULT); /* ends when all are closed */
        uv_loop_close(&s->loop);
    }
    by_fd_close(&s->polls);
    memset(s, 0, sizeof *s);
}

const struct io_model model_libuv = {
    LIBUV_ROW,
    .state_size = sizeof(struct libuv_state),
    .probe = libuv_probe,
    .note = libuv_note,
    .open = libuv_open,
    .loop = libuv_loop,
    .close = libuv_close,
};
