/* SPDX-License-Identifier: MIT */
/* The table view: all rows of one workload and lineup as session/table.h makes them (the same
 * cells that `run` prints), the first column always in sight, the rest scrolled by whole
 * columns; under it the answer of the whole sweep. Each workload and lineup of the session has a
 * table of its own. */
#include <stdio.h>
#include <string.h>

#include "ui/actions.h"
#include "ui/views.h"

enum { TOP = 1, GAP = 2 };

/* Columns from `from` on that fit; the first one always stands. */
static int columns_that_fit(const struct table *t, int from, int w)
{
    int used = 3 + t->column[0].width, n = 0;
    for (int i = from; i < t->columns; i++, n++) {
        used += GAP + t->column[i].width;
        if (used > w)
            break;
    }
    return n;
}

struct sight { /* the columns in sight beside the first: n from `from` on */
    int from, n;
};

/* Where a text of a column stands when the column begins at x. */
static struct strip cell_strip(const struct table_column *col, const char *text, int x, int y)
{
    int used = canvas_width(text), pad = col->text || used > col->width ? 0 : col->width - used;
    return canvas_at(x + pad, y, col->width);
}

static enum role column_role(const struct table_column *col)
{
    return col->pane >= 0 ? words_role(col->pane) : ROLE_DIM;
}

/* A group's head stands once, over the first of its columns, as wide as they are together. */
static int group_width(const struct table *t, int first, int end)
{
    int w = t->column[first].width;
    for (int k = first + 1; k < end && !strcmp(t->column[k].head[0], t->column[first].head[0]); k++)
        w += GAP + t->column[k].width;
    return w;
}

/* "A select", or the letter alone where no name fits beside it. */
static void draw_group(struct canvas *c, const struct table_column *col, struct strip to)
{
    bool letter = col->head[0][1] == ' ' && to.w < 8 && canvas_width(col->head[0]) > to.w;
    if (letter)
        canvas_text(c, canvas_at(to.x, to.y, 1), column_role(col), true, col->head[0]);
    else
        canvas_cut(c, to, column_role(col), true, col->head[0]);
}

static void draw_heads(struct app *a, const struct table *t, struct sight s, int y)
{
    struct canvas *c = a->canvas;
    int x = 3;
    for (int k = -1; k < s.n; k++) {
        int i = k < 0 ? 0 : s.from + k;
        const struct table_column *col = &t->column[i];
        bool first = k <= 0 || strcmp(col->head[0], t->column[i - 1].head[0]) != 0;
        if (first && *col->head[0])
            draw_group(c, col, canvas_at(x, y, group_width(t, i, s.from + s.n)));
        canvas_text(c, cell_strip(col, col->head[1], x, y + 1), ROLE_DIM, false, col->head[1]);
        x += col->width + GAP;
    }
}

static void draw_row(struct app *a, const struct table *t, int line, struct sight s, int y)
{
    const struct table_row *row = &t->row[line];
    int x = 3;
    bool here = row->row->number == a->scene->table_row;
    mouse_hot(a, (struct rect){0, y, a->canvas->w, 1}, act_table_focus, row->row->number);
    canvas_put(a->canvas, 1, y, ROLE_FOCUS, here ? L'▶' : L' ');
    for (int k = -1; k < s.n; k++) {
        int i = k < 0 ? 0 : s.from + k;
        canvas_text(a->canvas, cell_strip(&t->column[i], row->cell[i], x, y), ROLE_TEXT, here,
                    row->cell[i]);
        x += t->column[i].width + GAP;
    }
}

static int focus_line(const struct app *a, const struct table *t)
{
    for (int i = 0; i < t->rows; i++)
        if (t->row[i].row->number == a->scene->table_row)
            return i;
    return 0;
}

/* Draws heads, rules and rows into lines y .. y + h - 1; returns the first free line. */
static int draw_table(struct app *a, const struct table *t, int y, int h)
{
    struct canvas *c = a->canvas;
    int from = 1 + (a->table_column < t->columns - 1 ? a->table_column : 0);
    struct sight s = {from, columns_that_fit(t, from, c->w)};
    int room = h - 4, focus = focus_line(a, t), top = focus >= room ? focus - room + 1 : 0;
    struct rect rule = {0, y + 2, c->w, 1};
    draw_heads(a, t, s, y);
    canvas_fill(c, rule, ROLE_FRAME, L'─');
    int i = 0;
    for (; i < room && top + i < t->rows; i++)
        draw_row(a, t, top + i, s, y + 3 + i);
    rule.y = y + 3 + i;
    canvas_fill(c, rule, ROLE_FRAME, L'─');
    if (s.from + s.n < t->columns)
        canvas_text(c, canvas_at(c->w - 9, y + 2, 8), ROLE_DIM, false, " more ] ");
    if (top > 0)
        canvas_printf(c, canvas_at(2, y + 2, 20), ROLE_DIM, false, " %d more ↑ ", top);
    if (top + i < t->rows)
        canvas_printf(c, canvas_at(2, rule.y, 20), ROLE_DIM, false, " %d more ↓ ",
                      t->rows - top - i);
    return rule.y + 1;
}

/* Returns the lines it took. */
static int draw_published(struct app *a, int y, int room)
{
    const char *text = a->scene->table.published;
    if (!text[0] || room < 1)
        return 0;
    return chrome_text(a->canvas, (struct rect){1, y, a->canvas->w - 2, room < 3 ? room : 3},
                       ROLE_DIM, false, text);
}

/* Lines of the answer, of `room` that it shares with the table: heads, rules and some rows of that
 * come first. */
static int answer_lines(const struct app *a, int room)
{
    int some = a->canvas->h >= 24 ? 8 : 3;
    int rows = a->scene->table.rows < some ? a->scene->table.rows : some;
    int want = chrome_answer_lines(&a->scene->sweep, a->canvas->w), most = room - 4 - rows;
    return want < 3 || most < 3 ? 3 : want > most ? most : want;
}

void view_table_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    const struct scene *s = a->scene;
    int bottom = c->h - 2, gap = c->h >= 20;
    chrome_header(a);
    if (!s->has_table || !s->table.rows) {
        chrome_text(c, (struct rect){1, TOP, c->w - 2, 2}, ROLE_DIM, false,
                    a->frozen && !s->has_table
                        ? "frozen: the table comes when the picture goes on (f in the live view)"
                        : "nothing is measured of this yet; p measures a sweep");
    } else {
        canvas_cut(c, canvas_at(1, TOP, c->w - 1), ROLE_TEXT, false, s->table.title);
        int answer = answer_lines(a, bottom - TOP - 2 - gap);
        bottom -= answer + gap;
        int y = draw_table(a, &s->table, TOP + 2, bottom - TOP - 2);
        y += draw_published(a, y, bottom - y);
        if (s->table.foot[0] && y < bottom)
            canvas_cut(c, canvas_at(1, y++, c->w - 2), ROLE_TEXT, false, s->table.foot);
        y = y < bottom ? y + 1 : y;
        chrome_answer(a, (struct rect){0, y, c->w, answer}, &s->sweep);
    }
    chrome_log(a, c->h - 2);
    chrome_footer(a);
}
