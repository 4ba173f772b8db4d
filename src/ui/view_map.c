/* SPDX-License-Identifier: MIT */
/* The map: connections from left to right, requests/s from top to bottom, a shade a place. What
 * does not fit is scrolled by whole columns and lines so that the place in focus stays in sight.
 * The side is told by a letter, not by colour alone: a shade is the other model's, one with an A
 * before it is A's. Between two lines, where there is room, stands somebody's own server. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "ui/actions.h"
#include "ui/text.h"
#include "ui/views.h"

enum { HEADS = 2, CELL = 9, WIDE_CELL = 21, LEFT = 10, LEFT_NARROW = 7 };

struct place { /* of the grid on the screen */
    int x, y, pitch_x, pitch_y;
    int columns, rows;       /* shown */
    int from_column, from_row;
};

/* The first of n shown of all, so that `focus` is one of them. */
static int first_shown(int focus, int n, int all)
{
    int from = focus - n / 2;
    return from > all - n ? all - n : from < 0 ? 0 : from;
}

/* Lines for words; one for each rate comes first, but four are always left. With many, the rates
 * stand further apart. */
enum { WORDS_LEAST = 5, WORDS_GOOD = 9 };

static int place_grid(const struct app *a, const struct map *m, struct rect r, struct place *out)
{
    int left = r.w < 80 ? LEFT_NARROW : LEFT;
    int columns = map_columns(m), rows = map_rows(m), h = r.h - HEADS;
    *out = (struct place){.x = left, .y = r.y + HEADS};
    out->pitch_x = left + columns * WIDE_CELL < r.w ? WIDE_CELL : CELL;
    int fit = (r.w - left - 1) / out->pitch_x;
    out->columns = columns < fit ? columns : fit;
    out->pitch_y = h - (2 * rows - 1) >= WORDS_GOOD ? 2 : 1;
    out->rows = rows < h - WORDS_LEAST ? rows : h - WORDS_LEAST;
    out->from_column = first_shown(a->map_column, out->columns, columns);
    out->from_row = first_shown(a->map_row, out->rows, rows);
    return HEADS + (out->rows - 1) * out->pitch_y + 1;
}

/* --- one place -------------------------------------------------------------------------------- */

static enum role side_role(const struct map *m, int class)
{
    return class == 0 ? ROLE_TEXT : words_role(class < 0 ? 0 : m->pane);
}

/* The one that is being measured. */
static bool running(const struct scene *s, const struct map_cell *cell)
{
    return scene_planning(s) && s->shown.params.connections == cell->connections &&
           s->shown.params.rate == cell->rate;
}

static void draw_figure(struct app *a, const struct map_cell *cell, int x, int y, bool wide)
{
    const struct map *m = &a->scene->map;
    struct canvas *c = a->canvas;
    char text[56], one[24], other[24];
    enum role role = cell->doubt ? ROLE_DIM : side_role(m, map_class(cell->times));
    bool sure = cell->rounds >= 3 && !cell->doubt;
    canvas_text(c, canvas_at(x, y, 2), role, false, map_mark(cell, c->ascii, text, sizeof text));
    map_times(cell->times, text, sizeof text);
    canvas_printf(c, canvas_at(x + 2, y, 5), cell->doubt ? ROLE_DIM : ROLE_TEXT, sure, "%5s", text);
    if (cell->doubt)
        canvas_put(c, x + 7, y, ROLE_WARN, L'?');
    else if (cell->full[0] || cell->full[1])
        canvas_put(c, x + 7, y, ROLE_WARN, L'!');
    if (!wide)
        return;
    snprintf(text, sizeof text, "%s/%s", words_cell(m->metric, cell->figure[0], one, sizeof one),
             words_cell(m->metric, cell->figure[1], other, sizeof other));
    if (canvas_width(text) <= WIDE_CELL - 11)
        canvas_text(c, canvas_at(x + 10, y, WIDE_CELL - 11), ROLE_DIM, false, text);
}

static void draw_cell(struct app *a, const struct map_cell *cell, int x, int y, bool wide)
{
    struct canvas *c = a->canvas;
    if (running(a->scene, cell))
        canvas_text(c, canvas_at(x + 2, y, 5), ROLE_FOCUS, true, "  ...");
    else if (cell->kind == MAP_FIGURE && !isnan(cell->times))
        draw_figure(a, cell, x, y, wide);
    else if (cell->kind == MAP_CANNOT)
        canvas_text(c, canvas_at(x + 2, y, 5), ROLE_DIM, false, "   no");
    else if (cell->kind == MAP_FAILED)
        canvas_text(c, canvas_at(x + 2, y, 5), ROLE_BAD, false, "fails");
    else
        canvas_text(c, canvas_at(x + 6, y, 1), ROLE_DIM, false,
                    cell->kind == MAP_FIGURE ? "-" : "·");
}

