/* SPDX-License-Identifier: MIT */
/* Repeats: each pane makes one pass of the workload in turn, there and back through the lineup, and
 * connections are held to one model at a time. A pass yields one sample; nothing is dropped but by
 * the row's trim. */
#include "session/inner.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "session/verdict.h"

struct passes {
    struct session *s;
    struct row *row;
    unsigned seen;
};

/* A pass in the making: where its readings go. */
struct pass_edges {
    struct rig_pane *pane;
    int cpu;
    bool marked; /* it measures a part of itself */
    struct edge from, to;
    struct edge begin, end; /* of all of it */
};

static void read_edge(struct pass_edges *e, struct edge *out)
{
    edge_read(e->pane->server, NULL, e->cpu, out);
    edge_read_kernel(e->pane->server, out);
}

static void pass_read_server(void *ctx, struct server_counts *out)
{
    struct pass_edges *e = ctx;
    server_read(e->pane->server, out);
}

static void pass_gate_set(void *ctx, enum gate_word word)
{
    struct pass_edges *e = ctx;
    server_gate(e->pane->server, word);
}

static void pass_gate_read(void *ctx, struct gate_reading *out)
{
    struct pass_edges *e = ctx;
    server_gate_read(e->pane->server, out);
}

static int64_t pass_server_cpu_ns(void *ctx)
{
    struct pass_edges *e = ctx;
    return server_cpu_ns(e->pane->server);
}

static void pass_measured(void *ctx, bool begins)
{
    struct pass_edges *e = ctx;
    e->marked = true;
    read_edge(e, begins ? &e->from : &e->to);
}

/* What others took of the server's CPU is counted by ticks, too coarse for a part of a pass. */
static void others_values(const struct pass_edges *edges, struct values *out)
{
    struct span span;
    struct span_hists none = {0};
    struct values all;
    span_clear(&span);
    span_add(&span, &edges->begin, &edges->end);
    span_values(&span, &none, 0, &all);
    out->v[METRIC_others_pct] = all.v[METRIC_others_pct];
    out->v[METRIC_steal_pct] = all.v[METRIC_steal_pct];
}

static void pass_values(const struct passes *p, const struct pass_edges *edges,
                        const struct repeat_result *result, struct sample *out)
{
    struct span span;
    span_clear(&span);
    span_add(&span, &edges->from, &edges->to);
    span.load = result->counts;
    span.load_cpu_ns = result->load_cpu_ns;
    if (!span.counted)
        span_count_seen(&span.load, &span.server);
    span_count_messages(&span, &p->row->params);
    struct span_hists none = {0};
    span_values(&span, &none, p->s->mem_total, &out->values);
    others_values(edges, &out->values);
    extent_values(edges->pane->server, &out->values);
    double *v = out->values.v;
    if (!result->counts.replies) /* nothing was asked */
        v[METRIC_requests_per_s] = v[METRIC_mib_per_s] = METRIC_NONE;
    if (!edges->marked) /* the part that it measures did not take place */
        v[METRIC_events_per_wait] = v[METRIC_looks_per_request] = METRIC_NONE;
    if (p->row->params.place == PLACE_INSIDE)
        v[METRIC_server_user_pct] = v[METRIC_server_sys_pct] = METRIC_NONE;
    for (int i = 0; i < METRIC_COUNT; i++)
        if (!isnan(result->values.v[i]))
            v[i] = result->values.v[i];
    out->interval_s = result->duration_s;
}

/* What was watched of a pass stays to be seen when the next one begins. */
static void keep_watch(struct session *s, int pane)
{
    pthread_mutex_lock(&s->lock);
    load_watch_copy(&s->watch, &s->now.watch[pane]);
    s->now.watch_pane = -1;
    pthread_mutex_unlock(&s->lock);
}

static void forget_watches(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < LINEUP_MAX; i++)
        s->now.watch[i].points = 0;
    pthread_mutex_unlock(&s->lock);
}

static void note(struct passes *p, int pane, const char *text)
{
    struct pane *to = &p->row->panes[pane];
    bool fresh = text[0] && strcmp(text, to->note) != 0;
    if (fresh)
        session_log(p->s, "%c %s: %s", 'A' + pane, to->model, text);
    pthread_mutex_lock(&p->s->lock);
    snprintf(to->note, sizeof to->note, "%s", text);
    pthread_mutex_unlock(&p->s->lock);
}

