/* SPDX-License-Identifier: MIT */
/* io_uring(7) as it is meant: nobody asks what is ready, the kernel is told what to do and tells
 * when it is done. One request accepts for ever, one a connection receives for ever, each time into
 * a buffer out of a common ring, so an idle connection costs a request in the kernel (some 400
 * bytes) and no buffer. Sends are queued and go out with the next wait: one system call for all
 * that a round of completions asked for, against three a request. Classic traps: a request holds
 * its socket, so a close closes nothing until it is cancelled, and a number may be another
 * connection's when an old completion comes (here a connection ends only when nothing of it is in
 * flight); a wait returns at once when a send that it submits completes, which makes two calls of
 * one (so one after which there is nothing to do is quiet: only its failure completes); a receive
 * that goes on by itself ignores that replies do not leave (it is stopped); a receive that finds no
 * buffer ends (ENOBUFS; it is made again). Sources: io_uring(7), io_uring_prep_recv_multishot(3),
 * io_uring_register_buf_ring(3), J. Axboe, "io_uring and networking in 2023". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "net/uring_buffers.h"
#include "net/uring_probe.h"
#include "servers/models.h"
#include "servers/service.h"
#include "servers/uring.h"
#include "servers/uring_rows.h"

/* A connection's slot. */
enum {
    HAS_RECV = 1,  /* a receive is in flight */
    HAS_SEND = 2,  /* a send is */
    QUIET = 4,     /* and says nothing when all went out */
    STOPS = 8,     /* the cancel of its receive is in flight */
    ENDED = 16,    /* the peer sends no more */
    CLOSING = 32,  /* is dropped once nothing is in flight: the reason is in the bits from WHY on */
    WHY = 6,
};

#define QUIET_MOST 4096
#define QUIET_MS 10 /* so long replies may be out and not counted when nothing else happens */

struct quiet_send {
    int fd;
    uint32_t n;
};

struct uring_state {
    struct uring ring;
    struct uring_buffers buffers;
    bool accepting;
    unsigned quiets; /* sends that will succeed or have, if no completion says otherwise */
    struct quiet_send *quiet;
    struct io_uring_cqe **cqes;
};

static struct io_uring_sqe *uring_new(struct worker *w)
{
    struct uring_state *s = w->state;
    return uring_request(&s->ring);
}

/* --- one connection --------------------------------------------------------------------------- */

static void uring_start_receive(struct worker *w, struct conn *c)
{
    struct uring_state *s = w->state;
    uring_receive(&s->ring, c->fd, uring_tag(URING_RECV, c->fd, 0));
    c->slot |= HAS_RECV;
}

/* What it sends faster than it takes replies stays in its socket, not in our memory. */
static void uring_stop_receive(struct worker *w, struct conn *c)
{
    struct uring_state *s = w->state;
    if ((c->slot & (HAS_RECV | STOPS)) != HAS_RECV)
        return;
    uring_cancel(&s->ring, uring_tag(URING_RECV, c->fd, 0));
    c->slot |= STOPS;
}

/* With MSG_DONTWAIT it completes while it is submitted; MSG_WAITALL makes a short one a failure.
 * After a failure only one that waits for room makes sense. */
static void uring_send(struct worker *w, struct conn *c, const uint8_t *bytes, size_t n, bool alone)
{
    struct uring_state *s = w->state;
    struct io_uring_sqe *sqe = uring_new(w);
    bool quiet = alone && !c->full && s->quiets < QUIET_MOST && service_ends(w, c, n);
    io_uring_prep_send(sqe, c->fd, bytes, n,
                       MSG_NOSIGNAL | MSG_WAITALL | (c->full ? 0 : MSG_DONTWAIT));
    io_uring_sqe_set_data64(sqe, uring_tag(quiet ? URING_QUIET : URING_SEND, c->fd, (uint32_t)n));
    c->slot |= HAS_SEND;
    counter_add(&w->count->writes, 1);
    if (!quiet)
        return;
    uring_make_quiet(&s->ring, sqe);
    c->slot |= QUIET;
    s->quiet[s->quiets++] = (struct quiet_send){c->fd, (uint32_t)n};
}

/* A send that waits is still due, so what was asked is known from the protocol. */
static void uring_stop_all(struct worker *w, struct conn *c)
{
    struct uring_state *s = w->state;
    struct input none = {.n = 0};
    const uint8_t *bytes;
    uring_stop_receive(w, c);
    if (!(c->slot & HAS_SEND) || !c->full)
        return;
    ssize_t n = service_next(w, c, &none, &bytes);
    uring_cancel(&s->ring, uring_tag(URING_SEND, c->fd, (uint32_t)n));
}

static void uring_finish(struct worker *w, struct conn *c, enum drop why)
{
    if (c->slot & CLOSING)
        return;
    c->slot |= CLOSING | (int)why << WHY;
    uring_stop_all(w, c);
}