static void draw_focus(struct app *a, const struct place *p)
{
    int x = p->x + (a->map_column - p->from_column) * p->pitch_x;
    int y = p->y + (a->map_row - p->from_row) * p->pitch_y;
    canvas_put(a->canvas, x - 1, y, ROLE_FOCUS, L'[');
    canvas_put(a->canvas, x + 8, y, ROLE_FOCUS, L']');
}

/* --- somebody's own server -------------------------------------------------------------------- */

/* Where v lies between the values, as an index with a fraction; at an end where it is outside. Both
 * scales grow by factors. */
static double along(const struct axis *axis, double v)
{
    int last = axis->count - 1, i = 0;
    if (v <= axis->values[0] || last == 0)
        return 0;
    if (v >= axis->values[last])
        return last;
    while (v >= axis->values[i + 1])
        i++;
    double low = axis->values[i], high = axis->values[i + 1];
    return v == low || !isfinite(high) ? i : i + log(v / low) / log(high / low);
}

/* Between two lines, else between two columns, else before its place. */
static void draw_yours(struct app *a, const struct map *m, const struct place *p)
{
    const struct map_cell *yours = map_at(m);
    char text[40], times[16];
    if (!yours)
        return;
    double fx = along(&m->axes.connections, yours->connections) - p->from_column;
    double fy = along(&m->axes.rate, yours->rate) - p->from_row;
    bool on_line = fy == floor(fy) || p->pitch_y == 1;
    fy = p->pitch_y == 1 ? round(fy) : fy;
    if (fx < 0 || fy < 0 || fx > p->columns - 1 || fy > p->rows - 1)
        return;
    int y = p->y + (int)floor(fy) * p->pitch_y + !on_line;
    int x = p->x + (on_line ? (int)ceil(fx) * p->pitch_x - 1 : (int)round(fx * p->pitch_x));
    canvas_put(a->canvas, x, y, ROLE_FOCUS, L'◆');
    if (on_line)
        return;
    map_times(yours->times, times, sizeof times);
    snprintf(text, sizeof text, "yours%s%s", yours->kind == MAP_FIGURE ? " " : "",
             yours->kind == MAP_FIGURE && !isnan(yours->times) ? times : "");
    canvas_text(a->canvas, canvas_at(x + 2, y, a->canvas->w - x - 3), ROLE_FOCUS, true, text);
}

/* --- the grid --------------------------------------------------------------------------------- */

static void draw_heads(struct app *a, const struct map *m, const struct place *p)
{
    struct canvas *c = a->canvas;
    char text[24];
    int y = p->y - HEADS, middle = p->x + p->columns * p->pitch_x / 2 - 8;
    bool narrow = p->x == LEFT_NARROW;
    canvas_text(c, canvas_at(1, y, p->x), ROLE_DIM, false, narrow ? "rq" : "requests");
    canvas_text(c, canvas_at(middle, y, c->w - middle), ROLE_DIM, false, "connections open");
    canvas_text(c, canvas_at(narrow ? 1 : 3, y + 1, 4), ROLE_DIM, false, "/s");
    for (int i = 0; i < p->columns; i++) {
        map_number(m->axes.connections.values[p->from_column + i], text, sizeof text);
        canvas_printf(c, canvas_at(p->x + i * p->pitch_x + 2, y + 1, 7), ROLE_DIM, false, "%5s",
                      text);
    }
    if (p->from_column > 0)
        canvas_text(c, canvas_at(p->x - 1, y, 2), ROLE_DIM, false, "←");
    if (p->from_column + p->columns < map_columns(m))
        canvas_text(c, canvas_at(c->w - 2, y, 2), ROLE_DIM, false, "→");
}

static void draw_grid(struct app *a, const struct map *m, const struct place *p)
{
    char text[24];
    for (int j = 0; j < p->rows; j++) {
        int y = p->y + j * p->pitch_y;
        map_number(m->axes.rate.values[p->from_row + j], text, sizeof text);
        canvas_printf(a->canvas, canvas_at(0, y, p->x), ROLE_DIM, false, "%*s", p->x - 3, text);
        for (int i = 0; i < p->columns; i++) {
            int column = p->from_column + i, row = p->from_row + j, x = p->x + i * p->pitch_x;
            draw_cell(a, map_cell(m, column, row), x, y, p->pitch_x == WIDE_CELL);
            mouse_hot(a, (struct rect){x, y, CELL, 1}, act_map_focus,
                      row * map_columns(m) + column);
        }
    }
    if (p->from_row > 0)
        canvas_text(a->canvas, canvas_at(p->x - 3, p->y, 1), ROLE_DIM, false, "↑");
    if (p->from_row + p->rows < map_rows(m))
        canvas_text(a->canvas, canvas_at(p->x - 3, p->y + (p->rows - 1) * p->pitch_y, 1), ROLE_DIM,
                    false, "↓");
}

/* --- beneath ---------------------------------------------------------------------------------- */

