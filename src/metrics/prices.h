/* SPDX-License-Identifier: MIT */
/* What one system call costs on this machine, in ns of CPU time: measured in half a
 * second, on the CPU that servers run on, over a few hundred loopback connections. Times calls
 * gives the bill of a server; beside other machines it says what two figures may have to do with
 * each other. */
#ifndef METRICS_PRICES_H
#define METRICS_PRICES_H

#include <stdatomic.h>
#include <stdbool.h>

/* PRICE(id, sentence): a column price_ID_ns. */
#define PRICES(X)                                                                                  \
    X(call, "a system call that does nothing")                                                     \
    X(wait, "an epoll_wait that finds one socket at once")                                         \
    X(look, "each socket in a select that finds something at once")                                \
    X(look_sleep, "each socket in a select that sleeps")                                           \
    X(recv, "a recv of 64 bytes")                                                                  \
    X(recv_empty, "a recv that finds nothing")                                                     \
    X(send, "a send of 1 KiB to a client that is awake, with its half of TCP")                     \
    X(mod, "an epoll_ctl MOD")                                                                     \
    X(accept, "an accept")                                                                         \
    X(sleep, "a sleep in the wait at 11 500 requests a second, with what is cold after it")        \
    X(poll_look, "each socket in a poll that finds something at once")                             \
    X(poll_look_sleep, "each socket in a poll that sleeps")                                        \
    X(kib, "each further KiB of a send")                                                           \
    X(close, "a close of a connection that the client has reset")                                  \
    X(ring_wait, "an io_uring_enter that finds one completion at once")                            \
    X(ring_recv, "a receive of 64 bytes by a ring that receives for ever")                         \
    X(ring_send, "a send of 1 KiB by a ring to a client that is awake")

enum price {
#define X(id, help) PRICE_##id,
    PRICES(X)
#undef X
    PRICE_COUNT
};

struct prices {
    double ns[PRICE_COUNT]; /* NaN: not measured */
};

extern const char *const price_columns[PRICE_COUNT]; /* "price_call_ns", ... */
extern const char *const price_helps[PRICE_COUNT];

#define PRICES_TAKEN 15 /* takings that are kept at most */

struct prices_spec {
    int cpu;                   /* of the server; -1: not pinned */
    bool alone;                /* one CPU: what needs a client that is awake is not measured */
    const _Atomic bool *quit;  /* give up; may be NULL */
};

void prices_clear(struct prices *p);

/* Price by price the middle one of n takings, of an even number the lower of both: what disturbs
 * only adds, and a machine has slow and fast times. NaN where none was measured. */
void prices_middle(const struct prices *taken, int n, struct prices *out);

/* True when there is any. */
bool prices_known(const struct prices *p);

/* Measures them all, in 0.5 s, at most 2 s. The calling thread plays the client and keeps its
 * CPUs. What cannot be measured here (no descriptors, no thread, an order to quit) stays NaN. */
void prices_measure(const struct prices_spec *spec, struct prices *out);

#endif
