/* SPDX-License-Identifier: MIT */
/* Every combination of up to two axes over one set of parameters. The first axis goes coarse first
 * (both ends, then the middle of what lies between), so that a sweep that is stopped early has its
 * shape already; the second runs through at each of its values. */
#include "session/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "load/workloads.h"

#define FDS_BESIDE 64 /* terminal, files, wake-ups, lifelines, epoll sets */

static const char models_default[] = "select,epoll-lt";

struct stretch {
    int low, high;
};

/* Indices of n values: 0, n-1, then the middles of ever smaller stretches. Every value but the ends
 * is the middle of one stretch and makes two, so there are 2n at most. */
static void coarse_first(int n, int *order)
{
    struct stretch todo[2 * AXIS_MAX];
    int count = 0, made = 0;

    order[count++] = 0;
    if (n > 1)
        order[count++] = n - 1;
    todo[made++] = (struct stretch){0, n - 1};
    for (int i = 0; i < made; i++) {
        struct stretch s = todo[i];
        int middle = (s.low + s.high) / 2;

        if (s.high - s.low < 2)
            continue;
        order[count++] = middle;
        todo[made++] = (struct stretch){s.low, middle};
        todo[made++] = (struct stretch){middle, s.high};
    }
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

static void add_row(struct plan *p, const struct plan_row *base, const struct axis *axes,
                    const int *at, int count)
{
    struct plan_row *row = &p->rows[p->count++];

    *row = *base;
    for (int i = 0; i < count; i++)
        *params_at(&row->params, axes[i].id) = axes[i].values[at[i]];
    workload_resolve(&row->params);
    p->seconds += plan_row_seconds(row);
}

/* All lineups are measured at one value before the next. */
static void combine(const struct params *base, const struct lineups *models,
                    const struct axis *axes, int count, struct plan *out)
{
    int first = count > 0 ? axes[0].count : 1, second = count > 1 ? axes[1].count : 1;
    int order[AXIS_MAX];

    *out = (struct plan){.axis = {count > 0 ? axes[0].id : PARAM_COUNT,
                                  count > 1 ? axes[1].id : PARAM_COUNT}};
    out->rows = xcalloc((size_t)first * (size_t)second * (size_t)models->count, sizeof *out->rows);
    coarse_first(first, order);
    for (int i = 0; i < first; i++)
        for (int j = 0; j < second; j++)
            for (int k = 0; k < models->count; k++) {
                struct plan_row row = {.params = *base, .lineup = models->lineup[k]};

                add_row(out, &row, axes, (int[]){order[i], j}, count);
            }
    describe(out, base, axes, count);
}

/* Typed, or a plan file's. */
static bool workers_asked(const struct args *a)
{
    for (int i = 0; i < a->axis_count; i++)
        if (a->axes[i].id == PARAM_workers)
            return true;
    return a->given[PARAM_workers] || a->params.workers != 1;
}

int plan_from_args(const struct args *a, struct plan *out, struct err *e)
{
    const char *models = a->options.models ? a->options.models : models_default;
    struct lineups lineups;
    int status = lineups_parse(models, &lineups, e);

    *out = (struct plan){.axis = {PARAM_COUNT, PARAM_COUNT}};
    for (int i = 0; status == 0 && workers_asked(a) && i < lineups.count; i++)
        status = lineup_takes_workers(&lineups.lineup[i], e);
    if (status == 0)
        status = workload_check(&a->params, e);
    if (status == 0)
        combine(&a->params, &lineups, a->axes, a->axis_count, out);
    return status;
}

int plan_sweep(const struct plan_row *base, const struct axis *axis, struct plan *out)
{
    struct lineups alone = {.count = 1, .lineup = {base->lineup}};

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

/* Starting the servers, connecting, draining. */
static double around_s(const struct params *p, int panes)
{
    return 1 + panes * (p->connections + p->idle) * 60e-6;
}

static double sampled_s(const struct params *p, int panes)
{
    double round = panes > 1 ? 2 * p->turn * panes : 1;
    /* Two blocks of 3 rounds are the least that can be called steady. */
    double warmup = p->warmup == PARAM_AUTO ? 6 * round : p->warmup;
    double kept = p->duration > 0 ? p->duration : p->samples * round;

    return warmup + kept;
}

/* A pass of connect. A connect that meets a full accept queue waits for the kernel's timer of 1 s;
 * one accept a wake falls behind an unbroken stream of connects, as measured with a backlog of 20
 * (some 22 ms a connection past ten backlogs, mean of select and epoll). */
static double pass_s(const struct params *p)
{
    double n = p->connections, s = 0.1 + n * 60e-6;

    if (p->arrival == ARRIVAL_SERIAL && p->accept == ACCEPT_ONE && n > 10 * p->backlog)
        s += (n - 10 * p->backlog) * 0.022;
    if (p->arrival == ARRIVAL_STORM && n > p->backlog)
        s += 1;
    return fmin(s, p->timeout);
}

double plan_row_seconds(const struct plan_row *r)
{
    const struct params *p = &r->params;
    int panes = r->lineup.count;

    if (workload_of(p)->repeat)
        return 1 + p->repeats * panes * pass_s(p);
    return around_s(p, panes) + sampled_s(p, panes);
}

/* --- what it needs --------------------------------------------------------------------------- */

/* Tables of descriptors hold every connection of the row at once: those of a sampled workload all
 * stay open, a repeated one has one model's at a time. */
static double ends_held(const struct plan_row *r)
{
    return workload_of(&r->params)->repeat ? 1 : r->lineup.count;
}

static double fds_needed(const struct plan_row *r)
{
    return ends_held(r) * (r->params.connections + r->params.idle) + FDS_BESIDE;
}

static int too_many(const struct plan_row *r, double limit, struct err *e)
{
    double possible = floor((limit - FDS_BESIDE) / ends_held(r));

    return err_set(e, EMFILE,
                   "%.0f connections to each of %d server%s need %.0f descriptors, %.0f are "
                   "allowed here: at most %.0f connections",
                   r->params.connections + r->params.idle, r->lineup.count,
                   r->lineup.count == 1 ? "" : "s", fds_needed(r), limit, fmax(possible, 0));
}

int plan_check_limits(const struct plan *p, struct err *e)
{
    double limit = (double)limits_raise_nofile();

    for (int i = 0; i < p->count && limit >= 0; i++)
        if (fds_needed(&p->rows[i]) > limit)
            return too_many(&p->rows[i], limit, e);
    return 0;
}
