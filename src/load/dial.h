/* SPDX-License-Identifier: MIT */
/* Connecting in the caller's thread, with an end: a deadline, and somebody who may call it off. */
#ifndef LOAD_DIAL_H
#define LOAD_DIAL_H

#include <errno.h>
#include <stdint.h>

#include "net/sock.h"

struct dial {
    const struct net_addr *to;
    bool nodelay;
    uint64_t deadline_ns;
    bool (*off)(void *ctx); /* asked at least every 50 ms while it waits; true: call it off */
    void *ctx;
};

/* True when this result of a connect means: established, and then closed at once by the server. (A
 * port that nobody listens on gives ECONNREFUSED.) */
static inline bool dial_was_connected(int result)
{
    return result == -ECONNRESET || result == -EPIPE;
}

/* A connected socket, still non-blocking, or -errno: -ETIMEDOUT, -ECANCELED (called off), as
 * net_connect_start(). Whoever gets it closes it. */
int dial(const struct dial *d);

/* Makes the socket block, with time-outs of timeout_ns. */
void dial_blocking(int fd, uint64_t timeout_ns);

#endif
