/* SPDX-License-Identifier: MIT */
/* The model table, and the contract of a model: a whole worker loop, so that readiness, completion
 * and a thread for each connection are equals. A model owns its system calls and nothing else:
 * server.c owns listening, workers, stop and wake-up, counters and placement; service.h turns bytes
 * into replies. A model is one file and one row. */
#ifndef SERVERS_IO_MODELS_H
#define SERVERS_IO_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct worker; /* servers/worker.h, for models only */
struct target; /* servers/target.h */

enum io_group { GROUP_KERNEL, GROUP_THREADS, GROUP_LIBRARIES, GROUP_YOURS };
extern const char *const io_group_words[]; /* "kernel calls", "threads", "libraries", "yours" */

enum {                       /* caps */
    CAP_EDGE = 1 << 0,       /* is told of a change only */
    CAP_COMPLETION = 1 << 1, /* is told of finished operations */
    CAP_FD_LIMIT = 1 << 2,   /* refuses descriptors at or above FD_SETSIZE */
    CAP_OWN_WORKERS = 1 << 3, /* decides itself how many threads it has: --workers is not for it */
    CAP_POOL = 1 << 4,       /* its workers share one listener and what worker 0 opened */
    CAP_BLOCKS = 1 << 5,     /* a thread a connection, asleep in recv and send */
    CAP_SCANS = 1 << 6,      /* each wait looks at all that it watches */
    CAP_LISTS = 1 << 7,      /* and is handed a list of it, not a bitmap */
};
enum {
    POLICY_ACCEPT = 1, POLICY_BUFFER = 2, POLICY_EVENTS = 4, POLICY_BACKLOG = 8,
    POLICY_CLIENT_WORK = 16 /* its loop walks all clients */
};

struct io_model {
    const char *id, *label, *summary; /* CSV and CLI word, never renamed; screen; one sentence */
    enum io_group group;
    unsigned caps, policies;
    size_t state_size;                           /* per worker; zeroed and freed by server.c */
    int (*probe)(struct err *e);                 /* 0, or -errno and why not on this machine */
    void (*note)(char *buf, size_t size);        /* what it uses here, as words; NULL: nothing */
    /* All three run on the worker's own thread, in this order; close after a failed open too. */
    int (*open)(struct worker *w, struct err *e);
    int (*loop)(struct worker *w, struct err *e); /* while worker_goes_on(w) */
    void (*close)(struct worker *w);
    /* CPU time in ns of threads it made itself, ended ones too. Any thread, while the worker's
     * state is there. NULL: it makes none. */
    int64_t (*cpu_ns)(const struct worker *w);
    const struct target *target; /* a server that is not ours: no row of the table, and no loop */
};

extern const struct io_model *const io_model_table[];
extern const int io_model_count;

/* Can it run here? 0, or -errno and why not: its probe, or what a target lacks. */
int io_model_probe(const struct io_model *m, struct err *e);

/* The model of that word: of the table, or a target (servers/targets.h). NULL, and e says what
 * there is. */
const struct io_model *io_model_of(const char *word, struct err *e);

/* Index of an id in the table, -1 when there is none. io_model_word: for params_nearest(). */
int io_model_find(const char *id);
const char *io_model_word(int i);

#define LINEUP_MAX 4

/* The models compared, panes A to D. */
struct lineup {
    int count;
    const struct io_model *models[LINEUP_MAX];
};

/* Parses "select,epoll-lt". Returns 0, -EINVAL (unknown, empty, too many: what is allowed), or the
 * probe's -errno with its reason for one that cannot run here. A target that cannot stands in it
 * all the same: the others are measured. */
int lineup_parse(const char *text, struct lineup *out, struct err *e);

#define LINEUPS_MAX 8

struct lineups {
    int count;
    struct lineup lineup[LINEUPS_MAX];
};

/* The same, and "all": every kernel call in lineups that begin with the same A, so that each is
 * measured beside it. Those that cannot run here stand in them too: their rows say "skipped". */
int lineups_parse(const char *text, struct lineups *out, struct err *e);

/* The same models in the same places? */
bool lineup_same(const struct lineup *a, const struct lineup *b);

/* 0, or -EINVAL when one of them decides itself how many workers it has: for who was given
 * --workers. */
int lineup_takes_workers(const struct lineup *l, struct err *e);

#endif
