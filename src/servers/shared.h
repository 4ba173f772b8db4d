/* SPDX-License-Identifier: MIT */
/* The memory that a server and its owner share: a versioned header with what to run, how it goes
 * and what went wrong, then the counters, one block a worker. A memfd, so that it works across
 * processes; the same for a server inside. Written by the owner before the start, then by the
 * server. */
#ifndef SERVERS_SHARED_H
#define SERVERS_SHARED_H

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/counters.h"
#include "servers/gate.h"
#include "servers/server.h"

#define SHARED_TEXT 160
#define SHARED_TROUBLES 4
#define SHARED_WORKERS 256

enum shared_state { SHARED_STARTING, SHARED_READY, SHARED_FAILED, SHARED_STOPPED };

struct shared {
    /* Frozen after start. */
    uint32_t magic, version, header_bytes, counter_bytes;
    int32_t workers, cpu, lifeline;
    cpu_set_t cpus; /* where workers may go: the owner's CPUs and cpu */
    char model[32];
    struct params params;
    struct net_addr listen;

    /* The server's, published by state. */
    _Atomic uint32_t state;
    int32_t port;
    _Atomic int32_t tids[SHARED_WORKERS]; /* workers' threads, 0: not started */
    struct err error;

    /* The server's: the latest troubles that did not end it. A slot is written again only after
     * SHARED_TROUBLES seconds, so a reader needs no lock. */
    _Atomic uint64_t troubles, trouble_ns;
    char trouble[SHARED_TROUBLES][SHARED_TEXT];

    struct gate gate;

    struct server_counters counters[];
};

/* Makes it for a server that is to start. Returns its descriptor (close-on-exec) or -errno. */
int shared_new(const struct server_spec *spec, struct shared **out, struct err *e);

/* Maps the one behind fd and checks that it is of this version. 0 or -errno. */
int shared_open(int fd, struct shared **out, struct err *e);
void shared_close(struct shared *s);

/* Says how it goes. */
void shared_fail(struct shared *s, const struct err *why);
void shared_set_state(struct shared *s, enum shared_state state);
enum shared_state shared_state_of(const struct shared *s);

/* The slot for a new trouble, SHARED_TEXT bytes, or NULL when one was told within the last second.
 * Filled, it is published by _end. Any worker. */
char *shared_trouble_begin(struct shared *s);
void shared_trouble_end(struct shared *s);

/* A whole-number parameter, or what stands for it when it is unset, auto or max. */
int shared_count(double value, int fallback);

#endif
