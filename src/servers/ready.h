/* SPDX-License-Identifier: MIT */
/* What models that are told of readiness share: accepting, one bounded pass over a connection for
 * each event, and what is left to do when a pass ended early. The model brings four operations on
 * its set of descriptors and its wait:
 *
 *   while (worker_goes_on(w)) {
 *       n = wait(..., ready_timeout_ms(w));
 *       for each event: ready_accept(w), or ready_event(w, c, bits)
 *       ready_after(w);
 *   }
 */
#ifndef SERVERS_READY_H
#define SERVERS_READY_H

#include "servers/worker.h"

enum {
    READY_IN = 1,  /* there is something to read */
    READY_OUT = 2, /* the socket takes bytes again */
    READY_EOF = 4, /* the peer sends no more: read until recv says 0 */
    READY_HUP = 8, /* the connection is over or failed: recv or send will tell */
};

struct ready_ops {
    bool edge; /* events tell of changes only: nothing may be forgotten */
    bool blocks;      /* accepted sockets block */
    bool write_later; /* a reply is sent at the READY_OUT that is asked for after the read */
    uint8_t rearm;    /* READY_ bits that are wanted anew after a pass even when they are watched */
    /* Watches a new connection for READY_IN. -errno: it cannot; the connection is refused. */
    int (*add)(struct worker *w, struct conn *c);
    /* Watches exactly c->wants; from then on it may be another worker's (a pool). NULL: everything
     * is watched always. */
    void (*want)(struct worker *w, struct conn *c);
    /* Forgets a connection that is about to be closed. NULL: the close does that. */
    void (*drop)(struct worker *w, struct conn *c);
    /* Watches the listener, or does not. */
    void (*listen)(struct worker *w, bool on);
};

/* In the model's open. */
void ready_start(struct worker *w, const struct ready_ops *ops);

/* How long the wait may sleep: -1 for ever, 0 not at all. */
int ready_timeout_ms(const struct worker *w);

/* The listener is ready. */
void ready_accept(struct worker *w);

/* The connection is ready. It may be closed when this returns. */
void ready_event(struct worker *w, struct conn *c, unsigned bits);

/* Once after the events of each wait. */
void ready_after(struct worker *w);

#endif
