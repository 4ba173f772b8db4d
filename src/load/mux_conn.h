/* SPDX-License-Identifier: MIT */
/* One connection of a mux thread. Thread: the mux's. */
#ifndef LOAD_MUX_CONN_H
#define LOAD_MUX_CONN_H

#include "load/mux.h"

void conn_open(struct mux *m, struct conn *c);
static inline bool conn_can_ask(const struct conn *c)
{
    return (c->state == CONN_OPEN || c->state == CONN_BARE) && !c->waiting && c->left;
}
/* The number of the connection among all of the load. */
long conn_number(const struct mux *m, const struct conn *c);
/* Closes for good, with a reset; state ABSENT and not counted among the absent. */
void conn_drop(struct mux *m, struct conn *c);
/* A request that was due then; now_ns is read beforehand. */
void conn_ask(struct mux *m, struct conn *c, uint64_t due_ns);
/* Gives up an outstanding request: counted as timed out, reset, opened again. */
void conn_give_up(struct mux *m, struct conn *c);
/* What time has brought: time-outs, tries, the end of a probation. */
void conn_scan(struct mux *m, struct conn *c);

/* Nothing is outstanding on it and it may ask, now. */
bool conn_asks(const struct mux *m, const struct conn *c);

/* Parts of these that mux_fresh.c shares. conn_begin: a request that was due then is outstanding;
 * conn_sent: it went out; conn_leave: it is answered, and its connection ends. */
void conn_dial(struct mux *m, struct conn *c);
void conn_open_failed(struct mux *m, struct conn *c, int code);
void conn_connected(struct mux *m, struct conn *c);
void conn_begin(struct mux *m, struct conn *c, uint64_t due_ns);
void conn_sent(struct mux *m, struct conn *c);
size_t conn_make_again(struct mux *m, const struct conn *c); /* its request, into m->ask */
void conn_leave(struct mux *m, struct conn *c);
void conn_next(struct mux *m, struct conn *c); /* the next request, if it is due */

/* --- mux_flow.c: messages that nobody replies to ---------------------------------------------- */

void flow_ask(struct mux *m, struct conn *c, uint64_t due_ns); /* as conn_ask() */
void flow_send(struct mux *m, struct conn *c);                 /* what there is room for */
void flow_next(struct mux *m, struct conn *c); /* stands in line, if it has more to send */
void flow_clear(struct mux *m);                /* nobody stands in line */
void mux_flow(struct mux *m);                  /* a few of those in line send */

/* --- mux_fresh.c: a connection that lasts as long as its request ------------------------------ */

bool conn_fresh(const struct mux *m, const struct conn *c);
void fresh_ask(struct mux *m, struct conn *c, uint64_t due_ns);
void fresh_connected(struct mux *m, struct conn *c);
/* Who asks and who is idle has changed: those of the wrong kind are ABSENT again. */
void fresh_roles(struct mux *m);

#endif
