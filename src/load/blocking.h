/* SPDX-License-Identifier: MIT */
/* A thread of the blocking engine. Only src/load includes this. */
#ifndef LOAD_BLOCKING_H
#define LOAD_BLOCKING_H

#include "load/engine.h"

#define BLOCKING_BUFFER 16384

struct blocker {
    struct load *load;
    int index;
    pthread_t thread;
    _Atomic uint32_t rest;
    _Atomic bool waiting; /* in a request */

    pthread_mutex_t lock; /* only around the change of fd and the owner's shutdown */
    int fd;

    /* the thread's own */
    uint32_t word, settings;
    bool done, in_turn, measuring, counting, tried;
    bool served, doubted, turned;
    bool linked; /* fd is connected: without keepalive it is not between two requests */
    bool asked, answered; /* counted in the load's asked, served */
    uint64_t left;        /* replies it still has to get */
    uint64_t retry_ns; /* not connected: the next try; connected: keeps quiet until then */
    uint64_t cpu_at_ns;
    int64_t cpu_seen_ns;
    uint64_t offset_ns, measure_ns, sequence, size;
    struct pace pace;
    struct proto_check check;
    uint8_t ask[PROTO_ASK_MAX];
    uint8_t buffer[BLOCKING_BUFFER];
};

/* --- blocking_ask.c: the connection; the thread's own calls ----------------------------------- */

struct load_shard *blocker_shard(const struct blocker *b); /* of the CPU it runs on */
void blocker_connect(struct blocker *b);
void blocker_linked(struct blocker *b, bool linked); /* counts a connection that begins, or ends */
void blocker_set_fd(struct blocker *b, int fd);
void blocker_shut(struct blocker *b);   /* with a reset */
void blocker_closed(struct blocker *b); /* the server closed it with nothing outstanding */
bool blocker_still_open(const struct blocker *b);
void blocker_set_turned(struct blocker *b, bool turned);
void blocker_forget(struct blocker *b); /* it ends: it counts as nothing of the load any more */
void blocker_publish_cpu(struct blocker *b, uint64_t now_ns);
/* One whole request that was due then, with all that may become of it. */
void blocker_ask(struct blocker *b, uint64_t due_ns);

/* --- blocking_fresh.c: a connection that lasts as long as its request ------------------------- */

/* Connects for a request that began then. 0 or -errno, as dial(). */
int fresh_dial(struct blocker *b, uint64_t since_ns);
void fresh_leave(struct blocker *b); /* it is answered */

/* --- blocking.c ------------------------------------------------------------------------------- */

void blocker_take_word(struct blocker *b);

#endif
