/* SPDX-License-Identifier: MIT */
/* What the mux engines differ in: how a thread waits for its connections and what it hands over.
 * The seam is above readiness, so that completions are equals. Thread: the mux's. */
#ifndef LOAD_MUX_WAY_H
#define LOAD_MUX_WAY_H

#include <sys/epoll.h>

#include "load/mux.h"

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

/* What a way tells of a connection, now_ns read before. conn_connecting: connecting is over (it
 * looks at the clock itself). conn_came: n bytes came, and something follows at once (more of
 * them, or the end); false when it waits for nothing more. conn_ended: no bytes will come;
 * clean: by an end, not a reset. conn_send_rest: there is room again. conn_unsent: after all
 * only so many bytes of its request went out (below 0: it is closed). */
void conn_connecting(struct mux *m, struct conn *c, uint32_t events);
bool conn_came(struct mux *m, struct conn *c, const uint8_t *bytes, size_t n, bool follows);
void conn_ended(struct mux *m, struct conn *c, bool clean);
void conn_send_rest(struct mux *m, struct conn *c);
void conn_unsent(struct mux *m, struct conn *c, ssize_t sent);

#endif
