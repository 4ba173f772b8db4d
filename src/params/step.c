/* SPDX-License-Identifier: MIT */
/* The keys + and -: numbers walk the series 1 2 5 10 and words their list. A value between two
 * members goes to the next member, so a typed 400 becomes 500 or 200. The ends are where the table
 * says; beyond them lie max (rates) and auto, which are one step away, not a hundred. */
#include "params/params.h"

/* No loopback answers more, and a walk to the table's 100M would take eight keys more. */
#define RATE_TOP 1e6

static double series_up(double v)
{
    static const double members[] = {1, 2, 5};
    double decade = pow(10, floor(log10(v)) - 1);
    for (int n = 0; n < 3; n++, decade *= 10)
        for (int i = 0; i < 3; i++)
            if (members[i] * decade > v * (1 + 1e-9))
                return members[i] * decade;
    return v;
}

static double series_down(double v)
{
    static const double members[] = {5, 2, 1};
    double decade = pow(10, floor(log10(v)) + 1);
    for (int n = 0; n < 3; n++, decade /= 10)
        for (int i = 0; i < 3; i++)
            if (members[i] * decade < v * (1 - 1e-9))
                return members[i] * decade;
    return v;
}

/* The first step above 0: fine enough for a span, one for what is counted. */
static double smallest(const struct param_info *p)
{
    if (p->low > 0)
        return p->low;
    return p->kind == KIND_SPAN ? 0.01 : 1;
}

static double step_up(const struct param_info *p, double v)
{
    double top = p->kind == KIND_RATE ? RATE_TOP : p->high;
    if (v == PARAM_AUTO)
        return p->low;
    if (v >= top)
        return p->kind == KIND_RATE ? PARAM_MAX : p->high;
    if (v < smallest(p))
        return smallest(p);
    return fmin(series_up(v), top);
}

static double step_down(enum param_id id, double v)
{
    const struct param_info *p = &param_table[id];
    if (isinf(v))
        return RATE_TOP;
    if (v <= p->low)
        return params_allows_auto(id) ? PARAM_AUTO : p->low;
    return v <= smallest(p) * (1 + 1e-9) ? p->low : fmax(series_down(v), p->low);
}

/* 0.30000000000000004 is nothing that a person asked for. */
static double tidy(double v)
{
    if (isinf(v) || v <= 0)
        return v;
    double scale = pow(10, 11 - floor(log10(v)));
    return v >= 1e12 ? v : nearbyint(v * scale) / scale;
}

static double step_word(enum param_id id, double v, int direction)
{
    double next = v + (direction < 0 ? -1 : 1);
    return next >= 0 && params_choice(id, (int)next) ? next : v;
}

double params_step(enum param_id id, double value, int direction)
{
    const struct param_info *p = &param_table[id];
    if (isnan(value))
        return value;
    if (p->kind == KIND_WORD || p->kind == KIND_NAME)
        return step_word(id, value, direction);
    return tidy(direction < 0 ? step_down(id, value) : step_up(p, value));
}
