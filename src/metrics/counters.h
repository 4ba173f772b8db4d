/* SPDX-License-Identifier: MIT */
/* Counters with one writer each, a cache line apart from other writers', read by anybody at any
 * time. They only grow: figures are differences. The server's lie in shared memory. */
#ifndef METRICS_COUNTERS_H
#define METRICS_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

/* SERVER_COUNTER(id, sentence): one worker of a server. */
#define SERVER_COUNTERS(X)                                                                         \
    X(accepts, "connections accepted")                                                             \
    X(closes, "connections closed")                                                                \
    X(refusals, "accepted and closed at once: the model cannot hold them")                         \
    X(accept_failures, "accept calls that failed (EMFILE, ECONNABORTED)")                          \
    X(last_accept_ns, "monotonic time of the last accept")                                         \
    X(requests, "replies that went out whole")                                                     \
    X(waits, "calls of the wait")                                                                  \
    X(events, "ready descriptors that the waits found")                                            \
    X(looks, "descriptors the kernel looked at in the waits")                                      \
    X(reads, "calls of recv")                                                                      \
    X(read_empty, "of them EAGAIN")                                                                \
    X(writes, "calls of send")                                                                     \
    X(write_full, "of them EAGAIN or short")                                                       \
    X(controls, "calls of epoll_ctl")                                                              \
    X(submissions, "requests submitted to io_uring")                                               \
    X(completions, "completions taken from it")                                                    \
    X(shortages, "receives that found no buffer and were made again")                              \
    X(bytes_in, "bytes received")                                                                  \
    X(bytes_out, "bytes sent")                                                                     \
    X(junk, "connections closed for bytes that are no request")                                    \
    X(resets, "connections that a peer reset or that failed")

struct server_counters {
#define X(id, help) _Atomic uint64_t id;
    SERVER_COUNTERS(X)
#undef X
} __attribute__((aligned(128)));

/* A copy, or a sum over workers, or a difference of two copies. */
struct server_counts {
#define X(id, help) uint64_t id;
    SERVER_COUNTERS(X)
#undef X
};

/* Failures of connections that ask, by kind: each is a metric of the same id. */
#define LOAD_ERRORS(X)                                                                             \
    X(errors_refused, "refused")                                                                   \
    X(errors_reset, "reset")                                                                       \
    X(errors_timeout, "timed out")                                                                 \
    X(errors_port, "no local port")                                                                \
    X(errors_fd, "no descriptor")                                                                  \
    X(errors_bytes, "wrong replies")

/* One shard of the load: a mux thread, or one of the blocking engine's. */
#define LOAD_COUNTERS(X)                                                                           \
    X(sent, "requests sent while measured")                                                        \
    X(due, "requests that came due while measured (paced)")                                        \
    X(answered, "of the measured requests, those answered right, whenever the reply came")         \
    X(replies, "right replies that came while measured")                                           \
    X(reply_bytes, "their bytes")                                                                  \
    X(sent_bytes, "bytes of messages to which nothing is replied, taken by the sockets")           \
    X(asked, "requests sent in all, measured or not")                                              \
    X(got, "right replies in all")                                                                 \
    X(got_bytes, "their bytes")                                                                    \
    X(connects, "connections established")                                                         \
    X(closed, "connections closed by either side")                                                 \
    X(sleeps, "times the load slept in its wait")                                                  \
    X(spare_ns, "time of a spinning load in looks that found nothing")                             \
    LOAD_ERRORS(X)

struct load_counters {
#define X(id, help) _Atomic uint64_t id;
    LOAD_COUNTERS(X)
#undef X
} __attribute__((aligned(128)));

struct load_counts {
#define X(id, help) uint64_t id;
    LOAD_COUNTERS(X)
#undef X
};

/* For the one writer: no locked instruction. */
static inline void counter_add(_Atomic uint64_t *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* For counters with several writers (the blocking engine's shards). */
static inline void counter_add_shared(_Atomic uint64_t *c, uint64_t n)
{
    atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

static inline void counter_set(_Atomic uint64_t *c, uint64_t v)
{
    atomic_store_explicit(c, v, memory_order_relaxed);
}

static inline uint64_t counter_get(const _Atomic uint64_t *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

/* into += the counters (last_accept_ns: the latest). */
void server_counts_add(struct server_counts *into, const struct server_counters *c);
void load_counts_add(struct load_counts *into, const struct load_counters *c);

/* into += more (last_accept_ns: more's). */
void server_counts_sum(struct server_counts *into, const struct server_counts *more);
void load_counts_sum(struct load_counts *into, const struct load_counts *more);

/* out = now - before; a counter that went backwards gives 0, never 10^19. last_accept_ns is now's.
 * out may be one of the two. */
void server_counts_diff(const struct server_counts *now, const struct server_counts *before,
                        struct server_counts *out);
void load_counts_diff(const struct load_counts *now, const struct load_counts *before,
                      struct load_counts *out);

#endif
