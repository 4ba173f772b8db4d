/* SPDX-License-Identifier: MIT */
/* The status line of `serve`: what a server did between two readings, all of it and split by
 * worker. */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include "servers/server.h"

#define STATUS_WORKERS 256

struct share {
    uint64_t open, requests, bytes_in;
    int64_t cpu_ns; /* -1: not known */
};

struct reading {
    uint64_t t_ns, junk;
    struct share all;
    int workers;
    bool one_set; /* a pool: no connection is one worker's */
    bool one_way; /* nothing is answered: bytes count */
    struct share worker[STATUS_WORKERS];
};

void reading_take(const struct server *s, bool one_way, struct reading *out);

/* "connections 120 (60+60)  requests/s 31k (15k+16k)  CPU 98.1 % (49+49)", without split for one
 * worker; from `most` + 1 workers on "(14 to 16 each)"; one-way "MiB/s 812" for the requests.
 * Returns buf. */
char *reading_line(const struct reading *before, const struct reading *now, int most, char *buf,
                   size_t size);

#endif
