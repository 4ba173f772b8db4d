/* SPDX-License-Identifier: MIT */
/* A thread of the mux engines and its connections. Everything here is that thread's own, but for
 * `rest`. What the engines differ in is the way of waiting: struct mux_way. */
#ifndef LOAD_MUX_H
#define LOAD_MUX_H

#include "load/engine.h"
#include "load/pace.h"

#define MUX_EVENTS 256 /* taken of one wait at most */
#define MUX_CONNECTING 256 /* connects in progress at most */

enum conn_state {
    CONN_ABSENT,     /* not tried yet */
    CONN_CONNECTING,
    CONN_QUIET,      /* established, on probation */
    CONN_OPEN,
    CONN_BARE,       /* keepalive off: not connected until its next request */
    CONN_FAILED      /* tried again at at_ns */
};

struct conn {
    int fd;
    uint32_t generation; /* of the descriptor: tells stale events of a batch */
    uint32_t batch;      /* mux_uring.c: of the last request made of it */
    uint8_t armed;       /* mux_uring.c: what the kernel watches of it */
    uint8_t state;
    bool waiting; /* a request is outstanding */
    bool timed;   /* that request was due in the measured part */
    bool served;  /* a right reply came over this descriptor */
    bool doubted; /* its predecessor ended before a reply: probation */
    bool turned;  /* counted in turned_away */
    bool asked, answered; /* counted in the load's asked, served */
    bool in_line; /* mux_flow.c */
    int next;     /* there; -1 ends it */
    uint16_t unsent; /* bytes of the request that did not fit, or that wait for the connect */
    uint32_t owed;   /* requests that came due while one was outstanding */
    uint64_t at_ns;  /* sent; connecting or quiet since; failed: next try */
    uint64_t due_ns, owed_ns; /* of the outstanding request; of the oldest owed one */
    uint64_t left; /* replies it still has to get */
    struct proto_check check;
};

struct mux {
    struct load *load;
    struct load_shard *shard;
    int index, of; /* connection g of the load is conns[g / of] of the mux g % of */
    pthread_t thread;
    _Atomic uint32_t rest; /* the word it sleeps on */

    const struct mux_way *way;
    void *own; /* the way's */
    int wait_fd, wake; /* what it waits on (the way's), and what ends a wait */
    uint32_t word, settings;
    bool in_turn, measuring, counting, paced, settled, empty_look;
    uint64_t now_ns, next_due_ns, next_scan_ns, scan_ns;
    uint64_t offset_ns, measure_ns;
    struct pace pace;

    struct conn *conns; /* the first `asking` ask */
    int conn_count, asking, next_absent; /* next_absent: a place in the order of opening */
    int absent, connecting, pending; /* pending: quiet or failed */
    bool held_back;                  /* the accept queue is full enough */
    uint64_t taken, taken_ns;        /* of it, and when that changed */
    int in_flight;
    int line_first, line_last; /* of mux_flow.c; -1: nobody stands there */
    uint64_t left; /* replies this thread still has to get; UINT64_MAX: there is no end */
    uint32_t generation;
    uint64_t sequence, size;
    uint8_t *ask; /* PROTO_ASK_MAX bytes for the next request */
};

/* --- mux_open.c: opening many ----------------------------------------------------------------- */

/* As many of those that were not tried yet as may be begun now. */
void mux_open_some(struct mux *m);
/* May that go on at once? Else held_back says that the server must move first. */
static inline bool mux_may_open(const struct mux *m)
{
    return m->absent && !m->held_back && m->connecting < MUX_CONNECTING;
}

/* --- mux_turn.c ------------------------------------------------------------------------------- */

void mux_take_word(struct mux *m);
void mux_count_sleeps(struct mux *m); /* how often the thread gave its CPU up so far */
void mux_resize(struct mux *m, int count);
void mux_send_overdue(struct mux *m);
static inline void mux_send_due(struct mux *m)
{
    if (m->now_ns >= m->next_due_ns)
        mux_send_overdue(m);
}

/* The one comparison after each reply and send: takes MEASURE and STOP at once, leaves the rest to
 * the loop. */
void mux_turn_over(struct mux *m);
static inline void mux_look_at_word(struct mux *m)
{
    if (__builtin_expect(word_get(m->load) != m->word, 0))
        mux_turn_over(m);
}

#endif
