/* SPDX-License-Identifier: MIT */
/* Places are found again among the rows by what they ask for: same models, same parameters, but for
 * connections and rate, which say where the place is, and for those that only say how long it is
 * measured. A single round has the verdict that it is too few; what else limits it is looked up
 * behind that, because a map is made of single rounds. */
#include "session/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>

#include "session/say.h"
#include "session/verdict.h"

static const char usual_connections[] = "10,30,100,300,1000,3000,10000";
static const char usual_rates[] = "500,2k,5k,10k,20k,50k,80k";

/* --- axes ------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The values that a plan's rows have of it, each once. */
static void values_of(const struct plan *p, enum param_id id, const char *usual, struct axis *out)
{
    struct err e;
    *out = (struct axis){.id = id};
    for (int i = 0; p && (p->axis[0] == id || p->axis[1] == id) && i < p->count; i++) {
        double v = params_get(&p->rows[i].params, id);
        int k = 0;
        while (k < out->count && out->values[k] != v)
            k++;
        if (k == out->count && k < AXIS_MAX)
            out->values[out->count++] = v;
    }
    if (out->count == 0 && axis_parse(id, usual, out, &e) < 0)
        die("%s", e.text);
    qsort(out->values, (size_t)out->count, sizeof *out->values, ascending);
}

void map_axes_of(const struct plan *p, struct map_axes *out)
{
    *out = (struct map_axes){.has_at = false};
    values_of(p, PARAM_connections, usual_connections, &out->connections);
    values_of(p, PARAM_rate, usual_rates, &out->rate);
}

int map_at_parse(const char *text, struct map_axes *out, struct err *e)
{
    static const enum param_id ids[2] = {PARAM_connections, PARAM_rate};
    const char *comma = strchr(text, ',');
    char part[2][32], echo[64];
    struct err why;
    params_echo(text, echo, sizeof echo);
    if (!comma || strchr(comma + 1, ','))
        return err_set(e, EINVAL, "--at %s: must be CONNECTIONS,RATE, as 3000,8k", echo);
    snprintf(part[0], sizeof part[0], "%.*s", (int)(comma - text), text);
    snprintf(part[1], sizeof part[1], "%s", comma + 1);
    for (int i = 0; i < 2; i++)
        if (params_parse(ids[i], part[i], &out->at[i], &why) < 0)
            return err_set(e, EINVAL, "--at %s: %s", echo, why.text + strspn(why.text, "-"));
    out->has_at = true;
    return 0;
}

/* --- places ----------------------------------------------------------------------------------- */

const char *map_refused(const struct plan_row *want)
{
    const struct workload *w = workload_of(&want->params);
    if (want->lineup.count < 2)
        return "a map compares two models: a adds a pane";
    if (w->repeat || w->next_step || !workload_matters(w, PARAM_rate) ||
        !workload_matters(w, PARAM_connections))
        return "a map needs a load of connections at a rate: w picks transfer";
    return "";
}

int map_columns(const struct map *m)
{
    return m->axes.connections.count;
}

int map_rows(const struct map *m)
{
    return m->axes.rate.count;
}

const struct map_cell *map_cell(const struct map *m, int column, int row)
{
    return &m->cell[row * map_columns(m) + column];
}

const char *map_model(const struct map *m, int side)
{
    const struct io_model *io = m->base.lineup.models[side ? m->pane : 0];
    return io ? io->id : "?";
}

static struct map_cell *cell_of_at(const struct map *m)
{
    return m->axes.has_at ? &m->cell[map_columns(m) * map_rows(m)] : NULL;
}

const struct map_cell *map_at(const struct map *m)
{
    return cell_of_at(m);
}

static int index_of(const struct axis *a, double v)
{
    for (int i = 0; i < a->count; i++)
        if (a->values[i] == v)
            return i;
    return -1;
}

/* The same question, asked elsewhere on the map or for another time. */
static bool asks_alike(const struct map *m, const struct rows *rows, const struct row *r)
{
    struct lineup lineup = row_lineup(r);
    if (r->state == ROW_DROPPED || r->period != rows->period || r->claim[0] ||
        !lineup_same(&lineup, &m->base.lineup))
        return false;
    for (int i = 0; i < PARAM_COUNT; i++) {
        enum param_id id = (enum param_id)i;
        bool aside = id == PARAM_connections || id == PARAM_rate || id == PARAM_turn;
        if (!aside && !params_effort(id) &&
            !params_same(params_get(&r->params, id), params_get(&m->base.params, id)))
            return false;
    }
    return true;
}

static void take_row(struct map_cell *c, const struct row *r)
{
    if (c && (!c->row || row_kept(r) >= row_kept(c->row)))
        c->row = r;
}

static void find_rows(struct map *m, const struct rows *rows)
{
    struct map_cell *at = cell_of_at(m);
    for (const struct row *r = rows->first; r; r = r->next) {
        if (!asks_alike(m, rows, r))
            continue;
        int x = index_of(&m->axes.connections, r->params.connections);
        int y = index_of(&m->axes.rate, r->params.rate);
        if (x >= 0 && y >= 0)
            take_row(&m->cell[y * map_columns(m) + x], r);
        if (at && at->connections == r->params.connections && at->rate == r->params.rate)
            take_row(at, r);
    }
}

