/* SPDX-License-Identifier: MIT */
/* mux waits with io_uring(7): one io_uring_enter(2) a pass sends all that the pass before asked for
 * and brings all that came. A connection has one request that receives for ever into a buffer of a
 * common ring; a send goes out with the next call and says nothing unless it failed. What was asked
 * waits in m->ask for that call: a slot a request, used again once its turn in the queue is over.
 * Spinning looks at a word that the kernel sets and calls it only when there is work. A latency
 * counts from when the request was queued, so it holds the wait for the rest of its batch. Classic
 * traps: a request holds its socket, so closing takes a cancel; a queued request names a number
 * that may be another connection's when it is submitted (hence submitted before a close); a socket
 * that does not block gives EAGAIN in place of waiting. Sources: io_uring(7),
 * io_uring_prep_recv_multishot(3), io_uring_setup(2) on IORING_SETUP_TASKRUN_FLAG. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "load/mux_way.h"
#include "net/uring.h"
#include "net/uring_buffers.h"

#define BUFFER 4096
/* One more than can be queued: the next request is written before the queue is emptied for it. */
#define SLOTS (URING_REQUESTS + 1)
#define STAMP 4 /* completions handled between two looks at the clock: a microsecond */

/* conn.armed: what the kernel watches; a send that is made but not submitted, if conn.batch is. */
enum { RECEIVES = 1, POLLS = 2, SENDS = 4 };

/* A connection whose receive found no buffer. */
struct starved {
    uint32_t at, generation;
};

struct own {
    struct uring ring;
    struct uring_buffers buffers;
    uint8_t *asks; /* SLOTS times PROTO_ASK_MAX */
    unsigned slot;
    uint32_t batch; /* grows with each call */
    struct starved *starved;
    size_t starved_count, starved_room;
    struct io_uring_cqe *cqes[MUX_EVENTS];
};

static int ring_open(struct mux *m, struct err *e)
{
    struct own *o = m->own = xcalloc(1, sizeof *o);
    m->ask = o->asks = xcalloc(SLOTS, PROTO_ASK_MAX);
    int rc = uring_open(&o->ring, URING_LATER | URING_PEEKS, e);
    if (rc == 0)
        rc = uring_buffers_open(&o->buffers, &o->ring.io, BUFFER, e);
    if (rc == 0)
        m->wait_fd = o->ring.io.ring_fd;
    return rc;
}

static void ring_close(struct mux *m)
{
    struct own *o = m->own;
    if (!o)
        return;
    uring_close(&o->ring);
    uring_buffers_close(&o->buffers);
    free(o->starved);
    free(o->asks);
    free(o);
}

static void ring_start(struct mux *m)
{
    struct own *o = m->own;
    uring_enable(&o->ring);
    uring_watch_wake(&o->ring, m->wake, true);
}

static void ring_stop(struct mux *m)
{
    struct own *o = m->own;
    uring_drain(&o->ring);
}

/* --- requests --------------------------------------------------------------------------------- */

static uint64_t tag(const struct mux *m, const struct conn *c, enum uring_op op)
{
    return uring_tag(op, (int)(c - m->conns), c->generation);
}

static void note(const struct own *o, struct conn *c, unsigned what)
{
    if (c->batch != o->batch)
        c->armed &= (uint8_t)~SENDS;
    c->armed |= (uint8_t)what;
    c->batch = o->batch;
}

static bool is_queued(const struct own *o, const struct conn *c)
{
    return c->batch == o->batch && io_uring_sq_ready(&o->ring.io) > 0;
}

static void receive(struct mux *m, struct conn *c)
{
    struct own *o = m->own;
    uring_receive(&o->ring, c->fd, tag(m, c, URING_RECV));
    note(o, c, RECEIVES);
}

