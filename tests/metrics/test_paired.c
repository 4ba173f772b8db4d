/* SPDX-License-Identifier: MIT */
/* The paired ratio: what it says of rows whose truth is known, because they are simulated. A row is
 * 12 rounds; both models share the drift of a round, each has lognormal noise of its own. */
#include <string.h>

#include "base/check.h"
#include "metrics/random.h"
#include "metrics/stats.h"

enum { ROWS = 2000, MOST = 400 };

struct truth {
    double ratio, noise; /* of A over B; standard deviation of each one's logarithm */
    int rounds, trim;
};

static struct paired simulate(const struct truth *t, uint64_t *seed)
{
    double a[MOST], b[MOST], drift = 1;
    for (int i = 0; i < t->rounds; i++) {
        drift *= exp(0.2 * random_normal(seed));
        a[i] = 14.5 * drift * t->ratio * exp(t->noise * random_normal(seed));
        b[i] = 14.5 * drift * exp(t->noise * random_normal(seed));
    }
    return stats_paired(a, b, t->rounds, t->trim);
}

/* How many of ROWS rows have each outcome. */
static void simulate_rows(const struct truth *t, int count[5])
{
    uint64_t seed = 7;
    memset(count, 0, 5 * sizeof *count);
    for (int i = 0; i < ROWS; i++)
        count[simulate(t, &seed).outcome]++;
}

static void check_a_against_a(const struct truth *t)
{
    int count[5];
    simulate_rows(t, count);
    int wrong = count[OUTCOME_DEARER] + count[OUTCOME_CHEAPER];
    if (wrong > ROWS / 50)
        fail_msg("noise %g, %d rounds: %d of %d rows name a difference", t->noise, t->rounds, wrong,
                 ROWS);
}

static void test_a_against_a_names_no_difference(void **state)
{
    (void)state;
    static const double noise[] = {0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        check_a_against_a(&(struct truth){1, noise[i], 12, 1});
        check_a_against_a(&(struct truth){1, noise[i], 12, 0});
        check_a_against_a(&(struct truth){1, noise[i], 11, 1});
        check_a_against_a(&(struct truth){1, noise[i], 60, 1});
    }
}

static void test_a_against_a_is_the_same_when_quiet(void **state)
{
    (void)state;
    int count[5];
    simulate_rows(&(struct truth){1, 0.01, 12, 1}, count);
    assert_true(count[OUTCOME_SAME] >= ROWS * 99 / 100);
}

static void test_a_planted_difference_is_found(void **state)
{
    (void)state;
    int count[5];
    simulate_rows(&(struct truth){1.1, 0.01, 12, 1}, count);
    assert_true(count[OUTCOME_CHEAPER] >= ROWS * 99 / 100); /* A costs more, so B is cheaper */
    simulate_rows(&(struct truth){1 / 1.1, 0.01, 12, 1}, count);
    assert_true(count[OUTCOME_DEARER] >= ROWS * 99 / 100);
}

/* However loud: it may not be able to tell, but neither "same" nor the wrong way round. */
static void test_a_planted_difference_is_never_turned_round(void **state)
{
    (void)state;
    static const double noise[] = {0.02, 0.05, 0.1, 0.3};
    int count[5];
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        simulate_rows(&(struct truth){1.1, noise[i], 12, 1}, count);
        assert_true(count[OUTCOME_DEARER] + count[OUTCOME_SAME] <= ROWS / 50);
    }
}

static void test_a_margin_of_difference_is_left_alone(void **state)
{
    (void)state;
    int count[5];
    simulate_rows(&(struct truth){1.02, 0.005, 12, 1}, count);
    assert_true(count[OUTCOME_DEARER] + count[OUTCOME_CHEAPER] <= ROWS / 50);
    assert_true(count[OUTCOME_SAME] >= ROWS * 99 / 100);
}

/* The promise of the interval itself: it holds the true ratio in 99 of 100 rows, within the scatter
 * of a count of 2000 (standard deviation 4.4) and Yuen's approximation. */
