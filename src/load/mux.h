/* SPDX-License-Identifier: MIT */
/* A thread of the mux engine and its connections. Everything here is that thread's own, but for
 * `rest`. */
#ifndef LOAD_MUX_H
#define LOAD_MUX_H

#include <sys/epoll.h>

#include "load/engine.h"
#include "load/pace.h"

#define MUX_EVENTS 256
#define MUX_BUFFER 65536
#define MUX_WAKE UINT64_MAX /* the event of the wake-up descriptor */

enum conn_state {
    CONN_ABSENT,     /* not tried yet */
    CONN_CONNECTING,
    CONN_QUIET,      /* established, on probation */
    CONN_OPEN,
    CONN_FAILED      /* tried again at at_ns */
};

struct conn {
    int fd;
    uint32_t generation; /* of the descriptor: tells stale events of a batch */
    uint8_t state;
    bool waiting; /* a request is outstanding */
    bool timed;   /* that request was due in the measured part */
    bool served;  /* a right reply came over this descriptor */
    bool doubted; /* its predecessor ended before a reply: probation */
    bool turned;  /* counted in turned_away */
    uint16_t unsent; /* bytes of the request that did not fit */
    uint32_t owed;   /* requests that came due while one was outstanding */
    uint64_t at_ns;  /* sent; connecting or quiet since; failed: next try */
    uint64_t due_ns, owed_ns; /* of the outstanding request; of the oldest owed one */
    struct proto_check check;
};

struct mux {
    struct load *load;
    struct load_shard *shard;
    int index, of; /* connection g of the load is conns[g / of] of the mux g % of */
    pthread_t thread;
    _Atomic uint32_t rest; /* the word it sleeps on */

    int epoll, wake;
    uint32_t word, settings;
    bool in_turn, measuring, counting, paced, settled, empty_look;
    uint64_t now_ns, next_due_ns, next_scan_ns, scan_ns;
    uint64_t offset_ns, measure_ns;
    struct pace pace;

    struct conn *conns; /* the first `asking` ask */
    int conn_count, asking, next_absent;
    int absent, connecting, pending; /* pending: quiet or failed */
    int in_flight;
    uint32_t generation;
    uint64_t sequence, size;
    uint8_t ask[PROTO_ASK_MAX];
    uint8_t buffer[MUX_BUFFER];
    struct epoll_event events[MUX_EVENTS];
};

/* --- mux_conn.c: one connection --------------------------------------------------------------- */

void conn_open(struct mux *m, struct conn *c);
/* Closes for good, with a reset; state ABSENT and not counted among the absent. */
void conn_drop(struct mux *m, struct conn *c);
void conn_event(struct mux *m, struct conn *c, uint32_t events);
/* A request that was due then; now_ns is read beforehand. */
void conn_ask(struct mux *m, struct conn *c, uint64_t due_ns);
/* Gives up an outstanding request: counted as timed out, reset, opened again. */
void conn_give_up(struct mux *m, struct conn *c);
/* What time has brought: time-outs, tries, the end of a probation. */
void conn_scan(struct mux *m, struct conn *c);

/* --- mux_turn.c ------------------------------------------------------------------------------- */

void mux_take_word(struct mux *m);
void mux_resize(struct mux *m, int count);
void mux_send_due(struct mux *m);
void mux_handle(struct mux *m, int n); /* the first n of m->events */

/* The one comparison after each reply and send: takes MEASURE and STOP at once, leaves the rest to
 * the loop. */
void mux_turn_over(struct mux *m);
static inline void mux_look_at_word(struct mux *m)
{
    if (__builtin_expect(word_get(m->load) != m->word, 0))
        mux_turn_over(m);
}

#endif
