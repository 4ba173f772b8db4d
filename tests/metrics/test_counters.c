/* SPDX-License-Identifier: MIT */
/* Counters past 32 and 53 bits, sums over workers, and an end that lies before its start. */
#include <string.h>

#include "base/check.h"
#include "metrics/counters.h"

static void test_sums_over_workers(void **state)
{
    (void)state;
    static struct server_counters a, b;
    struct server_counts sum = {0};
    counter_add(&a.requests, 5);
    counter_add(&a.requests, 2);
    counter_add_shared(&b.requests, 10);
    counter_set(&a.last_accept_ns, 900);
    counter_set(&b.last_accept_ns, 300);
    server_counts_add(&sum, &a);
    server_counts_add(&sum, &b);
    assert_int_equal(sum.requests, 17);
    assert_int_equal(sum.last_accept_ns, 900); /* the latest, not the sum */
    assert_int_equal(sum.accepts, 0);
}

static void test_load_sums(void **state)
{
    (void)state;
    static struct load_counters a, b;
    struct load_counts sum = {0};
    counter_add(&a.errors_reset, 1);
    counter_add(&b.errors_reset, 2);
    counter_add(&b.spare_ns, 1ull << 60);
    load_counts_add(&sum, &a);
    load_counts_add(&sum, &b);
    assert_int_equal(sum.errors_reset, 3);
    assert_true(sum.spare_ns == 1ull << 60);
}

static void test_large_counters_are_exact(void **state)
{
    (void)state;
    struct server_counts before = {.requests = (1ull << 53) + 1, .bytes_out = (1ull << 32) - 1};
    struct server_counts now = {.requests = (1ull << 53) + 4, .bytes_out = (1ull << 32) + 1};
    struct server_counts out;
    server_counts_diff(&now, &before, &out);
    assert_true(out.requests == 3);
    assert_true(out.bytes_out == 2);
}

static void test_an_end_before_its_start_is_nothing(void **state)
{
    (void)state;
    struct server_counts before = {.requests = 100, .accepts = 7, .last_accept_ns = 50};
    struct server_counts now = {.requests = 3, .accepts = 8, .last_accept_ns = 20}, out;
    server_counts_diff(&now, &before, &out);
    assert_true(out.requests == 0);
    assert_true(out.accepts == 1);
    assert_true(out.last_accept_ns == 20);
    struct load_counts late = {.sent = 1}, early = {.sent = 9}, none;
    load_counts_diff(&late, &early, &none);
    assert_true(none.sent == 0);
}

static void test_a_difference_may_replace_its_input(void **state)
{
    (void)state;
    struct server_counts before = {.reads = 4, .last_accept_ns = 1}, now = before;
    now.reads = 9;
    now.last_accept_ns = 77;
    server_counts_diff(&now, &before, &now);
    assert_true(now.reads == 5 && now.last_accept_ns == 77);
}

static void test_one_writer_to_a_cache_line(void **state)
{
    (void)state;
    static struct server_counters workers[2];
    static struct load_counters shards[2];
    assert_int_equal((uintptr_t)&workers[1] % 128, 0);
    assert_int_equal((uintptr_t)&shards[1] % 128, 0);
    assert_true(sizeof workers[0] % 128 == 0 && sizeof shards[0] % 128 == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_over_workers),
        cmocka_unit_test(test_load_sums),
        cmocka_unit_test(test_large_counters_are_exact),
        cmocka_unit_test(test_an_end_before_its_start_is_nothing),
        cmocka_unit_test(test_a_difference_may_replace_its_input),
        cmocka_unit_test(test_one_writer_to_a_cache_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
