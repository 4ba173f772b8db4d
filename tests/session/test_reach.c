/* SPDX-License-Identifier: MIT */
/* How many connections a row can have: the tightest limit, and its name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "load/workloads.h"
#include "net/protocol.h"
#include "servers/target.h"
#include "session/reach.h"

static struct params of(const char *workload)
{
    struct params p;
    params_init(&p);
    p.workload = workload_find(workload);
    assert_true(p.workload >= 0);
    workload_resolve(&p);
    return p;
}

static void expect(const struct params *p, const struct reach_limits *l, int models, double most,
                   const char *why)
{
    struct reach r;
    reach_of(p, l, models, &r);
    assert_true(r.connections == most);
    assert_string_equal(r.why, why);
}

static void a_server_has_a_table_for_each_worker(void **state)
{
    struct reach_limits l = {.nofile = 20064, .ports = 28232};
    struct params p = of("hold");
    (void)state;
    expect(&p, &l, 2, 20000, "descriptors"); /* the load's threads have tables of their own */
    expect(&p, &l, 4, 20000, "descriptors");
    p.workers = 3;
    expect(&p, &l, 2, 60000, "descriptors");
}

static void what_connects_from_one_table_shares_it(void **state)
{
    struct reach_limits l = {.nofile = 1064, .ports = 28232};
    struct params p = of("connect");
    (void)state;
    expect(&p, &l, 2, 1000, "descriptors"); /* one model's at a time */
    p = of("transfer");
    expect(&p, &l, 2, 1000, "descriptors");
    p.engine = ENGINE_BLOCKING;
    expect(&p, &l, 2, 500, "descriptors"); /* both models' stay open */
    l.nofile = 100000;
    expect(&p, &l, 2, 4000, "threads");
}

static void few_ports_end_it(void **state)
{
    struct reach_limits l = {.nofile = 20064, .ports = 200};
    struct params p = of("transfer");
    (void)state;
    expect(&p, &l, 2, 200, "local ports");
    l.nofile = 100;
    expect(&p, &l, 2, 36, "descriptors");
}

static void what_is_unknown_ends_nothing(void **state)
{
    struct reach_limits l = {.nofile = 20064, .ports = -1};
    struct params p = of("transfer");
    struct reach r;
    (void)state;
    expect(&p, &l, 2, 20000, "descriptors");
    l.nofile = -1;
    reach_of(&p, &l, 2, &r);
    assert_true(isinf(r.connections));
    l.nofile = 10;
    expect(&p, &l, 2, 0, "descriptors");
}

static void a_plan_beyond_it_is_refused_in_one_line(void **state)
{
    struct reach_limits l = {.nofile = 20000, .ports = 28232};
    struct plan_row row = {.params = of("hold"), .lineup.count = 2};
    struct plan p = {.count = 1, .rows = &row};
    struct err e = {""};
    (void)state;
    assert_int_equal(reach_check(&p, &l, &e), 0);
    row.params.connections = 60000;
    assert_true(reach_check(&p, &l, &e) < 0);
    assert_non_null(strstr(e.text, "60000"));
    assert_non_null(strstr(e.text, "19936"));
    assert_non_null(strstr(e.text, "20000 descriptors, 60064 needed"));
    assert_non_null(strstr(e.text, "--workers"));
    row.params.workers = 4;
    assert_int_equal(reach_check(&p, &l, &e), 0);
    l.ports = 100;
    assert_true(reach_check(&p, &l, &e) < 0);
    assert_non_null(strstr(e.text, "at most 100"));
    assert_non_null(strstr(e.text, "local ports"));
}

/* The number that is said is enough, and one less is not; load has no --workers to advise. */
static void what_is_needed_is_said(void **state)
{
    struct target server = {.pid = 0};
    struct io_model theirs = {.target = &server};
    struct reach_limits l = {.nofile = 64, .ports = 28232};
    struct plan_row row = {.params = of("transfer"), .lineup = {.count = 1, .models = {&theirs}}};
    struct plan p = {.count = 1, .rows = &row};
    struct err e = {""};
    (void)state;
    row.params.connections = 3;
    assert_true(reach_check(&p, &l, &e) < 0);
    assert_string_equal(e.text, "3 connections to a server, at most 0 here: 64 descriptors, "
                                "67 needed");
    row.lineup = (struct lineup){.count = 2};
    row.params.engine = ENGINE_BLOCKING; /* both models' in one table */
    row.params.connections = 101;
    assert_true(reach_check(&p, &l, &e) < 0);
    assert_non_null(strstr(e.text, "266 needed"));
    assert_null(strstr(e.text, "--workers")); /* the load's table is the full one */
    l.nofile = 265;
    assert_true(reach_check(&p, &l, &e) < 0);
    l.nofile = 266;
    assert_int_equal(reach_check(&p, &l, &e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_has_a_table_for_each_worker),
        cmocka_unit_test(what_connects_from_one_table_shares_it),
        cmocka_unit_test(few_ports_end_it),
        cmocka_unit_test(what_is_unknown_ends_nothing),
        cmocka_unit_test(a_plan_beyond_it_is_refused_in_one_line),
        cmocka_unit_test(what_is_needed_is_said),
    };
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
