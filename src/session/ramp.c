/* SPDX-License-Identifier: MIT */
/* How a ramp ends is decided by what was measured, step by step, from the fewest clients up: the
 * best throughput so far is remembered, and a step that brings half of it or less, that stayed
 * without a reply, or that met a limit is a pane's last. The knee is looked for afterwards: it
 * needs the best of all steps. */
#include "session/ramp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KNEE 0.95
#define COLLAPSED 0.5

/* A step of the same ramp: the clients may differ and nothing else. */
static bool same_ramp(const struct row *r, const struct row *like)
{
    return row_in_table(r, like) && params_same_but(&r->params, &like->params, PARAM_connections);
}

/* The step with the fewest clients above `after`; of two with as many the later one. */
static const struct row *next_step(const struct rows *rows, const struct row *like, double after)
{
    const struct row *best = NULL;
    for (const struct row *r = rows->first; r; r = r->next) {
        double c = r->params.connections;
        if (c > after && same_ramp(r, like) && (!best || c <= best->params.connections))
            best = r;
    }
    return best;
}

/* A row that came from a file knows it by what was written into its samples. */
static bool was_silent(const struct row *r, int pane, double rate)
{
    bool noted = !isnan(row_summary(r, pane, METRIC_collapse_connections).mean);
    return r->panes[pane].silent || (noted && rate == 0);
}

static enum ramp_end end_of(const struct row *r, int pane, double rate, double best)
{
    enum verdict v = r->panes[pane].verdict;
    if (r->state == ROW_RUNNING)
        return RAMP_GOES_ON;
    if (verdict_ends(v, ENDS_RAMP))
        return RAMP_LIMIT;
    if (was_silent(r, pane, rate))
        return RAMP_SILENT;
    if (v == VERDICT_NOISY || v == VERDICT_TOO_FEW) /* others, or chance, may have the other half */
        return RAMP_GOES_ON;
    return best > 0 && rate <= COLLAPSED * best ? RAMP_HALF : RAMP_GOES_ON;
}

static double rate_of(const struct row *r, int pane)
{
    return row_summary(r, pane, METRIC_requests_per_s).mean;
}

void ramp_read(const struct rows *rows, const struct row *like, int pane, double below,
               struct ramp *out)
{
    const struct row *r;
    *out = (struct ramp){.best_at = NAN, .knee = NAN};
    for (double at = 0; (r = next_step(rows, like, at)) && !out->end; at = r->params.connections) {
        double rate = rate_of(r, pane);
        if (r->params.connections >= below)
            break;
        out->end = end_of(r, pane, rate, out->best);
        out->row = out->end ? r : NULL;
        if (isnan(rate))
            continue;
        out->steps++;
        out->last = r->params.connections;
        if (rate > out->best) {
            out->best = rate;
            out->best_at = r->params.connections;
            out->top = r;
        }
    }
    for (double at = 0; isnan(out->knee) && at < out->best_at; at = r->params.connections) {
        r = next_step(rows, like, at);
        if (rate_of(r, pane) >= KNEE * out->best)
            out->knee = r->params.connections;
    }
}

unsigned ramp_over(const struct rows *rows, const struct plan_row *step)
{
    struct row like = {.workload = workload_of(&step->params), .params = step->params,
                       .pane_count = step->lineup.count, .period = rows->period};
    struct ramp ramp;
    unsigned over = 0;
    for (int i = 0; i < like.pane_count; i++)
        snprintf(like.panes[i].model, sizeof like.panes[i].model, "%s",
                 step->lineup.models[i]->id);
    for (int i = 0; i < like.pane_count; i++) {
        ramp_read(rows, &like, i, step->params.connections, &ramp);
        over |= ramp.end ? 1u << i : 0;
    }
    return over;
}

void ramp_note(const struct rows *rows, struct row *step)
{
    struct ramp ramp;
    for (int i = 0; i < step->pane_count; i++) {
        ramp_read(rows, step, i, INFINITY, &ramp);
        if (ramp.row != step || ramp.end == RAMP_LIMIT)
            continue;
        for (struct sample_chunk *c = step->panes[i].first; c; c = c->next)
            for (int k = 0; k < c->count; k++)
                c->samples[k].values.v[METRIC_collapse_connections] = step->params.connections;
    }
}
