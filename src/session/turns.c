/* SPDX-License-Identifier: MIT */
/* Turns: models are never compared while they fight for the machine, nor minutes apart. A round
 * goes there and back through the lineup (A B B A), the next one begins with the next model, and
 * each pane has one sample a round. One model alone has no turns: the load runs on. What the
 * load still has in flight when asking stops is waited for before the next turn begins. */
#include "session/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session/ramp.h"
#include "session/totals.h"
#include "session/verdict.h"

#define WARMUP_BLOCK 3
#define WARMUP_MOST 15

struct pane_round { /* what a pane gathers in a round */
    struct span span;
    bool broken, died;
    uint64_t answered, quiet_ns; /* by the last look; asked since then without an answer */
    struct hist_copy *before[LOAD_HISTS];
    struct totals totals;
};

struct rounds {
    struct session *s;
    struct row *row;
    unsigned seen;
    struct pane_round *panes; /* row->pane_count */
    struct hist_copy *hists;  /* LOAD_HISTS of the round */
    struct hist_copy *spare;  /* one, swapped with a pane's `before` */
    int done;                 /* rounds of this stretch */
    int first_index;          /* of the last sample that the row had before */
    bool steady;
    bool stood; /* in this round, for a while */
    double began_s;
    double main[LINEUP_MAX][WARMUP_MOST]; /* main metric of each warm-up round */
};

int session_asked(const struct session *s, const struct row *row)
{
    return row_asked(row) * (1 + s->more);
}

/* Which pane the k-th turn of a round belongs to. */
static int turn_pane(int panes, int round, int k)
{
    int at = k < panes ? k : 2 * panes - 1 - k;
    return (at + round) % panes;
}

static void show_turn(struct session *s, int pane)
{
    pthread_mutex_lock(&s->lock);
    s->now.turn_pane = pane;
    if (pane >= 0 && s->rig.panes[pane].load)
        s->now.panes[pane].established = load_established(s->rig.panes[pane].load);
    pthread_mutex_unlock(&s->lock);
}

static bool playing(const struct session *s, int pane)
{
    return s->rig.panes[pane].server && s->rig.panes[pane].load;
}

static bool plays(const struct rounds *r, int pane)
{
    return playing(r->s, pane) && !r->row->panes[pane].silent && !r->panes[pane].died;
}

/* Waits for what is in flight; an order makes it give up soon, and so does a server that has
 * ended. */
static void drain(struct rounds *r, int pane)
{
    struct load *l = r->s->rig.panes[pane].load;
    struct err why;
    double most = r->row->params.timeout;
    if (r->row->workload->next_step)
        most = fmin(most, RAMP_SILENCE_S);
    uint64_t until = clock_ns() + (uint64_t)(most * 1e9);
    load_set_phase(l, LOAD_STOP);
    while (!load_drained(l, 100 * NS_PER_MS)) {
        if (session_ordered(r->s, r->seen) || clock_ns() > until ||
            !server_alive(r->s->rig.panes[pane].server, &why)) {
            load_give_up(l);
            return;
        }
    }
}

/* A ramp ends for a model that was asked this long and answered nothing. */
static void note_silence(struct rounds *r, int pane, uint64_t since_ns)
{
    struct pane_round *p = &r->panes[pane];
    struct load_counts c;
    if (!r->row->workload->next_step)
        return;
    load_read(r->s->rig.panes[pane].load, &c);
    p->quiet_ns = c.answered != p->answered ? 0 : p->quiet_ns + clock_ns() - since_ns;
    p->answered = c.answered;
    if (p->quiet_ns < RAMP_SILENCE_S * NS_PER_S || session_ordered(r->s, r->seen))
        return;
    pthread_mutex_lock(&r->s->lock);
    r->row->panes[pane].silent = true;
    pthread_mutex_unlock(&r->s->lock);
}

/* This process or its whole machine was stopped in between (Ctrl-Z, a paused guest): load and
 * server stood still for some of the time, nobody knows which. */
static bool stood_still(uint64_t from_ns, uint64_t to_ns, double asked_s)
{
    return (double)(to_ns - from_ns) / 1e9 > 2 * asked_s + 1;
}

