/* SPDX-License-Identifier: MIT */
/* What can be asked of prices without asking how fast this machine is: they are there, or not measured;
 * nothing is left behind; an order to quit and a want of descriptors are obeyed. */
#include "metrics/prices.h"

#include <dirent.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "base/check.h"
#include "base/clock.h"

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int known(const struct prices *p)
{
    int n = 0;
    for (int i = 0; i < PRICE_COUNT; i++) {
        assert_true(isnan(p->ns[i]) || (p->ns[i] > 0 && p->ns[i] < 1e9));
        n += !isnan(p->ns[i]);
    }
    return n;
}

static void test_all_are_measured(void **state)
{
    (void)state;
    struct prices p;
    int before = descriptors(), most = 0;
    /* A batch may be disturbed so much that a slope is none; once in a while all are there. */
    for (int tries = 0; tries < 10 && most < PRICE_COUNT; tries++) {
        prices_measure(&(struct prices_spec){.cpu = -1}, &p);
        most = known(&p) > most ? known(&p) : most;
        assert_true(prices_known(&p));
    }
    assert_int_equal(most, PRICE_COUNT);
    assert_int_equal(descriptors(), before);
}

static void test_alone_there_is_no_client(void **state)
{
    (void)state;
    struct prices p;
    prices_measure(&(struct prices_spec){.cpu = -1, .alone = true}, &p);
    assert_true(p.ns[PRICE_call] > 0 && p.ns[PRICE_mod] > 0 && p.ns[PRICE_accept] > 0);
    assert_true(isnan(p.ns[PRICE_send]) && isnan(p.ns[PRICE_recv]) && isnan(p.ns[PRICE_sleep]));
}

static void test_quit_is_obeyed(void **state)
{
    (void)state;
    struct prices p;
    _Atomic bool quit = true;
    int before = descriptors();
    prices_measure(&(struct prices_spec){.cpu = -1, .quit = &quit}, &p);
    assert_int_equal(known(&p), 0);
    assert_false(prices_known(&p));
    assert_int_equal(descriptors(), before);
}

static void test_few_descriptors(void **state)
{
    (void)state;
    struct rlimit old, few;
    struct prices p;
    int before = descriptors();
    getrlimit(RLIMIT_NOFILE, &old);
    for (rlim_t n = 3; n <= 120; n += 39) {
        few = (struct rlimit){.rlim_cur = n, .rlim_max = old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        prices_measure(&(struct prices_spec){.cpu = -1}, &p);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        known(&p);
        assert_true(n > 3 || isnan(p.ns[PRICE_send]));
    }
    assert_int_equal(descriptors(), before);
}

static void test_no_such_cpu(void **state)
{
    (void)state;
    struct prices p;
    prices_measure(&(struct prices_spec){.cpu = 1023}, &p);
    assert_int_equal(known(&p), 0);
}

static void test_columns(void **state)
{
    (void)state;
    assert_string_equal(price_columns[PRICE_call], "price_call_ns");
    assert_string_equal(price_columns[PRICE_look_sleep], "price_look_sleep_ns");
    for (int i = 0; i < PRICE_COUNT; i++)
        assert_true(strlen(price_helps[i]) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_measured), cmocka_unit_test(test_alone_there_is_no_client),
        cmocka_unit_test(test_quit_is_obeyed),   cmocka_unit_test(test_few_descriptors),
        cmocka_unit_test(test_no_such_cpu),      cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
