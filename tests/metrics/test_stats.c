/* SPDX-License-Identifier: MIT */
/* Statistics of one series against written references: tables, closed forms, and intervals worked
 * out by hand in the comments. */
#include "metrics/stats.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "metrics/random.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* ---- Student's t ---- */

/* Abramowitz and Stegun, table 26.10 (percentage points of the t-distribution). */
static void test_t_against_the_printed_table(void **state)
{
    (void)state;
    static const struct { double df, p95, p975, p995; } table[] = {
        {1, 6.314, 12.706, 63.657}, {2, 2.920, 4.303, 9.925}, {3, 2.353, 3.182, 5.841},
        {4, 2.132, 2.776, 4.604},   {5, 2.015, 2.571, 4.032}, {9, 1.833, 2.262, 3.250},
        {10, 1.812, 2.228, 3.169},  {30, 1.697, 2.042, 2.750}, {120, 1.658, 1.980, 2.617},
    };
    for (int i = 0; i < COUNT(table); i++) {
        assert_near(stats_t_quantile(0.95, table[i].df), table[i].p95, 0.0005001);
        assert_near(stats_t_quantile(0.975, table[i].df), table[i].p975, 0.0005001);
        assert_near(stats_t_quantile(0.995, table[i].df), table[i].p995, 0.0005001);
    }
}

/* With a = 2p - 1: df 1 is Cauchy, t = tan(pi a / 2); df 2: t = a sqrt(2 / (1 - a^2)). */
static void test_t_against_closed_forms(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    for (double p = 0.001; p < 0.9995; p += 0.001) {
        double a = 2 * p - 1, one = tan(pi * a / 2), two = a * sqrt(2 / (1 - a * a));
        assert_near(stats_t_quantile(p, 1), one, 1e-10 * (1 + fabs(one)));
        assert_near(stats_t_quantile(p, 2), two, 1e-10 * (1 + fabs(two)));
    }
}

/* P(T <= t) by Simpson's rule over the density, for df that are no whole numbers. */
static double integrated(double t, double df)
{
    enum { STEPS = 20000 };
    double scale = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * 3.14159265358979323846);
    double sum = 0, h = t / STEPS;
    for (int i = 0; i <= STEPS; i++) {
        double x = i * h, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * scale * pow(1 + x * x / df, -(df + 1) / 2);
    }
    return 0.5 + sum * h / 3;
}

static void test_t_of_fractional_df(void **state)
{
    (void)state;
    static const double df[] = {0.7, 1.5, 2.5, 7.3, 24.6, 150.5};
    for (int i = 0; i < COUNT(df); i++) {
        assert_near(integrated(stats_t_quantile(0.975, df[i]), df[i]), 0.975, 1e-9);
        assert_near(integrated(stats_t_quantile(0.6, df[i]), df[i]), 0.6, 1e-9);
    }
}

static void test_t_at_its_edges(void **state)
{
    (void)state;
    assert_near(stats_t_quantile(0.5, 3), 0, 0);
    assert_near(stats_t_quantile(0.025, 7), -stats_t_quantile(0.975, 7), 1e-12);
    assert_near(stats_t_quantile(0.975, 1e7), 1.959964, 1e-6); /* the normal's */
    assert_nan(stats_t_quantile(0, 3));
    assert_nan(stats_t_quantile(1, 3));
    assert_nan(stats_t_quantile(0.9, 0));
    assert_nan(stats_t_quantile(NAN, 3));
}

/* ---- trimmed means ---- */

/* n = 8, g = 1 of 2 3 4 5 6 7 8 21. Kept: 3..8, mean 33/6 = 5.5. Winsorised: 3 3 4 5 6 7 8 8, mean
 * 44/8 = 5.5, squares 4 * 2.5^2 + 2 * 1.5^2 + 2 * 0.5^2 = 30, s_w^2 = 30/7. Standard error
 * sqrt(30/7) / ((1 - 2/8) sqrt 8) = sqrt(20/21) = 0.9759001; df = 8 - 2 - 1 = 5, t(0.975, 5) =
 * 2.5705818: 5.5 -+ 2.5086310. */
