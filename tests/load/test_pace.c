/* SPDX-License-Identifier: MIT */
/* The cycle of due times, without sockets or time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "load/pace.h"

/* Slots due in [from, to) of all `threads` shares of n connections. */
static long due_between(int n, double rate, int threads, uint64_t from, uint64_t to)
{
    double *phases = pace_phases(1, n, rate);
    long due = 0;
    for (int t = 0; t < threads; t++) {
        struct pace p;
        pace_init(&p, phases, (struct pace_share){n, t, threads}, rate);
        pace_seek(&p, from);
        while (p.due_ns < to) {
            assert_true(p.due_ns >= from);
            pace_step(&p);
            due++;
        }
        pace_fini(&p);
    }
    free(phases);
    return due;
}

static void test_each_second_has_its_share(void **state)
{
    (void)state;
    static const struct {
        int n;
        double rate;
        int threads;
        long off; /* allowed */
    } cases[] = {{50, 100, 1, 10}, {50, 100, 3, 10}, {100, 10, 2, 1},    {400, 3, 8, 1},
                 {8, 3, 8, 1},     {1, 7, 1, 1},     {400, 11500, 2, 40}, {3000, 20000, 2, 150}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (uint64_t s = 0; s < 10; s++) {
            long due = due_between(cases[c].n, cases[c].rate, cases[c].threads, s * NS_PER_S,
                                   (s + 1) * NS_PER_S);
            assert_in_range(labs(due - (long)cases[c].rate), 0, (unsigned long)cases[c].off);
        }
}

static void test_three_a_second_over_eight_threads(void **state)
{
    (void)state;
    for (int n = 8; n <= 400; n += 56)
        assert_in_range(due_between(n, 3, 8, 0, 10 * NS_PER_S), 27, 33);
}

static void test_each_connection_once_a_cycle(void **state)
{
    (void)state;
    enum { N = 500, THREADS = 3 };
    int seen[N] = {0};
    double *phases = pace_phases(7, N, 11500);
    for (int t = 0; t < THREADS; t++) {
        struct pace p;
        uint64_t last = 0;
        pace_init(&p, phases, (struct pace_share){N, t, THREADS}, 11500);
        for (int i = 0; i < 4 * p.count; i++) {
            assert_true(p.due_ns >= last);
            last = p.due_ns;
            seen[pace_step(&p) * THREADS + (uint32_t)t]++;
        }
        pace_fini(&p);
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], 4);
    free(phases);
}

static void test_seek_equals_walking(void **state)
{
    (void)state;
    double *phases = pace_phases(3, 37, 900);
    struct pace walk, jump;
    struct pace_share all = {37, 0, 1};
    pace_init(&walk, phases, all, 900);
    pace_init(&jump, phases, all, 900);
    for (uint64_t t = 0; t < 3 * NS_PER_S; t += 1234567) {
        while (walk.due_ns < t)
            pace_step(&walk);
        pace_seek(&jump, t);
        assert_true(jump.due_ns == walk.due_ns);
        assert_int_equal(jump.slots[jump.at].conn, walk.slots[walk.at].conn);
    }
    pace_fini(&walk);
    pace_fini(&jump);
    free(phases);
}

static void test_seed_decides(void **state)
{
    (void)state;
    double *a = pace_phases(1, 100, 50), *b = pace_phases(1, 100, 50), *c = pace_phases(2, 100, 50);
    assert_memory_equal(a, b, 100 * sizeof *a);
    assert_memory_not_equal(a, c, 100 * sizeof *a);
    free(a);
    free(b);
    free(c);
}

/* Random phases, not a comb: of 400 gaps in a cycle some are tiny and some are several times the
 * mean. */
static void test_sends_are_not_gathered_nor_even(void **state)
{
    (void)state;
    double *phases = pace_phases(1, 400, 11500);
    struct pace p;
    int tiny = 0, wide = 0;
    pace_init(&p, phases, (struct pace_share){400, 0, 1}, 11500);
    double mean = p.period_ns / 400;
    for (int i = 1; i < p.count; i++) {
        double gap = (double)(p.slots[i].phase_ns - p.slots[i - 1].phase_ns);
        tiny += gap < mean / 10;
        wide += gap > mean * 3;
    }
    assert_in_range(tiny, 15, 75); /* 38 expected */
    assert_in_range(wide, 6, 40);  /* 20 expected */
    pace_fini(&p);
    free(phases);
}

static void test_no_connections(void **state)
{
    (void)state;
    struct pace p;
    double *phases = pace_phases(1, 3, 10);
    pace_init(&p, phases, (struct pace_share){3, 5, 8}, 10);
    assert_int_equal(p.count, 0);
    assert_true(p.due_ns == UINT64_MAX);
    pace_seek(&p, 1000);
    assert_true(p.due_ns == UINT64_MAX);
    pace_fini(&p);
    free(phases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_second_has_its_share),
        cmocka_unit_test(test_three_a_second_over_eight_threads),
        cmocka_unit_test(test_each_connection_once_a_cycle),
        cmocka_unit_test(test_seek_equals_walking),
        cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_sends_are_not_gathered_nor_even),
        cmocka_unit_test(test_no_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
