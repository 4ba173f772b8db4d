/* SPDX-License-Identifier: MIT */
/* A key changes a copy of the order; the copy is checked against the limits of this machine and
 * only then given to the session. While a plan runs, keys that would end it are refused with a
 * word: one slip of a finger must not cost minutes of measuring. */
#include "ui/actions.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "ui/views.h"
#include "ui/yours.h"

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
    a->table_row = a->why_row = a->curves.row = 0;
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
    a->help_most = INT_MAX; /* not known before it is drawn */
    a->view = VIEW_HELP;
}

void act_back(struct app *a, int esc)
{
    if (esc && claims_stop(a))
        return;
    if (esc && scene_planning(a->scene)) {
        session_stop_plan(a->session);
        a->changed = true;
        app_say(a, "the plan is stopped; its rows are kept in the table");
    } else if (a->view == VIEW_HELP) {
        a->view = a->help_of;
    } else if (a->view == VIEW_SETTINGS && esc && a->settings.find[0]) {
        a->settings.find[0] = '\0';
    } else if (a->view == VIEW_SETTINGS) {
        settings_leave(a);
    } else if (a->view != VIEW_LIVE) {
        act_view(a, VIEW_LIVE);
    } else if (a->frozen && esc) {
        act_freeze(a, 0);
    } else if (!sessions_back(a)) {
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
    int top = a->help_top < a->help_most ? a->help_top : a->help_most;
    top += lines;
    a->help_top = top < 0 ? 0 : top < a->help_most ? top : a->help_most;
}

/* --- the picture ------------------------------------------------------------------------------ */

void act_freeze(struct app *a, int arg)
{
    (void)arg;
    a->frozen = !a->frozen;
    a->cursor = 0;
    a->changed = true;
    a->note[0] = '\0';
    if (a->frozen && !session_file(a->session))
        app_say(a, "frozen, measuring goes on; ←→ read values off; f goes on");
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
    if (yours_attached(a, a->pane))
        app_say(a, "pane %c: not ours to start; looking whether it is back", 'A' + a->pane);
    else
        app_say(a, "starting the server of pane %c again", 'A' + a->pane);
}

/* --- panes and models ------------------------------------------------------------------------- */

static bool runs_here(const struct io_model *m)
{
    struct err why;
    return io_model_probe(m, &why) == 0;
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
    if (a->frozen || session_file(a->session)) {
        a->frozen = true; /* nothing moves in a saved session: it can be read off at once */
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
    if (a->view != VIEW_LIVE && a->view != VIEW_WHY) /* which show it */
        app_say(a, "pane %c, %s, is in focus", 'A' + a->pane, a->scene->pane[a->pane].model);
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
double act_usual(const struct app *a, enum param_id id)
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
    return nearer(params_get(&a->given, id), from, nearer(act_usual(a, id), from, to));
}

void act_step_of(struct app *a, enum param_id id, int direction)
{
    double before = params_get(&a->want.params, id), v = next_value(a, id, before, direction);
    struct err e = {""};
    char text[64];
    if (act_settable(a, id, &e) < 0)
        app_warn(a, "%s", e.text);
    else if (params_same(v, before))
        app_say(a, "%s is the %s", words_param(id, before, text, sizeof text),
                params_choice(id, 0) ? (direction > 0 ? "last" : "first")
                : direction > 0      ? "most"
                                     : "least");
    else if (act_set(a, id, v, &e) < 0)
        app_warn(a, "%s", e.text);
}

void act_step(struct app *a, int direction)
{
    if (session_file(a->session)) {
        act_show_row(a, -direction); /* as a list: up is the one before */
        return;
    }
    act_step_of(a, a->field, direction);
}

void act_plus(struct app *a, int direction)
{
    if (a->view == VIEW_SETTINGS)
        act_step_of(a, a->settings.at, direction);
    else
        act_step(a, direction);
}

void act_enter(struct app *a, int arg)
{
    (void)arg;
    if (field_counts(a, a->field) && !act_refused(a))
        entry_open(a, a->field);
}