static void test_yuen_by_hand(void **state)
{
    (void)state;
    static const double values[] = {21, 5, 3, 8, 2, 6, 4, 7};
    struct summary s = stats_trimmed(values, COUNT(values), 1, 0.95);
    assert_int_equal(s.taken, 8);
    assert_int_equal(s.used, 6);
    assert_near(s.mean, 5.5, 1e-12);
    assert_near(s.min, 3, 0);
    assert_near(s.max, 8, 0);
    assert_near(s.low, 5.5 - 2.5705818 * sqrt(20.0 / 21), 1e-6);
    assert_near(s.high, 8.0086310, 1e-5);
}

/* A winsorised mean that is not the trimmed one: n = 5, g = 1 of 1 2 3 10 50. Kept: 2 3 10, mean 5.
 * Winsorised: 2 2 3 10 10, mean 5.4, squares 2 * 3.4^2 + 2.4^2 + 2 * 4.6^2 = 71.2, s_w^2 = 17.8.
 * Standard error sqrt(17.8) / (0.6 sqrt 5) = 3.1446604; df = 2, t(0.995, 2) = 9.9248432. */
static void test_yuen_of_five_skewed_repeats(void **state)
{
    (void)state;
    static const double values[] = {10, 50, 1, 3, 2};
    struct summary s = stats_trimmed(values, COUNT(values), 1, 0.99);
    assert_near(s.mean, 5, 1e-12);
    assert_near(s.high - s.mean, 9.9248432 * 3.1446604, 1e-5);
    assert_near(s.mean - s.low, 9.9248432 * 3.1446604, 1e-5);
}

/* Without a trim it is the common interval: 1 2 3 4, s = sqrt(5/3), t(0.975, 3) = 3.1824463. */
static void test_no_trim(void **state)
{
    (void)state;
    static const double values[] = {4, 1, 3, 2};
    struct summary s = stats_trimmed(values, COUNT(values), 0, 0.95);
    assert_int_equal(s.used, 4);
    assert_near(s.mean, 2.5, 1e-12);
    assert_near(s.high, 2.5 + 3.1824463 * sqrt(5.0 / 3) / 2, 1e-6);
}

static void test_published_rules(void **state)
{
    (void)state;
    double samples[12];
    for (int i = 0; i < 12; i++)
        samples[i] = i == 4 ? 1e9 : i == 9 ? -1e9 : 10;
    struct summary s = stats_trimmed(samples, 12, 1, 0.95);
    assert_int_equal(s.used, 10);
    assert_near(s.mean, 10, 0);
    assert_near(s.high - s.low, 0, 1e-12);
    static const double repeats[] = {9, 1, 100, 5, 4};
    s = stats_trimmed(repeats, 5, 1, 0.95);
    assert_int_equal(s.used, 3);
    assert_near(s.mean, 6, 1e-12);
}

static void test_too_few(void **state)
{
    (void)state;
    static const double values[] = {3, 1, 2, 9};
    struct summary s = stats_trimmed(values, 2, 1, 0.95);
    assert_int_equal(s.taken, 2);
    assert_int_equal(s.used, 0);
    assert_nan(s.mean);
    assert_nan(s.min);
    assert_nan(s.low);
    s = stats_trimmed(values, 4, 1, 0.95);
    assert_int_equal(s.used, 2);
    assert_near(s.mean, 2.5, 0);
    assert_nan(s.low);
    assert_nan(s.high);
    s = stats_trimmed(NULL, 0, 0, 0.95);
    assert_int_equal(s.taken, 0);
    assert_nan(s.mean);
}