/* What a pass asks its server for; one that is not ours has neither counters nor a gate. */
static void pass_spec(struct pass_edges *e, struct load_spec *spec)
{
    spec->measured = pass_measured;
    spec->server_ctx = e;
    spec->server_cpu_ns = pass_server_cpu_ns;
    if (!server_counted(e->pane->server))
        return;
    spec->server_read = pass_read_server;
    spec->gate_set = pass_gate_set;
    spec->gate_read = pass_gate_read;
}

/* One pass of one pane. False when it could not be made or an order ended it. */
static bool one_pass(struct passes *p, int pane, int index)
{
    struct session *s = p->s;
    struct rig_pane *rp = &s->rig.panes[pane];
    struct load_spec spec;
    struct pass_edges edges = {.pane = rp, .cpu = server_cpu(s)};
    struct repeat_result result;
    struct err e = {{0}}, why = {{0}};
    pthread_mutex_lock(&s->lock);
    s->now.turn_pane = s->now.watch_pane = pane;
    pthread_mutex_unlock(&s->lock);
    rig_load_spec(rp, &p->row->params, &s->cpus, &spec);
    pass_spec(&edges, &spec);
    read_edge(&edges, &edges.begin);
    edges.from = edges.begin;
    int r = p->row->workload->repeat(&spec, &s->watch, &result, &e);
    read_edge(&edges, &edges.end);
    if (!edges.marked)
        edges.to = edges.end;
    keep_watch(s, pane);

    bool alive = server_alive(rp->server, &why);
    if (r < 0 || !alive) {
        session_lost(s, p->row, pane, !alive, alive ? e.text : why.text);
        rig_drop(&s->rig, pane);
        return false;
    }
    struct sample sample = {.index = index, .elapsed_s = session_elapsed(s), .kept = KEPT_YES};
    if (session_ordered(s, p->seen))
        sample.kept = KEPT_BROKEN;
    clock_iso8601(sample.time, sizeof sample.time);
    pass_values(p, &edges, &result, &sample);
    note(p, pane, result.note);
    session_push(s, p->row, pane, &sample);
    pthread_mutex_lock(&s->lock);
    load_counts_sum(&p->row->panes[pane].total, &result.counts);
    pthread_mutex_unlock(&s->lock);
    return sample.kept == KEPT_YES;
}

static void judge(struct passes *p)
{
    struct session *s = p->s;
    session_split(s, p->row);
    pthread_mutex_lock(&s->lock);
    verdict_row(p->row, &s->rig);
    s->now.asked = session_asked(s, p->row);
    session_left(s, p->row);
    s->now.phase = PHASE_MEASURING;
    pthread_mutex_unlock(&s->lock);
}

static bool any_server(const struct session *s)
{
    for (int i = 0; i < s->rig.count; i++)
        if (s->rig.panes[i].server)
            return true;
    return false;
}

/* Repeat number `index`, from 1: A B, then B A, ... */
static void one_repeat(struct passes *p, int index)
{
    int panes = p->row->pane_count;
    for (int k = 0; k < panes && !session_ordered(p->s, p->seen); k++) {
        int pane = index % 2 ? k : panes - 1 - k;
        if (p->s->rig.panes[pane].server)
            one_pass(p, pane, index);
        judge(p);
    }
}

bool passes_run(struct session *s, struct row *row, unsigned seen)
{
    struct passes p = {.s = s, .row = row, .seen = seen};
    int index = row_last_index(row);
    judge(&p);
    if (index == 0)
        forget_watches(s);
    while (!session_ordered(s, seen) && any_server(s) && row_kept(row) < session_asked(s, row))
        one_repeat(&p, ++index);
    pthread_mutex_lock(&s->lock);
    s->now.turn_pane = -1;
    bool complete = row_kept(row) >= session_asked(s, row);
    s->now.phase = complete ? PHASE_EXTRA : s->now.phase;
    pthread_mutex_unlock(&s->lock);
    return complete;
}
