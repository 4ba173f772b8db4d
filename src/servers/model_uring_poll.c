/* SPDX-License-Identifier: MIT */
/* io_uring(7) for readiness only: a multishot poll request a connection tells of each change, as
 * edge-triggered epoll does, and recv and send stay calls of their own. What is watched changes
 * without a system call, since requests go out with the next wait; what is done costs as much as
 * with epoll. It shows how much of io_uring's gain is completions. Classic traps: a poll holds its
 * socket until it is removed, and one more event of it may come after that, when the descriptor's
 * number is another connection's: each has its turn in its tag. The listener is polled once a
 * round, which is level-triggered. Sources: io_uring_prep_poll_multishot(3), Linux
 * io_uring/poll.c. */
#include <poll.h>
#include <stdlib.h>

#include "net/uring_probe.h"
#include "servers/ready.h"
#include "servers/uring.h"
#include "servers/uring_rows.h"

struct uring_poll_state {
    struct uring ring;
    bool listening;
    uint32_t *turns; /* by descriptor: how many connections of ours had it */
    struct io_uring_cqe **cqes;
};

static void uring_poll_watch(struct worker *w, int fd, bool multishot, unsigned events,
                             uint32_t turn)
{
    struct uring_poll_state *s = w->state;
    struct io_uring_sqe *sqe = uring_request(&s->ring);
    if (multishot)
        io_uring_prep_poll_multishot(sqe, fd, events);
    else
        io_uring_prep_poll_add(sqe, fd, events);
    io_uring_sqe_set_data64(sqe, uring_tag(multishot ? URING_POLL : URING_ACCEPT, fd, turn));
}

static int uring_poll_add(struct worker *w, struct conn *c)
{
    const struct uring_poll_state *s = w->state;
    uring_poll_watch(w, c->fd, true, POLLIN | POLLOUT | POLLRDHUP, s->turns[c->fd]);
    return 0;
}

/* A cancel, no IORING_OP_POLL_REMOVE: that fails when the poll is about to report, and then the
 * poll stays, and with it the socket. */
static void uring_poll_drop(struct worker *w, struct conn *c)
{
    struct uring_poll_state *s = w->state;
    uring_cancel(&s->ring, uring_tag(URING_POLL, c->fd, s->turns[c->fd]++));
}

static void uring_poll_listen(struct worker *w, bool on)
{
    struct uring_poll_state *s = w->state;
    if (!on || s->listening)
        return;
    uring_poll_watch(w, w->listener, false, POLLIN, 0);
    s->listening = true;
}

static const struct ready_ops uring_poll_ops = {
    .edge = true,
    .add = uring_poll_add,
    .drop = uring_poll_drop,
    .listen = uring_poll_listen,
};

static void uring_poll_knocked(struct worker *w)
{
    struct uring_poll_state *s = w->state;
    s->listening = false;
    if (!w->accept_paused)
        ready_accept(w);
    if (!w->accept_paused)
        uring_poll_listen(w, true);
}

static void uring_poll_told(struct worker *w, const struct io_uring_cqe *cqe)
{
    const struct uring_poll_state *s = w->state;
    int fd = uring_fd_of(cqe);
    unsigned bits = 0, events = cqe->res < 0 ? POLLERR : (unsigned)cqe->res;
    if (s->turns[fd] != uring_extra_of(cqe))
        return; /* of a connection that is gone */
    if (!(cqe->flags & IORING_CQE_F_MORE))
        uring_poll_add(w, &w->conns[fd]);
    if (events & POLLIN)
        bits |= READY_IN;
    if (events & POLLOUT)
        bits |= READY_OUT;
    if (events & POLLRDHUP)
        bits |= READY_EOF;
    if (events & (POLLHUP | POLLERR))
        bits |= READY_HUP;
    ready_event(w, &w->conns[fd], bits);
}

static int uring_poll_loop(struct worker *w, struct err *e)
{
    struct uring_poll_state *s = w->state;
    int rc = 0;
    while (rc == 0 && worker_goes_on(w)) {
        int ms = ready_timeout_ms(w);
        bool more = ms == 0 || io_uring_cq_ready(&s->ring.io) > 0;
        rc = uring_wait(w, &s->ring, more ? 0 : 1, ms, e);
        unsigned n = uring_take(w, &s->ring, s->cqes);
        for (unsigned i = 0; i < n; i++) {
            if (uring_op_of(s->cqes[i]) == URING_ACCEPT)
                uring_poll_knocked(w);
            else if (uring_op_of(s->cqes[i]) == URING_POLL)
                uring_poll_told(w, s->cqes[i]);
        }
        uring_seen(&s->ring, n);
        ready_after(w);
    }
    return rc;
}

static int uring_poll_start(struct worker *w, struct err *e)
{
    struct uring_poll_state *s = w->state;
    ready_start(w, &uring_poll_ops);
    s->cqes = xcalloc(URING_BATCH, sizeof(struct io_uring_cqe *));
    s->turns = xcalloc((size_t)w->fd_limit, sizeof *s->turns);
    int rc = uring_open(&s->ring, 0, e);
    if (rc == 0) {
        uring_watch_wake(&s->ring, w->wake, false);
        uring_poll_listen(w, true);
    }
    return rc;
}

static void uring_poll_end(struct worker *w)
{
    struct uring_poll_state *s = w->state;
    for (int fd = 0; s->ring.open && fd <= w->fd_top; fd++)
        if (w->conns[fd].owner == w->index + 1)
            uring_poll_drop(w, &w->conns[fd]);
    if (s->listening)
        uring_cancel(&s->ring, uring_tag(URING_ACCEPT, w->listener, 0));
    uring_close(&s->ring);
    free(s->cqes);
    free(s->turns);
    s->cqes = NULL;
    s->turns = NULL;
}

const struct io_model model_uring_poll = {
    URING_POLL_ROW,
    .state_size = sizeof(struct uring_poll_state),
    .probe = uring_poll_probe,
    .note = uring_note,
    .open = uring_poll_start,
    .loop = uring_poll_loop,
    .close = uring_poll_end,
};
