/* SPDX-License-Identifier: MIT */
/* poll(2). The whole list goes into the kernel at every wait: 8 bytes a descriptor copied in, each
 * looked at (twice when the wait sleeps, and its wait queue entered and left), and 2 bytes of each
 * copied out; then the program walks the list to find what is ready. So a wait costs by what is
 * open, not by what is ready; no limit but the process's descriptors. The list is kept dense: a
 * closed connection's place is taken by the last one. Classic trap: after that move the same place
 * must be looked at again. Sources: poll(2), Linux fs/select.c. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "servers/models.h"
#include "servers/ready.h"

enum { SLOT_WAKE, SLOT_LISTENER, SLOT_FIRST };

struct poll_state {
    struct pollfd *fds;
    int n, room;
};

static void poll_append(struct poll_state *s, int fd)
{
    if (s->n == s->room) {
        s->room = s->room ? s->room * 2 : 64;
        s->fds = xrealloc(s->fds, (size_t)s->room, sizeof *s->fds);
    }
    s->fds[s->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static int poll_add(struct worker *w, struct conn *c)
{
    struct poll_state *s = w->state;
    c->slot = s->n;
    poll_append(s, c->fd);
    return 0;
}

static void poll_want(struct worker *w, struct conn *c)
{
    struct poll_state *s = w->state;
    s->fds[c->slot].events = c->wants == READY_OUT ? POLLOUT : POLLIN;
}

static void poll_drop(struct worker *w, struct conn *c)
{
    struct poll_state *s = w->state;
    s->fds[c->slot] = s->fds[--s->n];
    w->conns[s->fds[c->slot].fd].slot = c->slot;
}

/* A negative descriptor is passed over. */
static void poll_listen(struct worker *w, bool on)
{
    struct poll_state *s = w->state;
    s->fds[SLOT_LISTENER].fd = on ? w->listener : -1;
}

static const struct ready_ops poll_ops = {
    .add = poll_add,
    .want = poll_want,
    .drop = poll_drop,
    .listen = poll_listen,
};

static int poll_open(struct worker *w, struct err *e)
{
    struct poll_state *s = w->state;
    (void)e;
    ready_start(w, &poll_ops);
    poll_append(s, w->wake);
    poll_append(s, w->listener);
    return 0;
}

static unsigned poll_ready_bits(short revents)
{
    unsigned bits = 0;
    if (revents & POLLIN)
        bits |= READY_IN;
    if (revents & POLLOUT)
        bits |= READY_OUT;
    if (revents & (POLLHUP | POLLERR | POLLNVAL))
        bits |= READY_HUP;
    return bits;
}

/* The first place from i on that is ready; the list's length: none. */
static int poll_next(const struct poll_state *s, int i)
{
    while (i < s->n && !s->fds[i].revents)
        i++;
    return i;
}

/* left: how many of the list are ready. A connection that is closed leaves its place to the last
 * one, which may be ready. */
static void poll_walk(struct worker *w, int left)
{
    struct poll_state *s = w->state;
    int i = left > 0 ? poll_next(s, SLOT_FIRST) : s->n;
    while (i < s->n) {
        int fd = s->fds[i].fd, next = --left > 0 ? poll_next(s, i + 1) : s->n;
        unsigned bits = poll_ready_bits(s->fds[i].revents);
        s->fds[i].revents = 0;
        if (next < s->n)
            worker_looks_next(w, s->fds[next].fd);
        ready_event(w, &w->conns[fd], bits);
        bool stays = i < s->n && s->fds[i].fd == fd;
        i = stays || left <= 0 ? next : poll_next(s, i);
    }
}

static int poll_loop(struct worker *w, struct err *e)
{
    struct poll_state *s = w->state;
    while (worker_goes_on(w)) {
        int n = poll(s->fds, (nfds_t)s->n, ready_timeout_ms(w));
        counter_add(&w->count->waits, 1);
        counter_add(&w->count->looks, (uint64_t)(s->n - (s->fds[SLOT_LISTENER].fd < 0)));
        if (n < 0 && errno != EINTR)
            return err_sys(e, "poll");
        worker_client_work(w, s->n - SLOT_FIRST);
        if (n > 0) {
            bool accept = s->fds[SLOT_LISTENER].revents != 0;
            counter_add(&w->count->events, (uint64_t)n);
            poll_walk(w, n - accept - (s->fds[SLOT_WAKE].revents != 0));
            if (accept)
                ready_accept(w);
        }
        ready_after(w);
    }
    return 0;
}

static void poll_close(struct worker *w)
{
    struct poll_state *s = w->state;
    free(s->fds);
    *s = (struct poll_state){0};
}

const struct io_model model_poll = {
    .id = "poll",
    .label = "poll",
    .summary = "hands the kernel the list of all descriptors at every wait",
    .group = GROUP_KERNEL,
    .caps = CAP_SCANS | CAP_LISTS,
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_BACKLOG | POLICY_CLIENT_WORK,
    .state_size = sizeof(struct poll_state),
    .probe = model_always,
    .open = poll_open,
    .loop = poll_loop,
    .close = poll_close,
};
