/* SPDX-License-Identifier: MIT */
/* A key changes a copy of the order; the copy is checked against the limits of this machine and
 * only then given to the session. While a plan runs, keys that would end it are refused with a
 * word: one slip of a finger must not cost minutes of measuring. */
#include "ui/actions.h"

#include <math.h>
#include <string.h>

#include "ui/views.h"

bool act_refused(struct app *a)
{
    bool planning = scene_planning(a->scene);
    if (planning)
        app_warn(a, "a plan runs; Esc stops it first, what was measured stays");
    return planning;
}

bool act_matters(const struct app *a, enum param_id id)
{
    return workload_matters(workload_of(&a->want.params), id);
}

/* --- views ------------------------------------------------------------------------------------ */

void act_view(struct app *a, int view)
{
    a->view = (enum view)view;
    a->table_row = a->why_row = 0;
    a->changed = true;
}

void act_help(struct app *a, int arg)
{
    (void)arg;
    if (a->view == VIEW_HELP) {
        a->view = a->help_of;
        return;
    }
    a->help_of = a->view;
    a->help_top = 0;
    a->view = VIEW_HELP;
}

void act_back(struct app *a, int esc)
{
    if (esc && scene_planning(a->scene)) {
        session_stop_plan(a->session);
        a->changed = true;
        app_say(a, "the plan is stopped; its rows are kept in the table");
    } else if (a->view == VIEW_HELP) {
        a->view = a->help_of;
    } else if (a->view != VIEW_LIVE) {
        act_view(a, VIEW_LIVE);
    } else if (a->frozen && esc) {
        act_freeze(a, 0);
    } else {
        a->quit = true;
    }
}

void act_quit(struct app *a, int arg)
{
    (void)arg;
    a->quit = true;
}

void act_scroll(struct app *a, int lines)
{
    a->help_top += lines;
}

/* --- the picture ------------------------------------------------------------------------------ */

void act_freeze(struct app *a, int arg)
{
    (void)arg;
    a->frozen = !a->frozen;
    a->cursor = 0;
    a->changed = true;
    a->note[0] = '\0';
    if (a->frozen)
        app_say(a, "frozen, measuring goes on; left and right read values off; f goes on");
}

void act_log_axis(struct app *a, int arg)
{
    (void)arg;
    a->log_axis = !a->log_axis;
}

void act_save(struct app *a, int arg)
{
    (void)arg;
    app_save(a);
}

/* --- the session ------------------------------------------------------------------------------ */

void act_more(struct app *a, int arg)
{
    (void)arg;
    if (!a->scene->now->load_on) {
        app_warn(a, "the load is off; space turns it on again");
        return;
    }
    session_more(a->session);
    app_say(a, "as many samples again");
}

void act_load(struct app *a, int arg)
{
    (void)arg;
    bool on = !a->scene->now->load_on;
    session_load(a->session, on);
    a->changed = true;
    app_say(a, on ? "load on" : "space turns it on again");
}

void act_restart(struct app *a, int arg)
{
    (void)arg;
    const struct pane_now *p = &a->scene->now->panes[a->pane];
    if (p->alive && !p->trouble[0]) {
        app_say(a, "the server of pane %c is up", 'A' + a->pane);
        return;
    }
    session_restart(a->session, a->pane);
    a->changed = true;
    app_say(a, "starting the server of pane %c again", 'A' + a->pane);
}

/* --- panes and models ------------------------------------------------------------------------- */

static bool runs_here(const struct io_model *m)
{
    struct err why;
    return !m->probe || m->probe(&why) == 0;
}

static int model_index(const struct io_model *m)
{
    for (int i = 0; i < io_model_count; i++)
        if (io_model_table[i] == m)
            return i;
    return 0;
}

/* The next model from i in steps of d that runs here. */
static const struct io_model *next_model(int i, int d)
{
    for (int n = 0; n < io_model_count; n++) {
        i = (i + d + io_model_count) % io_model_count;
        if (runs_here(io_model_table[i]))
            break;
    }
    return io_model_table[i];
}

