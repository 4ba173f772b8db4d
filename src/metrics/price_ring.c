/* SPDX-License-Identifier: MIT */
/* Made as the model `uring` makes them: one receive a connection that goes on for ever, into common
 * buffers, and sends that say nothing when they succeed. All have asked before the wait, so the
 * server never sleeps, and the call itself is spread over all. A wait is one that finds the end of
 * a request that does nothing. */
#include "metrics/price_ring.h"

#include <math.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "net/uring.h"
#include "net/uring_buffers.h"
#include "net/uring_probe.h"

enum { ROUNDS = 9, BATCHES = 12, WAITS = 300, BUFFER = 4096 };
#define TIMEOUT_NS (100 * NS_PER_MS)

struct ringed {
    struct uring ring;
    struct uring_buffers buffers;
    struct io_uring_cqe *cqes[BENCH_PAIRS];
};

/* Submits, and waits for n completions. How many there are, to be given back by uring_seen(). */
static unsigned take(struct ringed *r, unsigned n)
{
    uring_enter(&r->ring, n, TIMEOUT_NS, NULL);
    return uring_collect(&r->ring, r->cqes, BENCH_PAIRS);
}

static bool wait_once(struct ringed *r)
{
    struct io_uring_sqe *sqe = uring_request(&r->ring);
    io_uring_prep_nop(sqe);
    io_uring_sqe_set_data64(sqe, uring_tag(URING_WAKE, 0, 0));
    unsigned n = take(r, 1);
    uring_seen(&r->ring, n);
    return n == 1;
}

static double price_wait(const struct bench *b, struct ringed *r)
{
    double batch[BATCHES];
    int n = 0;
    for (; n < BATCHES && !bench_over(b); n++) {
        double from = bench_cpu_ns();
        for (int i = 0; i < WAITS; i++)
            if (!wait_once(r))
                return NAN;
        batch[n] = (bench_cpu_ns() - from) / WAITS;
    }
    return bench_quantile(batch, n, 0.25);
}

/* One request of a connection that goes on receiving. */
static bool received(struct ringed *r, const struct io_uring_cqe *cqe)
{
    if (!(cqe->flags & IORING_CQE_F_BUFFER))
        return false;
    uring_buffers_return(&r->buffers, cqe->flags >> IORING_CQE_BUFFER_SHIFT);
    return cqe->res == BENCH_REQUEST && cqe->flags & IORING_CQE_F_MORE;
}

/* What all have asked is there. */
static bool receive_all(const struct bench *b, struct ringed *r)
{
    unsigned n = take(r, (unsigned)b->n);
    bool all = n == (unsigned)b->n;
    for (unsigned i = 0; i < n; i++)
        all = received(r, r->cqes[i]) && all;
    uring_seen(&r->ring, n);
    return all;
}

static bool send_all(struct bench *b, struct ringed *r)
{
    for (int i = 0; i < b->n; i++) {
        struct io_uring_sqe *sqe = uring_request(&r->ring);
        io_uring_prep_send(sqe, b->server[i], b->bytes, BENCH_REPLY,
                           MSG_NOSIGNAL | MSG_WAITALL | MSG_DONTWAIT);
        io_uring_sqe_set_data64(sqe, uring_tag(URING_QUIET, i, 0));
        uring_make_quiet(&r->ring, sqe);
    }
    unsigned failed = take(r, 0);
    uring_seen(&r->ring, failed);
    return failed == 0;
}

static void price_requests(struct bench *b, struct ringed *r, struct prices *out)
{
    double recvs[ROUNDS], sends[ROUNDS];
    uint64_t taken = atomic_load(&b->taken);
    int n = 0;
    for (; n < ROUNDS && !bench_over(b); n++) {
        if (!bench_order(b, BENCH_ASK))
            break;
        double t0 = bench_cpu_ns();
        bool all = receive_all(b, r);
        double t1 = bench_cpu_ns();
        all = all && send_all(b, r);
        double t2 = bench_cpu_ns();
        taken += (uint64_t)b->n * BENCH_REPLY;
        if (!all || !bench_taken(b, taken))
            break;
        recvs[n] = (t1 - t0) / b->n;
        sends[n] = (t2 - t1) / b->n;
    }
    out->ns[PRICE_ring_recv] = bench_quantile(recvs, n, 0.25);
    out->ns[PRICE_ring_send] = bench_quantile(sends, n, 0.25);
}

/* For ever: each is cancelled before the end. */
static void receive_from_all(const struct bench *b, struct ringed *r, bool begin)
{
    for (int i = 0; i < b->n; i++)
        if (begin)
            uring_receive(&r->ring, b->server[i], uring_tag(URING_RECV, i, 0));
        else
            uring_cancel(&r->ring, uring_tag(URING_RECV, i, 0));
}

void price_ring(struct bench *b, bool alone, struct prices *out)
{
    struct ringed r = {0};
    if (uring_probe(NULL) < 0)
        return;
    if (uring_open(&r.ring, 0, NULL) == 0 &&
        uring_buffers_open(&r.buffers, &r.ring.io, BUFFER, NULL) == 0) {
        out->ns[PRICE_ring_wait] = price_wait(b, &r);
        if (!alone) {
            receive_from_all(b, &r, true);
            take(&r, 0);
            price_requests(b, &r, out);
            bench_order(b, BENCH_REST);
            receive_from_all(b, &r, false);
        }
    }
    uring_close(&r.ring);
    uring_buffers_close(&r.buffers);
}
