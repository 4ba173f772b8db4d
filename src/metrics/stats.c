/* SPDX-License-Identifier: MIT */
/* Small samples from a noisy machine: one slow second must not decide, so means are trimmed and
 * their intervals winsorised (Yuen 1974: the trimmed values come back as copies of the nearest kept
 * one, so their loss is paid for in the width). Two models are compared inside each round, by the
 * logarithm of their ratio, where the drift that both saw cancels and A/B mirrors B/A. */
#include "metrics/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

#define PAIRS_MOST 1000000

const char *const outcome_words[] = {"dearer", "cheaper", "same", "cannot tell", "withheld"};

/* What a trimmed mean and its interval need of the data. */
struct trimmed {
    int taken, used;
    double mean, min, max;
    double error; /* standard error of the mean; NaN under 3 used */
};

/* The finite values in new memory; *n becomes their number. */
static double *finite_copy(const double *values, int *n)
{
    double *copy = xcalloc(*n > 0 ? (size_t)*n : 1, sizeof *copy);
    int kept = 0;
    for (int i = 0; i < *n; i++)
        if (isfinite(values[i]))
            copy[kept++] = values[i];
    *n = kept;
    return copy;
}

/* Brings the k-th least to its place, with none greater before it and none less behind (Hoare
 * 1961): all that a trim wants of an order. Pivots jump about, so that no shape of the values, a
 * rise and a fall say, makes it slow. */
static double put_in_place(double *values, int n, int k)
{
    unsigned jump = 1;
    for (int low = 0, high = n - 1; low < high; jump = jump * 1664525 + 1013904223) {
        double pivot = values[low + (int)((jump >> 8) % (unsigned)(high - low + 1))];
        int i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                double other = values[i];
                values[i++] = values[j];
                values[j--] = other;
            }
        }
        low = j < k ? i : low;
        high = k < i ? j : high;
    }
    return values[k];
}

/* Sums have digits to spare, where a long double has more than a double, so that the order in which
 * values come is lost in rounding. */
static double mean_of(const double *values, int n)
{
    long double sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[i];
    return n > 0 ? (double)(sum / n) : NAN;
}

static double squares_about(const double *values, int n, double mean)
{
    long double sum = 0;
    for (int i = 0; i < n; i++)
        sum += ((long double)values[i] - mean) * ((long double)values[i] - mean);
    return (double)sum;
}

/* Yuen: s_w is the standard deviation of the winsorised sample about its own mean, and
 * error = s_w / ((1 - 2g/n) sqrt(n)). kept points at the h values left of n. */
static double yuen_error(const double *kept, int h, int n, double mean)
{
    int g = (n - h) / 2;
    double winsorised = (mean * h + g * (kept[0] + kept[h - 1])) / n;
    double squares = squares_about(kept, h, winsorised) +
                     g * (pow(kept[0] - winsorised, 2) + pow(kept[h - 1] - winsorised, 2));
    return sqrt(squares / (n - 1)) / ((double)h / n * sqrt(n));
}

static struct trimmed trim_values(const double *values, int n, int trim)
{
    int g = trim > 0 ? trim : 0;
    double *all = finite_copy(values, &n);
    struct trimmed t = {.taken = n, .mean = NAN, .min = NAN, .max = NAN, .error = NAN};
    if (n > 2 * g) {
        double *kept = all + g;
        t.used = n - 2 * g;
        t.min = put_in_place(all, n, g);
        t.max = put_in_place(kept, n - g, t.used - 1);
        /* Rounding must not carry the mean of equal values out of their range. */
        t.mean = fmax(t.min, fmin(mean_of(kept, t.used), t.max));
        if (t.used > 2)
            t.error = yuen_error(kept, t.used, n, t.mean);
    }
    free(all);
    return t;
}

static double half_width(const struct trimmed *t, double confidence)
{
    return t->used > 2 ? stats_t_quantile((1 + confidence) / 2, t->used - 1) * t->error : NAN;
}

