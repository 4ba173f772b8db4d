/* SPDX-License-Identifier: MIT */
/* The curves view: any figure over any axis that was measured, a line a pane; beneath it the
 * figures at the cursor, where the lines meet, and why. Published figures stand in the table, never
 * among these points. The plot takes what the lines of text leave, and those do not change in
 * number while the cursor moves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/curves_say.h"
#include "ui/actions.h"
#include "ui/chart.h"
#include "ui/text.h"
#include "ui/views.h"

enum { TOP = 3, MEETINGS = 8 };

/* --- what is asked for ------------------------------------------------------------------------ */

int curves_cursor(const struct app *a)
{
    const struct curves *c = &a->scene->curves.now;
    int here = c->count - 1;
    for (int i = 0; i < c->count; i++) {
        if (!isnan(a->curves.at) && c->at[i].x == a->curves.at)
            return i;
        if (c->at[i].row == a->scene->curves.row)
            here = i;
    }
    return here;
}

/* --- the plot --------------------------------------------------------------------------------- */

struct plot {
    struct rect r; /* inside of the axes */
    struct curve_logs logs;
    struct scale scale;
};

static void add_heights(const struct curves *c, double *out, int *n)
{
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < c->lines; k++) {
            const struct summary *s = &c->at[i].line[k].s;
            out[(*n)++] = s->mean;
            out[(*n)++] = s->low > 0 ? s->low : NAN;
            out[(*n)++] = s->high;
        }
}

/* The next of 1 2 5 10 ... up or down. */
static double round_step(double v, bool up)
{
    static const double steps[] = {1, 2, 5, 10};
    double decade = pow(10, floor(log10(v))), down = decade;
    for (int i = 0; i < 4; i++) {
        double at = steps[i] * decade;
        if (up && at >= v * (1 - 1e-9))
            return at;
        down = at <= v * (1 + 1e-9) ? at : down;
    }
    return down;
}

/* Whole decades would leave half of a low plot empty. */
static void narrow(struct scale *s, const double *values, int n)
{
    double low = INFINITY, high = 0;
    for (int i = 0; i < n; i++) {
        low = values[i] > 0 ? fmin(low, values[i]) : low;
        high = fmax(high, values[i]);
    }
    if (!(high > 0))
        return;
    s->low = fmax(s->low, round_step(low, false));
    s->high = round_step(high, true);
    if (s->high <= s->low)
        s->high = 10 * s->low;
}

static struct scale height_scale(const struct scene_curves *s, bool log_axis)
{
    int n = 0, most = 3 * LINEUP_MAX * (s->now.count + (s->has_before ? s->before.count : 0));
    double *all = xcalloc((size_t)most + 1, sizeof *all);
    add_heights(&s->now, all, &n);
    if (s->has_before)
        add_heights(&s->before, all, &n);
    struct scale scale = scale_for(all, n, 0, log_axis);
    if (log_axis)
        narrow(&scale, all, n);
    free(all);
    return scale;
}

/* What is read off is in the unit of the axis. */
struct unit curves_unit(const struct app *a)
{
    const struct scene_curves *s = &a->scene->curves;
    struct scale scale = height_scale(s, curves_logs(&s->now, a->curves.axes).y);
    return words_unit(s->now.figure, &scale, false);
}

static int points_of(const struct plot *p, const struct scene_curves *s, const struct curves *c,
                     int line, struct chart_point *out)
{
    int n = 0;
    for (int i = 0; i < c->count; i++) {
        const struct summary *v = &c->at[i].line[line].s;
        out[n++] = (struct chart_point){curves_place(&s->now, p->logs.x, c->at[i].x),
                                        scale_place(&p->scale, v->mean),
                                        scale_place(&p->scale, v->low),
                                        scale_place(&p->scale, v->high)};
    }
    return n;
}

static void draw_lines(struct app *a, const struct plot *p, bool before, bool points)
{
    const struct scene_curves *s = &a->scene->curves;
    const struct curves *c = before ? &s->before : &s->now;
    struct chart_point *at = xcalloc((size_t)c->count + 1, sizeof *at);
    for (int k = c->lines - 1; k >= 0; k--) {
        struct chart_line l = {at, points_of(p, s, c, k, at), k, before, words_role(k)};
        if (points)
            chart_draw_points(a->canvas, p->r, &l);
        else
            chart_draw_line(a->canvas, p->r, a->charset, &l);
    }
    free(at);
}

