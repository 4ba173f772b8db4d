/* SPDX-License-Identifier: MIT */
/* Every combination of up to two axes over one set of parameters, coarse first (both ends, then the
 * middle of what lies between), so that a sweep that is stopped early has its shape already. Of two
 * axes the corners come first; what is as coarse stands together by the first axis, so that
 * connections stay open from row to row. */
#include "session/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/workloads.h"
#include "session/map.h"

static const char models_default[] = "select,epoll-lt";

/* How often a list is halved before each of its n values comes: 0 for both ends. */
static void halve(int low, int high, int level, int *levels)
{
    int middle = (low + high) / 2;

    if (high - low < 2)
        return;
    levels[middle] = level;
    halve(low, middle, level + 1, levels);
    halve(middle, high, level + 1, levels);
}

struct place { /* a value of each axis, as indices */
    int at[2], level;
};

static int coarser(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->level != y->level)
        return x->level - y->level;
    return x->at[0] != y->at[0] ? x->at[0] - y->at[0] : x->at[1] - y->at[1];
}

/* The steps of a ramp are the last axis, and come in their order. Heap. */
static struct place *places(const int *n, int ordered)
{
    int levels[2][AXIS_MAX] = {{0}};
    struct place *out = xcalloc((size_t)n[0] * (size_t)n[1], sizeof *out);

    for (int i = 0; i < 2; i++)
        if (i != ordered)
            halve(0, n[i] - 1, 1, levels[i]);
    for (int i = 0; i < n[0] * n[1]; i++) {
        struct place *p = &out[i];
        *p = (struct place){.at = {i / n[1], i % n[1]}};
        p->level = levels[0][p->at[0]] > levels[1][p->at[1]] ? levels[0][p->at[0]]
                                                             : levels[1][p->at[1]];
    }
    qsort(out, (size_t)n[0] * (size_t)n[1], sizeof *out, coarser);
    return out;
}

static void describe(struct plan *p, const struct params *base, const struct axis *axes, int count)
{
    char low[32], high[32];
    size_t n;

    snprintf(p->title, sizeof p->title, "%s", workload_of(base)->id);
    for (int i = 0; i < count; i++) {
        const struct axis *a = &axes[i];

        n = strlen(p->title);
        snprintf(p->title + n, sizeof p->title - n, ", %s %s to %s", param_table[a->id].id,
                 params_show(a->id, a->values[0], low, sizeof low),
                 params_show(a->id, a->values[a->count - 1], high, sizeof high));
    }
}

void plan_as_step(struct plan_row *r)
{
    struct params *p = &r->params;

    if (!workload_of(p)->next_step)
        return;
    p->duration = p->step_length * r->lineup.count;
    p->warmup = p->warmup == PARAM_AUTO ? 0 : p->warmup;
}

static void add_row(struct plan *p, const struct plan_row *base, const struct axis *axes,
                    const int *at, int count)
{
    struct plan_row *row = &p->rows[p->count++];

    *row = *base;
    for (int i = 0; i < count; i++)
        *params_at(&row->params, axes[i].id) = axes[i].values[at[i]];
    workload_resolve(&row->params);
    plan_as_step(row);
    p->seconds += plan_row_seconds(row);
}

/* All lineups are measured at one value before the next. */
static void combine(const struct params *base, const struct lineups *models,
                    const struct axis *axes, int count, struct plan *out)
{
    const int n[2] = {count > 0 ? axes[0].count : 1, count > 1 ? axes[1].count : 1};
    struct place *order = places(n, workload_of(base)->next_step ? count - 1 : -1);

    *out = (struct plan){.axis = {count > 0 ? axes[0].id : PARAM_COUNT,
                                  count > 1 ? axes[1].id : PARAM_COUNT}};
    out->rows = xcalloc((size_t)(n[0] * n[1] * models->count), sizeof *out->rows);
    for (int i = 0; i < n[0] * n[1]; i++)
        for (int k = 0; k < models->count; k++) {
            struct plan_row row = {.params = *base, .lineup = models->lineup[k]};

            add_row(out, &row, axes, order[i].at, count);
        }
    free(order);
    describe(out, base, axes, count);
    out->more = map_is_plan(out) ? map_refine : NULL;
}

void plan_grid(const struct plan_row *base, const struct axis axes[2], struct plan *out)
{
    struct lineups alone = {.count = 1, .lineup = {base->lineup}};

    combine(&base->params, &alone, axes, 2, out);
}

/* --- ramps ----------------------------------------------------------------------------------- */

static void steps_of(const struct params *base, struct axis *out)
{
    struct params p = *base;

    workload_resolve(&p);
    if (isnan(base->connections)) /* nobody asked for the usual first step */
        p.connections = fmin(p.connections, p.until);
    out->id = PARAM_connections;
    out->count = 0;
    for (double c = p.connections; c < p.until && out->count < AXIS_MAX - 1;
         c = workload_of(&p)->next_step(c))
        out->values[out->count++] = c;
    out->values[out->count++] = fmax(p.until, p.connections);
}

/* Its steps are an axis, behind another one if that was asked for. */
static int combine_steps(const struct args *a, const struct lineups *models, struct plan *out,
                         struct err *e)
{
    const char *id = workload_of(&a->params)->id;
    struct axis axes[ARGS_AXES];