static void one_turn(struct rounds *r, int pane)
{
    struct rig_pane *p = &r->s->rig.panes[pane];
    uint64_t begun_ns = clock_ns();
    struct edge from = {0}, to = {0};
    const struct params *ask = &r->row->params;
    show_turn(r->s, pane);
    load_set_phase(p->load, LOAD_SETTLE);
    bool stop = session_sleep(r->s, clock_ns() + (uint64_t)(ask->settle * 1e9), r->seen);
    if (!stop) {
        edge_read_kernel(p->server, &from);
        load_set_phase(p->load, LOAD_MEASURE);
        edge_read(p->server, p->load, server_cpu(r->s), &from);
        double rest = ask->turn > ask->settle ? ask->turn - ask->settle : ask->turn;
        stop = session_sleep(r->s, from.t_ns + (uint64_t)(rest * 1e9), r->seen);
        load_set_phase(p->load, LOAD_STOP);
        edge_read(p->server, p->load, server_cpu(r->s), &to);
        edge_read_kernel(p->server, &to);
        span_add(&r->panes[pane].span, &from, &to);
        r->stood |= stood_still(from.t_ns, to.t_ns, rest);
    }
    r->panes[pane].broken |= stop;
    drain(r, pane);
    note_silence(r, pane, begun_ns);
}

/* One model: the load runs on, an edge ends one sample and begins the next. */
static void one_second(struct rounds *r, struct edge *last)
{
    struct rig_pane *p = &r->s->rig.panes[0];
    struct edge to;
    show_turn(r->s, 0);
    if (r->done == 0) {
        load_set_phase(p->load, LOAD_SETTLE);
        session_sleep(r->s, clock_ns() + (uint64_t)(r->row->params.settle * 1e9), r->seen);
        edge_read_kernel(p->server, last);
        load_set_phase(p->load, LOAD_MEASURE);
        edge_read(p->server, p->load, server_cpu(r->s), last);
    }
    double asked_s = row_round_s(&r->row->params, r->row->pane_count);
    uint64_t end = last->t_ns + (uint64_t)(asked_s * 1e9);
    r->panes[0].broken |= session_sleep(r->s, end, r->seen);
    edge_read(p->server, p->load, server_cpu(r->s), &to);
    edge_read_kernel(p->server, &to);
    r->stood |= stood_still(last->t_ns, to.t_ns, asked_s);
    span_add(&r->panes[0].span, last, &to);
    note_silence(r, 0, last->t_ns);
    *last = to;
}

static double spare_pct(const struct load *l, const struct span *s, const struct cpu_plan *cpus)
{
    if (load_spins(l))
        return (double)s->load.spare_ns / 1e7 / s->interval_s / load_threads(l);
    if (s->load_cpu_ns < 0)
        return METRIC_NONE;
    double used = (double)s->load_cpu_ns / 1e7 / s->interval_s / cpus->load_count;
    return used > 100 ? 0 : 100 - used;
}

/* What was measured once, while the connections were opened, stands in the first sample that is
 * kept: it has no scatter of its own. */
static void take_opening(const struct rounds *r, int pane, struct values *out)
{
    struct rig_pane *p = &r->s->rig.panes[pane];
    bool take = p->opened_new && r->steady && !r->panes[pane].broken;
    static const enum metric_id once[] = {METRIC_accepts_per_s, METRIC_rss_per_connection,
                                          METRIC_kernel_per_connection};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        out->v[once[i]] = take ? p->opened.v[once[i]] : METRIC_NONE;
    p->opened_new &= !take;
}

