/* SPDX-License-Identifier: MIT */
/* All workers of a server: their listeners, threads and end. The thread that starts them is the
 * first of them: the main thread of a child, or a thread of its own for a server inside. */
#ifndef SERVERS_CREW_H
#define SERVERS_CREW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "servers/shared.h"
#include "servers/worker.h"

struct crew {
    /* Frozen after start. */
    struct shared *shared;
    const struct io_model *model;
    const struct protocol *protocol;
    int workers, wake;
    int listening; /* listeners: one a worker, or one for a pool */
    int listeners[WORKERS_MAX];
    struct conn *conns;
    int conn_max;
    struct worker *worker;
    pthread_t *threads;

    /* The thread that starts it. */
    int started; /* workers: itself, then threads */

    /* Under lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int opened;      /* workers whose model is open or failed to */
    struct err error; /* the first failure */
    bool failed;

    _Atomic bool stopping;
};

/* Finds model and protocol of the header. 0 or -errno; crew_fini() in both cases. */
int crew_init(struct crew *c, struct shared *s, struct err *e);

/* Opens the wake-up and the listeners; sets shared->port. 0 or -errno. */
int crew_listen(struct crew *c, struct err *e);

/* Makes the calling thread worker 0, starts the others and waits until each can serve. 0, or -errno
 * with the first failure; the others are told to stop. crew_join() in both cases, by this thread as
 * crew_work(). */
int crew_start(struct crew *c, struct err *e);

/* Serves until the crew is stopped or a worker fails. */
void crew_work(struct crew *c);

/* Tells all workers to end. Any thread that shares the first one's descriptors, its signal handlers
 * too; another one calls crew_let_go() and signals its own descriptor of the wake-up. */
void crew_stop(struct crew *c);
void crew_let_go(struct crew *c);
bool crew_stopping(const struct crew *c);

/* Once they are told to end: waits for all workers, closes their connections and what crew_listen()
 * opened. True: none failed; else false with the first failure. */
bool crew_join(struct crew *c, struct err *why);

/* Frees memory. */
void crew_fini(struct crew *c);

struct shared *crew_shared(const struct crew *c);

/* CPU time of its workers so far, in ns. Any thread, until crew_fini(). */
int64_t crew_cpu_ns(const struct crew *c);
int64_t crew_worker_cpu_ns(const struct crew *c, int worker);

#endif