/* What a place would ask of the machine and of the models, before anybody tries. */
static bool cannot_be(const struct map *m, const struct reach_limits *l, struct map_cell *c)
{
    struct params p = m->base.params;
    struct reach r;
    p.connections = c->connections;
    double all = p.connections + (p.idle > 0 ? p.idle : 0);
    reach_of(&p, l, m->base.lineup.count, &r);
    if (all > r.connections) {
        snprintf(c->reason, sizeof c->reason, "at most %.0f connections to a server here: %.0f %s",
                 r.connections, r.of, r.why);
        return true;
    }
    for (int i = 0; i < m->base.lineup.count; i++) {
        const struct io_model *io = m->base.lineup.models[i];
        if (io && io->caps & CAP_FD_LIMIT && all / fmax(p.workers, 1) >= FD_SETSIZE) {
            snprintf(c->reason, sizeof c->reason, "%c %s takes descriptors below %d only", 'A' + i,
                     io->id, FD_SETSIZE);
            return true;
        }
    }
    return false;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* Under these no figure holds, not even a count: there was no measurement. */
static bool failed(enum verdict v)
{
    return v != VERDICT_NONE && v != VERDICT_TOO_FEW && !verdict_holds(v, CLASS_COUNT);
}

static bool fill_failed(const struct map *m, struct map_cell *c)
{
    for (int i = 0; i <= m->pane; i += m->pane) {
        const struct pane *p = &c->row->panes[i];
        if (!failed(p->verdict))
            continue;
        c->kind = MAP_FAILED;
        snprintf(c->reason, sizeof c->reason, "%c %.31s: %.110s", 'A' + i, p->model,
                 p->reason[0] ? p->reason : verdict_words[p->verdict]);
        return true;
    }
    return false;
}

/* What keeps a figure of one of the two from being held against the other's. */
static bool doubted(const struct map *m, const struct map_cell *c, int side, char *reason,
                    size_t size)
{
    int pane = side ? m->pane : 0;
    const struct pane *p = &c->row->panes[pane];
    enum metric_class class = metric_table[m->metric].cls;
    enum verdict v = p->verdict;
    char text[sizeof p->reason];
    snprintf(text, sizeof text, "%s", p->reason);
    if (v == VERDICT_NONE || v == VERDICT_TOO_FEW)
        v = verdict_past_few(c->row, pane, text, sizeof text);
    bool unpaced = !isfinite(c->rate) && (class == CLASS_SHARE || class == CLASS_LATENCY);
    if (verdict_holds(v, class) && !unpaced)
        return false;
    snprintf(reason, size, "%c is %s%s%.100s", 'A' + pane,
             unpaced ? "at no pace" : verdict_words[v], text[0] && !unpaced ? ", " : "",
             unpaced ? "" : text);
    return true;
}

static void fill_figures(const struct map *m, struct map_cell *c)
{
    const struct row *r = c->row;
    char text[sizeof r->panes[0].reason];
    for (int i = 0; i < 2; i++) {
        int pane = i ? m->pane : 0;
        c->figure[i] = row_summary(r, pane, m->metric).mean;
        c->cpu_pct[i] = row_summary(r, pane, METRIC_server_cpu_pct).mean;
        c->full[i] = verdict_past_few(r, pane, text, sizeof text) == VERDICT_FULL;
    }
    c->kind = MAP_FIGURE;
    c->rounds = row_kept(r);
    c->ratio = row_ratio(r, m->pane, m->metric);
    c->times = metric_table[m->metric].better == BETTER_MORE ? 1 / c->ratio.ratio : c->ratio.ratio;
    c->doubt = doubted(m, c, 0, c->reason, sizeof c->reason) ||
               doubted(m, c, 1, c->reason, sizeof c->reason);
}

static void fill_cell(const struct map *m, struct map_cell *c)
{
    if (!c->row || (row_kept(c->row) == 0 && c->row->state == ROW_RUNNING))
        return;
    if (!fill_failed(m, c) && row_kept(c->row) > 0)
        fill_figures(m, c);
}

static void place_cells(struct map *m)
{
    int n = map_columns(m) * map_rows(m);
    for (int i = 0; i < n; i++) {
        m->cell[i].connections = m->axes.connections.values[i % map_columns(m)];
        m->cell[i].rate = m->axes.rate.values[i / map_columns(m)];
    }
    if (m->axes.has_at) {
        m->cell[n].connections = m->axes.at[0];
        m->cell[n].rate = m->axes.at[1];
    }
}

void map_make(const struct map_ask *ask, const struct rows *rows, struct map *out)
{
    struct params *p = &out->base.params;
    *out = (struct map){.base = *ask->want, .axes = *ask->axes, .metric = ask->metric};
    out->pane = ask->pane < 1 || ask->pane >= ask->want->lineup.count ? 1 : ask->pane;
    p->samples = 1;
    p->duration = PARAM_AUTO;
    p->trim = p->warmup = 0;
    p->turn = fmin(p->turn, 0.25);
    int n = map_columns(out) * map_rows(out) + out->axes.has_at;
    out->cell = xcalloc((size_t)n, sizeof *out->cell);
    place_cells(out);
    find_rows(out, rows);
    for (int i = 0; i < n; i++) {
        struct map_cell *c = &out->cell[i];
        c->figure[0] = c->figure[1] = c->cpu_pct[0] = c->cpu_pct[1] = METRIC_NONE;
        c->ratio.ratio = c->ratio.low = c->ratio.high = c->times = METRIC_NONE;
        fill_cell(out, c);
        if (c->kind == MAP_NOTHING && cannot_be(out, ask->limits, c))
            c->kind = MAP_CANNOT;
    }
}

void map_free(struct map *m)
{
    free(m->cell);
    m->cell = NULL;
}

int map_class(double times)
{
    double more = fmax(times, 1 / times);
    int class = more <= 1.05 ? 0 : more <= 1.5 ? 1 : more <= 3 ? 2 : more <= 8 ? 3 : 4;
    return times < 1 ? -class : class;
}
