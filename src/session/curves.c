/* SPDX-License-Identifier: MIT */
/* Which rows make a curve, and its points. Rows are alike when they stand in one table and differ
 * in nothing but the axis; a row that was measured longer than another is still alike. What is
 * drawn is made anew from the rows each time: a point appears with the first kept sample. */
#include "session/curves.h"

#include <stdlib.h>
#include <string.h>

#include "session/table.h"

#define ENOUGH 3 /* kept samples of a row that stands for its value */

static bool is_number(enum param_id id)
{
    enum param_kind kind = param_table[id].kind;
    return (kind == KIND_COUNT || kind == KIND_BYTES || kind == KIND_RATE || kind == KIND_SPAN) &&
           !params_effort(id);
}

/* A buffer that is as long as a message, by default, follows it. */
static bool follows(const struct row *r, int id)
{
    return id == PARAM_buffer && r->params.buffer == r->params.size;
}

/* Which parameter differs beside the effort; PARAM_COUNT: none, -1: several. */
static int difference(const struct row *r, const struct row *like)
{
    int found = PARAM_COUNT;
    for (int id = 0; id < PARAM_COUNT; id++) {
        enum param_id p = (enum param_id)id;
        if (params_effort(p) || (follows(r, id) && follows(like, id)) ||
            params_same(params_get(&r->params, p), params_get(&like->params, p)))
            continue;
        if (found != PARAM_COUNT)
            return -1;
        found = id;
    }
    return found;
}

/* Auto stands nowhere on an axis. */
static bool has_place(const struct row *r, enum param_id axis)
{
    return params_get(&r->params, axis) >= 0;
}

static bool on_curve(const struct row *r, const struct row *like, enum param_id axis)
{
    if (!row_in_table(r, like))
        return false;
    int d = difference(r, like);
    return d == PARAM_COUNT || (d == (int)axis && has_place(r, axis));
}

/* --- axes ------------------------------------------------------------------------------------ */

struct differs { /* a row that differs from `like` in one number alone */
    enum param_id id;
    double x;
};