static void test_what_was_not_measured_is_left_out(void **state)
{
    (void)state;
    static const double values[] = {NAN, 21, 5, NAN, 3, 8, 2, INFINITY, 6, 4, 7, NAN};
    struct summary s = stats_trimmed(values, COUNT(values), 1, 0.95);
    assert_int_equal(s.taken, 8);
    assert_near(s.mean, 5.5, 1e-12);
    static const double none[] = {NAN, NAN, NAN};
    s = stats_trimmed(none, 3, 0, 0.95);
    assert_int_equal(s.taken, 0);
    assert_nan(s.mean);
    assert_nan(stats_median(none, 3));
}

/* ---- order ---- */

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

static int check_one_order(const double *v, double mean, double low)
{
    double kept[6];
    memcpy(kept, v, sizeof kept);
    struct summary s = stats_trimmed(v, 6, 1, 0.95);
    bool spare = LDBL_MANT_DIG > DBL_MANT_DIG; /* digits of a sum: no order shows in the result */
    assert_near(s.mean, mean, spare ? 0 : 1e-14);
    assert_near(s.low, low, spare ? 0 : 1e-13);
    assert_near(s.min, 2.2, 0);
    assert_near(s.max, 9.9, 0);
    assert_near(stats_median(v, 6), (3.3 + 4.7) / 2, 1e-15);
    assert_memory_equal(v, kept, sizeof kept);
    return 1;
}

/* Heap's algorithm. */
static int every_order(double *v, int n, double mean, double low)
{
    if (n == 1)
        return check_one_order(v, mean, low);
    int count = 0;
    for (int i = 0; i < n; i++) {
        count += every_order(v, n - 1, mean, low);
        swap(&v[n % 2 ? 0 : i], &v[n - 1]);
    }
    return count;
}

static void test_all_orders_of_six_give_one_result(void **state)
{
    (void)state;
    double v[] = {0.1, 2.2, 3.3, 4.7, 9.9, 1e3};
    struct summary s = stats_trimmed(v, 6, 1, 0.95);
    assert_near(s.mean, (2.2 + 3.3 + 4.7 + 9.9) / 4, 1e-12);
    assert_int_equal(every_order(v, 6, s.mean, s.low), 720);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Many equal ones, a rise, a fall, a rise and a fall, none. */
static double shaped(int shape, int i, int n, uint64_t *seed)
{
    double by_shape[] = {(double)(random_bits(seed) % 4), i, -i, i < n / 2 ? i : n - i,
                         random_normal(seed)};
    return by_shape[shape];
}

static void check_against_sorted(const double *v, int n)
{
    double sorted[300];
    memcpy(sorted, v, (size_t)n * sizeof *v);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    assert_near(stats_median(v, n), (sorted[(n - 1) / 2] + sorted[n / 2]) / 2, 0);
    for (int trim = 0; 2 * trim < n; trim += 1 + trim / 3) {
        double sum = 0;
        for (int i = trim; i < n - trim; i++)
            sum += sorted[i];
        struct summary s = stats_trimmed(v, n, trim, 0.95);
        assert_int_equal(s.used, n - 2 * trim);
        assert_near(s.min, sorted[trim], 0);
        assert_near(s.max, sorted[n - trim - 1], 0);
        assert_near(s.mean, sum / s.used, 1e-11);
    }
}

static void test_a_trim_takes_what_stands_at_the_ends_when_sorted(void **state)
{
    (void)state;
    uint64_t seed = 5;
    double v[300];
    for (int shape = 0; shape < 5; shape++)
        for (int n = 1; n <= COUNT(v); n += 1 + n / 7) {
            for (int i = 0; i < n; i++)
                v[i] = shaped(shape, i, n, &seed);
            check_against_sorted(v, n);
        }
}

static void test_medians(void **state)
{
    (void)state;
    static const double values[] = {9, 1, 5, 3};
    assert_near(stats_median(values, 1), 9, 0);
    assert_near(stats_median(values, 2), 5, 0);
    assert_near(stats_median(values, 3), 5, 0);
    assert_near(stats_median(values, 4), 4, 0);
    assert_nan(stats_median(values, 0));
}

/* ---- steady ---- */

static void test_steady(void **state)
{
    (void)state;
    static const double flat[] = {500, 10, 10.1, 9.9, 10, 10.1, 10};
    static const double falling[] = {20, 18.1, 16, 13.9, 12, 10.1};
    static const double loose[] = {8, 12, 10, 11, 14, 9}; /* 13 % apart, but so are its own */
    assert_true(stats_steady(flat, 7, 3));
    assert_false(stats_steady(flat, 4, 3));
    assert_false(stats_steady(flat, 5, 3));
    assert_false(stats_steady(falling, 6, 3));
    assert_true(stats_steady(loose, 6, 3));
    assert_false(stats_steady(flat, 7, 0));
}

/* Blocks 0 0 3 and 3 3 6: means 1 and 4, each variance 3, error sqrt((3 + 3) / 3) = sqrt 2, df 4,
 * t = 2.776: 3.93 wide, so 3 apart is steady and 4 apart is not. */
static void test_the_interval_of_their_difference(void **state)
{
    (void)state;
    static const double within[] = {0, 0, 3, 3, 3, 6};
    static const double beyond[] = {0, 0, 3, 4, 4, 7};
    assert_true(stats_steady(within, 6, 3));
    assert_false(stats_steady(beyond, 6, 3));
}

static void test_steady_without_noise_or_values(void **state)
{
    (void)state;
    static const double zero[] = {0, 0, 0, 0, 0, 0};
    static const double step[] = {1, 1, 1, 1.03, 1.03, 1.03};
    static const double small[] = {1, 1, 1, 1.01, 1.01, 1.01};
    static const double gaps[] = {10, NAN, 10, 10, NAN, 10, 10, 10, NAN};
    assert_true(stats_steady(zero, 6, 3));
    assert_false(stats_steady(step, 6, 3));
    assert_true(stats_steady(small, 6, 3));
    assert_true(stats_steady(gaps, 9, 3));
    assert_false(stats_steady(gaps, 6, 3));
    assert_true(stats_steady(small, 6, 1));
    assert_false(stats_steady(step, 4, 1));
}

/* y = 2 + 3x with residuals -1, 2, -1: slope 3, residual variance 6 / 1, Sxx 2, so its deviation is
 * sqrt(6 / 2), times t(0.975; 1) = 12.7062. */
static void test_slope_by_hand(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3}, y[] = {4, 10, 10};
    double half;
    assert_near(stats_slope(x, y, 3, &half), 3, 1e-12);
    assert_near(half, 12.7062047 * sqrt(3), 1e-5);
}