/* Goes on until a send is in flight or nothing whole is left. */
static void uring_serve(struct worker *w, struct conn *c, struct input in)
{
    const uint8_t *bytes;
    ssize_t n = service_next(w, c, &in, &bytes);
    if (n > 0)
        uring_send(w, c, bytes, (size_t)n, in.n == 0 && !(c->slot & ENDED));
    if (in.n > 0 || c->stash)
        service_keep(c, &in);
    if (in.n >= w->buffer)
        uring_stop_receive(w, c);
    if (n < 0)
        uring_finish(w, c, DROP_JUNK);
    else if (n == 0 && c->slot & ENDED)
        uring_finish(w, c, DROP_END);
}

/* What it needs now. */
static void uring_settle(struct worker *w, struct conn *c)
{
    int has = c->slot & (HAS_RECV | HAS_SEND);
    if (has || c->queued)
        return;
    if (c->slot & CLOSING) {
        worker_drop(w, c, (enum drop)(c->slot >> WHY));
        w->accept_paused = false; /* a descriptor is free */
    } else if (!(c->slot & ENDED)) {
        uring_start_receive(w, c);
    }
}

/* --- completions ------------------------------------------------------------------------------ */

static void uring_came(struct worker *w, struct conn *c, const struct io_uring_cqe *cqe)
{
    struct uring_state *s = w->state;
    unsigned id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
    size_t n = (size_t)cqe->res;
    const uint8_t *bytes = uring_buffers_at(&s->buffers, id, n);
    counter_add(&w->count->bytes_in, n);
    if (!(c->slot & CLOSING)) {
        struct input in = service_append(c, bytes, n);
        if (!(c->slot & HAS_SEND)) {
            uring_serve(w, c, in);
        } else {
            service_keep(c, &in);
            if (in.n >= w->buffer)
                uring_stop_receive(w, c);
        }
    }
}

/* No buffer was left: it stands in line, so that no more receives are made than can succeed. */
static void uring_short(struct worker *w, struct conn *c)
{
    struct uring_state *s = w->state;
    counter_add(&w->count->shortages, 1);
    uring_buffers_short(&s->buffers);
    if (!(c->slot & CLOSING))
        worker_queue(w, c);
}

static void uring_received(struct worker *w, struct conn *c, const struct io_uring_cqe *cqe)
{
    struct uring_state *s = w->state;
    if (!(cqe->flags & IORING_CQE_F_MORE))
        c->slot &= ~(HAS_RECV | STOPS);
    switch (cqe->res) {
    case -ENOBUFS:
        uring_short(w, c);
        return;
    case -ECANCELED: case -EINTR: case -EAGAIN:
        return;
    case 0:
        c->slot |= ENDED;
        if (!(c->slot & (HAS_SEND | CLOSING)))
            uring_serve(w, c, service_resume(c));
        break;
    default:
        if (cqe->res > 0)
            uring_came(w, c, cqe);
        else
            uring_finish(w, c, DROP_FAILED);
    }
    if (cqe->flags & IORING_CQE_F_BUFFER)
        uring_buffers_return(&s->buffers, cqe->flags >> IORING_CQE_BUFFER_SHIFT);
    counter_add(&w->count->reads, 1);
}

static void uring_sent(struct worker *w, struct conn *c, int res, uint32_t asked)
{
    int n = res == -EAGAIN || res == -EINTR ? 0 : res;
    c->slot &= ~(HAS_SEND | QUIET);
    if (n > 0)
        service_sent(w, c, (size_t)n);
    if (c->slot & CLOSING)
        return;
    if (n < 0) {
        uring_finish(w, c, DROP_FAILED);
        return;
    }
    if ((uint32_t)n < asked)
        counter_add(&w->count->write_full, 1);
    /* A reply that once had to wait will again. */
    c->full = (uint32_t)n < asked || (c->full && c->due);
    uring_serve(w, c, service_resume(c));
}

static void uring_send_done(struct worker *w, const struct io_uring_cqe *cqe)
{
    struct conn *c = &w->conns[uring_fd_of(cqe)];
    uring_sent(w, c, cqe->res, uring_extra_of(cqe));
    uring_settle(w, c);
}

/* Quiet sends: those that failed are among the completions, the others are known to have succeeded
 * once all completions are seen. Before what came since is looked at, because that may be the next
 * request. */
static void uring_sent_quietly(struct worker *w, unsigned n)
{
    struct uring_state *s = w->state;
    unsigned before = s->quiets;
    for (unsigned i = 0; i < n && before > 0; i++)
        if (uring_op_of(s->cqes[i]) == URING_QUIET)
            uring_send_done(w, s->cqes[i]);
    if (!uring_saw_all(&s->ring, n))
        return;
    for (unsigned i = 0; i < before; i++) {
        struct conn *c = &w->conns[s->quiet[i].fd];
        if (!(c->slot & QUIET))
            continue;
        uring_sent(w, c, (int)s->quiet[i].n, s->quiet[i].n);
        uring_settle(w, c);
    }
    s->quiets -= before;
    memmove(s->quiet, s->quiet + before, s->quiets * sizeof *s->quiet);
}

