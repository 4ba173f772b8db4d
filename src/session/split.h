/* SPDX-License-Identifier: MIT */
/* How a server's work was spread over its workers. The kernel deals connections to the listeners of
 * a port by a hash of the addresses, so with few connections one worker may have most of them; what
 * is compared then is a server that does not use what it has. Thread: the runner's. */
#ifndef SESSION_SPLIT_H
#define SESSION_SPLIT_H

#include "servers/server.h"

#define SPLIT_WORKERS 256
#define SPLIT_TEXT 160

struct split {
    struct {
        uint64_t accepts, requests;
        int64_t cpu_ns;
    } from[SPLIT_WORKERS];
};

/* What each worker had done when a row began. */
void split_begin(struct split *s, const struct server *server);

/* Since then: "connections 26+24, requests 52+48 %, CPU 51+49 %", from 9 workers on the least and
 * the most; "" for one worker. Connections are those that are open, or where none is (a repeated
 * workload) those that came; a pool's are nobody's. Returns buf, SPLIT_TEXT bytes. */
char *split_text(const struct split *s, const struct server *server, char *buf);

#endif
