/* SPDX-License-Identifier: MIT */
/* Statistics as pure functions over arrays that they never reorder. NaN and infinite inputs are
 * left out. Yuen (1974), "The two-sample trimmed t for unequal population variances", for the
 * winsorised interval. Thread: any. */
#ifndef METRICS_STATS_H
#define METRICS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct summary {
    int taken, used;      /* values given (without NaN), values left after the trim */
    double mean;          /* trimmed mean; NaN when nothing is left */
    double min, max;      /* of the values used */
    double low, high;     /* two-sided interval of the mean; NaN when used <= 2 */
};

/* Drops the trim smallest and trim largest of the n values, at a confidence such as 0.95. */
struct summary stats_trimmed(const double *values, int n, int trim, double confidence);

/* Words: "dearer", "cheaper", "same", "cannot tell", "withheld". */
enum outcome {
    OUTCOME_DEARER, OUTCOME_CHEAPER, OUTCOME_SAME, OUTCOME_CANNOT_TELL, OUTCOME_WITHHELD
};
extern const char *const outcome_words[];

struct paired {
    int pairs;
    double ratio, low, high;  /* A over B, and its 99 % interval */
    double low90, high90;     /* 90 % interval */
    double resolution_pct;    /* a difference that would be named in nine rows of ten */
    enum outcome outcome;     /* of B beside A: A/B above 1 means B is cheaper */
    int pairs_needed;         /* when it cannot tell: pairs that would, estimated; 0 otherwise */
};

/* The ratio of two models by rounds: trimmed mean of ln(a/b) over all pairs in which both are
 * positive numbers. dearer/cheaper: the 99 % interval lies wholly outside 0.97..1.03; same: the
 * 90 % interval lies inside 0.95..1.05. Under 3 pairs used: NaN interval, cannot tell.
 * pairs_needed supposes that mean and scatter stay what they are: the least number, above the pairs
 * there are, whose narrower intervals would decide; at most a million. */
struct paired stats_paired(const double *a, const double *b, int n, int trim);

/* The ratio of two groups of independent values, as the same row in several sessions on each side:
 * difference of the mean logarithms, its interval by Welch's t at this confidence (and the one at
 * 90 %), the outcomes as above. `pairs` is the smaller group. Values that are not positive are left
 * out; under 3 on a side there is no interval, and it cannot tell. */
struct paired stats_groups(const double *a, int na, const double *b, int nb, double confidence);

/* Quantile of Student's t: the t with P(T <= t) = p, df > 0 (fractional allowed). */
double stats_t_quantile(double p, double df);

/* The straight line of least squares through n points: its slope, and half of the slope's 95 %
 * interval. NaN both for fewer than 3 points or an x that never changes. */
double stats_slope(const double *x, const double *y, int n, double *half);

/* Median of n values (mean of the middle two for even n); NaN when n is 0. */
double stats_median(const double *values, int n);

/* True when the means of the last two blocks of `block` values differ by at most 2 % of their mean,
 * or by less than the 95 % interval of their difference. False with fewer than 2 blocks. */
bool stats_steady(const double *values, int n, int block);

#endif
