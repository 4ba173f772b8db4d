/* SPDX-License-Identifier: MIT */
/* The bench on which prices are taken: loopback connections, one thread in the part of the server,
 * and its client. For prices.c. */
#ifndef METRICS_PRICE_BENCH_H
#define METRICS_PRICE_BENCH_H

#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "metrics/prices.h"

enum {
    BENCH_PAIRS = 256, BENCH_PACED = 16, /* so many are asked at a pace */
    BENCH_REQUEST = 64, BENCH_REPLY = 1024, BENCH_BULK = 16 * 1024
};

/* What the client does. It asks once on all connections, and then reads; or it asks on one after
 * the other, at random times, and reads. */
enum bench_order { BENCH_REST, BENCH_ASK, BENCH_READ, BENCH_PACE, BENCH_END };

struct bench {
    /* The server's. */
    int listener, epoll, n; /* n: connections */
    int server[BENCH_PAIRS];
    struct pollfd fds[BENCH_PAIRS];
    unsigned long *map, *ready; /* for select, as wide as need be */
    int words, top, watched;    /* connections that a wait watches: the first ones */
    int timeout_us;             /* of a wait */
    uint8_t bytes[BENCH_BULK + BENCH_REPLY];
    uint64_t deadline_ns;
    const _Atomic bool *quit;

    /* The client's. */
    int client[BENCH_PAIRS], client_epoll;
    int last; /* the connection that was asked last */
    uint8_t replies[64 * 1024];

    /* Atomic. */
    _Atomic int order;
    _Atomic bool left;      /* the client touches nothing any more */
    _Atomic uint64_t taken; /* bytes the client read */
};

/* All but connections; 0 or -errno. close in both cases. */
int bench_open(struct bench *b);
void bench_close(struct bench *b);

/* Makes up to n further connections, without accepting them; returns how many. Then accepts so
 * many. */
int bench_connect(struct bench *b, int n);
int bench_accept(struct bench *b, int n);

/* Ends the last n connections: the client's side by a reset, then the server's. */
void bench_hang_up(struct bench *b, int n);
void bench_close_last(struct bench *b, int n);

/* Watches the first n connections in the sets of select and poll. */
void bench_watch(struct bench *b, int n);

/* The client's thread: carries out orders until the end. */
void bench_client(struct bench *b);

/* Gives an order, and waits until it is carried out (ask: until all is sent; end: until the client
 * has left). False: too late. */
bool bench_order(struct bench *b, enum bench_order what);

/* Waits until the client has read so many bytes in all. */
bool bench_taken(struct bench *b, uint64_t bytes);

/* True when the time is over or somebody gave up. */
bool bench_over(const struct bench *b);

/* CPU time of the calling thread. */
double bench_cpu_ns(void);

/* The one of n values below which this share of them lies (0.25, or 0.5), between two the lower;
 * NaN when there is none. Puts them in order. */
double bench_quantile(double *v, int n, double share);

#endif
