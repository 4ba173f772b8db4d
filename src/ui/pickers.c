/* SPDX-License-Identifier: MIT */
/* What each picker lists, and what taking an item does: models with the reason why one cannot run
 * here, workloads and plans with their time, figures with their sentence. */
#include "ui/actions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "session/reach.h"
#include "ui/views.h"
#include "ui/yours.h"

enum { VALUE_SWEEP = -10 }; /* plan picker: the sweep; else the number of the shipped plan */

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

/* --- models ----------------------------------------------------------------------------------- */

static void list_models(struct app *a)
{
    struct picker *p = &a->picker;
    char title[40];
    snprintf(title, sizeof title, "model of pane %c", 'A' + a->pane);
    picker_open(p, PICK_MODEL, title);
    int now = 0;
    for (int i = 0; i < io_model_count; i++) {
        const struct io_model *m = io_model_table[i];
        struct picker_item *item = picker_add(p);
        struct err why = {""};
        copy(item->name, sizeof item->name, m->id);
        if (strcmp(m->label, m->id) != 0)
            snprintf(item->text, sizeof item->text, "%s: %.120s", m->label, m->summary);
        else
            copy(item->text, sizeof item->text, m->summary);
        if (io_model_probe(m, &why) < 0)
            snprintf(item->why_not, sizeof item->why_not, "%.100s", why.text);
        item->group = io_group_words[m->group];
        item->value = i;
        if (m == a->want.lineup.models[a->pane])
            now = i;
    }
    picker_start(p, yours_list(a, now));
}

static void take_model(struct app *a, int value)
{
    struct plan_row want = a->want;
    const struct io_model *m = value < YOURS_VALUE ? io_model_table[value] : yours_model(a, value);
    if (!m) {
        yours_ask(a);
        return;
    }
    want.lineup.models[a->pane] = m;
    app_order(a, &want);
}

static void take_plan(struct app *a, int value);

/* A workload in steps takes all of them. */
static double seconds_of(const struct plan_row *row)
{
    struct plan plan;
    if (!workload_of(&row->params)->next_step)
        return plan_row_seconds(row);
    plan_sweep(row, NULL, &plan);
    double seconds = plan.seconds;
    plan_free(&plan);
    return seconds;
}

/* --- workloads -------------------------------------------------------------------------------- */

/* What was asked for at the start stays, as it is now; back from a workload that had no use for
 * it, as it was given. */
static void keep_given(const struct app *a, const struct workload *to, struct params *want)
{
    for (int i = 0; i < PARAM_COUNT; i++) {
        enum param_id id = (enum param_id)i;
        double given = params_get(&a->given, id);
        bool unseen = id == PARAM_idle && !workload_matters(to, id);
        if (isnan(given) || id == PARAM_workload || unseen)
            continue;
        *params_at(want, id) = act_matters(a, id) ? params_get(&a->want.params, id) : given;
    }
}

/* The order with another workload: what that workload presets, or the old one did, starts from its
 * default unless it was asked for; everything else stays. */
static struct plan_row with_workload(const struct app *a, int index)
{
    const struct plan_row *from = &a->want;
    struct plan_row want = *from;
    const struct workload *both[2] = {workload_of(&from->params), &workload_table[index]};
    for (int i = 0; i < 2; i++)
        for (const struct workload_preset *p = both[i]->presets; p->id != PARAM_COUNT; p++)
            *params_at(&want.params, p->id) = PARAM_UNSET;
    for (int id = 0; id < PARAM_COUNT; id++)
        if (!param_table[id].preset[0])
            *params_at(&want.params, (enum param_id)id) = PARAM_UNSET;
    /* Idle connections that the new one has no number for must not stay behind unseen. */
    if (!workload_matters(both[1], PARAM_idle))
        want.params.idle = 0;
    keep_given(a, both[1], &want.params);
    want.params.workload = index;
    workload_resolve(&want.params);
    plan_as_step(&want);
    return want;
}

