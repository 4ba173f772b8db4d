/* SPDX-License-Identifier: MIT */
/* A thread of the mux engines and its connections. Everything here is that thread's own, but for
 * `rest`. What the engines differ in is the way of waiting: struct mux_way. */
#ifndef LOAD_MUX_H
#define LOAD_MUX_H

#include <sys/epoll.h>

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

/* A way of waiting. Events are bits as of epoll(7). */
struct mux_way {
    /* The watch outlasts a connection: a socket may be connected anew, and a request be sent right
     * behind its connect(), which send() answers by 0 while there is no connection yet. */
    bool redials;
    /* Makes m->wait_fd and m->ask, watches m->wake. close() after a failed open too; both not in
     * the thread itself. */
    int (*open)(struct mux *m, struct err *e);
    void (*close)(struct mux *m);
    void (*start)(struct mux *m); /* first and last of all in the thread */
    void (*stop)(struct mux *m);
    /* A connection begins: conn_connecting() when it came about or failed. 0 or -errno. */
    int (*watch)(struct mux *m, struct conn *c);
    /* It came about: conn_came() and conn_ended() from now on. True: it may be asked. */
    bool (*established)(struct mux *m, struct conn *c, uint32_t events);
    void (*forget)(struct mux *m, struct conn *c); /* before its descriptor is closed */
    /* Sends len bytes of m->ask. How many went out (the rest by conn_send_rest() once there is
     * room), -1: it is closed. */
    ssize_t (*send)(struct mux *m, struct conn *c, size_t len);
    /* Waits at most ns (0: looks; UINT64_MAX: until something happens). How many events there are
     * now, at most MUX_EVENTS, or below 0; handle() takes them, and mux_send_due() after each, so
     * that what comes due meanwhile is not kept waiting. */
    int (*wait)(struct mux *m, uint64_t ns);
    void (*handle)(struct mux *m, int n);
};
extern const struct mux_way mux_epoll, mux_uring;

/* The connection of an event; NULL when it is closed since: a descriptor that a child just spawned
 * still holds may report after it was closed here. */
static inline struct conn *mux_conn(const struct mux *m, uint32_t at, uint32_t generation)
{
    struct conn *c = at < (uint32_t)m->conn_count ? &m->conns[at] : NULL;
    return c && c->generation == generation ? c : NULL;
}

/* --- mux_conn.c: one connection --------------------------------------------------------------- */

void conn_open(struct mux *m, struct conn *c);
static inline bool conn_can_ask(const struct conn *c)
{
    return (c->state == CONN_OPEN || c->state == CONN_BARE) && !c->waiting && c->left;
}
/* The number of the connection among all of the load. */
long conn_number(const struct mux *m, const struct conn *c);
/* Closes for good, with a reset; state ABSENT and not counted among the absent. */
void conn_drop(struct mux *m, struct conn *c);
/* What a way tells of it, now_ns read before. conn_connecting: connecting is over (it looks at the
 * clock itself). conn_came: n bytes came, and something follows at once (more of them, or the end);
 * false when it waits for nothing more. conn_ended: no bytes will come; clean: by an end, not a
 * reset. conn_send_rest: there is room again. conn_unsent: after all only so many bytes of its
 * request went out (below 0: it is closed). */
void conn_connecting(struct mux *m, struct conn *c, uint32_t events);
bool conn_came(struct mux *m, struct conn *c, const uint8_t *bytes, size_t n, bool follows);
void conn_ended(struct mux *m, struct conn *c, bool clean);
void conn_send_rest(struct mux *m, struct conn *c);
void conn_unsent(struct mux *m, struct conn *c, ssize_t sent);
/* A request that was due then; now_ns is read beforehand. */
void conn_ask(struct mux *m, struct conn *c, uint64_t due_ns);
/* Gives up an outstanding request: counted as timed out, reset, opened again. */
void conn_give_up(struct mux *m, struct conn *c);
/* What time has brought: time-outs, tries, the end of a probation. */
void conn_scan(struct mux *m, struct conn *c);

/* Nothing is outstanding on it and it may ask, now. */
bool conn_asks(const struct mux *m, const struct conn *c);

/* --- mux_flow.c: messages that nobody replies to ---------------------------------------------- */

void flow_ask(struct mux *m, struct conn *c, uint64_t due_ns); /* as conn_ask() */
void flow_send(struct mux *m, struct conn *c);                 /* what there is room for */
void flow_next(struct mux *m, struct conn *c); /* stands in line, if it has more to send */
void flow_clear(struct mux *m);                /* nobody stands in line */
void mux_flow(struct mux *m);                  /* a few of those in line send */

/* Parts of these that mux_fresh.c shares. conn_begin: a request that was due then is outstanding;
 * conn_sent: it went out; conn_leave: it is answered, and its connection ends. */
void conn_dial(struct mux *m, struct conn *c);
void conn_open_failed(struct mux *m, struct conn *c, int code);
void conn_connected(struct mux *m, struct conn *c);
void conn_begin(struct mux *m, struct conn *c, uint64_t due_ns);
void conn_sent(struct mux *m, struct conn *c);
void conn_leave(struct mux *m, struct conn *c);
void conn_next(struct mux *m, struct conn *c); /* the next request, if it is due */

/* --- mux_fresh.c: a connection that lasts as long as its request ------------------------------ */

bool conn_fresh(const struct mux *m, const struct conn *c);
void fresh_ask(struct mux *m, struct conn *c, uint64_t due_ns);
void fresh_connected(struct mux *m, struct conn *c);
/* Who asks and who is idle has changed: those of the wrong kind are ABSENT again. */
void fresh_roles(struct mux *m);

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