static int by_id_and_x(const void *a, const void *b)
{
    const struct differs *p = a, *q = b;
    if (p->id != q->id)
        return p->id < q->id ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

/* The number in which alone they differ, where both have a place on its axis; PARAM_COUNT: none. */
static enum param_id axis_between(const struct row *r, const struct row *like)
{
    int id = difference(r, like);
    if (id < 0 || id == PARAM_COUNT || !is_number((enum param_id)id) ||
        !has_place(r, (enum param_id)id) || !has_place(like, (enum param_id)id))
        return PARAM_COUNT;
    return (enum param_id)id;
}

static int find_differing(const struct rows *rows, const struct row *like, struct differs *out)
{
    int n = 0;
    for (const struct row *r = rows->first; r; r = r->next) {
        bool counts = row_in_table(r, like) && row_kept(r) > 0;
        enum param_id id = counts ? axis_between(r, like) : PARAM_COUNT;
        if (id != PARAM_COUNT)
            out[n++] = (struct differs){id, params_get(&r->params, id)};
    }
    if (n)
        qsort(out, (size_t)n, sizeof *out, by_id_and_x);
    return n;
}

int curves_axes(const struct rows *rows, const struct row *like, enum param_id *out, int most)
{
    struct differs *all = xcalloc((size_t)rows->count + 1, sizeof *all);
    int many[PARAM_COUNT], found = 0, n = find_differing(rows, like, all);
    for (int i = 0, to; i < n; i = to) {
        enum param_id id = all[i].id;
        int values = 2, at = found < most ? found : most - 1; /* the first of them, and like's */
        for (to = i + 1; to < n && all[to].id == id; to++)
            values += all[to].x != all[to - 1].x;
        bool usual = id == like->workload->sweep;
        if (found >= most && !usual && many[at] >= values)
            continue;
        for (; at > 0 && (many[at - 1] < values || (many[at - 1] == values && usual)); at--) {
            many[at] = many[at - 1];
            out[at] = out[at - 1];
        }
        many[at] = values;
        out[at] = id;
        found += found < most;
    }
    free(all);
    return found;
}

static bool has_axis(const struct row **all, int n, const struct row *like)
{
    for (int i = 0; i < n; i++)
        if (axis_between(all[i], like) != PARAM_COUNT)
            return true;
    return false;
}

/* From the newest on; rows that ask for the same as the one before have no axis either, and there
 * may be thousands of them. */
static const struct row *newest_with_axis(const struct row **all, int n, const struct row *like)
{
    const struct row *tried = like;
    for (int i = n - 1; i >= 0; i--) {
        if (difference(all[i], like) == PARAM_COUNT || difference(all[i], tried) == PARAM_COUNT)
            continue;
        tried = all[i];
        if (has_axis(all, n, tried))
            return tried;
    }
    return like;
}

const struct row *curves_row(const struct rows *rows, const struct row *like)
{
    const struct row **all = xcalloc((size_t)rows->count + 1, sizeof *all);
    int n = 0;
    for (const struct row *r = rows->first; r; r = r->next)
        if (row_in_table(r, like) && row_kept(r) > 0)
            all[n++] = r;
    if (!has_axis(all, n, like))
        like = newest_with_axis(all, n, like);
    free(all);
    return like;
}

/* One row stands for each curve: that with the same value of the axis. */
const struct row *curves_next(const struct rows *rows, const struct row *like, enum param_id axis,
                              int step)
{
    struct table t;
    int varying[TABLE_VARYING];
    const struct row *next = NULL;
    table_rows(rows, like, &t, varying);
    int i = 0;
    while (i < t.rows && t.row[i].row != like)
        i++;
    for (i += step; i >= 0 && i < t.rows && !next; i += step)
        if (!on_curve(t.row[i].row, like, axis) && row_kept(t.row[i].row) > 0 &&
            (axis == PARAM_COUNT || params_same(params_get(&t.row[i].row->params, axis),
                                                params_get(&like->params, axis))))
            next = t.row[i].row;
    table_free(&t);
    return next;
}

/* --- before ---------------------------------------------------------------------------------- */

/* The same models in the same panes count most, then the same in all but one number. */
static int likeness(const struct row *r, const struct row *like)
{
    int n = 1;
    for (int i = 0; i < r->pane_count; i++)
        n += strcmp(r->panes[i].model, like->panes[i].model) == 0 ? 2 : 0;
    return n + (difference(r, like) >= 0 ? 1 : 0);
}

const struct row *curves_before(const struct rows *rows, const struct row *like)
{
    const struct row *best = NULL;
    for (const struct row *r = rows->first; r; r = r->next) {
        if (r->period != like->period - 1 || r->state == ROW_DROPPED ||
            r->workload != like->workload || r->pane_count != like->pane_count || row_kept(r) == 0)
            continue;
        if (!best || likeness(r, like) >= likeness(best, like))
            best = r;
    }
    return best;
}

/* --- points ---------------------------------------------------------------------------------- */

/* A row that has just begun does not take the place of one that is whole. */
static bool stands_before(const struct row *r, const struct row *other)
{
    int a = row_kept(r), b = row_kept(other);
    return a >= ENOUGH || a >= b ? r->number > other->number : false;
}

static void fill(struct curve_at *at, const struct curves *c, const struct row *r)
{
    at->row = r->number;
    for (int i = 0; i < c->lines; i++) {
        at->line[i].s = row_summary(r, i, c->figure);
        at->line[i].verdict = r->panes[i].verdict;
        at->line[i].ranks = pane_may_rank(r, i, c->figure);
    }
    at->ratio = (struct paired){.ratio = METRIC_NONE, .low = METRIC_NONE, .high = METRIC_NONE};
    if (c->against < 1)
        return;
    at->ratio = row_ratio(r, c->against, c->figure);
    at->withheld = !row_undecided(r, c->against, c->figure) &&
                   !row_may_rank(r, c->against, c->figure);
}

static int by_x(const void *a, const void *b)
{
    double x = ((const struct curve_at *)a)->x, y = ((const struct curve_at *)b)->x;
    return (x > y) - (x < y);
}

static int find_x(const struct curves *c, double x)
{
    int i = 0;
    while (i < c->count && c->at[i].x != x)
        i++;
    return i;
}

static void take_points(const struct rows *rows, const struct row *like, struct curves *c)
{
    const struct row **from = xcalloc((size_t)rows->count + 1, sizeof *from);
    c->at = xcalloc((size_t)rows->count + 1, sizeof *c->at);
    for (const struct row *r = rows->first; r; r = r->next) {
        if (!on_curve(r, like, c->axis) || row_kept(r) == 0)
            continue;
        double x = c->axis == PARAM_COUNT ? 0 : params_get(&r->params, c->axis);
        int i = find_x(c, x);
        c->at[i].x = x;
        if (i == c->count)
            from[c->count++] = r;
        else if (stands_before(r, from[i]))
            from[i] = r;
    }
    for (int i = 0; i < c->count; i++)
        fill(&c->at[i], c, from[i]);
    free(from);
    if (c->count)
        qsort(c->at, (size_t)c->count, sizeof *c->at, by_x);
}

/* What was asked for, if it varies. */
static enum param_id choose_axis(const struct rows *rows, const struct row *like,
                                 const struct curves_wish *w)
{
    enum param_id all[PARAM_COUNT], want = w->axis;
    if (w->keep && want != PARAM_COUNT && has_place(like, want))
        return want;
    int n = curves_axes(rows, like, all, PARAM_COUNT);
    for (int i = 0; i < n; i++)
        if (all[i] == want)
            return want;
    return n ? all[0] : PARAM_COUNT;
}

void curves_make(const struct rows *rows, const struct row *like, const struct curves_wish *w,
                 struct curves *out)
{
    *out = (struct curves){.workload = like->workload,
                           .path = like->path,
                           .params = like->params,
                           .lines = like->pane_count};
    out->axis = choose_axis(rows, like, w);
    out->figure = w->figure == METRIC_COUNT ? row_main(like) : w->figure;
    out->against = w->against > 0 && w->against < out->lines ? w->against : out->lines > 1;
    for (int i = 0; i < out->lines; i++)
        memcpy(out->model[i], like->panes[i].model, sizeof out->model[i]);
    take_points(rows, like, out);
}

bool curves_pair(const struct rows *rows, const struct row *like, const struct curves_wish *w,
                 struct curves *now, struct curves *before)
{
    const struct row *was = curves_before(rows, like);
    struct curves_wish same = *w;
    *before = (struct curves){.axis = PARAM_COUNT};
    curves_make(rows, like, w, now);
    if (!was)
        return false;
    same.axis = now->axis == PARAM_COUNT ? w->axis : now->axis;
    same.figure = now->figure;
    same.keep = now->axis != PARAM_COUNT;
    curves_make(rows, was, &same, before);
    if (now->axis == PARAM_COUNT && before->axis != PARAM_COUNT) {
        curves_free(now);
        same.axis = before->axis;
        same.keep = true;
        curves_make(rows, like, &same, now);
    }
    now->with = before;
    return before->count > 0;
}

void curves_free(struct curves *c)
{
    free(c->at);
    c->at = NULL;
    c->count = 0;
}
