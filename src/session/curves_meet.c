/* SPDX-License-Identifier: MIT */
/* Where two lines meet. A point tells which line is above when the interval of their ratio says so;
 * in between the lines are straight on the axes as drawn, so what is said is where one sees it.
 * Lines that only touch within their scatter do not cross: they join, or part. */
#include "session/curves.h"

#include <math.h>

#define SLOT 0.1 /* of the axis, for a value that is no number on it */

/* --- places ---------------------------------------------------------------------------------- */

struct span {
    double low, high; /* of the values that are numbers on this axis */
    double left, right; /* room at the ends */
};

static bool is_zero_slot(bool log_x, double x)
{
    return log_x && x <= 0;
}

static struct span span_of(const struct curves *c, bool log_x)
{
    struct span s = {INFINITY, -INFINITY, 0, 0};
    for (; c; c = c->with)
        for (int i = 0; i < c->count; i++) {
            double x = c->at[i].x;
            if (isinf(x)) {
                s.right = SLOT;
            } else if (is_zero_slot(log_x, x)) {
                s.left = SLOT;
            } else {
                s.low = fmin(s.low, x);
                s.high = fmax(s.high, x);
            }
        }
    return s;
}

double curves_place(const struct curves *c, bool log_x, double x)
{
    struct span s = span_of(c, log_x);
    if (isinf(x))
        return 1;
    if (is_zero_slot(log_x, x))
        return 0;
    double share = s.high > s.low ? log_x ? log(x / s.low) / log(s.high / s.low)
                                          : (x - s.low) / (s.high - s.low)
                                  : 0.5;
    return s.left + share * (1 - s.left - s.right);
}

/* The value at a place; NaN between a number and what is none. */
static double value_at(const struct curves *c, bool log_x, double place)
{
    struct span s = span_of(c, log_x);
    double share = (place - s.left) / (1 - s.left - s.right);
    if (!(s.high > s.low) || share < -1e-9 || share > 1 + 1e-9)
        return NAN;
    return log_x ? s.low * pow(s.high / s.low, share) : s.low + share * (s.high - s.low);
}

struct curve_logs curves_logs(const struct curves *c, enum curve_axes axes)
{
    struct span s = span_of(c, true); /* without 0 */
    int n = 0;
    for (; c; c = c->with)
        for (int i = 0; i < c->count; i++)
            n += isfinite(c->at[i].x) && c->at[i].x > 0;
    bool can = s.high > s.low, spread = n >= 2 && s.high >= 16 * s.low;
    return (struct curve_logs){axes == AXES_LOG ? can : axes == AXES_USUAL && spread,
                               axes == AXES_LOG};
}

/* --- who is above ---------------------------------------------------------------------------- */

static double mean(const struct curves *c, int i, int line)
{
    return c->at[i].line[line].s.mean;
}

/* Figures that have no ratio go by their own intervals. */
int curves_told(const struct curves *c, int i)
{
    const struct curve_at *at = &c->at[i];
    const struct summary *a = &at->line[0].s, *b = &at->line[c->against].s;
    if (!isnan(at->ratio.low))
        return at->ratio.low > 1 ? 1 : at->ratio.high < 1 ? -1 : 0;
    return a->low > b->high ? 1 : a->high < b->low ? -1 : 0;
}

bool curves_both(const struct curves *c, int i)
{
    return !isnan(mean(c, i, 0)) && !isnan(mean(c, i, c->against));
}

/* The next point from i on that has both lines; count: none. */
static int next_both(const struct curves *c, int i)
{
    while (i < c->count && !curves_both(c, i))
        i++;
    return i;
}

/* --- where ----------------------------------------------------------------------------------- */

static double height(double v, bool log_y)
{
    return !log_y ? v : v > 0 ? log(v) : NAN;
}

/* The intersection of the two straight pieces between points i and k; false: none there. */
static bool intersect(const struct curves *c, int i, int k, struct curve_logs logs,
                      struct meeting *m)
{
    double a0 = height(mean(c, i, 0), logs.y), a1 = height(mean(c, k, 0), logs.y);
    double b0 = height(mean(c, i, c->against), logs.y), b1 = height(mean(c, k, c->against), logs.y);
    double before = a0 - b0, after = a1 - b1;
    if (!(before * after <= 0) || before == after)
        return false;
    double t = before / (before - after);
    double p0 = curves_place(c, logs.x, c->at[i].x), p1 = curves_place(c, logs.x, c->at[k].x);
    double y = a0 + t * (a1 - a0);
    *m = (struct meeting){MEETS_CROSS, i, k, p0 + t * (p1 - p0), NAN, logs.y ? exp(y) : y};
    m->x = value_at(c, logs.x, m->place);
    return true;
}

/* Somewhere between two points that tell the opposite, over those between that do not tell. */
static bool cross_between(const struct curves *c, int from, int to, struct curve_logs logs,
                          struct meeting *m)
{
    for (int i = from, k = next_both(c, i + 1); k <= to; i = k, k = next_both(c, i + 1))
        if (intersect(c, i, k, logs, m))
            return true;
    return false;
}

static struct meeting touch(const struct curves *c, enum meeting_kind kind, int from, int to,
                            bool log_x)
{
    int at = kind == MEETS_JOIN ? to : from; /* the first or the last that does not tell */
    return (struct meeting){kind, from, to, curves_place(c, log_x, c->at[at].x), c->at[at].x,
                            (mean(c, at, 0) + mean(c, at, c->against)) / 2};
}

int curves_meet(const struct curves *c, struct curve_logs logs, struct meeting *out, int most)
{
    int n = 0, last = -1, unclear = -1, sign = 0; /* last: point that told; unclear: one after it */
    if (c->against < 1)
        return 0;
    for (int i = next_both(c, 0); i < c->count && n < most; i = next_both(c, i + 1)) {
        int now = curves_told(c, i);
        if (now == 0) {
            unclear = unclear < 0 || last < 0 ? i : unclear;
            continue;
        }
        if (last < 0 && unclear >= 0)
            out[n++] = touch(c, MEETS_PART, unclear, i, logs.x);
        else if (last >= 0 && now != sign)
            n += cross_between(c, last, i, logs, &out[n]);
        last = i;
        sign = now;
        unclear = -1;
    }
    if (last >= 0 && unclear >= 0 && n < most)
        out[n++] = touch(c, MEETS_JOIN, last, unclear, logs.x);
    return n;
}
