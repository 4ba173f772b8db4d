/* SPDX-License-Identifier: MIT */
/* A worker's ring (net/uring.h): what waits and completions count, and when accepting rests. */
#ifndef SERVERS_URING_H
#define SERVERS_URING_H

#include "net/uring.h"
#include "servers/worker.h"

/* uring_enter(), counted. Waits at most timeout_ms (-1: for ever). */
int uring_wait(struct worker *w, struct uring *r, unsigned wanted, int timeout_ms, struct err *e);

/* The completions that came, at most w->events, counted. uring_seen() when they are used. */
unsigned uring_take(struct worker *w, struct uring *r, struct io_uring_cqe **cqes);

/* Milliseconds until accepting is tried again, -1 when it is not paused. */
int uring_pause_ms(const struct worker *w);

#endif
