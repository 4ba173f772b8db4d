/* SPDX-License-Identifier: MIT */
/* Which process it is that listens on a port. Thread: any. */
#ifndef SERVERS_LISTENER_H
#define SERVERS_LISTENER_H

#include <sys/types.h>

/* Does one of these processes, of one network namespace, hold a socket that listens on this port? 1
 * or 0; -1: what they hold cannot be read. */
int listener_among(const pid_t *pids, int count, int port);

#endif
