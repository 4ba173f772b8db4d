/* SPDX-License-Identifier: MIT */
/* The small table: the rows of this workload and lineup, the one that is measured marked, published
 * figures beneath it, the ratio at the end. It shows as many figures of each pane as fit, and the
 * rows around the one in focus; where room is short the published ones are left out first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "ui/views.h"

enum { FIRST_W = 20, CELL_W = 7, RATIO_W = 13, GAP_W = 2 };

/* Figures of each pane that fit. */
static int cells_that_fit(const struct scene *s, int w)
{
    int room = w - FIRST_W - (s->pane_count > 1 ? RATIO_W : 0);
    int n = (room / s->pane_count - GAP_W) / CELL_W;
    return n > s->small.cells ? s->small.cells : n < 1 ? 1 : n;
}

/* What the ratio is of: its title where that fits. */
static const char *ratio_word(enum metric_id m)
{
    bool fits = canvas_width(metric_table[m].title) <= RATIO_W - 6;
    return metric_table[m].cls == CLASS_COST ? "CPU" : fits ? metric_table[m].title : words_head(m);
}

static void draw_head(struct app *a, struct rect r, int cells)
{
    const struct scene *s = a->scene;
    char text[64];
    int x = r.x + FIRST_W;
    if (s->pane[0].measured)
        snprintf(text, sizeof text, "mean of %d of %d", s->pane[0].main_summary.used,
                 s->now->asked);
    else
        snprintf(text, sizeof text, "%d of %d", s->now->taken, s->now->asked);
    canvas_text(a->canvas, canvas_at(r.x + 2, r.y, FIRST_W - 3), ROLE_DIM, false, text);
    for (int p = 0; p < s->pane_count; p++) {
        canvas_printf(a->canvas, canvas_at(x + GAP_W - 1, r.y, 2), words_role(p), true, "%c",
                      'A' + p);
        for (int i = 0; i < cells; i++)
            canvas_right(a->canvas, canvas_at(x + GAP_W + i * CELL_W + 1, r.y, CELL_W - 1),
                         ROLE_DIM, false, words_head(s->small.metric[i]));
        x += GAP_W + cells * CELL_W;
    }
    if (s->pane_count > 1 && metric_table[s->small.ratio].cls != CLASS_STATE) {
        snprintf(text, sizeof text, "A/%c %s", 'A' + s->against, ratio_word(s->small.ratio));
        canvas_text(a->canvas, canvas_at(x + 2, r.y, RATIO_W - 2), ROLE_DIM, false, text);
    }
}

static void ratio_text(const struct small_row *row, char *buf, size_t size)
{
    char ratio[24], half[24];
    *buf = '\0';
    if (!isfinite(row->ratio.ratio))
        return;
    double spread = (row->ratio.high - row->ratio.low) / 2;
    units_number(ratio, sizeof ratio, row->ratio.ratio);
    if (row->withheld)
        snprintf(buf, size, "withheld");
    else if (isnan(row->ratio.low))
        snprintf(buf, size, "%5s", ratio);
    else
        snprintf(buf, size, "%5s ±%s", ratio,
                 units_fixed(half, sizeof half, spread, spread < 9.995 ? 2 : 0));
}

static void draw_row(struct app *a, struct rect r, int cells, const struct small_row *row)
{
    const struct scene *s = a->scene;
    bool here = row->number && row->number == s->row;
    enum role role = row->number ? ROLE_TEXT : ROLE_DIM;
    char text[64];
    int x = r.x + FIRST_W;
    params_show(s->small.axis, row->axis, text, sizeof text);
    canvas_put(a->canvas, r.x + 2, r.y, ROLE_FOCUS, here ? L'▶' : L' ');
    int used = canvas_text(a->canvas, canvas_at(r.x + 4, r.y, FIRST_W - 5), role, here, text);
    if (!row->number)
        canvas_text(a->canvas, canvas_at(r.x + 5 + used, r.y, FIRST_W - 6 - used), role, false,
                    "published");
    for (int p = 0; p < s->pane_count; p++) {
        for (int i = 0; i < cells; i++)
            canvas_right(a->canvas, canvas_at(x + GAP_W + i * CELL_W + 1, r.y, CELL_W - 1), role,
                         here, words_cell(s->small.metric[i], row->cell[p][i], text, sizeof text));
        x += GAP_W + cells * CELL_W;
    }
    ratio_text(row, text, sizeof text);
    canvas_text(a->canvas, canvas_at(x + 2, r.y, RATIO_W - 2), role, here, text);
}

/* Of a published row: is any of its figures among the cells that fit? */
static bool says_something(const struct scene *s, const struct small_row *row, int cells)
{
    bool any = isfinite(row->ratio.ratio);
    for (int p = 0; p < s->pane_count; p++)
        for (int i = 0; i < cells; i++)
            any = any || !isnan(row->cell[p][i]);
    return any;
}

/* The rows that may stand in so many lines; returns how many. Below three lines what was measured
 * goes before what was published. */
static int choose_rows(const struct scene *s, int room, int cells,
                       const struct small_row *out[SMALL_ROWS])
{
    const struct small_table *t = &s->small;
    int measured = 0, n = 0;
    for (int i = 0; i < t->count; i++)
        measured += t->row[i].number > 0;
    for (int i = 0; i < t->count; i++)
        if (t->row[i].number ||
            ((room >= 3 || measured < room) && says_something(s, &t->row[i], cells)))
            out[n++] = &t->row[i];
    return n;
}

void small_draw(struct app *a, struct rect r)
{
    const struct scene *s = a->scene;
    const struct small_row *rows[SMALL_ROWS];
    if (!s->small.count || !s->pane_count)
        return;
    int cells = cells_that_fit(s, r.w), room = r.h - 1, last = 0;
    int n = choose_rows(s, room, cells, rows);
    for (int i = 0; i < n; i++)
        if (rows[i]->number == s->row)
            last = i + 1 < n && !rows[i + 1]->number ? i + 1 : i;
    int top = last - room + 1 > 0 ? last - room + 1 : 0;
    draw_head(a, (struct rect){r.x, r.y, r.w, 1}, cells);
    for (int i = 0; i < room && top + i < n; i++)
        draw_row(a, (struct rect){r.x, r.y + 1 + i, r.w, 1}, cells, rows[top + i]);
}
