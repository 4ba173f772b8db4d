/* SPDX-License-Identifier: MIT */
/* Where a server runs: the placements behind server.h. */
#ifndef SERVERS_PLACE_H
#define SERVERS_PLACE_H

#include <pthread.h>
#include <semaphore.h>

#include "servers/crew.h"
#include "servers/keeper.h"
#include "servers/server.h"
#include "servers/shared.h"
#include "servers/spawn.h"
#include "servers/tree.h"

struct server;

struct placement {
    /* Starts s->spec with s->shared (whose descriptor is memfd) and waits until it listens. 0, or
     * -errno with one line and nothing left behind. */
    int (*start)(struct server *s, int memfd, struct err *e);
    void (*stop)(struct server *s);
    /* False with why once it ended. */
    bool (*alive)(struct server *s, struct err *why);
    int64_t (*cpu_ns)(const struct server *s);
    int64_t (*worker_cpu_ns)(const struct server *s, int worker);
};

extern const struct placement place_process, place_inside, place_target, place_recipe;

#define THREADS_READ 16 /* whose waits are looked at */

struct server {
    /* Frozen after start. */
    struct server_spec spec;
    struct shared *shared;
    const struct placement *place;
    pid_t pid;

    /* The owner's thread. */
    struct err why; /* why it ended */
    struct proc_file statm_file;
    struct proc_thread_files thread_files[THREADS_READ];

    /* Atomic. */
    _Atomic bool ended;

    /* place_process, place_recipe: the keeper */
    struct spawned child;

    /* place_target, place_recipe: its processes, where they are known */
    struct tree *tree;

    /* place_recipe */
    struct keeper *keeper;

    /* place_inside */
    struct crew crew;
    pthread_t thread;
    int wake;       /* the owner's own descriptor of the wake-up */
    bool own_table; /* its threads have a descriptor table of their own */
    sem_t started;
    int start_code;
    struct err start_error;
};

#endif
