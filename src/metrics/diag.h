/* SPDX-License-Identifier: MIT */
/* What the kernel says of listening sockets over netlink, to any user. Source: sock_diag(7).
 * Thread: any. */
#ifndef METRICS_DIAG_H
#define METRICS_DIAG_H

#include <stdbool.h>
#include <stdint.h>

struct listen_queue {
    int waiting;   /* connections in it, -1: not known */
    int backlog;   /* one more than that may wait */
    int64_t drops; /* segments that were dropped since it listens, most of them as it was full */
};

/* The accept queues of all listeners of this port in this network namespace, as one. False: there
 * is none, and waiting is -1. */
bool diag_listener(int port, struct listen_queue *out);

#endif
