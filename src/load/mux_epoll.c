/* SPDX-License-Identifier: MIT */
/* mux waits with epoll(7). A descriptor is registered once, edge-triggered for everything, so the
 * steady state is one recv and one send a request and no epoll_ctl: a reply that is whole leaves
 * nothing to read (one request is outstanding), and a short recv has emptied the socket. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "load/mux_way.h"
#include "base/clock.h"

#define BUFFER 65536
#define WAKE UINT64_MAX /* the event of the wake-up descriptor */
#define ENDS (EPOLLRDHUP | EPOLLHUP | EPOLLERR)

struct set {
    uint8_t ask[PROTO_ASK_MAX];
    uint8_t buffer[BUFFER];
    struct epoll_event events[MUX_EVENTS];
};

static int set_open(struct mux *m, struct err *e)
{
    struct set *s = m->own = xcalloc(1, sizeof *s);
    m->ask = s->ask;
    m->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    /* Edge-triggered: the wake-up need not be read. */
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = WAKE};
    if (m->wait_fd < 0 || epoll_ctl(m->wait_fd, EPOLL_CTL_ADD, m->wake, &ev) < 0)
        return err_sys(e, "epoll set of a load thread");
    return 0;
}

static void set_close(struct mux *m)
{
    if (m->wait_fd >= 0)
        close(m->wait_fd);
    free(m->own);
}

static void nothing(struct mux *m)
{
    (void)m;
}

static int set_watch(struct mux *m, struct conn *c)
{
    struct epoll_event ev = {
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data.u64 = (uint64_t)c->generation << 32 | (uint32_t)(c - m->conns),
    };
    return epoll_ctl(m->wait_fd, EPOLL_CTL_ADD, c->fd, &ev) < 0 ? -errno : 0;
}

static void readable(struct mux *m, struct conn *c, uint32_t events)
{
    struct set *s = m->own;
    bool ends = events & ENDS;
    for (;;) {
        ssize_t n = recv(c->fd, s->buffer, BUFFER, 0);
        int code = errno;
        m->now_ns = clock_ns();
        if (n > 0) {
            if (!conn_came(m, c, s->buffer, (size_t)n, ends) || (n < BUFFER && !ends))
                return;
        } else if (n < 0 && code == EAGAIN) {
            return;
        } else if (n == 0 || code != EINTR) {
            conn_ended(m, c, n == 0);
            return;
        }
    }
}

static bool set_established(struct mux *m, struct conn *c, uint32_t events)
{
    if (!(events & (EPOLLIN | ENDS)))
        return true;
    readable(m, c, events);
    return false;
}

/* The set forgets a descriptor that is closed. */
static void set_forget(struct mux *m, struct conn *c)
{
    (void)m;
    (void)c;
}

static ssize_t set_send(struct mux *m, struct conn *c, size_t len)
{
    ssize_t n = send(c->fd, m->ask, len, MSG_NOSIGNAL);
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

static int set_wait(struct mux *m, uint64_t ns)
{
    struct set *s = m->own;
    struct timespec ts = clock_timespec(ns);
    if (ns == 0)
        return epoll_wait(m->wait_fd, s->events, MUX_EVENTS, 0);
    int n = epoll_pwait2(m->wait_fd, s->events, MUX_EVENTS, ns == UINT64_MAX ? NULL : &ts,
                         NULL);
    if (n < 0 && errno == ENOSYS) { /* Linux before 5.11; rounded down: never late, looks instead */
        uint64_t ms = ns / NS_PER_MS;
        n = epoll_wait(m->wait_fd, s->events, MUX_EVENTS, ms > 60000 ? 60000 : (int)ms);
    }
    return n;
}

static void event(struct mux *m, struct conn *c, uint32_t events)
{
    if (c->state == CONN_BARE) /* of the connection before */
        return;
    if (c->state == CONN_CONNECTING) {
        if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
            conn_connecting(m, c, events);
        return;
    }
    uint32_t generation = c->generation;
    if (c->unsent && (events & EPOLLOUT))
        conn_send_rest(m, c);
    if (c->generation != generation || c->fd < 0)
        return; /* it ended in there, and may have been opened again */
    if (events & (EPOLLIN | ENDS))
        readable(m, c, events);
}

static void set_handle(struct mux *m, int n)
{
    struct set *s = m->own;
    for (int i = 0; i < n; i++) {
        uint64_t tag = s->events[i].data.u64;
        struct conn *c = tag == WAKE ? NULL : mux_conn(m, (uint32_t)tag, (uint32_t)(tag >> 32));
        if (c)
            event(m, c, s->events[i].events);
        mux_send_due(m);
    }
}

const struct mux_way mux_epoll = {
    .redials = true,
    .open = set_open,
    .close = set_close,
    .start = nothing,
    .stop = nothing,
    .watch = set_watch,
    .established = set_established,
    .forget = set_forget,
    .send = set_send,
    .wait = set_wait,
    .handle = set_handle,
};