static void uring_accepted(struct worker *w, const struct io_uring_cqe *cqe)
{
    struct uring_state *s = w->state;
    if (!(cqe->flags & IORING_CQE_F_MORE))
        s->accepting = false;
    if (cqe->res < 0) {
        worker_accept_failed(w, -cqe->res);
        return;
    }
    struct conn *c = worker_admit(w, cqe->res);
    if (c)
        uring_start_receive(w, c);
}

static void uring_completed(struct worker *w, const struct io_uring_cqe *cqe)
{
    struct conn *c = &w->conns[uring_fd_of(cqe)];
    switch (uring_op_of(cqe)) {
    case URING_ACCEPT:
        uring_accepted(w, cqe);
        break;
    case URING_RECV:
        uring_received(w, c, cqe);
        uring_settle(w, c);
        break;
    case URING_SEND:
        uring_send_done(w, cqe);
        break;
    default: /* the wake-up, the end of a cancel: nothing depends on it; quiet: done */
        break;
    }
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Accepting: one request for all, or for one a round (--accept one). */
static void uring_accept(struct worker *w)
{
    struct uring_state *s = w->state;
    if (w->accept_paused && clock_ns() >= w->accept_again_ns)
        w->accept_paused = false;
    if (s->accepting || w->accept_paused)
        return;
    struct io_uring_sqe *sqe = uring_new(w);
    if (w->accept_one)
        io_uring_prep_accept(sqe, w->listener, NULL, NULL, SOCK_CLOEXEC);
    else
        io_uring_prep_multishot_accept(sqe, w->listener, NULL, NULL, SOCK_CLOEXEC);
    io_uring_sqe_set_data64(sqe, uring_tag(URING_ACCEPT, w->listener, 0));
    s->accepting = true;
}

/* Those in line for a buffer, as many as there are buffers. */
static void uring_feed(struct worker *w)
{
    const struct uring_state *s = w->state;
    for (unsigned n = s->buffers.provided; n > 0 && w->queue_first >= 0; n--) {
        struct conn *c = &w->conns[w->queue_first];
        worker_unqueue(w, c);
        uring_settle(w, c);
    }
}

static int uring_wait_ms(const struct worker *w)
{
    const struct uring_state *s = w->state;
    int pause = uring_pause_ms(w);
    return s->quiets == 0 || (pause >= 0 && pause < QUIET_MS) ? pause : QUIET_MS;
}

static int uring_loop(struct worker *w, struct err *e)
{
    struct uring_state *s = w->state;
    int rc = 0;
    while (rc == 0 && worker_goes_on(w)) {
        uring_accept(w);
        uring_feed(w);
        bool more = w->queue_first >= 0 || io_uring_cq_ready(&s->ring.io) > 0;
        rc = uring_wait(w, &s->ring, more ? 0 : 1, uring_wait_ms(w), e);
        unsigned n = uring_take(w, &s->ring, s->cqes);
        uring_sent_quietly(w, n);
        for (unsigned i = 0; i < n; i++) {
            if (i + 1 < n)
                worker_looks_next(w, uring_fd_of(s->cqes[i + 1]));
            uring_completed(w, s->cqes[i]);
        }
        uring_seen(&s->ring, n);
    }
    return rc;
}

static int uring_start(struct worker *w, struct err *e)
{
    struct uring_state *s = w->state;
    worker_queue_start(w);
    s->cqes = xcalloc(URING_BATCH, sizeof(struct io_uring_cqe *));
    s->quiet = xcalloc(QUIET_MOST, sizeof *s->quiet);
    int rc = uring_open(&s->ring, 0, e);
    if (rc == 0 &&
        !(s->ring.flags & IORING_SETUP_DEFER_TASKRUN)) /* it reads outside the wait too */
        worker_passes_gate(w, GATE_PASSES_READS | GATE_PASSES_ACCEPTS);
    if (rc == 0)
        rc = uring_buffers_open(&s->buffers, &s->ring.io, w->buffer, e);
    if (rc == 0)
        uring_watch_wake(&s->ring, w->wake, false);
    return rc;
}

static void uring_end(struct worker *w)
{
    struct uring_state *s = w->state;
    for (int fd = 0; s->ring.open && fd <= w->fd_top; fd++)
        if (w->conns[fd].owner == w->index + 1)
            uring_stop_all(w, &w->conns[fd]);
    if (s->accepting)
        uring_cancel(&s->ring, uring_tag(URING_ACCEPT, w->listener, 0));
    uring_close(&s->ring);
    uring_buffers_close(&s->buffers);
    free(s->cqes);
    free(s->quiet);
    s->cqes = NULL;
    s->quiet = NULL;
}

const struct io_model model_uring = {
    URING_ROW,
    .state_size = sizeof(struct uring_state),
    .probe = uring_probe,
    .note = uring_note,
    .open = uring_start,
    .loop = uring_loop,
    .close = uring_end,
};
