/* SPDX-License-Identifier: MIT */
/* epoll(7), in the four ways to ask for it. The kernel keeps the set and puts a descriptor on a
 * ready list when something happens to it, so an idle connection costs memory (some 200 bytes in
 * the kernel) and no time, and a wait costs what it finds. Level-triggered reports a condition as
 * long as it holds; write interest is asked for by epoll_ctl only after a short write, since a
 * writable socket would wake every wait. Edge-triggered reports a change once: all is asked for in
 * the beginning and never changed; the classic traps are data left unread when no further byte
 * comes, and FIN that came with the data. One-shot is disarmed by the event it reports and armed
 * again by an epoll_ctl after each. `epoll-rearm` is edge-triggered and asks for IN and OUT after
 * a read, writes at the event that this brings, and asks for IN again: two epoll_ctl and two waits
 * a request. Sources: epoll(7), epoll_ctl(2), Linux fs/eventpoll.c. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "servers/epoll_calls.h"
#include "servers/models.h"
#include "servers/ready.h"

struct epoll_state {
    int fd;
    struct epoll_event *events;
};

int epoll_control_in(struct worker *w, int set, int op, int fd, uint32_t bits)
{
    struct epoll_event ev = {.events = bits, .data.fd = fd};
    counter_add(&w->count->controls, 1);
    return epoll_ctl(set, op, fd, &ev) < 0 ? -errno : 0;
}

static int epoll_control(struct worker *w, int op, int fd, uint32_t bits)
{
    const struct epoll_state *s = w->state;
    return epoll_control_in(w, s->fd, op, fd, bits);
}

static uint32_t epoll_listener_bits(const struct worker *w)
{
    return w->ops->edge && !w->accept_one ? EPOLLIN | EPOLLET : EPOLLIN;
}

static void epoll_listen(struct worker *w, bool on)
{
    epoll_control(w, EPOLL_CTL_MOD, w->listener, on ? epoll_listener_bits(w) : 0);
}

static int epoll_lt_add(struct worker *w, struct conn *c)
{
    return epoll_control(w, EPOLL_CTL_ADD, c->fd, EPOLLIN);
}

static void epoll_lt_want(struct worker *w, struct conn *c)
{
    epoll_control(w, EPOLL_CTL_MOD, c->fd, c->wants == READY_OUT ? EPOLLOUT : EPOLLIN);
}

static int epoll_et_add(struct worker *w, struct conn *c)
{
    return epoll_control(w, EPOLL_CTL_ADD, c->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

static uint32_t epoll_oneshot_bits(const struct conn *c)
{
    return EPOLLONESHOT | (c->wants == READY_OUT ? EPOLLOUT : EPOLLIN);
}

static int epoll_oneshot_add(struct worker *w, struct conn *c)
{
    return epoll_control(w, EPOLL_CTL_ADD, c->fd, epoll_oneshot_bits(c));
}

static void epoll_oneshot_want(struct worker *w, struct conn *c)
{
    epoll_control(w, EPOLL_CTL_MOD, c->fd, epoll_oneshot_bits(c));
}

static uint32_t epoll_rearm_bits(const struct conn *c)
{
    return EPOLLIN | EPOLLRDHUP | EPOLLET | (c->wants == READY_OUT ? EPOLLOUT : 0u);
}

static int epoll_rearm_add(struct worker *w, struct conn *c)
{
    return epoll_control(w, EPOLL_CTL_ADD, c->fd, epoll_rearm_bits(c));
}

static void epoll_rearm_want(struct worker *w, struct conn *c)
{
    epoll_control(w, EPOLL_CTL_MOD, c->fd, epoll_rearm_bits(c));
}

static const struct ready_ops epoll_lt_ops = {
    .add = epoll_lt_add,
    .want = epoll_lt_want,
    .listen = epoll_listen,
};
static const struct ready_ops epoll_et_ops = {
    .edge = true,
    .add = epoll_et_add,
    .listen = epoll_listen,
};

static const struct ready_ops epoll_oneshot_ops = {
    .rearm = READY_IN | READY_OUT,
    .add = epoll_oneshot_add,
    .want = epoll_oneshot_want,
    .listen = epoll_listen,
};
/* OUT anew also when it is watched: the socket may take bytes all the time, and without the
 * epoll_ctl no edge would say so. */