static void test_the_interval_holds_the_truth(void **state)
{
    (void)state;
    uint64_t seed = 99;
    struct truth t = {1.5, 0.1, 12, 1};
    int outside = 0;
    for (int i = 0; i < ROWS; i++) {
        struct paired p = simulate(&t, &seed);
        outside += p.low > 1.5 || p.high < 1.5;
    }
    assert_in_range(outside, 5, 40);
}

/* What a row says that it can tell it does tell, in nine rows of ten. */
static void test_what_can_be_told_is_told(void **state)
{
    (void)state;
    static const double noise[] = {0.002, 0.005, 0.008, 0.012, 0.02, 0.04};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        double dearer = 1 + 0.01 * (4 + 2 * (double)i);
        struct truth t = {1 / dearer, noise[i], 12, 1};
        uint64_t seed = 3 + i;
        int able = 0, named = 0;
        for (int k = 0; k < ROWS / 10; k++) {
            struct paired p = simulate(&t, &seed);
            if (p.resolution_pct > 100 * (dearer - 1))
                continue;
            able++;
            named += p.outcome == OUTCOME_DEARER;
        }
        if (named < 0.9 * able)
            fail_msg("noise %g: %d of %d are named", noise[i], named, able);
        assert_true(i > 2 || able > ROWS / 20);
    }
}

/* ---- one row, by hand ---- */

/* ln(a/b) = ln 2 + (-0.1, 0, 0.1): mean ln 2, s = 0.1, error 0.1 / sqrt 3 = 0.0577350. 99 %:
 * t(0.995, 2) = 9.9248432, half width 0.5730111; 90 %: t(0.95, 2) = 2.9199856, half width
 * 0.1685855. */
static void test_three_pairs_by_hand(void **state)
{
    (void)state;
    double a[] = {2 * exp(0.1) * 7, 2 * exp(-0.1) * 3, 2}, b[] = {7, 3, 1};
    struct paired p = stats_paired(a, b, 3, 0);
    assert_int_equal(p.pairs, 3);
    assert_near(p.ratio, 2, 1e-12);
    assert_near(p.low, 2 * exp(-0.5730111), 1e-6);
    assert_near(p.high, 2 * exp(0.5730111), 1e-6);
    assert_near(p.low90, 2 * exp(-0.1685855), 1e-6);
    assert_near(p.high90, 2 * exp(0.1685855), 1e-6);
    assert_near(p.resolution_pct, 100 * (exp(1.4 * 0.5730111) / 0.97 - 1), 1e-4);
    assert_int_equal(p.outcome, OUTCOME_CHEAPER);
    assert_int_equal(p.pairs_needed, 0);
}

static void test_the_mirror_says_the_opposite(void **state)
{
    (void)state;
    double a[] = {5.2, 4.9, 5.1, 5.4, 4.8, 5.0}, b[] = {1.0, 1.1, 0.9, 1.0, 1.0, 1.05};
    struct paired p = stats_paired(a, b, 6, 1), q = stats_paired(b, a, 6, 1);
    assert_near(p.ratio * q.ratio, 1, 1e-12);
    assert_near(p.low * q.high, 1, 1e-12);
    assert_int_equal(p.outcome, OUTCOME_CHEAPER);
    assert_int_equal(q.outcome, OUTCOME_DEARER);
    assert_string_equal(outcome_words[p.outcome], "cheaper");
    assert_string_equal(outcome_words[q.outcome], "dearer");
}

static void test_pairs_that_are_none_are_left_out(void **state)
{
    (void)state;
    double a[] = {2, NAN, 2, 0, 2, 5, -1, 2}, b[] = {1, 1, 1, 1, 1, NAN, 1, 1};
    struct paired p = stats_paired(a, b, 8, 0);
    assert_int_equal(p.pairs, 4);
    assert_near(p.ratio, 2, 1e-12);
    assert_int_equal(p.outcome, OUTCOME_CHEAPER);
}

static void test_equal_counts_are_the_same(void **state)
{
    (void)state;
    double a[] = {1, 1, 1, 1, 1};
    struct paired p = stats_paired(a, a, 5, 1);
    assert_near(p.ratio, 1, 0);
    assert_near(p.high - p.low, 0, 0);
    assert_int_equal(p.outcome, OUTCOME_SAME);
    assert_string_equal(outcome_words[p.outcome], "same");
}

