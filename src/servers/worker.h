/* SPDX-License-Identifier: MIT */
/* A worker: one thread of a server with its listener, its connections and its counters. Models see
 * this; nobody outside servers/ does. Connections lie in one table for all workers of a server,
 * indexed by descriptor, so that no model needs a map of its own; a connection belongs to the
 * worker that accepted it. Thread: the worker's own, unless said otherwise. */
#ifndef SERVERS_WORKER_H
#define SERVERS_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/counters.h"
#include "net/protocol.h"
#include "servers/gate.h"
#include "servers/io_models.h"

#define WORKERS_MAX 256 /* SHARED_WORKERS */

struct stash;
struct crew;
struct ready_ops;

/* One connection: a cache line, so that workers that got neighbouring descriptors do not disturb
 * each other, and all that an idle one costs. */
struct conn {
    int fd;
    _Atomic uint16_t owner; /* its worker's index + 1; 0: closed. Atomic for pools: who takes it
                             * over sees all that was written before it was given away. */
    uint8_t ready;       /* READY_ bits not acted on yet (edge-triggered) */
    uint8_t wants;       /* READY_ bits that the model watches */
    bool due;            /* a reply is on its way out */
    bool held;           /* the stash may hold whole requests */
    bool full;           /* the socket takes no more; waits for READY_OUT */
    bool queued;         /* stands in the worker's queue of unfinished ones */
    int next, prev;      /* there, by descriptor; -1 ends it */
    int slot;            /* for the model */
    bool closing;        /* our half is closed: what comes is swallowed until the peer closes */
    uint32_t swallowed;  /* bytes */
    struct stash *stash; /* input that came but cannot be used yet, or NULL */
    uint64_t state[PROTO_STATE / sizeof(uint64_t)];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct conn) == 64, "one cache line");

struct worker {
    /* Frozen after start. */
    const struct io_model *model;
    const struct protocol *protocol;
    uint64_t reply_size;    /* of a reply to who names no size */
    struct crew *crew;
    int index;
    int listener, wake;     /* wake becomes readable when the worker must stop, and stays so */
    bool accept_one;
    int events;             /* most events taken from one wait */
    size_t buffer;          /* most bytes asked of one recv */
    uint64_t client_work_ns; /* spent on each held connection at every wake (POLICY_CLIENT_WORK) */
    struct conn *conns;     /* by descriptor, shared with the other workers */
    int fd_limit;           /* descriptors from here on are refused; a model may lower it in open */
    struct server_counters *count;
    void *state;            /* the model's, state_size bytes */
    uint8_t *input;         /* protocol->request_max + buffer bytes */
    const struct ready_ops *ops;
    struct gate *gate;

    /* The worker's thread. */
    int fd_top;             /* highest descriptor ever admitted */
    int queue_first, queue_last, queue_length;
    bool accept_more;       /* the accept queue may hold more, and no event will say so */
    bool accept_paused;     /* out of descriptors: the listener is not watched */
    uint64_t accept_again_ns;
    uint64_t gate_bytes;    /* bytes_in when it last passed the gate */

    /* Atomic. */
    _Atomic int clock;      /* clockid_t of its CPU time; 0: none yet */
    _Atomic int64_t cpu_ns; /* when it ended: all of it; until then -1 */
} __attribute__((aligned(128)));

/* True once the worker must leave its loop. Any thread. */
bool worker_stopping(const struct worker *w);

/* Before each wait: false once the worker must leave its loop. Sleeps while the gate is shut. */
static inline bool worker_goes_on(struct worker *w)
{
    if (__builtin_expect(atomic_load_explicit(&w->gate->word, memory_order_relaxed), GATE_OPEN))
        gate_hold(w);
    return !worker_stopping(w);
}

/* In the model's open: what of it the gate does not hold back (GATE_PASSES_*). */
void worker_passes_gate(struct worker *w, unsigned what);

/* Worker 0: of a pool, the one that opened what all share. It is open before the others begin. */
struct worker *worker_first(struct worker *w);

/* The connection is looked at next: with a thousand of them what the kernel does for one has pushed
 * the others out of the near cache. */
static inline void worker_looks_next(const struct worker *w, int fd)
{
    __builtin_prefetch(&w->conns[fd]);
}

/* Takes a fresh descriptor into the table and counts it. NULL when this server cannot hold it: then
 * it is closed with a reset and counted as refused. */
struct conn *worker_admit(struct worker *w, int fd);

/* The same in two steps, where watching it may fail: taken, then counted as accepted or refused. */
struct conn *worker_take(struct worker *w, int fd);
void worker_accepted(struct worker *w);
void worker_refuse(struct worker *w, struct conn *c);

/* Why a connection ends: the peer closed, junk came, it failed, the server stops, or its model
 * could not watch it. */
enum drop { DROP_END, DROP_JUNK, DROP_FAILED, DROP_STOP };

/* Our last reply went out: tells the peer that no more comes. It stays open until the peer closes,
 * since closing it while something unread comes in would take the reply back (a reset). */
void worker_end_sending(struct conn *c);

/* Closes it, frees what it holds, due reply bytes too, and counts it. The model has forgotten it
 * already and the kernel works on nothing of it. */
void worker_drop(struct worker *w, struct conn *c, enum drop why);

/* Drops all of this worker's connections with a reset, so that no TIME_WAIT holds the port. */
void worker_drop_all(struct worker *w);

/* An accept failed with this code, which is counted. True: ask again at once. False: nobody waits
 * (EAGAIN), or descriptors or memory are short; then accept_paused is set, until accept_again_ns or
 * until a connection of ours closes. */
bool worker_accept_failed(struct worker *w, int code);

/* A queue of connections, first in, first out: each stands there once. Leave it before the drop. */
void worker_queue_start(struct worker *w);
void worker_queue(struct worker *w, struct conn *c);
void worker_unqueue(struct worker *w, struct conn *c);

/* --client-work: spends it on each of `held` connections. For loops that walk all clients. */
void worker_spend(const struct worker *w, int held);
static inline void worker_client_work(const struct worker *w, int held)
{
    if (w->client_work_ns > 0)
        worker_spend(w, held);
}

/* Something went wrong that does not end the server: its owner is told, once a second at most. */
void worker_trouble(struct worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
