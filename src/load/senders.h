/* SPDX-License-Identifier: MIT */
/* The threads of `burst`: each has one connection and waits at a barrier until the pass lets all go
 * on to the next step. Thread: the pass's, unless said otherwise. */
#ifndef LOAD_SENDERS_H
#define LOAD_SENDERS_H

#include <pthread.h>

#include "load/load.h"

#define SENDERS_MOST 4000

enum senders_step {
    SENDERS_CONNECT, /* opens its connection */
    SENDERS_BURST,   /* one send that does not wait, timed; then the rest */
    SENDERS_FILL,    /* sends until all is in the socket, or there is no room for it */
    SENDERS_END
};

struct senders;

struct sender {
    struct senders *all;
    pthread_t thread;
    int fd;            /* -1: not connected */
    bool whole;        /* all of the step's bytes are in the socket */
    uint64_t ns, ticks; /* of the timed send */
};

struct senders {
    /* Frozen after start. */
    const struct load_spec *spec;
    uint64_t deadline_ns;
    size_t size;
    uint8_t *bytes;
    int n; /* threads that run */
    struct sender *sender;

    /* Atomic. */
    _Atomic uint32_t step;
    _Atomic int done;  /* threads that are through it */
    _Atomic bool stop; /* set by the pass: what still waits gives up */
    _Atomic int64_t cpu_ns; /* of threads that ended */
    struct load_counters counts;
};

/* Starts a thread for each connection; they connect at once. 0, or -errno with how many there could
 * be; senders_stop() in both cases. */
int senders_start(struct senders *s, const struct load_spec *spec, uint64_t deadline_ns,
                  struct err *e);

/* Lets all go on to this step. */
void senders_go(struct senders *s, enum senders_step step);

static inline bool senders_through(const struct senders *s)
{
    return s->done >= s->n;
}

int senders_connected(const struct senders *s); /* between two steps */

/* Has each sent all of the step's bytes? And does each peer's kernel have them? Between two
 * steps. */
bool senders_whole(const struct senders *s);
bool senders_delivered(const struct senders *s);

/* Ends the threads, closes the connections with a reset and frees. */
void senders_stop(struct senders *s);

#endif
