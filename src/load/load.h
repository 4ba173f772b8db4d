/* SPDX-License-Identifier: MIT */
/* The load on one server: threads with connections, driven in phases by one owner (the runner).
 *
 *   open -> PARKED -> (SETTLE -> MEASURE -> STOP -> PARKED)* -> close
 *
 * PARKED: threads sleep on a futex, connections stay open. SETTLE and MEASURE: requests go out;
 * only those due (closed loop: sent) in MEASURE are counted and timed. STOP: nothing new is sent;
 * when the last reply is in, the threads park by themselves. Counters and histograms only grow and
 * may be read at any time, by any thread. Everything else: the owner's thread only. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "metrics/counters.h"
#include "metrics/gate.h"
#include "metrics/hist.h"
#include "metrics/metrics.h"
#include "net/sock.h"
#include "params/params.h"

struct load_spec {
    struct params params; /* resolved: nothing unset */
    struct net_addr target;
    /* Sent as it is in place of the protocol's own request; 0 bytes: not. The caller keeps it. */
    const char *request;
    size_t request_length;
    cpu_set_t cpus; /* where the load threads run */
    int cpu_count;
    bool own_cpus;  /* no server runs on them: load_wait auto may spin */
    /* Right replies wanted in all, shared out evenly over the connections; 0: no end. The load
     * rests when it has them, also in the middle of a turn: load_drained() tells. */
    uint64_t budget;
    /* For passes of a repeated workload, in the pass's thread; each may be NULL. The server's
     * counters, for those that wait for it: */
    void (*server_read)(void *ctx, struct server_counts *out);
    /* A pass that measures a part of itself says when the part begins and ends; else all of it is
     * measured. */
    void (*measured)(void *ctx, bool begins);
    /* The server's gate, set and looked at, and its CPU time so far in ns (-1: not known). */
    void (*gate_set)(void *ctx, enum gate_word word);
    void (*gate_read)(void *ctx, struct gate_reading *out);
    int64_t (*server_cpu_ns)(void *ctx);
    void *server_ctx;
};

/* What a pass asks of these, where they are there; else `out` stays as it was. */
static inline void load_pass_measured(const struct load_spec *s, bool begins)
{
    if (s->measured)
        s->measured(s->server_ctx, begins);
}

static inline void load_pass_look(const struct load_spec *s, struct server_counts *out)
{
    if (s->server_read)
        s->server_read(s->server_ctx, out);
}

enum load_phase { LOAD_PARKED, LOAD_SETTLE, LOAD_MEASURE, LOAD_STOP };

struct load;

/* 0, or -ENOSYS and why this machine cannot run the engine that p names. */
int load_probe(const struct params *p, struct err *e);

/* Makes the threads and lets them open params.connections + params.idle connections; returns at
 * once. NULL with one line when a thread cannot be made. */
struct load *load_open(const struct load_spec *spec, struct err *e);

/* Waits until every connection is established or has failed, at most timeout_ns. True when done. */
bool load_wait_open(struct load *l, uint64_t timeout_ns);

/* New connections, idle, rate or size (anything else must be the same): only while PARKED. What
 * both settings need stays open. load_wait_open() as after load_open(). */
void load_adjust(struct load *l, const struct params *p);

void load_set_phase(struct load *l, enum load_phase phase);

/* After LOAD_STOP: waits until nothing is in flight and all threads are parked, at most timeout_ns;
 * true when it is so. load_give_up: whatever is still in flight counts as timed out, its
 * connections are reset and opened again; returns when all are parked (within 200 ms; where nothing
 * is replied, once the server reads no more). Messages are in flight until the server, if
 * server_read is there, has read them. */
bool load_drained(struct load *l, uint64_t timeout_ns);
void load_give_up(struct load *l);

/* About how long a turn's drain takes, in seconds. */
double load_drain_seconds(const struct params *p);

/* Closes every connection with a reset, ends and joins the threads, frees. NULL is fine. */
void load_close(struct load *l);

/* Sums over the shards, at this moment. `into` is zeroed first. */
void load_read(const struct load *l, struct load_counts *into);

enum load_hist { LOAD_LATENCY, LOAD_RESPONSE, LOAD_LATE, LOAD_HISTS };

/* One of the histograms merged over the shards: latency from the send, response from when it was
 * due (paced only), lateness of the sends (paced only). `into` is zeroed first. */
void load_read_hist(const struct load *l, enum load_hist which, struct hist_copy *into);

long load_established(const struct load *l); /* asking + idle, now */
/* Of the connections that ask: those that got a right reply, ever; and those that asked and got
 * none so far. */
long load_served(const struct load *l);
long load_never_answered(const struct load *l);
/* When the latest share of the budget was answered whole (clock_ns()). */
uint64_t load_spent_ns(const struct load *l);
/* Have these connections room in the descriptor tables of this load? Else it must be opened
 * anew. */
bool load_fits(const struct load *l, const struct params *p);
int64_t load_cpu_ns(const struct load *l);   /* CPU time of its threads, in ns */
int load_threads(const struct load *l);
bool load_spins(const struct load *l);
/* What was wrong with the first reply that was, as one clause ("HTTP status 404"); "" if none. The
 * text is the load's, until the next call of load_wrong or load_trouble. */
const char *load_wrong(const struct load *l);
/* First failure to open a connection, as one clause ("no descriptor: 20000 allowed"), else how many
 * the server closed at once; "" if none. The text is the load's, until the next call. */
const char *load_trouble(const struct load *l);
int load_trouble_code(const struct load *l); /* of that failure (EMFILE ...), 0: none */

/* --- passes of a repeated workload ------------------------------------------------------------ */

#define WATCH_POINTS 100

/* What a pass shows while it runs; the pass writes, the screen copies it under `lock`. */
struct load_watch {
    _Atomic bool stop; /* set by anybody: the pass ends soon, and is not kept */
    void *mutex;       /* opaque; load_watch_init/fini */
    int points;        /* up to WATCH_POINTS, evenly spaced over what it has lasted */
    double x[WATCH_POINTS]; /* seconds since watching began */
    double series[2][WATCH_POINTS]; /* as the workload's picture says */
};
void load_watch_init(struct load_watch *w);
void load_watch_fini(struct load_watch *w);
void load_watch_copy(struct load_watch *w, struct load_watch *out); /* out: data only */

struct repeat_result {
    double duration_s;         /* the whole pass */
    struct values values;      /* what the pass measured itself, in place of what readings give */
    struct load_counts counts; /* errors by kind, connects */
    int64_t load_cpu_ns;       /* -1: not measured */
    char note[120];            /* what it could not measure, and why; "" */
};

#endif
