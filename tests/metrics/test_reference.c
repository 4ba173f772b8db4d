/* SPDX-License-Identifier: MIT */
/* Means, intervals, ratios, slopes and p-values against those of another program, scipy. A p-value
 * is not shown anywhere, but an interval that is right ends at the null hypothesis exactly when its
 * confidence is one less the p-value. */
#include "base/check.h"
#include "metrics/reference.h"
#include "metrics/stats.h"

enum { MOST = 1001 };
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* As make_reference.py has it. */
static const double *series(double n, int step)
{
    static double all[4][MOST];
    for (int i = 0; i < (int)n; i++)
        all[step][i] = ((i * 7919 + step * 131) % 1009) / 8.0 + 1;
    return all[step];
}

/* To eight digits. */
static void near(double is, double expected)
{
    assert_near(is, expected, 1e-8 * (1 + fabs(expected)));
}

static void trimmed_means(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ref_trimmed); i++) {
        struct summary s = stats_trimmed(series(ref_trimmed[i].n, 1), (int)ref_trimmed[i].n,
                                         (int)ref_trimmed[i].trim, ref_trimmed[i].confidence);
        near(s.mean, ref_trimmed[i].mean);
        near(s.low, ref_trimmed[i].low);
        near(s.high, ref_trimmed[i].high);
    }
}

static void paired_ratios(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ref_paired); i++) {
        struct paired p = stats_paired(series(ref_paired[i].n, 1), series(ref_paired[i].n, 2),
                                       (int)ref_paired[i].n, (int)ref_paired[i].trim);
        near(p.ratio, ref_paired[i].ratio);
        near(p.low, ref_paired[i].low);
        near(p.high, ref_paired[i].high);
        near(p.low90, ref_paired[i].low90);
        near(p.high90, ref_paired[i].high90);
    }
}

static void p_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ref_p_values); i++) {
        struct summary s = stats_trimmed(series(ref_p_values[i].n, 1), (int)ref_p_values[i].n, 0,
                                         1 - ref_p_values[i].p);
        double less = ref_p_values[i].less, end = less < s.mean ? s.low : s.high;
        assert_near(end, less, 1e-7 * less);
    }
}

static void groups(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ref_groups); i++) {
        struct paired p =
            stats_groups(series(ref_groups[i].na, 1), (int)ref_groups[i].na,
                         series(ref_groups[i].nb, 3), (int)ref_groups[i].nb, 1 - ref_groups[i].p);
        near(p.ratio, ref_groups[i].ratio);
        assert_near(p.ratio > 1 ? p.low : p.high, 1, 1e-7);
    }
}

static void slopes(void **state)
{
    double x[MOST], half;
    (void)state;
    for (size_t i = 0; i < COUNT(ref_slopes); i++) {
        for (int k = 0; k < (int)ref_slopes[i].n; k++)
            x[k] = 10.0 * k;
        near(stats_slope(x, series(ref_slopes[i].n, 1), (int)ref_slopes[i].n, &half),
             ref_slopes[i].slope);
        near(half, ref_slopes[i].half);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trimmed_means), cmocka_unit_test(paired_ratios),
        cmocka_unit_test(p_values),      cmocka_unit_test(groups),
        cmocka_unit_test(slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