static void draw_cursor(struct app *a, const struct plot *p)
{
    const struct curves *c = &a->scene->curves.now;
    int at = curves_cursor(a);
    if (at < 0)
        return;
    int col = chart_column(p->r, curves_place(c, p->logs.x, c->at[at].x));
    for (int y = 0; y < p->r.h; y++)
        canvas_put(a->canvas, col, p->r.y + y, ROLE_FOCUS, L'│');
}

/* A click reads off at the point nearest to its column. */
static void note_columns(struct app *a, const struct plot *p)
{
    const struct curves *c = &a->scene->curves.now;
    int from = p->r.x;
    for (int i = 0; i < c->count; i++) {
        int here = chart_column(p->r, curves_place(c, p->logs.x, c->at[i].x)), to = p->r.x + p->r.w;
        if (i + 1 < c->count)
            to = (here + chart_column(p->r, curves_place(c, p->logs.x, c->at[i + 1].x))) / 2 + 1;
        mouse_hot(a, (struct rect){from, p->r.y, to - from, p->r.h + 2}, act_curve_focus, i);
        from = to;
    }
}

static void draw_meetings(struct app *a, const struct plot *p, const struct meeting *m, int n)
{
    for (int i = 0; i < n; i++)
        if (m[i].kind == MEETS_CROSS)
            canvas_put(a->canvas, chart_column(p->r, m[i].place),
                       chart_row(p->r, scale_place(&p->scale, m[i].y)), ROLE_FOCUS, L'×');
}

/* --- the x axis ------------------------------------------------------------------------------- */

/* A label where it has room beside those that stand; the cursor's, the ends, then the others. */
static void draw_tick(struct canvas *c, const struct curves *k, const struct plot *p, double v)
{
    struct num text = curves_tick(k->axis, v);
    int w = canvas_width(text.s), y = p->r.y + p->r.h + 1;
    int x = chart_column(p->r, curves_place(k, p->logs.x, v)) - w / 2;
    x = x + w > c->w - 1 ? c->w - 1 - w : x < 0 ? 0 : x;
    for (int at = x - 2; at < x + w + 2; at++)
        if (at >= 0 && at < c->w && c->cells[y * c->w + at].ch[0] != L' ')
            return;
    canvas_text(c, canvas_at(x, y, w), ROLE_DIM, false, text.s);
}

static void draw_x_axis(struct app *a, const struct plot *p)
{
    struct canvas *c = a->canvas;
    const struct curves *k = &a->scene->curves.now;
    int y = p->r.y + p->r.h;
    canvas_put(c, p->r.x - 1, y, ROLE_DIM, L'└');
    canvas_fill(c, (struct rect){p->r.x, y, p->r.w, 1}, ROLE_DIM, L'─');
    if (k->axis == PARAM_COUNT)
        return;
    for (const struct curves *b = k; b; b = b->with)
        for (int i = 0; i < b->count; i++)
            canvas_put(c, chart_column(p->r, curves_place(k, p->logs.x, b->at[i].x)), y, ROLE_DIM,
                       L'┬');
    if (k->count) {
        draw_tick(c, k, p, k->at[0].x);
        draw_tick(c, k, p, k->at[k->count - 1].x);
    }
    for (const struct curves *b = k; b; b = b->with)
        for (int i = 0; i < b->count; i++)
            draw_tick(c, k, p, b->at[i].x);
}

/* --- text ------------------------------------------------------------------------------------- */

static void draw_title(struct app *a, const struct plot *p)
{
    const struct curves *c = &a->scene->curves.now;
    struct unit u = words_unit(c->figure, &p->scale, false);
    char text[240] = "";
    struct text t = {text, sizeof text, 0};
    say(&t, "y: %s%s%s%s   ", metric_table[c->figure].title, *u.word ? ", " : "", u.word,
        p->logs.y ? ", log" : "");
    if (c->axis != PARAM_COUNT)
        say(&t, "x: %s%s   ", curves_axis_word(c->axis).s, p->logs.x ? ", log" : "");
    curves_say_common(c, &t);
    canvas_cut(a->canvas, canvas_at(1, 1, a->canvas->w - 2), ROLE_TITLE, false, text);
}