static void watch_room(struct mux *m, struct conn *c)
{
    struct own *o = m->own;
    if (c->armed & POLLS)
        return;
    struct io_uring_sqe *sqe = uring_request(&o->ring);
    io_uring_prep_poll_add(sqe, c->fd, POLLOUT);
    io_uring_sqe_set_data64(sqe, tag(m, c, URING_POLL));
    note(o, c, POLLS);
}

static int ring_watch(struct mux *m, struct conn *c)
{
    watch_room(m, c);
    return 0;
}

static bool ring_established(struct mux *m, struct conn *c, uint32_t events)
{
    fcntl(c->fd, F_SETFL, 0); /* it was made non-blocking, for the connect */
    receive(m, c);
    return !(events & (EPOLLERR | EPOLLHUP));
}

static void ring_forget(struct mux *m, struct conn *c)
{
    struct own *o = m->own;
    if (is_queued(o, c)) {
        io_uring_submit(&o->ring.io);
        o->batch++;
    }
    if (c->armed & RECEIVES)
        uring_cancel(&o->ring, tag(m, c, URING_RECV));
    if (c->armed & POLLS)
        uring_cancel(&o->ring, tag(m, c, URING_POLL));
    c->armed = 0;
}

/* With MSG_DONTWAIT it completes while it is submitted; MSG_WAITALL makes a short one a failure. */
static ssize_t ring_send(struct mux *m, struct conn *c, size_t len)
{
    struct own *o = m->own;
    struct io_uring_sqe *sqe = uring_request(&o->ring);
    io_uring_prep_send(sqe, c->fd, m->ask, len, MSG_NOSIGNAL | MSG_WAITALL | MSG_DONTWAIT);
    io_uring_sqe_set_data64(sqe, tag(m, c, URING_QUIET));
    uring_make_quiet(&o->ring, sqe);
    note(o, c, SENDS);
    o->slot = (o->slot + 1) % SLOTS;
    m->ask = o->asks + (size_t)o->slot * PROTO_ASK_MAX;
    return (ssize_t)len;
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* As many as there are buffers, so that no more receives are made than can succeed. */
static void feed(struct mux *m)
{
    struct own *o = m->own;
    size_t n = o->starved_count < o->buffers.provided ? o->starved_count : o->buffers.provided;
    for (size_t i = 0; i < n; i++) {
        struct conn *c = mux_conn(m, o->starved[i].at, o->starved[i].generation);
        if (c && !(c->armed & RECEIVES) && c->fd >= 0)
            receive(m, c);
    }
    o->starved_count -= n;
    memmove(o->starved, o->starved + n, o->starved_count * sizeof *o->starved);
}

static void starve(struct mux *m, const struct conn *c)
{
    struct own *o = m->own;
    uring_buffers_short(&o->buffers);
    if (o->starved_count == o->starved_room) {
        o->starved_room = o->starved_room ? 2 * o->starved_room : 64;
        o->starved = xrealloc(o->starved, o->starved_room, sizeof *o->starved);
    }
    o->starved[o->starved_count++] = (struct starved){(uint32_t)(c - m->conns), c->generation};
}

static int ring_wait(struct mux *m, uint64_t ns)
{
    struct own *o = m->own;
    if (o->starved_count)
        feed(m);
    if (ns == 0 && !uring_has_work(&o->ring))
        return 0;
    struct err ignored; /* none but a bug: the next call tells again */
    uring_enter(&o->ring, o->starved_count || ns == 0 ? 0 : 1, ns, &ignored);
    o->batch++;
    if (io_uring_sq_ready(&o->ring.io) == 0) { /* small slots stay in the cache */
        o->slot = 0;
        m->ask = o->asks;
    }
    return (int)uring_collect(&o->ring, o->cqes, MUX_EVENTS);
}

/* --- completions ------------------------------------------------------------------------------ */

/* Bytes that come after a whole reply, or its end, are in the socket already when the kernel says
 * so: they decide what becomes of the connection. */
static void came(struct mux *m, struct conn *c, const struct io_uring_cqe *cqe)
{
    struct own *o = m->own;
    size_t n = (size_t)cqe->res;
    const uint8_t *bytes = uring_buffers_at(&o->buffers, cqe->flags >> IORING_CQE_BUFFER_SHIFT, n);
    conn_came(m, c, bytes, n, cqe->flags & IORING_CQE_F_SOCK_NONEMPTY);
}

/* A request that is only queued when the end of its connection shows never went out. */
static void ended(struct mux *m, struct conn *c, bool clean)
{
    if (c->waiting && c->armed & SENDS && is_queued(m->own, c))
        conn_unsent(m, c, -1);
    else
        conn_ended(m, c, clean);
}

static void received(struct mux *m, const struct io_uring_cqe *cqe)
{
    struct own *o = m->own;
    uint32_t at = (uint32_t)uring_fd_of(cqe), generation = uring_extra_of(cqe);
    bool more = cqe->flags & IORING_CQE_F_MORE;
    struct conn *c = mux_conn(m, at, generation);
    if (c && c->fd >= 0) {
        if (!more)
            c->armed &= (uint8_t)~RECEIVES;
        if (cqe->res > 0)
            came(m, c, cqe);
        else if (cqe->res == -ENOBUFS)
            starve(m, c);
        else if (cqe->res != -EINTR && cqe->res != -ECANCELED)
            ended(m, c, cqe->res == 0);
    }
    if (cqe->flags & IORING_CQE_F_BUFFER)
        uring_buffers_return(&o->buffers, cqe->flags >> IORING_CQE_BUFFER_SHIFT);
    /* The same connection still? */
    if (!more && cqe->res != -ENOBUFS && (c = mux_conn(m, at, generation)) && c->fd >= 0)
        receive(m, c);
}

static void has_room(struct mux *m, struct conn *c, int res)
{
    c->armed &= (uint8_t)~POLLS;
    if (c->state == CONN_CONNECTING) {
        conn_connecting(m, c, res < 0 ? EPOLLERR : (uint32_t)res);
        return;
    }
    if (c->unsent)
        conn_send_rest(m, c);
    if (c->unsent && c->fd >= 0 && !(res & (POLLERR | POLLHUP)))
        watch_room(m, c);
}

static void not_sent(struct mux *m, struct conn *c, int res)
{
    bool full = res >= 0 || res == -EAGAIN || res == -EINTR;
    conn_unsent(m, c, !full ? -1 : res < 0 ? 0 : res);
    if (full)
        watch_room(m, c);
}

static void completed(struct mux *m, const struct io_uring_cqe *cqe)
{
    struct own *o = m->own;
    enum uring_op op = uring_op_of(cqe);
    if (op == URING_RECV) {
        received(m, cqe);
        return;
    }
    if (op == URING_WAKE && !(cqe->flags & IORING_CQE_F_MORE))
        uring_watch_wake(&o->ring, m->wake, true);
    struct conn *c = mux_conn(m, (uint32_t)uring_fd_of(cqe), uring_extra_of(cqe));
    if (!c || c->fd < 0)
        return;
    if (op == URING_POLL)
        has_room(m, c, cqe->res);
    else if (op == URING_QUIET)
        not_sent(m, c, cqe->res);
}

static void ring_handle(struct mux *m, int n)
{
    struct own *o = m->own;
    for (int i = 0; i < n; i++) {
        if (i % STAMP == 0)
            m->now_ns = clock_ns();
        completed(m, o->cqes[i]);
        mux_send_due(m);
    }
    uring_seen(&o->ring, (unsigned)n);
}

const struct mux_way mux_uring = {
    .open = ring_open,
    .close = ring_close,
    .start = ring_start,
    .stop = ring_stop,
    .watch = ring_watch,
    .established = ring_established,
    .forget = ring_forget,
    .send = ring_send,
    .wait = ring_wait,
    .handle = ring_handle,
};