    for (int i = 0; i < a->axis_count; i++)
        if (a->axes[i].id == PARAM_connections || a->axis_count == ARGS_AXES)
            return err_set(e, EINVAL, "--%s: %s makes a list of --connections by itself, and one "
                           "more list is the most", param_table[a->axes[i].id].id, id);
    if (a->axis_count > 0)
        axes[0] = a->axes[0];
    steps_of(&a->params, &axes[a->axis_count]);
    combine(&a->params, models, axes, a->axis_count + 1, out);
    return 0;
}

/* Typed, or a plan file's. */
static bool workers_asked(const struct args *a)
{
    for (int i = 0; i < a->axis_count; i++)
        if (a->axes[i].id == PARAM_workers)
            return true;
    return a->given[PARAM_workers] || a->params.workers != 1;
}

/* Rows that differ in what their workload does not look at would be the same row several times. */
static int axes_matter(const struct args *a, struct err *e)
{
    const struct workload *w = workload_of(&a->params);
    char flag[32];

    for (int i = 0; i < a->axis_count; i++)
        if (!workload_matters(w, a->axes[i].id))
            return err_set(e, EINVAL, "%s: a list, but %s does not look at it",
                           params_flag(a->axes[i].id, flag, sizeof flag), w->id);
    return 0;
}

static int plan_over(const struct args *a, const struct lineups *lineups, struct plan *out,
                     struct err *e)
{
    int status = workload_check(&a->params, e);

    if (status == 0)
        status = axes_matter(a, e);
    if (status == 0 && workload_of(&a->params)->next_step)
        return combine_steps(a, lineups, out, e);
    if (status == 0)
        combine(&a->params, lineups, a->axes, a->axis_count, out);
    return status;
}

int plan_for(const struct args *a, const struct lineup *lineup, struct plan *out, struct err *e)
{
    struct lineups alone = {.count = 1, .lineup = {*lineup}};

    *out = (struct plan){.axis = {PARAM_COUNT, PARAM_COUNT}};
    return plan_over(a, &alone, out, e);
}

/* All are asked in the protocol of those that speak one only. */
static int plan_in_one_protocol(const struct args *a, struct lineups *lineups, struct plan *out,
                                struct err *e)
{
    struct args *asked = xcalloc(1, sizeof *asked);
    int status = 0;

    *asked = *a;
    for (int i = 0; status == 0 && i < lineups->count; i++)
        status = plan_speak(&lineups->lineup[i], &asked->params, e);
    if (status == 0)
        status = plan_over(asked, lineups, out, e);
    free(asked);
    return status;
}

int plan_from_args(const struct args *a, struct plan *out, struct err *e)
{
    const char *models = a->options.models ? a->options.models : models_default;
    struct lineups lineups;
    int status = lineups_parse(models, &lineups, e);

    *out = (struct plan){.axis = {PARAM_COUNT, PARAM_COUNT}};
    for (int i = 0; status == 0 && workers_asked(a) && i < lineups.count; i++)
        status = lineup_takes_workers(&lineups.lineup[i], e);
    return status == 0 ? plan_in_one_protocol(a, &lineups, out, e) : status;
}

int plan_sweep(const struct plan_row *base, const struct axis *axis, struct plan *out)
{
    struct lineups alone = {.count = 1, .lineup = {base->lineup}};
    struct axis steps;

    if (!axis) {
        steps_of(&base->params, &steps);
        axis = &steps;
    }
    combine(&base->params, &alone, axis, 1, out);
    return 0;
}

void plan_free(struct plan *p)
{
    free(p->rows);
    p->rows = NULL;
    p->count = 0;
}

/* --- how long -------------------------------------------------------------------------------- */

/* Starting the servers, connecting, draining. A row of one round is a place of a map: it finds the
 * servers up. */
static double around_s(const struct plan_row *r)
{
    const struct params *p = &r->params;
    double start = r->rounds > 0 || row_asks_one(p) ? 0.1 : 1;

    return start + r->lineup.count * (p->connections + p->idle) * 60e-6;
}

static double sampled_s(const struct plan_row *r)
{
    const struct params *p = &r->params;
    int panes = r->lineup.count;
    double round = row_round_s(p, panes);
    double longer = panes > 1 ? 1 + load_drain_seconds(p) / p->turn : 1;
    /* Two blocks of 3 rounds are the least that can be called steady. */
    double warmup = p->warmup == PARAM_AUTO ? 6 * round * longer : p->warmup;
    double kept = p->duration > 0 ? p->duration : p->samples * round;

    if (r->rounds > 0)
        return (r->rounds - r->had) * round * longer;
    return warmup + kept * longer;
}

/* One pass of each model. */
static double passes_s(const struct plan_row *r)
{
    double sum = 0;

    for (int i = 0; i < r->lineup.count; i++) {
        const struct io_model *m = r->lineup.models[i];
        bool walks = m && m->policies & POLICY_CLIENT_WORK;
        sum += workload_of(&r->params)->seconds(&r->params, walks);
    }
    return sum;
}

double plan_row_seconds(const struct plan_row *r)
{
    const struct params *p = &r->params;

    if (workload_of(p)->repeat)
        return 1 + p->repeats * passes_s(r);
    return around_s(r) + sampled_s(r);
}
