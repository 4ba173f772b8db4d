/* SPDX-License-Identifier: MIT */
/* Reading what was measured: which row of the table and which line of a bill is in focus, and from
 * there to the row's bill, or to measuring it again. */
#include "ui/actions.h"

#include "ui/views.h"

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
    act_row_live(a, s->table.row[table_index(s)].row->number);
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
    int at = a->view == VIEW_CURVES ? curves_cursor(a) : -1;
    int row = at >= 0                 ? a->scene->curves.now.at[at].row
              : a->view == VIEW_TABLE ? a->scene->table_row
              : a->view == VIEW_MAP   ? act_map_number(a)
                                      : 0;
    if (a->view == VIEW_MAP && row == 0) {
        app_say(a, "nothing is measured there yet");
        return;
    }
    act_view(a, VIEW_WHY);
    a->why_row = row;
}
