/* SPDX-License-Identifier: MIT */
/* Keys of the map. Nothing is measured before n is pressed: the screen says how long it takes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "session/reach.h"
#include "ui/actions.h"

/* The figure that is compared: one that ranks, the workload's main one unless another was taken. */
enum metric_id act_map_metric(const struct app *a)
{
    const struct workload *w = workload_of(&a->want.params);
    bool taken = a->map_figure != METRIC_COUNT && workload_yields(w, a->map_figure);
    return taken ? a->map_figure : w->yields[0];
}

/* The place next to it: both scales grow by factors. */
static int nearest(const struct axis *axis, double v)
{
    int best = 0, last = axis->count - 1;
    if (v >= axis->values[last]) /* so may be as fast as it can */
        return last;
    for (int i = 1; i <= last; i++)
        if (fabs(log(axis->values[i] / v)) < fabs(log(axis->values[best] / v)))
            best = i;
    return best;
}

void act_map_axes(struct app *a, const struct map_axes *axes)
{
    a->map_axes = *axes;
    a->map_column = axes->connections.count / 2;
    a->map_row = axes->rate.count / 2;
    if (!axes->has_at)
        return;
    a->map_column = nearest(&axes->connections, axes->at[0]);
    a->map_row = nearest(&axes->rate, axes->at[1]);
}

static int within(int i, int count)
{
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

void act_map_column(struct app *a, int step)
{
    if (a->scene->has_map)
        a->map_column = within(a->map_column + step, map_columns(&a->scene->map));
}

void act_map_row(struct app *a, int step)
{
    if (a->scene->has_map)
        a->map_row = within(a->map_row + step, map_rows(&a->scene->map));
}

void act_map_focus(struct app *a, int place)
{
    if (!a->scene->has_map)
        return;
    a->map_column = place % map_columns(&a->scene->map);
    a->map_row = place / map_columns(&a->scene->map);
}

static const struct map_cell *focus(const struct app *a)
{
    return map_cell(&a->scene->map, a->map_column, a->map_row);
}

int act_map_number(const struct app *a)
{
    const struct map_cell *c = a->scene->has_map ? focus(a) : NULL;
    return c && c->kind == MAP_FIGURE ? c->row->number : 0;
}

void act_map_enter(struct app *a, int arg)
{
    (void)arg;
    if (!a->scene->has_map || act_refused(a))
        return;
    struct plan_row want = a->want;
    want.params.connections = focus(a)->connections;
    want.params.rate = focus(a)->rate;
    act_view(a, VIEW_LIVE);
    app_order(a, &want);
}

static void start(struct app *a, struct plan *plan, const char *what)
{
    struct err e = {""};
    char span[24];
    if (plan->count == 0) {
        app_say(a, "no two are close here, and this place cannot be measured");
        return;
    }
    if (reach_check_here(plan, &e) < 0) {
        app_warn(a, "%s", e.text);
        return;
    }
    session_plan(a->session, plan);
    a->changed = true;
    app_say(a, "%s: %d place%s, about %s; Esc stops it", what, plan->count,
            plan->count == 1 ? "" : "s", units_about(span, sizeof span, plan->seconds));
}

void act_map_more(struct app *a, int arg)
{
    (void)arg;
    const struct scene *s = a->scene;
    struct plan plan = {0};
    if (!s->has_map) {
        app_warn(a, "%s", s->map_refused);
        return;
    }
    if (act_refused(a))
        return;
    if (!s->now->load_on) {
        app_warn(a, "the load is off; space turns it on again");
        return;
    }
    session_lock(a->session); /* more rounds look at the rows */
    if (s->map_missing > 0)
        map_plan(&s->map, &plan);
    else
        map_plan_more(&s->map, focus(a), &plan);
    session_unlock(a->session);
    start(a, &plan, s->map_missing > 0 ? "one round a place" : "2 more rounds, here and where the "
                                                               "two are close");
    plan_free(&plan);
}

/* --- the figure ------------------------------------------------------------------------------- */

void act_map_figures(struct app *a)
{
    const struct workload *w = workload_of(&a->want.params);
    picker_open(&a->picker, PICK_MAP_FIGURE, "figure that the map compares");
    for (int i = 0; w->yields[i] != METRIC_COUNT; i++) {
        const struct metric *m = &metric_table[w->yields[i]];
        if (m->better == BETTER_NONE || m->cls == CLASS_STATE)
            continue;
        struct picker_item *item = picker_add(&a->picker);
        snprintf(item->name, sizeof item->name, "%s", m->title);
        snprintf(item->text, sizeof item->text, "%s", m->help);
        item->value = (int)w->yields[i];
    }
    picker_start(&a->picker, (int)act_map_metric(a));
}
