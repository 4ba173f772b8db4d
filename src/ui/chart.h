/* SPDX-License-Identifier: MIT */
/* Lines through points: each with a glyph, a dash and a colour of its own, so that any two of the
 * three may be missing. Places are 0..1 from the lower left corner. Pure functions of their values,
 * like those of graph.h. */
#ifndef UI_CHART_H
#define UI_CHART_H

#include "ui/canvas.h"
#include "ui/term.h"

struct chart_point {
    double x, y;      /* y NaN: not measured, the line goes on to the next point */
    double low, high; /* of its interval, NaN: none */
};

struct chart_line {
    const struct chart_point *points; /* ascending x */
    int count;
    int kind; /* dash and glyph: 0 to 3 */
    bool before; /* dotted, its points are letters */
    enum role role;
};

/* Into the inside of the axes. Lines and bars first, points when all lines are drawn. */
void chart_draw_line(struct canvas *c, struct rect r, enum term_charset charset,
                     const struct chart_line *l);
void chart_draw_points(struct canvas *c, struct rect r, const struct chart_line *l);

/* The glyph of a line's points. */
wchar_t chart_glyph(int kind, bool before);

/* The cell of a place: column and line of the canvas. */
int chart_column(struct rect r, double x);
int chart_row(struct rect r, double y);

#endif