static void read_off(struct app *a, int step)
{
    int most = a->scene->now->panes[a->pane].trace_count - 1;
    a->cursor -= step;
    if (a->cursor > most)
        a->cursor = most;
    if (a->cursor < 0)
        a->cursor = 0;
}

void act_model(struct app *a, int step)
{
    if (a->frozen) {
        read_off(a, step);
        return;
    }
    if (act_refused(a))
        return;
    struct plan_row want = a->want;
    want.lineup.models[a->pane] = next_model(model_index(want.lineup.models[a->pane]), step);
    app_order(a, &want);
}

void act_pane(struct app *a, int step)
{
    int count = a->scene->pane_count, first = a->view == VIEW_WHY; /* A stands in every bill */
    if (count < first + 2) {
        if (first)
            app_say(a, "there is no other pair of models here");
        return;
    }
    int at = a->pane < first ? 0 : a->pane - first, choices = count - first;
    a->pane = first + (at + step + choices) % choices;
    a->changed = true;
}

/* The first model after the last pane's that no pane has yet. */
static const struct io_model *fresh_model(const struct lineup *l)
{
    const struct io_model *m = l->models[l->count - 1];
    for (int tries = 0; tries < io_model_count; tries++) {
        m = next_model(model_index(m), 1);
        int i = 0;
        while (i < l->count && l->models[i] != m)
            i++;
        if (i == l->count)
            return m;
    }
    return m;
}

void act_add_pane(struct app *a, int arg)
{
    (void)arg;
    if (act_refused(a))
        return;
    struct plan_row want = a->want;
    if (want.lineup.count >= LINEUP_MAX) {
        app_warn(a, "%d panes are the most; d drops one", LINEUP_MAX);
        return;
    }
    want.lineup.models[want.lineup.count] = fresh_model(&want.lineup);
    want.lineup.count++;
    a->pane = want.lineup.count - 1;
    app_order(a, &want);
}

void act_drop_pane(struct app *a, int arg)
{
    (void)arg;
    if (act_refused(a))
        return;
    struct plan_row want = a->want;
    if (want.lineup.count <= 1) {
        app_warn(a, "one pane stays; a adds one");
        return;
    }
    for (int i = a->pane; i + 1 < want.lineup.count; i++)
        want.lineup.models[i] = want.lineup.models[i + 1];
    want.lineup.count--;
    if (a->pane >= want.lineup.count)
        a->pane = want.lineup.count - 1;
    app_order(a, &want);
}

/* --- the number in brackets ------------------------------------------------------------------- */

static bool field_counts(struct app *a, enum param_id id)
{
    bool yes = act_matters(a, id);
    if (!yes)
        app_warn(a, "%s has no use for %s", workload_of(&a->want.params)->label,
                 param_table[id].id);
    return yes;
}

void act_field(struct app *a, int param)
{
    if (field_counts(a, (enum param_id)param))
        a->field = (enum param_id)param;
}

/* The lowest rate that a pane serves now; NaN before the first. */
static double served(const struct scene *s)
{
    double least = NAN;
    for (int i = 0; i < s->pane_count; i++) {
        const struct pane_now *p = &s->now->panes[i];
        if (p->trace_count) /* fmin leaves NaN out */
            least = fmin(least, p->trace[p->trace_count - 1].v[METRIC_requests_per_s]);
    }
    return least;
}

/* What the workload puts there by itself. */
static double usual(const struct app *a, enum param_id id)
{
    struct params p = a->want.params;
    *params_at(&p, id) = PARAM_UNSET;
    workload_resolve(&p);
    return params_get(&p, id);
}

static double nearer(double v, double from, double to)
{
    return v > fmin(from, to) && v < fmax(from, to) ? v : to;
}

/* From as fast as it can to what it can; else the next step, or on the way there what is usual
 * or was asked for at the start: these are no steps of 1 2 5, and one wants them back. */
static double next_value(const struct app *a, enum param_id id, double from, int direction)
{
    double can = served(a->scene);
    if (id == PARAM_rate && isinf(from) && direction < 0 && can >= 1)
        return params_step(id, can, direction);
    double to = params_step(id, from, direction);
    return nearer(params_get(&a->given, id), from, nearer(usual(a, id), from, to));
}

