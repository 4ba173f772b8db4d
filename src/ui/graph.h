/* SPDX-License-Identifier: MIT */
/* Graphs, sparklines and meters drawn into a canvas. A value that is not measured (NaN) is a gap; a
 * measured 0 still leaves its foot on the axis. All are pure functions of their values, so a
 * picture drawn anew equals one drawn on. */
#ifndef UI_GRAPH_H
#define UI_GRAPH_H

#include "ui/canvas.h"
#include "ui/term.h"

/* How tall the axis is. */
struct scale {
    double low, high; /* linear: 0 and a round number; log: powers of ten */
    bool log;
};

/* The smallest round scale (1 2 5 10 ... times `least`'s decade) that holds all n values; at least
 * `least` tall. */
struct scale scale_for(const double *values, int n, double least, bool log_axis);

/* 0..1 of a value on the scale; NaN for NaN. Values outside are pinned to the ends. */
double scale_place(const struct scale *s, double v);

struct graph {
    struct rect r;        /* with its labels and its time line */
    const double *values; /* newest last */
    int count;
    struct scale scale;
    double per; /* labels stand for so many times the values; 0: for themselves */
    enum role role;
    enum term_charset charset;
    bool time_line; /* a last line "30 s ago ... now" */
    bool over;      /* the last value is not of now */
    double span_s;  /* what the values shown last, for it; NaN: one a pass, however long */
    int cursor;     /* values before the newest one that is marked; -1: none */
};

/* Values that fit into a graph of this width. */
int graph_slots(int w, enum term_charset charset);

/* Columns of the labels on its left side. */
#define GRAPH_GUTTER 5

/* The y axis of a plot with its labels, in the first GRAPH_GUTTER columns of r. */
void graph_y_axis(struct canvas *c, struct rect r, const struct scale *s);

/* Blanks between the columns have the graph's role too: they look alike, and a terminal is not told
 * of a change of colour at each when the picture moves. */
void graph_draw(struct canvas *c, const struct graph *g);

/* Two lines over x (both n points, x from 0): a filled, b (NULL: none) as dots of another shape. */
struct graph_pair {
    struct rect r;
    const double *x, *a, *b;
    int count;
    double x_high; /* at the right edge, in seconds */
    struct scale scale;
    enum role role_a, role_b;
    enum term_charset charset;
};
void graph_pair_draw(struct canvas *c, const struct graph_pair *g);

/* The last w values, 8 (braille, block) or 4 heights of one line, from 0 to their largest. */
void spark_draw(struct canvas *c, struct rect r, enum role role, const double *values, int n);

/* A bar, full at 100. NaN: all dots. */
void meter_draw(struct canvas *c, struct strip to, enum role role, double pct);

#endif