static const struct ready_ops epoll_rearm_ops = {
    .edge = true,
    .write_later = true,
    .rearm = READY_OUT,
    .add = epoll_rearm_add,
    .want = epoll_rearm_want,
    .listen = epoll_listen,
};

static int epoll_open(struct worker *w, const struct ready_ops *ops, struct err *e)
{
    struct epoll_state *s = w->state;
    ready_start(w, ops);
    s->events = xcalloc((size_t)w->events, sizeof *s->events);
    s->fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->fd < 0)
        return err_sys(e, "epoll_create1");
    int rc = epoll_control(w, EPOLL_CTL_ADD, w->wake, EPOLLIN);
    if (rc == 0)
        rc = epoll_control(w, EPOLL_CTL_ADD, w->listener, epoll_listener_bits(w));
    if (rc < 0) {
        errno = -rc;
        return err_sys(e, "epoll_ctl");
    }
    return 0;
}

static int epoll_lt_open(struct worker *w, struct err *e)
{
    return epoll_open(w, &epoll_lt_ops, e);
}

static int epoll_et_open(struct worker *w, struct err *e)
{
    return epoll_open(w, &epoll_et_ops, e);
}

static int epoll_oneshot_open(struct worker *w, struct err *e)
{
    return epoll_open(w, &epoll_oneshot_ops, e);
}

static int epoll_rearm_open(struct worker *w, struct err *e)
{
    return epoll_open(w, &epoll_rearm_ops, e);
}

unsigned epoll_ready_bits(uint32_t events)
{
    unsigned bits = 0;
    if (events & EPOLLIN)
        bits |= READY_IN;
    if (events & EPOLLOUT)
        bits |= READY_OUT;
    if (events & EPOLLRDHUP)
        bits |= READY_EOF;
    if (events & (EPOLLHUP | EPOLLERR))
        bits |= READY_HUP;
    return bits;
}

static int epoll_loop(struct worker *w, struct err *e)
{
    const struct epoll_state *s = w->state;
    while (worker_goes_on(w)) {
        int n = epoll_wait(s->fd, s->events, w->events, ready_timeout_ms(w));
        counter_add(&w->count->waits, 1);
        if (n < 0 && errno != EINTR)
            return err_sys(e, "epoll_wait");
        counter_add(&w->count->events, n > 0 ? (uint64_t)n : 0);
        counter_add(&w->count->looks, n > 0 ? (uint64_t)n : 0);
        for (int i = 0; i < n; i++) {
            int fd = s->events[i].data.fd;
            if (i + 1 < n)
                worker_looks_next(w, s->events[i + 1].data.fd);
            if (fd == w->listener)
                ready_accept(w);
            else if (fd != w->wake)
                ready_event(w, &w->conns[fd], epoll_ready_bits(s->events[i].events));
        }
        ready_after(w);
    }
    return 0;
}

static void epoll_close(struct worker *w)
{
    struct epoll_state *s = w->state;
    if (s->fd > 0)
        close(s->fd);
    free(s->events);
    *s = (struct epoll_state){0};
}

#define EPOLL_ROW                                                                                  \
    .group = GROUP_KERNEL,                                                                         \
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_EVENTS | POLICY_BACKLOG,                    \
    .state_size = sizeof(struct epoll_state), .probe = model_always, .loop = epoll_loop,           \
    .close = epoll_close

const struct io_model model_epoll_lt = {
    .id = "epoll-lt",
    .label = "epoll, level-triggered",
    .summary = "the kernel keeps the set and lists what is ready, again as long as it is",
    .open = epoll_lt_open,
    EPOLL_ROW,
};

const struct io_model model_epoll_et = {
    .id = "epoll-et",
    .label = "epoll, edge-triggered",
    .summary = "the kernel keeps the set and tells of each change once",
    .caps = CAP_EDGE,
    .open = epoll_et_open,
    EPOLL_ROW,
};

const struct io_model model_epoll_oneshot = {
    .id = "epoll-oneshot",
    .label = "epoll, one-shot",
    .summary = "an event disarms its descriptor; an epoll_ctl after each arms it again",
    .open = epoll_oneshot_open,
    EPOLL_ROW,
};

const struct io_model model_epoll_rearm = {
    .id = "epoll-rearm",
    .label = "epoll, edge, re-armed",
    .summary = "edge-triggered, as a listing of a source document: asks for IN|OUT after the read, "
               "writes when told, asks for IN again",
    .caps = CAP_EDGE,
    .open = epoll_rearm_open,
    EPOLL_ROW,
};
