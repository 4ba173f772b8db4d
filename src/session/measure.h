/* SPDX-License-Identifier: MIT */
/* From readings to figures. An edge is everything read at one end of a measured stretch; spans of a
 * round add up; figures are made once, from the sums. Thread: the runner's. */
#ifndef SESSION_MEASURE_H
#define SESSION_MEASURE_H

#include "load/load.h"
#include "metrics/diag.h"
#include "metrics/metrics.h"
#include "metrics/proc.h"
#include "servers/server.h"

struct edge {
    uint64_t t_ns;
    int64_t server_cpu_ns, load_cpu_ns; /* -1: not measured */
    bool counted; /* the server has counters; else `server` holds what the load saw of it */
    struct server_counts server;
    struct load_counts load;
    struct proc_stat stat; /* of the server's process; pid 0 when not read */
    int64_t server_tick_ns; /* its CPU as ticks saw it; -1: not read, or threads of this process */
    struct proc_thread threads; /* of the server */
    long khz;                   /* of the server's CPU; -1: not known */
    struct proc_net net;
    struct listen_queue queue;  /* of a server of ours */
    struct proc_cpu cpu; /* of the server's CPU */
};

/* Reads everything but net and queue: these take longest, so whoever measures a turn reads
 * them just outside of the measured part, by edge_read_kernel(). load may be NULL (a pass), cpu -1
 * (the server is not pinned: what others use of its CPU is not measured; that of one that is not
 * ours never is). Clock, CPU clocks and counters first and together. */
void edge_read(struct server *server, const struct load *load, int cpu, struct edge *out);
void edge_read_kernel(struct server *server, struct edge *out);

/* Sums of the measured stretches of one pane in one round. */
struct span {
    double interval_s;
    int64_t server_cpu_ns, load_cpu_ns; /* -1: not measured in one of them */
    int64_t user_ns, sys_ns;            /* likewise */
    int64_t server_tick_ns;             /* likewise, as ticks saw it */
    int64_t busy_ns, steal_ns;          /* likewise, of the server's CPU */
    bool counted; /* as in the edges */
    struct server_counts server;
    struct load_counts load;
    int64_t rss_bytes;
    int64_t sleeps, preempted, run_wait_ns; /* likewise, of the server's threads */
    int64_t listen_drops, syn_cookies, retransmits; /* -1: not readable */
    int64_t time_wait, tcp_mem_bytes;   /* likewise, at the last edge */
    int accept_queue;                   /* the deepest of all edges; -1: not known */
    long khz;                           /* likewise */
    long established, accepted;         /* at the last edge */
    double message_bytes;               /* nothing is replied: of a message; else 0 */
};

void span_clear(struct span *s);
void span_add(struct span *s, const struct edge *from, const struct edge *to);

/* What a server without counters did, as far as the load saw it. */
void span_count_seen(const struct load_counts *load, struct server_counts *server);

/* Where nothing is replied a request is a message: as many as the bytes that the server received
 * make. After the last span_add(). */
void span_count_messages(struct span *s, const struct params *p);

/* All metrics that follow from a span and the round's histograms (each may be NULL). paced: the
 * response and lateness are measured only then. */
struct span_hists {
    const struct hist_copy *latency, *response, *late;
};
void span_values(const struct span *s, const struct span_hists *h, int64_t mem_total,
                 struct values *out);
/* Behind them, when never_answered stands there: how many of a closed loop's connections rate times
 * latency explains. */
void span_in_flight(const struct span *s, const struct params *p, struct values *out);
/* What the server holds now; takes longer than an edge. */
void extent_values(struct server *server, struct values *out);
/* Those of the histograms alone. */
void span_latency(const struct span_hists *h, struct values *out);

/* p50, p90, p99, p99.9 and max of the one and of the other. */
#define SPAN_PERCENTILES 5
extern const enum metric_id span_latency_ids[SPAN_PERCENTILES];
extern const enum metric_id span_response_ids[SPAN_PERCENTILES];

#endif