void act_step(struct app *a, int direction)
{
    if (!field_counts(a, a->field) || act_refused(a))
        return;
    struct plan_row want = a->want;
    double *v = params_at(&want.params, a->field), before = *v;
    char text[64];
    *v = next_value(a, a->field, before, direction);
    workload_resize(&want.params, a->want.params.size);
    if (*v != before)
        app_order(a, &want);
    else
        app_say(a, "%s is the %s", words_param(a->field, before, text, sizeof text),
                direction > 0 ? "most" : "least");
}

void act_enter(struct app *a, int arg)
{
    (void)arg;
    if (field_counts(a, a->field) && !act_refused(a))
        entry_open(a);
}

/* --- the table -------------------------------------------------------------------------------- */

static int table_index(const struct scene *s)
{
    for (int i = 0; s->has_table && i < s->table.rows; i++)
        if (s->table.row[i].row->number == s->table_row)
            return i;
    return 0;
}

void act_table_row(struct app *a, int step)
{
    const struct scene *s = a->scene;
    int i = table_index(s) + step;
    if (s->has_table && i >= 0 && i < s->table.rows)
        a->table_row = s->table.row[i].row->number;
    a->changed = true;
}

/* The first row of a table stands for it. */
static const struct row *table_first(const struct rows *rows, const struct row *of)
{
    for (const struct row *r = rows->first; r; r = r->next)
        if (row_in_table(r, of))
            return r;
    return of;
}

static bool is_first(const struct rows *rows, const struct row *r)
{
    return r->state != ROW_DROPPED && table_first(rows, r) == r;
}

void act_table(struct app *a, int step)
{
    const struct row *here = a->scene->has_table ? a->scene->table.row[0].row : NULL, *best = NULL;
    session_lock(a->session);
    const struct rows *rows = session_rows(a->session);
    here = here ? table_first(rows, here) : NULL;
    for (const struct row *r = rows->first; r && here; r = r->next) {
        if (!is_first(rows, r) || r == here)
            continue;
        if (step > 0 ? r->number > here->number && !best : r->number < here->number)
            best = r;
    }
    session_unlock(a->session);
    if (best)
        a->table_row = best->number;
    else
        app_say(a, "no other workload or lineup was measured %s this one",
                step > 0 ? "after" : "before");
    a->changed = true;
}

void act_table_column(struct app *a, int step)
{
    int most = a->scene->has_table ? a->scene->table.columns - 2 : 0;
    a->table_column += step;
    if (a->table_column > most)
        a->table_column = most;
    if (a->table_column < 0)
        a->table_column = 0;
}

void act_table_enter(struct app *a, int arg)
{
    (void)arg;
    const struct scene *s = a->scene;
    if (!s->has_table || !s->table.rows || act_refused(a))
        return;
    struct plan_row want = a->want;
    session_lock(a->session); /* rows never move; their parameters never change */
    const struct row *row = s->table.row[table_index(s)].row;
    want.params = row->params;
    want.lineup.count = row->pane_count;
    for (int i = 0; i < row->pane_count; i++)
        want.lineup.models[i] = row->panes[i].io;
    session_unlock(a->session);
    act_view(a, VIEW_LIVE);
    app_order(a, &want);
}

/* --- why -------------------------------------------------------------------------------------- */

void act_why_line(struct app *a, int step)
{
    const struct scene_why *w = &a->scene->why;
    int line = a->why_line;
    do
        line += step;
    while (line >= 0 && line < BILL_ITEMS && !scene_why_shows(w, line));
    if (line >= 0 && line < BILL_ITEMS)
        a->why_line = line;
}

void act_explain(struct app *a, int arg)
{
    (void)arg;
    if (a->view == VIEW_WHY) {
        a->why_explain = !a->why_explain;
        return;
    }
    int row = a->view == VIEW_TABLE ? a->scene->table_row : 0;
    act_view(a, VIEW_WHY);
    a->why_row = row;
}
