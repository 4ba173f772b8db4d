/* SPDX-License-Identifier: MIT */
/* A map is measured coarse first, so that one that is stopped early has its shape already, and then
 * once more where it matters: a place of which one round says "about the same" is where the next
 * round may say something else. */
#include "session/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MORE_ROUNDS 2 /* with the first one that makes three, which have an interval */
#define CLOSE 1.25    /* one round is some 20 % off */
#define REFINE_S 12   /* behind the map */
#define AGAIN_S 20    /* when asked for */

bool map_is_plan(const struct plan *p)
{
    return (p->axis[0] == PARAM_connections && p->axis[1] == PARAM_rate) ||
           (p->axis[0] == PARAM_rate && p->axis[1] == PARAM_connections);
}

static void count_seconds(struct plan *p)
{
    p->seconds = 0;
    for (int i = 0; i < p->count; i++)
        p->seconds += plan_row_seconds(&p->rows[i]);
}

static struct plan_row *append(struct plan *p, const struct plan_row *row)
{
    p->rows = xrealloc(p->rows, (size_t)p->count + 1, sizeof *p->rows);
    p->rows[p->count] = *row;
    return &p->rows[p->count++];
}

static void put_first(struct plan *p, const struct plan_row *row)
{
    append(p, row);
    memmove(&p->rows[1], &p->rows[0], ((size_t)p->count - 1) * sizeof *p->rows);
    p->rows[0] = *row;
}

static struct plan_row row_at(const struct map *m, const struct map_cell *c)
{
    struct plan_row row = m->base;
    row.params.connections = c->connections;
    row.params.rate = c->rate;
    return row;
}

/* --- the whole -------------------------------------------------------------------------------- */

static const struct map_cell *cell_of(const struct map *m, double connections, double rate)
{
    for (int i = 0; i < map_columns(m) * map_rows(m); i++)
        if (m->cell[i].connections == connections && m->cell[i].rate == rate)
            return &m->cell[i];
    return NULL;
}

void map_plan(const struct map *m, struct plan *out)
{
    const struct axis axes[2] = {m->axes.connections, m->axes.rate};
    const struct map_cell *at = map_at(m);
    int kept = 0;
    plan_grid(&m->base, axes, out);
    for (int i = 0; i < out->count; i++) {
        const struct params *p = &out->rows[i].params;
        const struct map_cell *c = cell_of(m, p->connections, p->rate);
        if (c && c->kind == MAP_NOTHING)
            out->rows[kept++] = out->rows[i];
    }
    out->count = kept;
    if (at && at->kind == MAP_NOTHING && !cell_of(m, at->connections, at->rate)) {
        struct plan_row row = row_at(m, at);
        put_first(out, &row);
    }
    snprintf(out->title, sizeof out->title, "map of %.30s over %.30s", map_model(m, 0),
             map_model(m, 1));
    count_seconds(out);
}

int map_plan_at(struct plan *p, const struct map_axes *axes, struct err *e)
{
    struct plan_row row;
    if (!map_is_plan(p))
        return err_set(e, EINVAL, "--at: a place on a map, which needs lists of --connections "
                       "and --rate, or --plan map");
    row = p->rows[0];
    row.params.connections = axes->at[0];
    row.params.rate = axes->at[1];
    for (int i = 0; i < p->count; i++)
        if (p->rows[i].params.connections == axes->at[0] && p->rows[i].params.rate == axes->at[1])
            return 0;
    put_first(p, &row);
    count_seconds(p);
    return 0;
}

/* --- more rounds ------------------------------------------------------------------------------ */

struct close { /* a place where the two are close */
    double far; /* from the border between the same and a difference */
    struct plan_row row;
};

static int nearer(const void *a, const void *b)
{
    const struct close *x = a, *y = b;
    return (x->far > y->far) - (x->far < y->far);
}

/* How far the row is from the border; NaN where nothing is open: not close, or decided. */
static double border(const struct row *r, int pane, enum metric_id m)
{
    struct paired p = row_ratio(r, pane, m);
    double more = fabs(log(p.ratio));
    bool open = p.pairs < 1 + MORE_ROUNDS || p.outcome == OUTCOME_CANNOT_TELL;
    return p.pairs > 0 && open && more <= log(CLOSE) ? fabs(more - log(1.05)) : NAN;
}

static struct plan_row go_on(const struct row *r)
{
    struct plan_row row = {.params = r->params, .lineup = row_lineup(r)};
    row.had = row_kept(r);
    row.rounds = row.had + MORE_ROUNDS;
    return row;
}

/* The nearest of them, while there is time. */
static void append_close(struct plan *p, struct close *all, int count, double seconds)
{
    qsort(all, (size_t)count, sizeof *all, nearer);
    for (int i = 0; i < count; i++) {
        double takes = plan_row_seconds(&all[i].row);
        if (takes > seconds)
            return;
        seconds -= takes;
        append(p, &all[i].row);
    }
}

void map_plan_more(const struct map *m, const struct map_cell *focus, struct plan *out)
{
    int n = map_columns(m) * map_rows(m) + m->axes.has_at, count = 0;
    struct close *all = xcalloc((size_t)n, sizeof *all);
    struct plan_row first;
    *out = (struct plan){.axis = {PARAM_connections, PARAM_rate}};
    snprintf(out->title, sizeof out->title, "more rounds of the map");
    if (focus && focus->row) {
        first = focus->kind == MAP_FIGURE ? go_on(focus->row) : row_at(m, focus);
        append(out, &first);
    }
    for (int i = 0; i < n; i++) {
        const struct map_cell *c = &m->cell[i];
        double far = c->kind == MAP_FIGURE && c != focus ? border(c->row, m->pane, m->metric) : NAN;
        if (!isnan(far))
            all[count++] = (struct close){far, go_on(c->row)};
    }
    append_close(out, all, count, AGAIN_S);
    free(all);
    count_seconds(out);
}

/* The row that a row of the plan was measured in. */
static const struct row *row_of(const struct rows *rows, const struct plan_row *p)
{
    const struct row *found = NULL;
    for (const struct row *r = rows->first; r; r = r->next) {
        struct lineup lineup = row_lineup(r);
        if (r->state != ROW_DROPPED && r->period == rows->period &&
            lineup_same(&lineup, &p->lineup) &&
            params_same_but(&r->params, &p->params, PARAM_COUNT))
            found = r;
    }
    return found;
}

/* Any two of a lineup may be the close ones. */
static double nearest_border(const struct row *r)
{
    double far = NAN;
    for (int i = 1; i < r->pane_count; i++)
        far = fmin(far, border(r, i, row_main(r))); /* fmin leaves NaN out */
    return far;
}

void map_refine(const struct rows *rows, struct plan *p)
{
    struct close *all = xcalloc((size_t)p->count, sizeof *all);
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        const struct row *r = row_asks_one(&p->rows[i].params) ? row_of(rows, &p->rows[i]) : NULL;
        double far = r ? nearest_border(r) : NAN;
        if (!isnan(far))
            all[count++] = (struct close){far, go_on(r)};
    }
    append_close(p, all, count, REFINE_S);
    free(all);
}
