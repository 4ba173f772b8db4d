/* SPDX-License-Identifier: MIT */
/* Leader and followers: several threads wait in one epoll set, the kernel wakes one of them for an
 * event (its waiters are exclusive), and that one serves it while another leads. Every descriptor,
 * the listener too, is one-shot: its event disarms it, so nobody else touches the connection until
 * the thread that serves it arms it again, one epoll_ctl an event. One event is taken from a wait:
 * with more, those behind a slow one would wait for this thread while others sleep. It costs that
 * epoll_ctl, no batch of events a wait, and the cache lines that go with a connection from CPU to
 * CPU; it gains threads that need no share of the connections each. Classic trap: to touch the
 * connection after it was armed. Sources: D. Schmidt and others, Leader/Followers (PLoP 2000);
 * epoll_ctl(2); Linux fs/eventpoll.c. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "servers/epoll_calls.h"
#include "servers/models.h"
#include "servers/ready.h"

struct pool_state {
    int fd;         /* the set, one descriptor of it for each worker */
    bool accepting; /* this worker took the listener's event: it is disarmed */
};

static int pool_control(struct worker *w, int op, int fd, uint32_t bits)
{
    const struct pool_state *s = w->state;
    return epoll_control_in(w, s->fd, op, fd, bits);
}

/* The release that whoever gets the next event acquires. */
static int pool_give(struct worker *w, struct conn *c, int op)
{
    uint32_t bits = EPOLLONESHOT | (c->wants == READY_OUT ? EPOLLOUT : EPOLLIN);
    int fd = c->fd;
    atomic_store_explicit(&c->owner, (uint16_t)(w->index + 1), memory_order_release);
    return pool_control(w, op, fd, bits);
}

static int pool_add(struct worker *w, struct conn *c)
{
    return pool_give(w, c, EPOLL_CTL_ADD);
}

static void pool_want(struct worker *w, struct conn *c)
{
    pool_give(w, c, EPOLL_CTL_MOD);
}

static void pool_listen(struct worker *w, bool on)
{
    struct pool_state *s = w->state;
    if (!on)
        return; /* its event has disarmed it */
    s->accepting = false;
    pool_control(w, EPOLL_CTL_MOD, w->listener, EPOLLIN | EPOLLONESHOT);
}

static const struct ready_ops pool_ops = {
    .rearm = READY_IN | READY_OUT,
    .add = pool_add,
    .want = pool_want,
    .listen = pool_listen,
};

static int pool_open_set(struct worker *w, struct pool_state *s, struct err *e)
{
    s->fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->fd < 0)
        return err_sys(e, "epoll_create1");
    int rc = pool_control(w, EPOLL_CTL_ADD, w->wake, EPOLLIN);
    if (rc == 0)
        rc = pool_control(w, EPOLL_CTL_ADD, w->listener, EPOLLIN | EPOLLONESHOT);
    if (rc < 0) {
        errno = -rc;
        return err_sys(e, "epoll_ctl");
    }
    return 0;
}

static int pool_open(struct worker *w, struct err *e)
{
    struct pool_state *s = w->state;
    const struct pool_state *first = worker_first(w)->state;
    ready_start(w, &pool_ops);
    if (w->index == 0)
        return pool_open_set(w, s, e);
    s->fd = fcntl(first->fd, F_DUPFD_CLOEXEC, 3);
    return s->fd < 0 ? err_sys(e, "descriptor of the pool's set") : 0;
}

static void pool_take(struct worker *w, int fd, uint32_t events)
{
    struct conn *c = &w->conns[fd];
    uint16_t mine = (uint16_t)(w->index + 1);
    atomic_exchange_explicit(&c->owner, mine, memory_order_acquire);
    if (fd > w->fd_top)
        w->fd_top = fd;
    ready_event(w, c, epoll_ready_bits(events));
}

static void pool_found(struct worker *w, const struct epoll_event *ev)
{
    struct pool_state *s = w->state;
    counter_add(&w->count->events, 1);
    counter_add(&w->count->looks, 1);
    if (ev->data.fd == w->listener) {
        s->accepting = true;
        ready_accept(w);
    } else if (ev->data.fd != w->wake) {
        pool_take(w, ev->data.fd, ev->events);
    }
}

static int pool_loop(struct worker *w, struct err *e)
{
    struct pool_state *s = w->state;
    while (worker_goes_on(w)) {
        struct epoll_event ev;
        int n = epoll_wait(s->fd, &ev, 1, ready_timeout_ms(w));
        counter_add(&w->count->waits, 1);
        if (n < 0 && errno != EINTR)
            return err_sys(e, "epoll_wait");
        if (n > 0)
            pool_found(w, &ev);
        ready_after(w);
        if (s->accepting && !w->accept_more && !w->accept_paused)
            pool_listen(w, true);
    }
    return 0;
}

static void pool_close(struct worker *w)
{
    const struct pool_state *s = w->state;
    if (s->fd > 0)
        close(s->fd);
}

const struct io_model model_pool = {
    .id = "pool",
    .label = "thread pool",
    .summary = "threads take turns at waiting in one epoll set; who gets an event serves it",
    .group = GROUP_THREADS,
    .caps = CAP_OWN_WORKERS | CAP_POOL,
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_BACKLOG,
    .state_size = sizeof(struct pool_state),
    .probe = model_always,
    .open = pool_open,
    .loop = pool_loop,
    .close = pool_close,
};
