/* SPDX-License-Identifier: MIT */
/* What the curves view draws: the figures over an axis now, those kept as "before" over the same
 * axis, and the answer of all rows of the table, whose reason explains them. */
#include <string.h>

#include "ui/scene.h"

void scene_free_curves(struct scene_curves *c)
{
    if (c->has) {
        curves_free(&c->now);
        curves_free(&c->before);
    }
    c->has = c->has_before = false;
}

/* While a plan runs its first row shows that its curve has begun. */
void scene_take_curves(struct scene *s, const struct rows *rows, const struct row *like,
                       const struct scene_wish *w)
{
    struct scene_curves *c = &s->curves;
    scene_free_curves(c);
    if (!w->curves || !like)
        return;
    if (!scene_planning(s) && !w->curves_row)
        like = curves_row(rows, like);
    struct curves_wish wish = {w->axis, w->figure, s->against, false};
    c->has_before = curves_pair(rows, like, &wish, &c->now, &c->before);
    c->has = true;
    c->row = like->number;
    answer_sweep(rows, like, c->now.against, &c->answer);
}

/* The row of the period before whose figures stand beside this one: the same models asked for the
 * same; how they are asked may be what was changed. */
static bool asked_alike(const struct row *r, const struct row *like)
{
    static const enum param_id asked[] = {PARAM_connections, PARAM_idle, PARAM_rate, PARAM_size};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (!params_same(params_get(&r->params, asked[i]), params_get(&like->params, asked[i])))
            return false;
    return r->workload == like->workload;
}

void scene_take_before(struct scene *s, const struct rows *rows, const struct row *like)
{
    for (int i = 0; i < s->pane_count; i++)
        s->pane[i].before = METRIC_NONE;
    for (const struct row *r = rows->first; r && like; r = r->next) {
        if (r->period != like->period - 1 || r->state == ROW_DROPPED || !asked_alike(r, like))
            continue;
        for (int i = 0; i < r->pane_count && i < s->pane_count; i++)
            if (!strcmp(r->panes[i].model, s->pane[i].model) && pane_kept(&r->panes[i]) > 0)
                s->pane[i].before = row_summary(r, i, s->main).mean;
    }
}