static void make_values(struct rounds *r, int pane, struct values *out)
{
    struct pane_round *pr = &r->panes[pane];
    struct load *l = r->s->rig.panes[pane].load;
    for (int h = 0; h < LOAD_HISTS; h++) {
        struct hist_copy *now = r->spare;
        load_read_hist(l, h, now);
        hist_diff(now, pr->before[h], &r->hists[h]);
        r->spare = pr->before[h];
        pr->before[h] = now;
    }
    bool paced = r->row->params.rate != PARAM_MAX;
    struct span_hists hists = {.latency = &r->hists[LOAD_LATENCY],
                               .response = paced ? &r->hists[LOAD_RESPONSE] : NULL,
                               .late = paced ? &r->hists[LOAD_LATE] : NULL};
    span_count_messages(&pr->span, &r->row->params);
    span_values(&pr->span, &hists, r->s->mem_total, out);
    extent_values(r->s->rig.panes[pane].server, out);
    out->v[METRIC_established] = (double)load_established(l);
    out->v[METRIC_served] = (double)load_served(l);
    out->v[METRIC_never_answered] = (double)load_never_answered(l);
    if (r->row->params.keepalive == KEEPALIVE_OFF)
        out->v[METRIC_connections_per_s] = out->v[METRIC_requests_per_s];
    if (r->row->workload->holds)
        take_opening(r, pane, out);
    span_in_flight(&pr->span, &r->row->params, out);
    if (pr->span.interval_s > 0 && !r->row->workload->holds)
        out->v[METRIC_load_spare_pct] = spare_pct(l, &pr->span, &r->s->cpus);
    if (r->row->params.place == PLACE_INSIDE)
        out->v[METRIC_server_user_pct] = out->v[METRIC_server_sys_pct] = METRIC_NONE;
    pthread_mutex_lock(&r->s->lock);
    out->v[METRIC_process_cpu_pct] = r->s->now.process_cpu_pct;
    out->v[METRIC_ui_cpu_pct] = r->s->now.ui_cpu_pct;
    r->s->now.load_spare_pct = out->v[METRIC_load_spare_pct];
    pthread_mutex_unlock(&r->s->lock);
}

/* Is the warm-up over after this round? auto: when every model's main figure is steady. */
static bool warm(struct rounds *r)
{
    double warmup = r->row->params.warmup;
    if (warmup != PARAM_AUTO)
        return session_elapsed(r->s) - r->began_s >= warmup - 1e-9;
    if (r->done >= WARMUP_MOST) {
        pthread_mutex_lock(&r->s->lock);
        for (int i = 0; i < r->row->pane_count; i++)
            r->row->panes[i].unsteady |= !stats_steady(r->main[i], r->done, WARMUP_BLOCK);
        pthread_mutex_unlock(&r->s->lock);
        return true;
    }
    for (int i = 0; i < r->row->pane_count; i++)
        if (plays(r, i) && !stats_steady(r->main[i], r->done, WARMUP_BLOCK))
            return false;
    return true;
}

static enum kept kept_now(const struct rounds *r)
{
    if (!r->steady)
        return KEPT_WARMUP;
    return row_kept(r->row) >= session_asked(r->s, r->row) ? KEPT_EXTRA : KEPT_YES;
}

static void push_round(struct rounds *r, enum kept kept)
{
    struct sample sample = {.index = r->first_index + r->done + 1,
                            .elapsed_s = session_elapsed(r->s)};
    clock_iso8601(sample.time, sizeof sample.time);
    for (int i = 0; i < r->row->pane_count; i++) {
        struct pane_round *pr = &r->panes[i];
        if (!playing(r->s, i) || pr->span.interval_s <= 0)
            continue;
        sample.kept = pr->broken ? KEPT_BROKEN : kept;
        sample.interval_s = pr->span.interval_s;
        make_values(r, i, &sample.values);
        session_push(r->s, r->row, i, &sample);
        if (r->done < WARMUP_MOST) /* which figure that is may show with the first sample only */
            r->main[i][r->done] = sample.values.v[row_main(r->row)];
    }
}

/* Servers that have ended: their round is broken; who they were stays in the row. */
static void note_deaths(struct rounds *r)
{
    struct session *s = r->s;
    for (int i = 0; i < r->row->pane_count; i++) {
        struct rig_pane *p = &s->rig.panes[i];
        struct err why = {{0}};
        if (!p->server || r->panes[i].died || server_alive(p->server, &why))
            continue;
        r->panes[i].broken = r->panes[i].died = true;
        session_lost(s, r->row, i, true, why.text);
    }
}

static void begin_totals(struct rounds *r)
{
    for (int i = 0; i < r->row->pane_count; i++)
        if (playing(r->s, i))
            totals_begin(&r->panes[i].totals, r->s->rig.panes[i].load);
}

static void end_totals(struct rounds *r, int pane)
{
    pthread_mutex_lock(&r->s->lock);
    totals_end(&r->panes[pane].totals, &r->s->rig.panes[pane], &r->row->panes[pane]);
    pthread_mutex_unlock(&r->s->lock);
}

static void drop_dead(struct rounds *r)
{
    for (int i = 0; i < r->row->pane_count; i++)
        if (r->panes[i].died) {
            if (playing(r->s, i))
                end_totals(r, i);
            rig_drop(&r->s->rig, i);
            r->panes[i].died = false;
        }
}