struct summary stats_trimmed(const double *values, int n, int trim, double confidence)
{
    struct trimmed t = trim_values(values, n, trim);
    double half = half_width(&t, confidence);
    return (struct summary){t.taken, t.used, t.mean, t.min, t.max, t.mean - half, t.mean + half};
}

/* ---- two models ---- */

static const double far_low = 0.97, far_high = 1.03, near_low = 0.95, near_high = 1.05;

static enum outcome judge(double low, double high, double low90, double high90)
{
    if (low > far_high)
        return OUTCOME_CHEAPER;
    if (high < far_low)
        return OUTCOME_DEARER;
    if (low90 >= near_low && high90 <= near_high)
        return OUTCOME_SAME;
    return OUTCOME_CANNOT_TELL;
}

/* The interval must lie beyond what counts as a difference, and the estimate scatters too: by 1.28
 * of its errors it is off in one of ten, which is up to 0.4 of the half width. */
static double resolution_pct(const struct paired *p)
{
    double half = log(p->high / p->low) / 2;
    return 100 * (exp(1.4 * half) / far_low - 1);
}

/* Would as many pairs decide, if mean and scatter stay what they are? The error shrinks with the
 * root of their number; t is that of the new number. */
static bool would_decide(const struct trimmed *t, int trim, int pairs)
{
    double error = t->error * sqrt((double)t->taken / pairs) * ((double)t->used / t->taken) /
                   ((double)(pairs - 2 * trim) / pairs);
    double df = pairs - 2 * trim - 1;
    double w99 = stats_t_quantile(0.995, df) * error, w90 = stats_t_quantile(0.95, df) * error;
    return judge(exp(t->mean - w99), exp(t->mean + w99), exp(t->mean - w90), exp(t->mean + w90)) !=
           OUTCOME_CANNOT_TELL;
}

/* Doubles the step until it would be enough, then halves back to the least that is. */
static int least_pairs(const struct trimmed *t, int trim)
{
    if (t->used < 3)
        return t->taken >= 2 * trim + 3 ? t->taken + 1 : 2 * trim + 3;
    int no = t->taken, yes = t->taken + 1;
    while (yes < PAIRS_MOST && !would_decide(t, trim, yes)) {
        int step = 2 * (yes - t->taken);
        no = yes;
        yes = t->taken + step;
    }
    while (yes - no > 1) {
        int middle = no + (yes - no) / 2;
        *(would_decide(t, trim, middle) ? &yes : &no) = middle;
    }
    return yes < PAIRS_MOST ? yes : PAIRS_MOST;
}

static struct trimmed trim_ratios(const double *a, const double *b, int n, int trim)
{
    double *logs = xcalloc(n > 0 ? (size_t)n : 1, sizeof *logs);
    for (int i = 0; i < n; i++)
        logs[i] = a[i] > 0 && b[i] > 0 ? log(a[i] / b[i]) : NAN;
    struct trimmed t = trim_values(logs, n, trim);
    free(logs);
    return t;
}

struct paired stats_paired(const double *a, const double *b, int n, int trim)
{
    trim = trim > 0 ? trim : 0;
    struct trimmed t = trim_ratios(a, b, n, trim);
    double w99 = half_width(&t, 0.99), w90 = half_width(&t, 0.90);
    struct paired p = {
        .pairs = t.taken,
        .ratio = exp(t.mean),
        .low = exp(t.mean - w99),
        .high = exp(t.mean + w99),
        .low90 = exp(t.mean - w90),
        .high90 = exp(t.mean + w90),
    };
    p.resolution_pct = resolution_pct(&p);
    p.outcome = judge(p.low, p.high, p.low90, p.high90);
    if (p.outcome == OUTCOME_CANNOT_TELL)
        p.pairs_needed = least_pairs(&t, trim);
    return p;
}

/* ---- two groups ---- */

struct group {
    int n;
    double mean, error2; /* of the logarithms; error2: squared standard error of the mean */
};

