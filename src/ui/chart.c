/* SPDX-License-Identifier: MIT */
/* A line is walked in steps of a dot (braille: 2 x 4 in a cell, else a cell); its dash says at
 * which steps there is ink. Where two braille lines share a cell both stay to be seen, in the
 * colour of the later one. */
#include "ui/chart.h"

#include <math.h>

struct kind {
    wchar_t glyph, letter;
    const char *dash; /* x: ink, over and over */
    wchar_t stroke, plain; /* where there are no dots */
};

static const struct kind kinds[] = {
    {L'●', L'a', "x", L'·', L'.'},
    {L'○', L'b', "xxxxxx...", L'-', L'-'},
    {L'■', L'c', "xxx..", L':', L':'},
    {L'▲', L'd', "xxxxxxx..x..", L'~', L'~'},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char before_dash[] = "x...";

wchar_t chart_glyph(int kind, bool before)
{
    const struct kind *k = &kinds[kind % KINDS];
    return before ? k->letter : k->glyph;
}

int chart_column(struct rect r, double x)
{
    return r.x + (int)lround(x * (r.w - 1));
}

int chart_row(struct rect r, double y)
{
    return r.y + r.h - 1 - (int)lround(y * (r.h - 1));
}

struct pen {
    struct canvas *c;
    struct rect r;
    bool braille;
    int across, down; /* dots of a cell */
    const struct chart_line *l;
    const char *dash, *at;
};

static bool ink(struct pen *p)
{
    bool on = *p->at == 'x';
    if (!*++p->at)
        p->at = p->dash;
    return on;
}

/* A dot counted from the upper left corner of the inside. */
static void dot(struct pen *p, int x, int y)
{
    static const int bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int col = p->r.x + x / p->across, row = p->r.y + y / p->down;
    if (x < 0 || y < 0 || col >= p->r.x + p->r.w || row >= p->r.y + p->r.h || col >= p->c->w ||
        row >= p->c->h)
        return;
    const struct kind *k = &kinds[p->l->kind % KINDS];
    wchar_t ch = p->c->ascii ? k->plain : k->stroke;
    if (p->l->before)
        ch = p->c->ascii ? L'.' : L'·';
    if (p->braille) {
        wchar_t there = p->c->cells[row * p->c->w + col].ch[0];
        ch = (there >= 0x2800 && there <= 0x28ff ? there : 0x2800) | bits[y % 4][x % 2];
    }
    canvas_put(p->c, col, row, p->l->role, ch);
}

static double dot_x(const struct pen *p, double x)
{
    return x * (p->r.w - 1) * p->across + (p->across - 1) / 2.0;
}

static double dot_y(const struct pen *p, double y)
{
    return (1 - y) * (p->r.h - 1) * p->down + (p->down - 1) / 2.0;
}

/* As many steps as the longer way has dots. */
static void stroke(struct pen *p, const struct chart_point *from, const struct chart_point *to)
{
    double x0 = dot_x(p, from->x), y0 = dot_y(p, from->y);
    double x1 = dot_x(p, to->x), y1 = dot_y(p, to->y);
    int steps = (int)ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
    for (int i = 0; i <= steps && steps < 10000; i++) {
        double t = steps ? (double)i / steps : 0;
        if (ink(p))
            dot(p, (int)lround(x0 + t * (x1 - x0)), (int)lround(y0 + t * (y1 - y0)));
    }
}

/* What does not reach past its point's glyph is not seen, and needs not be. */
static void bar(struct pen *p, const struct chart_point *at)
{
    if (isnan(at->low) || isnan(at->high))
        return;
    int x = (int)lround(dot_x(p, at->x));
    int low = (int)lround(dot_y(p, at->low)), high = (int)lround(dot_y(p, at->high));
    for (int y = high; y <= low && low - high < 10000; y++) {
        if (p->braille)
            dot(p, x, y);
        else
            canvas_put(p->c, p->r.x + x, p->r.y + y, p->l->role, L'│');
    }
}

void chart_draw_line(struct canvas *c, struct rect r, enum term_charset charset,
                     const struct chart_line *l)
{
    bool braille = charset == CHARSET_BRAILLE;
    const char *dash = l->before ? before_dash : braille ? kinds[l->kind % KINDS].dash : "x";
    struct pen p = {c, r, braille, braille ? 2 : 1, braille ? 4 : 1, l, dash, dash};
    const struct chart_point *last = NULL;
    for (int i = 0; i < l->count; i++) {
        const struct chart_point *at = &l->points[i];
        if (isnan(at->y))
            continue;
        if (last)
            stroke(&p, last, at);
        bar(&p, at);
        last = at;
    }
}

void chart_draw_points(struct canvas *c, struct rect r, const struct chart_line *l)
{
    for (int i = 0; i < l->count; i++)
        if (!isnan(l->points[i].y))
            canvas_put(c, chart_column(r, l->points[i].x), chart_row(r, l->points[i].y), l->role,
                       chart_glyph(l->kind, l->before));
}
