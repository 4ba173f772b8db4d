/* SPDX-License-Identifier: MIT */
/* What the keys of the curves view do, and "before": a period of the session ends, its rows stand
 * apart, and what runs begins anew, so that nothing measured after a change goes into a figure from
 * before it. */
#include "ui/actions.h"

#include <stdio.h>
#include <string.h>

#include "ui/views.h"

void act_curve_read(struct app *a, int step)
{
    const struct curves *c = &a->scene->curves.now;
    int at = curves_cursor(a) + step;
    if (a->scene->curves.has && at >= 0 && at < c->count)
        a->curves.at = c->at[at].x;
}

void act_curve_focus(struct app *a, int point)
{
    const struct curves *c = &a->scene->curves.now;
    if (a->scene->curves.has && point < c->count)
        a->curves.at = c->at[point].x;
}

/* Where two parameters were varied there is a curve for each value of the other. */
void act_curve_other(struct app *a, int step)
{
    const struct scene_curves *s = &a->scene->curves;
    const struct row *next = NULL;
    session_lock(a->session);
    const struct rows *rows = session_rows(a->session);
    const struct row *row = s->has ? rows_numbered(rows, s->row) : NULL;
    if (row)
        next = curves_next(rows, row, s->now.axis, step);
    int number = next ? next->number : 0;
    session_unlock(a->session);
    if (number)
        a->curves.row = number;
    else
        app_say(a, "there is no other curve over this axis %s", step > 0 ? "after" : "before");
    a->changed = true;
}

/* The next setting that draws other axes than this one. */
void act_curve_axes(struct app *a, int arg)
{
    (void)arg;
    const struct curves *c = &a->scene->curves.now;
    struct curve_logs was = curves_logs(c, a->curves.axes), now = was;
    for (int i = 0; i < AXES_COUNT && now.x == was.x && now.y == was.y; i++) {
        a->curves.axes = (enum curve_axes)((a->curves.axes + 1) % AXES_COUNT);
        now = curves_logs(c, a->curves.axes);
    }
}

/* A row that came from a file may be of a model that this build has not. */
static bool order_of(const struct row *r, struct plan_row *out)
{
    out->params = r->params;
    out->lineup = row_lineup(r);
    for (int i = 0; i < out->lineup.count; i++)
        if (!out->lineup.models[i])
            return false;
    return true;
}

void act_row_live(struct app *a, int number)
{
    struct plan_row want = a->want;
    if (session_file(a->session)) {
        sessions_measure(a, number);
        return;
    }
    session_lock(a->session); /* rows never move; their parameters never change */
    const struct row *row = rows_numbered(session_rows(a->session), number);
    bool can = row && order_of(row, &want);
    session_unlock(a->session);
    if (!can) {
        app_warn(a, "a model of that row cannot run here");
        return;
    }
    act_view(a, VIEW_LIVE);
    app_order(a, &want);
}

void act_curve_enter(struct app *a, int arg)
{
    (void)arg;
    int at = a->scene->curves.has ? curves_cursor(a) : -1;
    if (at >= 0 && !act_refused(a))
        act_row_live(a, a->scene->curves.now.at[at].row);
}

/* --- pickers ---------------------------------------------------------------------------------- */

enum { AXES_MOST = 16 };

/* The axes of the curves that are drawn. */
static int axes_of(struct app *a, enum param_id *out)
{
    const struct scene_curves *s = &a->scene->curves;
    int n = 0;
    session_lock(a->session);
    const struct rows *rows = session_rows(a->session);
    const struct row *row = s->has ? rows_numbered(rows, s->row) : NULL;
    if (row)
        n = curves_axes(rows, row, out, AXES_MOST);
    session_unlock(a->session);
    return n;
}

void axes_list(struct app *a)
{
    enum param_id axes[AXES_MOST];
    int n = axes_of(a, axes);
    picker_open(&a->picker, PICK_AXIS, "parameter of the x axis");
    for (int i = 0; i < n; i++) {
        struct picker_item *item = picker_add(&a->picker);
        snprintf(item->name, sizeof item->name, "%s", param_table[axes[i]].id);
        snprintf(item->text, sizeof item->text, "%s", param_table[axes[i]].help);
        item->value = (int)axes[i];
    }
    if (n == 0) {
        struct picker_item *item = picker_add(&a->picker);
        snprintf(item->name, sizeof item->name, "none");
        snprintf(item->why_not, sizeof item->why_not,
                 "no parameter was varied yet; p measures a sweep");
    }
    picker_start(&a->picker, a->scene->curves.has ? (int)a->scene->curves.now.axis : -1);
}

void axes_take(struct app *a, int value)
{
    a->curves.axis = (enum param_id)value;
    a->curves.at = NAN;
    a->curves.axes = AXES_USUAL;
    a->changed = true;
}

/* Those of the workload whose curves are drawn: it need not be the one that runs. */
void curve_figures_list(struct app *a)
{
    const struct scene_curves *s = &a->scene->curves;
    const struct workload *w = s->has ? s->now.workload : workload_of(&a->want.params);
    picker_open(&a->picker, PICK_FIGURE, "figure of the y axis");
    struct picker_item *own = picker_add(&a->picker);
    snprintf(own->name, sizeof own->name, "usual");
    snprintf(own->text, sizeof own->text, "the main figure of the workload: %s",
             metric_table[w->yields[0]].title);
    own->value = METRIC_COUNT;
    for (int i = 0; w->yields[i] != METRIC_COUNT; i++) {
        const struct metric *m = &metric_table[w->yields[i]];
        struct picker_item *item = picker_add(&a->picker);
        snprintf(item->name, sizeof item->name, "%s", m->title);
        snprintf(item->text, sizeof item->text, "%s", m->help);
        item->value = (int)w->yields[i];
    }
    picker_start(&a->picker, (int)a->curves.figure);
}

/* --- before ----------------------------------------------------------------------------------- */

static int rows_of_period(struct app *a, int period)
{
    int n = 0;
    session_lock(a->session);
    for (const struct row *r = session_rows(a->session)->first; r; r = r->next)
        n += r->period == period && r->state != ROW_DROPPED && row_kept(r) > 0;
    session_unlock(a->session);
    return n;
}

void act_before(struct app *a, int arg)
{
    (void)arg;
    if (act_refused(a))
        return;
    int period = session_apart(a->session);
    if (period < 0) {
        app_warn(a, "nothing was measured that could be kept");
        return;
    }
    int rows = rows_of_period(a, period);
    app_say(a, "%d row%s kept as \"before\"%s; what is measured from here on is beside %s", rows,
            rows == 1 ? "" : "s", period ? " in place of those before" : "",
            rows == 1 ? "it" : "them");
    a->changed = true;
}