static void list_workloads(struct app *a)
{
    struct picker *p = &a->picker;
    picker_open(p, PICK_WORKLOAD, "what the load does");
    for (int i = 0; i < workload_count; i++) {
        const struct workload *w = &workload_table[i];
        struct plan_row row = with_workload(a, i);
        struct picker_item *item = picker_add(p);
        char span[24];
        copy(item->name, sizeof item->name, w->id);
        snprintf(item->text, sizeof item->text, "about %s: %.150s",
                 units_about(span, sizeof span, seconds_of(&row)), w->summary);
        item->value = i;
    }
    picker_start(p, (int)a->want.params.workload);
}

void pickers_workload(struct app *a, int value)
{
    struct plan_row want = with_workload(a, value);
    a->figure = METRIC_COUNT;
    app_order(a, &want);
    if (workload_table[value].next_step)
        take_plan(a, VALUE_SWEEP);
}

/* --- sweeps and plans ------------------------------------------------------------------------- */

/* The sweep of the published axis for the present lineup. */
static int make_sweep(const struct app *a, struct plan *out, struct err *e)
{
    const struct workload *w = workload_of(&a->want.params);
    struct axis axis;
    int rc = w->next_step ? 0 : axis_parse(w->sweep, w->sweep_list, &axis, e);
    if (rc < 0)
        return rc;
    rc = plan_sweep(&a->want, w->next_step ? NULL : &axis, out);
    return rc < 0 ? err_set(e, -rc, "the sweep cannot be made") : 0;
}

static void list_sweep(struct app *a)
{
    const struct workload *w = workload_of(&a->want.params);
    struct plan plan = {0};
    struct err e = {""};
    char span[24], values[100];
    if (make_sweep(a, &plan, &e) < 0)
        return;
    struct picker_item *item = picker_add(&a->picker);
    snprintf(item->name, sizeof item->name, "sweep %.30s", param_table[w->sweep].id);
    units_about(span, sizeof span, plan.seconds);
    if (w->next_step)
        snprintf(item->text, sizeof item->text, "about %s: %s, these models", span, plan.title);
    else
        snprintf(item->text, sizeof item->text, "about %s: %s, %d rows, these models", span,
                 words_sweep(w, values, sizeof values), plan.count);
    item->group = "this lineup";
    item->value = VALUE_SWEEP;
    plan_free(&plan);
}

static void list_plans(struct app *a)
{
    struct plan_info info;
    picker_open(&a->picker, PICK_PLAN, "sweeps and plans; Esc stops one, its rows stay");
    list_sweep(a);
    for (int i = 0; plan_shipped(i, &info) && i < PICKER_ITEMS - 1; i++) {
        struct picker_item *item = picker_add(&a->picker);
        char span[24];
        copy(item->name, sizeof item->name, info.name);
        if (isnan(info.seconds)) /* it cannot run here */
            copy(item->why_not, sizeof item->why_not, info.title);
        else
            snprintf(item->text, sizeof item->text, "about %s: %s",
                     units_about(span, sizeof span, info.seconds), info.title);
        item->group = "plans";
        item->value = i;
    }
    picker_start(&a->picker, -1);
}

static int make_plan(struct app *a, int value, struct plan *out, struct err *e)
{
    if (value == VALUE_SWEEP)
        return make_sweep(a, out, e);
    struct plan_info info;
    if (!plan_shipped(value, &info))
        return err_set(e, ENOENT, "that plan is not there any more");
    struct args *none = xcalloc(1, sizeof *none); /* too large for a stack */
    params_init(&none->params);
    int rc = plan_from_file(info.name, none, out, e);
    free(none);
    return rc;
}