/* Before anything is measured: what this is, what it takes, and the key. */
/* On a narrow screen there are two lines for it. */
static void invitation(const struct app *a, const struct map *m, char *buf, size_t size)
{
    const struct scene *s = a->scene;
    char span[24], first[2][16], last[2][16];
    const struct axis *c = &m->axes.connections, *r = &m->axes.rate;
    map_number(c->values[0], first[0], sizeof first[0]);
    map_number(c->values[c->count - 1], last[0], sizeof last[0]);
    map_number(r->values[0], first[1], sizeof first[1]);
    map_number(r->values[r->count - 1], last[1], sizeof last[1]);
    units_about(span, sizeof span, s->map_seconds);
    if (a->canvas->w < 80) {
        snprintf(buf, size,
                 "Where does it matter which one is taken? n measures %d places, one round each: "
                 "about %s.",
                 s->map_missing, span);
        return;
    }
    snprintf(buf, size,
             "Where does it matter which one is taken? n measures %d places, %s to %s connections "
             "at %s to %s requests/s, one round each: about %s. Esc stops it; what was measured "
             "stays.",
             s->map_missing, first[0], last[0], first[1], last[1], span);
}

static const char *beneath_text(const struct app *a, const struct map *m, char *buf, size_t size)
{
    const struct scene *s = a->scene;
    size_t n;
    map_answer(m, buf, size);
    if (!buf[0] && s->file)
        snprintf(buf, size, "No place of a map was measured in this session.");
    else if (!buf[0] && s->map_missing > 0 && !scene_planning(s))
        invitation(a, m, buf, size);
    else if (!buf[0] && scene_planning(s))
        snprintf(buf, size, "No place of this map is measured yet.");
    n = strlen(buf);
    if (n > 0 && s->map_missing > 0 && s->map_measured && !s->file && !scene_planning(s))
        snprintf(buf + n, size - n, " (%d places are left: n goes on.)", s->map_missing);
    return buf;
}

/* The place in focus, what the marks mean, the answer. Lines are shared by what there is room for,
 * not by what the texts need just now, so that nothing moves while figures come in. */
static void draw_beneath(struct app *a, const struct map *m, struct rect r)
{
    struct canvas *c = a->canvas;
    char text[800];
    int words = r.h >= 5 ? 2 : 1, legend = r.h >= 6 ? 2 : 1, gap = r.h >= 9, end = r.y + r.h;
    int y = r.y + gap, answer = r.h - words - legend - gap, trust = answer >= 5 ? 2 : 0;
    map_say(m, map_cell(m, a->map_column, a->map_row), text, sizeof text);
    chrome_text(c, (struct rect){1, y, r.w - 2, words}, ROLE_FOCUS, false, text);
    y += words + (r.h >= 14);
    map_legend(m, c->ascii, legend == 1, text, sizeof text);
    y += chrome_text(c, (struct rect){1, y, r.w - 2, legend}, ROLE_DIM, false, text);
    y += r.h >= 12;
    beneath_text(a, m, text, sizeof text);
    canvas_text(c, canvas_at(1, y, 7), ROLE_TITLE, true, "ANSWER");
    y += chrome_text(c, (struct rect){9, y, r.w - 10, end - y - trust}, ROLE_TEXT, true, text);
    if (!trust || a->scene->map_measured == 0)
        return;
    map_trust(m, text, sizeof text);
    canvas_text(c, canvas_at(1, y, 7), ROLE_TITLE, true, "TRUST");
    chrome_text(c, (struct rect){9, y, r.w - 10, end - y}, ROLE_DIM, false, text);
}

static void draw_title(struct app *a, const struct map *m)
{
    char text[200];
    map_title(m, text, sizeof text);
    size_t n = strlen(text);
    if (a->canvas->w >= 80)
        snprintf(text + n, sizeof text - n, ".  Find your server: how many, how busy");
    canvas_cut(a->canvas, canvas_at(1, 1, a->canvas->w - 2), ROLE_TITLE, true, text);
}

static void draw_map(struct app *a, const struct map *m)
{
    struct canvas *c = a->canvas;
    struct place p;
    struct rect r = {0, 2 + (c->h > 24), c->w, c->h - 4 - (c->h > 24)};
    draw_title(a, m);
    int used = place_grid(a, m, r, &p);
    draw_heads(a, m, &p);
    draw_grid(a, m, &p);
    draw_focus(a, &p);
    draw_yours(a, m, &p);
    draw_beneath(a, m, (struct rect){0, r.y + used, r.w, r.h - used});
}

void view_map_draw(struct app *a)
{
    const struct scene *s = a->scene;
    chrome_header(a);
    if (s->has_map)
        draw_map(a, &s->map);
    else
        chrome_text(a->canvas, (struct rect){1, 1, a->canvas->w - 2, 2}, ROLE_DIM, false,
                    a->frozen
                        ? "frozen: the map comes when the picture goes on (f in the live view)"
                        : s->map_refused);
    chrome_log(a, a->canvas->h - 2);
    chrome_footer(a);
}
