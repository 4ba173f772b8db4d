/* SPDX-License-Identifier: MIT */
/* The histogram against sorted values (nearest rank), its buckets against each other, and readers
 * beside writers. A value may be off by half a bucket: 1/2048 of itself. */
#include "metrics/hist.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "metrics/random.h"

static struct hist_copy *copy_new(void)
{
    return xcalloc(1, sizeof(struct hist_copy));
}

static void test_buckets_touch_and_none_is_skipped(void **state)
{
    (void)state;
    for (uint32_t i = 0; i + 1 < HIST_BUCKETS; i++) {
        assert_int_equal(hist_bucket(hist_low(i)), i);
        assert_int_equal(hist_bucket(hist_low(i + 1) - 1), i);
        assert_true(hist_low(i + 1) - hist_low(i) <= 1 + hist_low(i) / 1024);
    }
    assert_int_equal(hist_bucket(0), 0);
    assert_int_equal(hist_bucket(2047), 2047);
    assert_int_equal(hist_bucket(1ull << 42), HIST_BUCKETS - 1);
    assert_int_equal(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
}

static void test_nothing_has_no_figures(void **state)
{
    (void)state;
    struct hist *h = hist_new();
    struct hist_copy *c = copy_new();
    hist_read(h, c);
    assert_int_equal(c->count, 0);
    assert_nan(hist_percentile(c, 50));
    assert_nan(hist_mean(c));
    assert_nan(hist_max(c));
    free(c);
    hist_free(h);
    hist_free(NULL);
}

static void test_one_to_a_hundred(void **state)
{
    (void)state;
    struct hist *h = hist_new();
    struct hist_copy *c = copy_new();
    for (uint64_t v = 100; v >= 1; v--)
        hist_add(h, v);
    hist_read(h, c);
    assert_int_equal(c->count, 100);
    assert_near(hist_percentile(c, 50), 50, 0);
    assert_near(hist_percentile(c, 90), 90, 0);
    assert_near(hist_percentile(c, 99), 99, 0);
    assert_near(hist_percentile(c, 100), 100, 0);
    assert_near(hist_percentile(c, 0), 1, 0);
    assert_near(hist_max(c), 100, 0);
    assert_near(hist_mean(c), 50.5, 0);
    free(c);
    hist_free(h);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The smallest value with at least per_mille/1000 of the values at or below it, in integers. */
static uint64_t reference(const uint64_t *sorted, uint64_t n, uint64_t per_mille)
{
    uint64_t rank = (n * per_mille + 999) / 1000;
    return sorted[rank ? rank - 1 : 0];
}

static void check_against_sorted(uint64_t n, double spread, uint64_t *seed)
{
    static const uint64_t per_mille[] = {0, 500, 900, 990, 999, 1000};
    struct hist *h = hist_new();
    struct hist_copy *c = copy_new();
    uint64_t *values = xcalloc(n, sizeof *values);
    double before = 0;
    for (uint64_t i = 0; i < n; i++)
        hist_add(h, values[i] = (uint64_t)(50e3 * exp(spread * random_normal(seed))));
    qsort(values, n, sizeof *values, by_value);
    hist_read(h, c);
    for (size_t i = 0; i < sizeof per_mille / sizeof *per_mille; i++) {
        double is = hist_percentile(c, (double)per_mille[i] / 10);
        double expected = (double)reference(values, n, per_mille[i]);
        assert_near(is, expected, expected / 2048);
        assert_true(is >= before);
        before = is;
    }
    assert_true(hist_max(c) >= before);
    assert_near(hist_max(c), (double)values[n - 1], (double)values[n - 1] / 1024);
    free(values);
    free(c);
    hist_free(h);
}

static void test_percentiles_of_all_lengths(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {1, 2, 3, 10, 20, 100, 1000, 1001};
    uint64_t seed = 20260101;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int round = 0; round < 5; round++)
            check_against_sorted(lengths[i], 0.2 + round, &seed);
}

/* A reply of 4 s and one of 150 s among a million fast ones, and one past the last bucket. */
static void test_slow_replies_stay_visible(void **state)
{
    (void)state;
    struct hist *h = hist_new();
    struct hist_copy *c = copy_new();
    for (int i = 0; i < 1000000; i++)
        hist_add(h, 100000);
    hist_add(h, 4000000000u);
    hist_add(h, 150000000000u);
    hist_read(h, c);
    assert_near(hist_max(c), 150e9, 150e9 / 1024);
    assert_near(hist_percentile(c, 100.0 * 1000001 / 1000002), 4e9, 4e9 / 2048);
    assert_near(hist_percentile(c, 99.9), 100000, 100000.0 / 2048);
    hist_add(h, UINT64_MAX / 2);
    hist_clear(c);
    hist_read(h, c);
    assert_int_equal(c->count, 1000003);
    assert_true(hist_max(c) >= (double)hist_low(HIST_BUCKETS - 1));
    free(c);
    hist_free(h);
}

static void test_a_difference_is_what_came_between(void **state)
{
    (void)state;
    struct hist *h = hist_new();
    struct hist_copy *before = copy_new(), *now = copy_new(), *out = copy_new();
    memset(out, 0xff, sizeof *out); /* a copy that held other things */
    hist_add(h, 900000);
    hist_add(h, 100);
    hist_read(h, before);
    hist_add(h, 200);
    hist_add(h, 300);
    hist_read(h, now);
    hist_diff(now, before, out);
    assert_int_equal(out->count, 2);
    assert_near(hist_mean(out), 250, 0);
    assert_near(hist_percentile(out, 50), 200, 0);
    assert_near(hist_max(out), 300, 0); /* not the 900 µs of before */
    hist_diff(now, before, now);
    assert_near(hist_max(now), 300, 0);
    hist_diff(before, before, out);
    assert_nan(hist_percentile(out, 99));
    free(before);
    free(now);
    free(out);
    hist_free(h);
}

static void test_copies_merge_and_are_used_again(void **state)
{
    (void)state;
    struct hist *slow = hist_new(), *fast = hist_new();
    struct hist_copy *into = copy_new(), *other = copy_new();
    hist_add(slow, 5000000);
    hist_add_shared(fast, 10);
    hist_read(slow, into);
    hist_clear(into);
    assert_nan(hist_max(into));
    hist_read(fast, into);
    assert_int_equal(into->count, 1);
    hist_read(slow, other);
    hist_read(slow, other);
    hist_merge(into, other);
    assert_int_equal(into->count, 3);
    assert_near(hist_percentile(into, 30), 10, 0);
    assert_near(hist_percentile(into, 60), 5e6, 5e6 / 2048);
    assert_near(hist_mean(into), (10 + 5e6 + 5e6) / 3, 1e-6);
    free(into);
    free(other);
    hist_free(slow);
    hist_free(fast);
}

/* ---- readers beside writers ---- */

struct writer {
    struct hist *h;
    uint64_t seed;
    int count;
    bool shared;
};

static void *write_values(void *arg)
{
    struct writer *w = arg;
    for (int i = 0; i < w->count; i++) {
        uint64_t v = random_bits(&w->seed) % 100000000u;
        w->shared ? hist_add_shared(w->h, v) : hist_add(w->h, v);
    }
    return NULL;
}

/* Every copy is whole in itself and holds at least what the one before held. */
static bool copies_only_grow(const struct hist *h, uint64_t total)
{
    struct hist_copy *c = copy_new();
    uint64_t last = 0;
    bool good = true;
    for (int i = 0; i < 200000 && last < total && good; i++) {
        uint64_t sum = 0;
        hist_clear(c);
        hist_read(h, c);
        for (uint32_t b = 0; b < HIST_BUCKETS; b++)
            if (c->used[b / HIST_BLOCK / 64] >> b / HIST_BLOCK % 64 & 1)
                sum += c->bucket[b];
        good = sum == c->count && c->count >= last && c->count <= total;
        good = good && (!c->count || hist_percentile(c, 50) <= hist_percentile(c, 99));
        last = c->count;
    }
    free(c);
    return good;
}

static void run_writers(int writers, bool shared)
{
    enum { EACH = 200000 };
    struct hist *h = hist_new();
    struct hist_copy *c = copy_new();
    struct writer w[4];
    pthread_t thread[4];
    for (int i = 0; i < writers; i++) {
        w[i] = (struct writer){h, (uint64_t)i + 1, EACH, shared};
        assert_int_equal(pthread_create(&thread[i], NULL, write_values, &w[i]), 0);
    }
    bool good = copies_only_grow(h, (uint64_t)writers * EACH);
    for (int i = 0; i < writers; i++)
        pthread_join(thread[i], NULL);
    assert_true(good);
    hist_read(h, c);
    assert_int_equal(c->count, (uint64_t)writers * EACH);
    assert_near(hist_mean(c), 50e6, 1e6);
    free(c);
    hist_free(h);
}

static void test_a_reader_beside_one_writer(void **state)
{
    (void)state;
    run_writers(1, false);
}

static void test_a_reader_beside_many_writers(void **state)
{
    (void)state;
    run_writers(4, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_touch_and_none_is_skipped),
        cmocka_unit_test(test_nothing_has_no_figures),
        cmocka_unit_test(test_one_to_a_hundred),
        cmocka_unit_test(test_percentiles_of_all_lengths),
        cmocka_unit_test(test_slow_replies_stay_visible),
        cmocka_unit_test(test_a_difference_is_what_came_between),
        cmocka_unit_test(test_copies_merge_and_are_used_again),
        cmocka_unit_test(test_a_reader_beside_one_writer),
        cmocka_unit_test(test_a_reader_beside_many_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