/* The reason is that of the main figure, or of what stands for it. */
static bool explains(const struct curves *c, const struct answer *n)
{
    bool main = c->figure == c->workload->yields[0] || c->figure == METRIC_cpu_us_per_request;
    return main && n->why[0] && strcmp(n->why, "-") != 0;
}

static void say_all(const struct app *a, const struct meeting *m, int meetings, struct text *t)
{
    const struct scene_curves *s = &a->scene->curves;
    if (s->now.axis == PARAM_COUNT) {
        say(t, "One row has no curve%s",
            a->scene->file ? "" : ". p measures a sweep; each row appears here as it comes.");
        return;
    }
    if (s->now.count < 2 && !a->scene->file)
        say(t, "One row so far: p measures a sweep, whose rows appear beside the dotted ones");
    curves_say_meet(&s->now, m, meetings, t);
    if (t->used && s->now.count > 1 && explains(&s->now, &s->answer))
        say(t, ": %s", s->answer.why);
    if (t->used)
        say(t, ".");
}

/* --- all of it -------------------------------------------------------------------------------- */

static int text_room(int h)
{
    return h < 20 ? 1 : h < 30 ? 2 : 3;
}

static struct plot plot_of(const struct app *a, int below)
{
    const struct canvas *c = a->canvas;
    struct plot p = {.logs = curves_logs(&a->scene->curves.now, a->curves.axes)};
    p.scale = height_scale(&a->scene->curves, p.logs.y);
    int h = c->h - TOP - 2 - below - 2;
    h -= h % 2 == 0; /* a middle line for its label */
    p.r = (struct rect){GRAPH_GUTTER + 1, TOP, c->w - GRAPH_GUTTER - 4, h < 3 ? 3 : h};
    return p;
}

static void draw_plot(struct app *a, const struct plot *p, const struct meeting *m, int meetings)
{
    const struct scene_curves *s = &a->scene->curves;
    double per = words_unit(s->now.figure, &p->scale, false).per;
    struct scale said = {p->scale.low * per, p->scale.high * per, p->scale.log};
    graph_y_axis(a->canvas, (struct rect){0, p->r.y, a->canvas->w, p->r.h}, &said);
    draw_x_axis(a, p);
    draw_cursor(a, p);
    if (s->has_before)
        draw_lines(a, p, true, false);
    draw_lines(a, p, false, false);
    if (s->has_before)
        draw_lines(a, p, true, true);
    draw_lines(a, p, false, true);
    draw_meetings(a, p, m, meetings);
    note_columns(a, p);
}

static void draw_measured(struct app *a)
{
    struct canvas *c = a->canvas;
    const struct scene_curves *s = &a->scene->curves;
    struct meeting m[MEETINGS];
    char text[600] = "";
    struct text t = {text, sizeof text, 0};
    int read = curves_read_lines(a), room = text_room(c->h);
    struct plot p = plot_of(a, read + room);
    int meetings = curves_meet(&s->now, p.logs, m, MEETINGS);
    say_all(a, m, meetings, &t);
    draw_title(a, &p);
    curves_legend(a, TOP - 1, m, meetings);
    draw_plot(a, &p, m, meetings);
    int y = c->h - 2 - read - room;
    curves_read_draw(a, (struct rect){1, y, c->w - 2, read});
    chrome_text(c, (struct rect){1, y + read, c->w - 2, room}, ROLE_TEXT, false, text);
}

void view_curves_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    const struct scene_curves *s = &a->scene->curves;
    chrome_header(a);
    if (!s->has && a->frozen)
        chrome_text(c, (struct rect){1, 1, c->w - 2, 2}, ROLE_DIM, false,
                    "frozen: the curves come when the picture goes on (f in the live view)");
    else if (!s->has || (!s->now.count && !s->has_before))
        chrome_text(c, (struct rect){1, 1, c->w - 2, 2}, ROLE_DIM, false,
                    "nothing is measured of this yet; p measures a sweep");
    else
        draw_measured(a);
    chrome_log(a, c->h - 2);
    chrome_footer(a);
}