static void test_slope_of_an_exact_line_and_of_none(void **state)
{
    (void)state;
    const double x[] = {0, 10, 20, 10240}, y[] = {7, 7.5, 8, 519}, same[] = {5, 5, 5, 5};
    double half;
    assert_near(stats_slope(x, y, 4, &half), 0.05, 1e-12);
    assert_near(half, 0, 1e-9);
    assert_true(isnan(stats_slope(x, y, 2, &half)) && isnan(half));
    assert_true(isnan(stats_slope(same, y, 4, &half)) && isnan(half));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t_against_the_printed_table),
        cmocka_unit_test(test_t_against_closed_forms),
        cmocka_unit_test(test_t_of_fractional_df),
        cmocka_unit_test(test_t_at_its_edges),
        cmocka_unit_test(test_yuen_by_hand),
        cmocka_unit_test(test_yuen_of_five_skewed_repeats),
        cmocka_unit_test(test_no_trim),
        cmocka_unit_test(test_published_rules),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_what_was_not_measured_is_left_out),
        cmocka_unit_test(test_all_orders_of_six_give_one_result),
        cmocka_unit_test(test_a_trim_takes_what_stands_at_the_ends_when_sorted),
        cmocka_unit_test(test_medians),
        cmocka_unit_test(test_steady),
        cmocka_unit_test(test_the_interval_of_their_difference),
        cmocka_unit_test(test_steady_without_noise_or_values),
        cmocka_unit_test(test_slope_by_hand),
        cmocka_unit_test(test_slope_of_an_exact_line_and_of_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