static void take_plan(struct app *a, int value)
{
    struct plan plan = {0};
    struct err e = {""};
    char span[24];
    if (make_plan(a, value, &plan, &e) < 0) {
        app_warn(a, "%s", e.text);
        return;
    }
    if (reach_check_here(&plan, &e) < 0) {
        app_warn(a, "%s", e.text);
    } else {
        session_plan(a->session, &plan);
        a->changed = true;
        app_say(a, "%s: %d row%s, about %s; Esc stops it", plan.title, plan.count,
                plan.count == 1 ? "" : "s",
                units_about(span, sizeof span, plan.seconds));
    }
    plan_free(&plan);
}

/* --- figures ---------------------------------------------------------------------------------- */

static void list_figures(struct app *a)
{
    const struct workload *w = workload_of(&a->want.params);
    if (a->view == VIEW_CURVES) {
        curve_figures_list(a);
        return;
    }
    picker_open(&a->picker, PICK_FIGURE, "figure that the graphs show");
    struct picker_item *own = picker_add(&a->picker);
    copy(own->name, sizeof own->name, "usual");
    const struct workload_picture *d = &w->draws;
    if (d->series[0])
        snprintf(own->text, sizeof own->text, "%s%s%s in the running pass", d->series[0],
                 d->series[1] ? " and " : "", d->series[1] ? d->series[1] : "");
    else
        snprintf(own->text, sizeof own->text, "%s in its turns", metric_table[d->graph].title);
    own->value = METRIC_COUNT;
    for (int i = 0; w->yields[i] != METRIC_COUNT; i++) {
        const struct metric *m = &metric_table[w->yields[i]];
        struct picker_item *item = picker_add(&a->picker);
        copy(item->name, sizeof item->name, m->title);
        copy(item->text, sizeof item->text, m->help);
        item->value = (int)w->yields[i];
    }
    picker_start(&a->picker, (int)a->figure);
}

/* --- all of them ------------------------------------------------------------------------------ */

void act_pick(struct app *a, int kind)
{
    static void (*const lists[])(struct app *) = {
        [PICK_MODEL] = list_models,
        [PICK_WORKLOAD] = list_workloads,
        [PICK_PLAN] = list_plans,
        [PICK_FIGURE] = list_figures,
        [PICK_MAP_FIGURE] = act_map_figures,
        [PICK_AXIS] = axes_list,
        [PICK_PICTURE] = pictures_list,
        [PICK_THEME] = theme_list,
        [PICK_WORD] = words_list,
        [PICK_CLAIMS] = claims_list,
        [PICK_SESSION] = sessions_list,
    };
    bool looks = kind == PICK_FIGURE || kind == PICK_MAP_FIGURE || kind == PICK_THEME ||
                 kind == PICK_AXIS || kind == PICK_PICTURE;
    if (!looks && act_refused(a))
        return;
    lists[kind](a);
    a->dialog = DIALOG_PICKER;
}

void pickers_take(struct app *a)
{
    int value = a->picker.items[a->picker.at].value;
    switch ((enum picker_kind)a->picker.kind) {
    case PICK_MODEL:
        take_model(a, value);
        break;
    case PICK_WORKLOAD:
        pickers_workload(a, value);
        break;
    case PICK_PLAN:
        take_plan(a, value);
        break;
    case PICK_MAP_FIGURE:
        a->map_figure = (enum metric_id)value;
        a->changed = true;
        break;
    case PICK_FIGURE:
        *(a->view == VIEW_CURVES ? &a->curves.figure : &a->figure) = (enum metric_id)value;
        a->changed = true;
        break;
    case PICK_AXIS:
        axes_take(a, value);
        break;
    case PICK_PICTURE:
        pictures_draw(a, value);
        break;
    case PICK_CLAIMS:
        claims_start(a, value);
        break;
    case PICK_WORD:
        words_take(a, value);
        break;
    case PICK_THEME:
        theme_take(a, value);
        break;
    case PICK_SESSION:
    case PICK_COMPARE:
        sessions_take(a, value);
        break;
    }
}