static struct group group_of(const double *values, int n)
{
    double *logs = xcalloc(n > 0 ? (size_t)n : 1, sizeof *logs);
    struct group g = {0, NAN, NAN};
    for (int i = 0; i < n; i++)
        if (isfinite(values[i]) && values[i] > 0)
            logs[g.n++] = log(values[i]);
    g.mean = mean_of(logs, g.n);
    if (g.n > 2)
        g.error2 = squares_about(logs, g.n, g.mean) / (g.n - 1) / g.n;
    free(logs);
    return g;
}

/* Welch (1947): sessions of two builds, or on two machines, need not scatter alike. */
static double welch_df(const struct group *a, const struct group *b)
{
    double both = a->error2 + b->error2;
    return both * both / (a->error2 * a->error2 / (a->n - 1) + b->error2 * b->error2 / (b->n - 1));
}

static double group_width(const struct group *a, const struct group *b, double confidence)
{
    double error = sqrt(a->error2 + b->error2);
    return error > 0 ? stats_t_quantile((1 + confidence) / 2, welch_df(a, b)) * error : error;
}

struct paired stats_groups(const double *a, int na, const double *b, int nb, double confidence)
{
    struct group x = group_of(a, na), y = group_of(b, nb);
    double mean = x.mean - y.mean;
    double w = group_width(&x, &y, confidence), w90 = group_width(&x, &y, 0.90);
    struct paired p = {
        .pairs = x.n < y.n ? x.n : y.n,
        .ratio = exp(mean),
        .low = exp(mean - w),
        .high = exp(mean + w),
        .low90 = exp(mean - w90),
        .high90 = exp(mean + w90),
    };
    p.resolution_pct = resolution_pct(&p);
    p.outcome = judge(p.low, p.high, p.low90, p.high90);
    return p;
}

/* ---- the rest ---- */

double stats_median(const double *values, int n)
{
    double *all = finite_copy(values, &n), median = NAN;
    if (n > 0) {
        double below = put_in_place(all, n, (n - 1) / 2);
        median = (below + put_in_place(all, n, n / 2)) / 2;
    }
    free(all);
    return median;
}

/* The last `want` values that were measured, in their order; false when there are fewer. */
static bool last_values(const double *values, int n, double *out, int want)
{
    for (int i = n - 1; i >= 0 && want > 0; i--)
        if (isfinite(values[i]))
            out[--want] = values[i];
    return want == 0;
}

static bool blocks_agree(const double *older, const double *newer, int block)
{
    double m1 = mean_of(older, block), m2 = mean_of(newer, block), apart = fabs(m1 - m2);
    if (apart <= 0.02 * fabs(m1 + m2) / 2)
        return true;
    if (block < 2)
        return false;
    double squares = squares_about(older, block, m1) + squares_about(newer, block, m2);
    double error = sqrt(squares / (block - 1) / block);
    return apart < stats_t_quantile(0.975, 2 * block - 2) * error;
}

bool stats_steady(const double *values, int n, int block)
{
    if (block < 1 || n / 2 < block)
        return false;
    double *last = xcalloc((size_t)block * 2, sizeof *last);
    bool steady = last_values(values, n, last, 2 * block) &&
                  blocks_agree(last, last + block, block);
    free(last);
    return steady;
}

double stats_slope(const double *x, const double *y, int n, double *half)
{
    double mx = 0, my = 0, xx = 0, xy = 0, rest = 0;

    *half = NAN;
    for (int i = 0; i < n; i++) {
        mx += x[i] / n;
        my += y[i] / n;
    }
    for (int i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    if (n < 3 || !(xx > 0))
        return NAN;
    double slope = xy / xx;
    for (int i = 0; i < n; i++) {
        double off = y[i] - my - slope * (x[i] - mx);
        rest += off * off;
    }
    *half = stats_t_quantile(0.975, n - 2) * sqrt(rest / (n - 2) / xx);
    return slope;
}
