/* SPDX-License-Identifier: MIT */
/* What can be asked of prices without asking how fast this machine is: they are there, or not
 * measured; nothing is left behind; an order to quit and a want of descriptors are obeyed. */
#include "metrics/prices.h"

#include <dirent.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "base/check.h"
#include "base/clock.h"
#include "net/uring_probe.h"

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

/* Differences of two measurements may come out as none on a busy machine, and time may be over
 * before the last; but what is timed itself is there. */
static void test_all_are_measured(void **state)
{
    (void)state;
    static const enum price sure[] = {PRICE_call, PRICE_wait, PRICE_recv, PRICE_recv_empty,
                                      PRICE_send, PRICE_mod,  PRICE_accept};
    struct prices p;
    int before = descriptors(), seen[PRICE_COUNT] = {0}, missing = 1;
    for (int tries = 0; tries < 10 && missing; tries++) {
        prices_measure(&(struct prices_spec){.cpu = -1}, &p);
        assert_true(known(&p) > 0 && prices_known(&p));
        missing = 0;
        for (int i = 0; i < PRICE_COUNT; i++) {
            seen[i] |= !isnan(p.ns[i]);
            missing += !seen[i];
        }
    }
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
        if (!seen[sure[i]])
            fail_msg("%s was never measured", price_columns[sure[i]]);
    for (int i = 0; i < PRICE_COUNT; i++)
        if (!seen[i])
            print_message("[ NOT SEEN ] %s\n", price_columns[i]);
    assert_int_equal(descriptors(), before);
}

/* Where there are rings (else it is said), what they do has prices. */
static void test_rings_are_priced(void **state)
{
    (void)state;
    struct prices p;
    struct err why = {""};
    bool rings = uring_probe(&why) == 0;
    double wait = NAN, recv = NAN, send = NAN;
    for (int tries = 0; tries < 10 && !(wait > 0 && recv > 0 && send > 0); tries++) {
        prices_measure(&(struct prices_spec){.cpu = -1}, &p);
        wait = p.ns[PRICE_ring_wait], recv = p.ns[PRICE_ring_recv], send = p.ns[PRICE_ring_send];
        if (!rings)
            break;
    }
    if (!rings)
        print_message("[  SKIPPED ] %s\n", why.text);
    assert_int_equal(wait > 0 && recv > 0 && send > 0, rings);
}

static void test_the_middle_counts(void **state)
{
    (void)state;
    struct prices taken[4], out;
    static const double calls[] = {30, 10, NAN, 20};
    for (int i = 0; i < 4; i++) {
        prices_clear(&taken[i]);
        taken[i].ns[PRICE_call] = calls[i];
    }
    prices_middle(taken, 1, &out);
    assert_true(out.ns[PRICE_call] == 30 && isnan(out.ns[PRICE_send]));
    prices_middle(taken, 2, &out);
    assert_true(out.ns[PRICE_call] == 10);
    prices_middle(taken, 4, &out);
    assert_true(out.ns[PRICE_call] == 20);
}

static void test_alone_there_is_no_client(void **state)
{
    (void)state;
    struct prices p;
    prices_measure(&(struct prices_spec){.cpu = -1, .alone = true}, &p);
    assert_true(p.ns[PRICE_call] > 0 && p.ns[PRICE_mod] > 0 && p.ns[PRICE_accept] > 0);
    assert_true(isnan(p.ns[PRICE_send]) && isnan(p.ns[PRICE_recv]) && isnan(p.ns[PRICE_sleep]));
    assert_true(isnan(p.ns[PRICE_ring_recv]) && isnan(p.ns[PRICE_ring_send]));
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
        cmocka_unit_test(test_all_are_measured), cmocka_unit_test(test_rings_are_priced),
        cmocka_unit_test(test_alone_there_is_no_client),
        cmocka_unit_test(test_quit_is_obeyed),   cmocka_unit_test(test_few_descriptors),
        cmocka_unit_test(test_no_such_cpu),      cmocka_unit_test(test_columns),
        cmocka_unit_test(test_the_middle_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
