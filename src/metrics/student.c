/* SPDX-License-Identifier: MIT */
/* Student's t. Its distribution function is a regularised incomplete beta function,
 * P(|T| > t) = I_x(df/2, 1/2) with x = df/(df + t^2) (Abramowitz and Stegun 26.5.27, 26.7.1), which
 * is a continued fraction (26.5.8) evaluated by Lentz's method. The quantile is a root of it,
 * found by Newton's steps that a bracket keeps from leaving. */
#include <math.h>
#include <stdbool.h>

#include "metrics/stats.h"

static double ln_gamma(double x)
{
    int sign; /* lgamma() itself writes a global */
    return lgamma_r(x, &sign);
}

/* The coefficient d_m of 26.5.8. */
static double coefficient(int m, double a, double b, double x)
{
    int k = m / 2;
    if (m % 2 == 0)
        return k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    return -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
}

/* Lentz: c and d are the ratios of successive numerators and denominators. Converges within some
 * sqrt(max(a, b)) terms for x below the mean, which the caller sees to. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 0, f = 1;
    for (int m = 1; m < 10000; m++) {
        double term = coefficient(m, a, b, x);
        d = 1 + term * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + term / c;
        c = fabs(c) < tiny ? tiny : c;
        f *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return 1 / f;
}

/* I_x(a, b); y is 1 - x, given apart because x may be within rounding of 1. ln_b = ln B(a, b). */
static double beta_regular(double a, double b, double x, double y, double ln_b)
{
    double front = exp(a * log(x) + b * log(y) - ln_b);
    if (x < (a + 1) / (a + b + 2))
        return front / a * beta_fraction(a, b, x);
    return 1 - front / b * beta_fraction(b, a, y);
}

/* P(T > t) for t > 0. */
static double upper_tail(double t, double df, double ln_b)
{
    double square = t * t;
    return beta_regular(df / 2, 0.5, df / (df + square), square / (df + square), ln_b) / 2;
}

static double density(double t, double df, double ln_b)
{
    return exp(-(df + 1) / 2 * log1p(t * t / df) - log(df) / 2 - ln_b);
}

/* The t > 0 with P(T > t) = tail, tail < 1/2. */
static double root(double tail, double df)
{
    double ln_b = ln_gamma(df / 2) + ln_gamma(0.5) - ln_gamma((df + 1) / 2);
    double low = 0, high = 2;
    while (upper_tail(high, df, ln_b) > tail && high < 1e150)
        high *= 2;
    double t = high / 2;
    for (int i = 0; i < 200; i++) {
        double off = upper_tail(t, df, ln_b) - tail;
        *(off > 0 ? &low : &high) = t;
        double next = t + off / density(t, df, ln_b);
        if (!(next > low && next < high))
            next = (low + high) / 2;
        bool there = fabs(next - t) <= 1e-13 * t;
        t = next;
        if (there)
            break;
    }
    return t;
}

double stats_t_quantile(double p, double df)
{
    if (!(p > 0 && p < 1 && df > 0))
        return NAN;
    if (p == 0.5)
        return 0;
    /* The distance from 1/2 decides the sign; the smaller tail keeps its digits. */
    return p > 0.5 ? root(1 - p, df) : -root(p, df);
}
