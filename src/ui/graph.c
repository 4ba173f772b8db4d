/* SPDX-License-Identifier: MIT */
/* One value takes one column of cells (braille: half of one where the graph is narrow), and each
 * column is filled from the axis up in steps of a fraction of a cell: 4 for braille, 8 for blocks,
 * 3 for ASCII. A new value shifts the picture by whole columns, so old values keep their shape. The
 * scale depends on the values alone. */
#include "ui/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

enum { MOST_STEPS = 4, LEAST_STEPS = 3 }; /* T, n */
enum { WIDE_GRAPH = 28 }; /* columns from which braille gives a value both halves of a cell */

/* --- scales ----------------------------------------------------------------------------------- */

static double round_up(double v)
{
    static const double steps[] = {1, 2, 4, 5, 10};
    if (!(v > 0))
        return 1;
    double decade = pow(10, floor(log10(v)));
    for (int i = 0; i < 5; i++)
        if (v <= steps[i] * decade * 1.0000001)
            return steps[i] * decade;
    return 10 * decade;
}

static struct scale scale_log(const double *values, int n)
{
    double low = INFINITY, high = 0;
    for (int i = 0; i < n; i++) {
        if (!(values[i] > 0) || isinf(values[i]))
            continue;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    if (!(high > 0))
        return (struct scale){1, 100, true};
    int to = (int)ceil(log10(high) - 1e-9), from = (int)floor(log10(low) + 1e-9);
    if (to <= from)
        to = from + 1;
    if (to - from > 6)
        from = to - 6;
    return (struct scale){pow(10, from), pow(10, to), true};
}

struct scale scale_for(const double *values, int n, double least, bool log_axis)
{
    if (log_axis)
        return scale_log(values, n);
    double high = 0;
    for (int i = 0; i < n; i++)
        if (!isinf(values[i]))
            high = fmax(high, values[i]); /* fmax leaves NaN out */
    if (!(high > least))
        return (struct scale){0, least > 0 ? least : 1, false};
    return (struct scale){0, round_up(high), false};
}

double scale_place(const struct scale *s, double v)
{
    if (isnan(v))
        return NAN;
    if (s->log)
        v = v <= s->low ? 0 : log(v / s->low) / log(s->high / s->low);
    else
        v = (v - s->low) / (s->high - s->low);
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

/* --- columns ---------------------------------------------------------------------------------- */

static int steps_of(enum term_charset charset)
{
    return charset == CHARSET_BRAILLE ? 4 : charset == CHARSET_BLOCK ? 8 : 3;
}

/* Steps filled from the bottom of a graph `lines` tall: at least 1, or -1 for a gap. */
static int filled(const struct scale *s, double v, int lines, enum term_charset charset)
{
    double at = scale_place(s, v);
    if (isnan(at))
        return -1;
    int n = (int)lround(at * lines * steps_of(charset));
    return n < 1 ? 1 : n;
}

/* Dots of one half of a braille cell, filled from below: 0 to 4. */
static int braille_half(int level, bool right)
{
    static const int left_bits[] = {0, 0x40, 0x44, 0x46, 0x47};
    static const int right_bits[] = {0, 0x80, 0xa0, 0xb0, 0xb8};
    level = level < 0 ? 0 : level > 4 ? 4 : level;
    return right ? right_bits[level] : left_bits[level];
}

static wchar_t full_cell(enum term_charset charset, int level)
{
    static const wchar_t ascii[] = L" .:#";
    int most = steps_of(charset);
    level = level < 0 ? 0 : level > most ? most : level;
    if (charset == CHARSET_ASCII)
        return ascii[level];
    return level ? L'▁' + (level - 1) : L' ';
}

static bool halves(int w, enum term_charset charset)
{
    return charset == CHARSET_BRAILLE && w - GRAPH_GUTTER < WIDE_GRAPH;
}

int graph_slots(int w, enum term_charset charset)
{
    int columns = w - GRAPH_GUTTER;
    return columns < 1 ? 0 : halves(w, charset) ? columns * 2 : columns;
}

/* The value that belongs to slot i of n (the newest in the last one). */
static double slot_value(const struct graph *g, int i, int n)
{
    int at = g->count - n + i;
    return at < 0 || at >= g->count ? NAN : g->values[at];
}

static void draw_column(struct canvas *c, const struct graph *g, struct rect plot, int column)
{
    bool half = halves(g->r.w, g->charset);
    int n = graph_slots(g->r.w, g->charset), steps = steps_of(g->charset);
    int left = filled(&g->scale, slot_value(g, half ? 2 * column : column, n), plot.h, g->charset);
    int right =
        half ? filled(&g->scale, slot_value(g, 2 * column + 1, n), plot.h, g->charset) : left;
    for (int line = 0; line < plot.h; line++) {
        int y = plot.y + plot.h - 1 - line, below = line * steps;
        wchar_t ch = full_cell(g->charset, left - below);
        if (g->charset == CHARSET_BRAILLE) {
            int dots = braille_half(left - below, false) | braille_half(right - below, true);
            ch = dots ? 0x2800 + dots : L' ';
        }
        canvas_put(c, plot.x + column, y, g->role, ch);
    }
}

/* --- axes ------------------------------------------------------------------------------------- */

static double label_value(const struct scale *s, double at)
{
    return s->log ? s->low * pow(s->high / s->low, at) : s->low + (s->high - s->low) * at;
}

/* By which power of a thousand a label is written short. On a linear axis all by that of its upper
 * end, so that one reads them as one scale; on a logarithmic one each has its own. */
static int thousands(const struct scale *s, double v)
{
    double at = s->log ? v : s->high, most = s->high >= 9999.5 ? 999.5 : 9999.5;
    int step = 0;
    for (; at >= most && step < MOST_STEPS; step++)
        at /= 1000;
    if (!(at > 0) || at >= (s->log ? 0.00095 : 0.0095))
        return step;
    for (; at < 0.0995 && step > -LEAST_STEPS; step--)
        at *= 1000;
    return step;
}

/* Four columns: 100, 2500, 25k, 0.5, .025, .25m. Scales end at round numbers, so little is lost. */
static void label_text(const struct scale *s, double v, char *buf, size_t size)
{
    static const char *const suffix[] = {"n", "µ", "m", "", "k", "M", "G", "T"};
    int step = thousands(s, v);
    char text[40];
    v *= pow(1000, -step);
    if (v >= (step ? 999.5 : 9999.5) || (v > 0 && v < 0.00095)) {
        snprintf(buf, size, v > 1 ? "huge" : "tiny");
        return;
    }
    units_exact(text, sizeof text, round(v * 1e5) / 1e5);
    bool fraction = v > 0 && v < 1 && *text == '0';
    int room = GRAPH_GUTTER - 1 - (step != 0);
    snprintf(buf, size, "%.*s%s", room, text + fraction, v > 0 ? suffix[step + LEAST_STEPS] : "");
}

static void draw_label(struct canvas *c, int x, int y, const struct scale *s, double v)
{
    char text[40];
    label_text(s, v, text, sizeof text);
    int w = canvas_width(text), room = GRAPH_GUTTER - 1;
    canvas_text(c, canvas_at(x + (w < room ? room - w : 0), y, room), ROLE_DIM, false, text);
}

/* Halfway between two powers of ten is no number that one reads. */
static bool is_round(const struct scale *s, double at)
{
    double decade = s->log ? log10(label_value(s, at)) : 0;
    return fabs(decade - round(decade)) < 1e-6;
}

void graph_y_axis(struct canvas *c, struct rect r, const struct scale *s)
{
    int x = r.x + GRAPH_GUTTER - 1;
    for (int y = 0; y < r.h; y++)
        canvas_put(c, x, r.y + y, ROLE_DIM, L'│');
    int middle = r.h >= 5 && r.h % 2 && is_round(s, 0.5) ? r.h / 2 : -1;
    for (int y = 0; y < r.h; y++) {
        if (y != 0 && y != r.h - 1 && y != middle)
            continue;
        if (y == r.h - 1 && r.h < 2)
            continue;
        canvas_put(c, x, r.y + y, ROLE_DIM, L'┤');
        draw_label(c, r.x, r.y + y, s,
                   label_value(s, r.h < 2 ? 1 : 1 - (double)y / (r.h - 1)));
    }
}

static void draw_x_axis(struct canvas *c, struct rect r, const char *from, const char *to)
{
    int x = r.x + GRAPH_GUTTER - 1, w = r.w - GRAPH_GUTTER;
    canvas_put(c, x, r.y, ROLE_DIM, L'└');
    canvas_fill(c, (struct rect){x + 1, r.y, w, 1}, ROLE_DIM, L'─');
    int used = canvas_width(from) + canvas_width(to);
    if (used + 2 > w)
        return;
    canvas_text(c, canvas_at(x + 1, r.y, w), ROLE_DIM, false, from);
    canvas_text(c, canvas_at(x + 1 + w - canvas_width(to), r.y, w), ROLE_DIM, false, to);
}

static void draw_cursor(struct canvas *c, const struct graph *g, struct rect plot)
{
    int n = graph_slots(g->r.w, g->charset), slot = n - 1 - g->cursor;
    if (g->cursor < 0 || slot < 0)
        return;
    int column = halves(g->r.w, g->charset) ? slot / 2 : slot;
    for (int y = 0; y < plot.h; y++)
        canvas_put(c, plot.x + column, plot.y + y, ROLE_FOCUS, L'│');
}

void graph_draw(struct canvas *c, const struct graph *g)
{
    struct rect plot = {g->r.x + GRAPH_GUTTER, g->r.y, g->r.w - GRAPH_GUTTER,
                        g->r.h - (g->time_line ? 1 : 0)};
    if (plot.w < 1 || plot.h < 1)
        return;
    double per = g->per > 0 ? g->per : 1;
    struct scale said = {g->scale.low * per, g->scale.high * per, g->scale.log};
    graph_y_axis(c, (struct rect){g->r.x, g->r.y, g->r.w, plot.h}, &said);
    for (int i = 0; i < plot.w; i++)
        draw_column(c, g, plot, i);
    draw_cursor(c, g, plot);
    if (g->time_line) {
        char span[24], from[40];
        if (isnan(g->span_s))
            snprintf(from, sizeof from, "%d passes ago", g->count);
        else
            snprintf(from, sizeof from, "%s ago", units_about(span, sizeof span, g->span_s));
        draw_x_axis(c, (struct rect){g->r.x, g->r.y + plot.h, g->r.w, 1}, from,
                    g->over ? "end" : "now");
    }
}

/* --- two lines over time ---------------------------------------------------------------------- */

/* The value of a line at the right end of a column, from the last point at or before it, so that
 * its end is seen however short it is. NaN in columns past its end. */
static double line_at(const double *x, const double *v, int n, const double column[2])
{
    double value = NAN;
    for (int i = 0; i < n && x[i] <= column[1]; i++)
        value = v[i];
    return n && column[0] > x[n - 1] ? NAN : value;
}

static void pair_column(struct canvas *c, const struct graph_pair *g, struct rect plot, int column)
{
    double each = g->x_high / plot.w, at[2] = {each * column, each * (column + 1)};
    int steps = steps_of(g->charset);
    int a = filled(&g->scale, line_at(g->x, g->a, g->count, at), plot.h, g->charset);
    double b = g->b ? scale_place(&g->scale, line_at(g->x, g->b, g->count, at)) : NAN;
    for (int line = 0; line < plot.h; line++) {
        wchar_t ch = full_cell(g->charset, a - line * steps);
        if (g->charset == CHARSET_BRAILLE) {
            int dots = braille_half(a - line * steps, false) | braille_half(a - line * steps, true);
            ch = dots ? 0x2800 + dots : L' ';
        }
        if (ch != L' ')
            canvas_put(c, plot.x + column, plot.y + plot.h - 1 - line, g->role_a, ch);
    }
    if (!isnan(b) && column % 2 == 0) {
        int line = (int)(b * (plot.h - 1) + 0.5);
        canvas_put(c, plot.x + column, plot.y + plot.h - 1 - line, g->role_b, L'o');
    }
}

void graph_pair_draw(struct canvas *c, const struct graph_pair *g)
{
    struct rect plot = {g->r.x + GRAPH_GUTTER, g->r.y, g->r.w - GRAPH_GUTTER, g->r.h - 1};
    if (plot.w < 1 || plot.h < 1)
        return;
    graph_y_axis(c, (struct rect){g->r.x, g->r.y, g->r.w, plot.h}, &g->scale);
    for (int i = 0; i < plot.w && g->count && g->x_high > 0; i++)
        pair_column(c, g, plot, i);
    char to[48] = "";
    if (g->x_high > 0)
        units_span(to, sizeof to, g->x_high);
    draw_x_axis(c, (struct rect){g->r.x, g->r.y + plot.h, g->r.w, 1}, "0 s", to);
}

/* --- small ones ------------------------------------------------------------------------------- */

void spark_draw(struct canvas *c, struct rect r, enum role role, const double *values, int n)
{
    double high = 0;
    int from = n > r.w ? n - r.w : 0;
    for (int i = from; i < n; i++)
        high = fmax(high, values[i]);
    struct scale s = {0, high > 0 ? high * 1.25 : 1, false}; /* a steady line is not full */
    for (int i = from; i < n; i++) {
        int level = filled(&s, values[i], 1, CHARSET_BLOCK);
        canvas_put(c, r.x + r.w - n + i, r.y, role, full_cell(CHARSET_BLOCK, level));
    }
}

void meter_draw(struct canvas *c, struct strip to, enum role role, double pct)
{
    int on = isnan(pct) ? 0 : (int)lround(pct / 100 * to.w);
    for (int i = 0; i < to.w; i++)
        canvas_put(c, to.x + i, to.y, i < on ? role : ROLE_DIM, i < on ? L'▮' : L'▯');
}
