/* SPDX-License-Identifier: MIT */
/* The ratio of two groups. The figures of the first test are those of another program: Python's
 * scipy 1.10, `l = numpy.log(x)`, variances with ddof=1, the degrees of freedom of Welch and
 * Satterthwaite, `scipy.stats.t.ppf((1 + c) / 2, df)`. */
#include "base/check.h"
#include "metrics/random.h"
#include "metrics/stats.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static void test_against_another_program(void **state)
{
    static const double a[] = {14.1, 14.5, 14.3}, b[] = {15.9, 15.7, 16.3};
    static const double wide[] = {10, 11, 9.5, 10.2, 10.4}, few[] = {10.1, 12.9, 8.7};
    (void)state;
    struct paired p = stats_groups(a, 3, b, 3, 0.95);
    assert_near(p.ratio, 0.8956663477459815, 1e-12);
    assert_near(p.low, 0.8611365041533965, 1e-9);
    assert_near(p.high, 0.9315807686881246, 1e-9);
    assert_near(p.low90, 0.8692894321593183, 1e-9);
    assert_near(p.high90, 0.9228436200954524, 1e-9);
    assert_int_equal(p.outcome, OUTCOME_DEARER);
    assert_int_equal(p.pairs, 3);
    p = stats_groups(a, 3, b, 3, 1 - 0.05 / 14);
    assert_near(p.low, 0.8177834712754515, 1e-9);
    assert_near(p.high, 0.9809665206774728, 1e-9);
    assert_int_equal(p.outcome, OUTCOME_CANNOT_TELL);
    p = stats_groups(wide, 5, few, 3, 0.99);
    assert_near(p.ratio, 0.979053703859188, 1e-12);
    assert_near(p.low, 0.35398535665756947, 1e-8);
    assert_near(p.high, 2.7078695121494865, 1e-8);
}

/* The right share of intervals holds the truth, also when the groups scatter unlike. */
static void test_the_interval_holds_the_truth(void **state)
{
    uint64_t seed = 11;
    int held = 0, turned = 0, rows = 4000;
    (void)state;
    for (int i = 0; i < rows; i++) {
        double a[3], b[5];
        for (int k = 0; k < COUNT(a); k++)
            a[k] = 12 * exp(0.02 * random_normal(&seed));
        for (int k = 0; k < COUNT(b); k++)
            b[k] = 10 * exp(0.05 * random_normal(&seed));
        struct paired p = stats_groups(a, 3, b, 5, 0.95);
        held += p.low <= 1.2 && p.high >= 1.2;
        turned += p.outcome == OUTCOME_DEARER;
    }
    if (held < 0.93 * rows || held > 0.98 * rows)
        fail_msg("%d of %d intervals hold the truth", held, rows);
    assert_true(turned < rows / 100);
}

static void test_a_build_beside_itself(void **state)
{
    uint64_t seed = 5;
    int named = 0, rows = 4000;
    (void)state;
    for (int i = 0; i < rows; i++) {
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            a[k] = exp(0.05 * random_normal(&seed));
            b[k] = exp(0.05 * random_normal(&seed));
        }
        enum outcome o = stats_groups(a, 3, b, 3, 0.95).outcome;
        named += o == OUTCOME_DEARER || o == OUTCOME_CHEAPER;
    }
    if (named > rows / 20)
        fail_msg("%d of %d name a difference", named, rows);
}

static void test_the_mirror_says_the_opposite(void **state)
{
    static const double a[] = {1, 1.01, 1.02}, b[] = {1.3, 1.31, 1.32, 1.29};
    (void)state;
    struct paired p = stats_groups(a, 3, b, 4, 0.95), q = stats_groups(b, 4, a, 3, 0.95);
    assert_near(p.ratio * q.ratio, 1, 1e-12);
    assert_near(p.low * q.high, 1, 1e-12);
    assert_int_equal(p.outcome, OUTCOME_DEARER);
    assert_int_equal(q.outcome, OUTCOME_CHEAPER);
}

static void test_equal_values_need_no_width(void **state)
{
    static const double same[] = {2, 2, 2}, other[] = {3, 3, 3};
    (void)state;
    struct paired p = stats_groups(same, 3, same, 3, 0.95);
    assert_int_equal(p.outcome, OUTCOME_SAME);
    assert_near(p.low, 1, 1e-12);
    assert_int_equal(stats_groups(same, 3, other, 3, 0.95).outcome, OUTCOME_DEARER);
}

static void test_too_few_cannot_tell(void **state)
{
    static const double two[] = {1, 1.001}, three[] = {2, 2.001, 2.002},
                        holes[] = {1, NAN, 0, -1, 1};
    (void)state;
    struct paired p = stats_groups(two, 2, three, 3, 0.95);
    assert_int_equal(p.outcome, OUTCOME_CANNOT_TELL);
    assert_nan(p.low);
    assert_near(p.ratio, 0.5, 0.001);
    assert_int_equal(stats_groups(holes, 5, three, 3, 0.95).pairs, 2);
    p = stats_groups(NULL, 0, three, 3, 0.95);
    assert_nan(p.ratio);
    assert_int_equal(p.outcome, OUTCOME_CANNOT_TELL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_another_program),
        cmocka_unit_test(test_the_interval_holds_the_truth),
        cmocka_unit_test(test_a_build_beside_itself),
        cmocka_unit_test(test_the_mirror_says_the_opposite),
        cmocka_unit_test(test_equal_values_need_no_width),
        cmocka_unit_test(test_too_few_cannot_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