static void test_too_few_pairs_cannot_tell(void **state)
{
    (void)state;
    double a[] = {5, 5, 5, 5}, b[] = {1, 1, 1, 1};
    struct paired p = stats_paired(a, b, 4, 1);
    assert_int_equal(p.pairs, 4);
    assert_near(p.ratio, 5, 1e-12);
    assert_nan(p.low);
    assert_nan(p.resolution_pct);
    assert_int_equal(p.outcome, OUTCOME_CANNOT_TELL);
    assert_int_equal(p.pairs_needed, 5);
    p = stats_paired(a, b, 0, 1);
    assert_nan(p.ratio);
    assert_int_equal(p.pairs_needed, 5);
    assert_string_equal(outcome_words[OUTCOME_CANNOT_TELL], "cannot tell");
    assert_string_equal(outcome_words[OUTCOME_WITHHELD], "withheld");
}

/* ---- how many more ---- */

/* Of rows that cannot tell, most can when taken again with the pairs that were named. */
static void test_the_pairs_named_would_do(void **state)
{
    (void)state;
    static const double ratio[] = {1, 1.02, 1.15, 1.5};
    for (size_t k = 0; k < sizeof ratio / sizeof *ratio; k++) {
        uint64_t seed = 31;
        int asked = 0, told = 0;
        for (int i = 0; i < ROWS; i++) {
            struct truth t = {ratio[k], 0.1, 12, 1};
            int needed = simulate(&t, &seed).pairs_needed;
            if (!needed || needed > MOST)
                continue;
            assert_true(needed > 12);
            t.rounds = needed;
            asked++;
            told += simulate(&t, &seed).outcome != OUTCOME_CANNOT_TELL;
        }
        if (asked > 50 && told * 3 < asked)
            fail_msg("ratio %g: %d of %d rows could tell then", ratio[k], told, asked);
    }
}

/* 12 pairs whose logarithms are +noise and -noise by turns: their mean is 0 at every noise. */
static int needed_at(double noise)
{
    double a[12], b[12];
    for (int i = 0; i < 12; i++) {
        a[i] = exp(i % 2 ? noise : -noise);
        b[i] = 1;
    }
    return stats_paired(a, b, 12, 1).pairs_needed;
}

/* The width falls with the root of the pairs: ten times the noise, a hundred times the pairs. */
static void test_noise_needs_more_pairs_but_not_for_ever(void **state)
{
    (void)state;
    assert_int_equal(needed_at(0.01), 0);
    /* (1.68 x 0.2 / ln 1.05)^2 = 47, and what the trim loses. */
    assert_in_range(needed_at(0.2), 30, 80);
    assert_in_range(needed_at(2), 80 * needed_at(0.2), 120 * needed_at(0.2));
    double a[] = {1e-300, 1e300, 1, 1e200, 1e-250}, b[] = {1, 1, 1, 1, 1};
    assert_in_range(stats_paired(a, b, 5, 0).pairs_needed, 6, 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_against_a_names_no_difference),
        cmocka_unit_test(test_a_against_a_is_the_same_when_quiet),
        cmocka_unit_test(test_a_planted_difference_is_found),
        cmocka_unit_test(test_a_planted_difference_is_never_turned_round),
        cmocka_unit_test(test_a_margin_of_difference_is_left_alone),
        cmocka_unit_test(test_the_interval_holds_the_truth),
        cmocka_unit_test(test_what_can_be_told_is_told),
        cmocka_unit_test(test_three_pairs_by_hand),
        cmocka_unit_test(test_the_mirror_says_the_opposite),
        cmocka_unit_test(test_pairs_that_are_none_are_left_out),
        cmocka_unit_test(test_equal_counts_are_the_same),
        cmocka_unit_test(test_too_few_pairs_cannot_tell),
        cmocka_unit_test(test_the_pairs_named_would_do),
        cmocka_unit_test(test_noise_needs_more_pairs_but_not_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