static void run_round(struct rounds *r, struct edge *last)
{
    int panes = r->row->pane_count;
    for (int i = 0; i < panes; i++) {
        span_clear(&r->panes[i].span);
        r->panes[i].broken = false;
    }
    r->stood = false;
    if (panes == 1) {
        one_second(r, last);
    } else {
        for (int k = 0; k < 2 * panes && !session_ordered(r->s, r->seen); k++) {
            int pane = turn_pane(panes, r->done, k);
            if (plays(r, pane))
                one_turn(r, pane);
            note_deaths(r); /* a round is long to those who look */
        }
    }
    bool ordered = session_ordered(r->s, r->seen);
    for (int i = 0; i < panes; i++)
        r->panes[i].broken |= ordered || r->stood;
}

static bool any_plays(const struct rounds *r)
{
    for (int i = 0; i < r->s->rig.count; i++)
        if (plays(r, i))
            return true;
    return false;
}

/* What there was to measure is measured when a ramp's last model has fallen silent. */
static bool any_silent(const struct row *row)
{
    for (int i = 0; i < row->pane_count; i++)
        if (row->panes[i].silent)
            return true;
    return false;
}

static void judge(struct rounds *r, bool full)
{
    struct session *s = r->s;
    session_split(s, r->row);
    pthread_mutex_lock(&s->lock);
    verdict_row(r->row, &s->rig);
    s->now.asked = session_asked(s, r->row);
    session_left(s, r->row);
    s->now.phase = !r->steady ? PHASE_WARMUP : full ? PHASE_EXTRA : PHASE_MEASURING;
    pthread_mutex_unlock(&s->lock);
}

/* A live row of the dashboard goes on when it is complete. */
static bool goes_on(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    bool yes = s->options.forever && s->now.plan_count == 0;
    pthread_mutex_unlock(&s->lock);
    return yes;
}

static bool run_rounds(struct rounds *r)
{
    struct edge last = {0};
    while (any_plays(r)) {
        run_round(r, &last);
        note_deaths(r);
        push_round(r, kept_now(r));
        drop_dead(r);
        r->done++;
        bool ordered = session_ordered(r->s, r->seen);
        if (!r->steady && !ordered && warm(r)) {
            r->steady = true;
            begin_totals(r);
        }
        bool full = row_kept(r->row) >= session_asked(r->s, r->row);
        judge(r, full);
        if (ordered || (full && !goes_on(r->s)))
            return full;
    }
    return any_silent(r->row);
}

static void rounds_init(struct rounds *r, struct session *s, struct row *row, unsigned seen)
{
    *r = (struct rounds){.s = s, .row = row, .seen = seen, .began_s = session_elapsed(s),
                         .first_index = row_last_index(row)};
    r->panes = xcalloc((size_t)row->pane_count, sizeof *r->panes);
    r->spare = xcalloc(1, sizeof *r->spare);
    r->hists = xcalloc(LOAD_HISTS, sizeof *r->hists);
    for (int i = 0; i < row->pane_count; i++) {
        for (int h = 0; h < LOAD_HISTS; h++) {
            r->panes[i].before[h] = xcalloc(1, sizeof *r->spare);
            if (playing(s, i))
                load_read_hist(s->rig.panes[i].load, h, r->panes[i].before[h]);
        }
    }
    /* No warm-up asked for, or a complete row that only goes on: the first round counts. */
    r->steady = row->params.warmup == 0 || row_kept(row) >= session_asked(s, row);
    if (r->steady)
        begin_totals(r);
}

static void rounds_fini(struct rounds *r)
{
    for (int i = 0; i < r->row->pane_count; i++) {
        totals_fini(&r->panes[i].totals);
        for (int h = 0; h < LOAD_HISTS; h++)
            free(r->panes[i].before[h]);
    }
    free(r->panes);
    free(r->spare);
    free(r->hists);
}

bool turns_run(struct session *s, struct row *row, unsigned seen)
{
    struct rounds r;
    rounds_init(&r, s, row, seen);
    judge(&r, false);
    bool complete = run_rounds(&r);
    for (int i = 0; i < row->pane_count; i++)
        if (playing(s, i)) {
            uint64_t since_ns = clock_ns();
            drain(&r, i);
            note_silence(&r, i, since_ns);
            end_totals(&r, i);
        }
    show_turn(s, -1);
    rounds_fini(&r);
    return complete;
}
