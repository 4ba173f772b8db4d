/* SPDX-License-Identifier: MIT */
/* The workload table: ids, lists that end, defaults. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "load/workloads.h"
#include "net/protocol.h"
#include "params/axis.h"

static void test_ids(void **state)
{
    (void)state;
    for (int i = 0; i < workload_count; i++) {
        assert_int_equal(workload_find(workload_table[i].id), i);
        assert_string_equal(workload_word(i), workload_table[i].id);
        assert_int_equal(metrics_find(workload_table[i].id), -1);
        assert_int_equal(params_find(workload_table[i].id), -1);
    }
    assert_null(workload_word(workload_count));
    assert_null(workload_word(-1));
    assert_int_equal(workload_find("no such"), -1);
}

static void test_lists_name_each_thing_once(void **state)
{
    (void)state;
    for (int i = 0; i < workload_count; i++) {
        const struct workload *w = &workload_table[i];
        int seen_p[PARAM_COUNT] = {0}, seen_m[METRIC_COUNT] = {0};
        for (const enum param_id *p = w->matters; *p != PARAM_COUNT; p++)
            assert_int_equal(seen_p[*p]++, 0);
        for (const enum metric_id *m = w->yields; *m != METRIC_COUNT; m++)
            assert_int_equal(seen_m[*m]++, 0);
        assert_true(seen_p[w->sweep]);
        assert_true(seen_m[METRIC_errors]);
    }
}

static void test_published_sweeps_can_be_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        int count;
        double last;
    } want[] = {{"transfer", 8, 800}, {"connect", 10, 1000}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct workload *w = &workload_table[workload_find(want[i].id)];
        struct axis a;
        struct err e;
        assert_int_equal(axis_parse(w->sweep, w->sweep_list, &a, &e), 0);
        assert_int_equal(a.count, want[i].count);
        assert_true(a.values[a.count - 1] == want[i].last);
    }
}

static void test_resolve_fills_everything(void **state)
{
    (void)state;
    for (int i = 0; i < workload_count; i++) {
        struct params p;
        params_init(&p);
        p.workload = i;
        workload_resolve(&p);
        for (int id = 0; id < PARAM_COUNT; id++)
            assert_false(isnan(params_get(&p, (enum param_id)id)));
        const char *speaks = workload_table[i].protocol;
        assert_string_equal(protocol_table[(int)p.protocol]->id, speaks ? speaks : "fetch");
        assert_ptr_equal(workload_of(&p), &workload_table[i]);
    }
}

static void test_defaults_of_the_workloads(void **state)
{
    (void)state;
    struct params p;
    params_init(&p);
    p.workload = workload_find("transfer");
    workload_resolve(&p);
    assert_true(p.connections == 400 && p.size == 1024 && p.rate == 11500 && p.samples == 12);
    assert_true(p.idle == 0 && p.timeout == 30 && p.backlog == 1024);
    params_init(&p);
    p.workload = workload_find("connect");
    workload_resolve(&p);
    assert_true(p.connections == 1000 && p.repeats == 11 && p.rate == PARAM_MAX);
    assert_true(p.arrival == ARRIVAL_SERIAL);
}

/* What a pane draws and says is something that the workload has. */
static void test_pictures(void **state)
{
    (void)state;
    for (int i = 0; i < workload_count; i++) {
        const struct workload *w = &workload_table[i];
        const struct workload_picture *d = &w->draws;
        char word[48];
        if (!d->says || (w->repeat ? !d->series[0] : !workload_yields(w, d->graph)))
            fail_msg("%s: no picture", w->id);
        assert_true(!d->reaches || workload_matters(w, d->reaches));
        for (const char *at = d->says; (at = strchr(at, '{')); at++) {
            assert_int_equal(sscanf(at, "{%47[^}]}", word), 1);
            int m = metrics_find(word);
            if (strcmp(word, "s") && (m < 0 || !workload_yields(w, (enum metric_id)m)))
                fail_msg("%s says {%s}, which it does not yield", w->id, word);
        }
    }
}

/* A protocol whose replies have a length of their own gives it to the size; another is refused. */
static void test_size_of_the_protocol(void **state)
{
    (void)state;
    struct params p;
    struct err e = {""};
    params_init(&p);
    p.workload = workload_find("transfer");
    p.protocol = protocol_find("echo");
    assert_int_equal(workload_check(&p, &e), 0);
    p.size = 4096;
    assert_int_equal(workload_check(&p, &e), -EINVAL);
    assert_non_null(strstr(e.text, "--size 4096: echo has replies of 271 bytes"));
    p.size = PARAM_UNSET;
    workload_resolve(&p);
    assert_true(p.size == 271);
    assert_int_equal(workload_check(&p, &e), 0);
}

static void test_resolve_leaves_what_is_set(void **state)
{
    (void)state;
    struct params p;
    params_init(&p);
    p.workload = workload_find("connect");
    p.connections = 17;
    p.rate = 3;
    p.backlog = 5;
    workload_resolve(&p);
    assert_true(p.connections == 17 && p.rate == 3 && p.backlog == 5);
    for (int id = 0; id < PARAM_COUNT; id++) /* PARAM_UNSET everywhere is filled as well */
        *params_at(&p, (enum param_id)id) = PARAM_UNSET;
    workload_resolve(&p);
    assert_true(p.workload == 0 && p.timeout == 30);
}

static struct params resolved(const char *workload, double size)
{
    struct params p;
    params_init(&p);
    p.workload = workload_find(workload);
    p.size = size;
    workload_resolve(&p);
    return p;
}

/* The read buffer of stream is as long as a message, also when another length is chosen later. */
static void test_buffer_follows_the_size(void **state)
{
    (void)state;
    struct params p = resolved("stream", PARAM_UNSET);
    assert_true(p.size == 1024 && p.buffer == 1024 && p.socket_buffer == 65536);
    p.size = 4096;
    workload_resize(&p, 1024);
    assert_true(p.buffer == 4096);
    p.size = 10; /* shorter than a buffer may be */
    workload_resize(&p, 4096);
    assert_true(p.buffer == param_table[PARAM_buffer].low);
    p.size = 500;
    workload_resize(&p, 10);
    assert_true(p.buffer == 500);
    p.buffer = 777; /* chosen by somebody */
    p.size = 600;
    workload_resize(&p, 500);
    assert_true(p.buffer == 777);
    p = resolved("transfer", 500);
    assert_true(p.buffer == 16384 && p.socket_buffer == 0);
    p.size = 600;
    workload_resize(&p, 500);
    assert_true(p.buffer == 16384);
    assert_true(resolved("burst", PARAM_UNSET).size == 65536);
}

static void refused(struct params p, const char *why)
{
    struct err e = {""};
    assert_int_equal(workload_check(&p, &e), -EINVAL);
    if (!strstr(e.text, why))
        fail_msg("%s: not said in: %s", why, e.text);
}

static void test_what_cannot_be_asked_together(void **state)
{
    (void)state;
    static const char *const one_way[] = {"stream", "burst"}, *const ask[] = {"transfer",
                                                                              "idle-mix"};
    struct err e = {""};
    struct params p;
    for (int i = 0; i < 2; i++) {
        p = resolved(one_way[i], PARAM_UNSET);
        assert_string_equal(protocol_table[(int)p.protocol]->id, "discard");
        assert_int_equal(workload_check(&p, &e), 0);
        p.protocol = protocol_find("fetch");
        refused(p, "waits for no reply");
        p = resolved(ask[i], PARAM_UNSET);
        p.protocol = protocol_find("discard");
        refused(p, "waits for replies");
    }
    p = resolved("connect", PARAM_UNSET); /* asks nothing */
    p.protocol = protocol_find("discard");
    assert_int_equal(workload_check(&p, &e), 0);
    p = resolved("stream", PARAM_UNSET);
    p.engine = ENGINE_MUX_URING;
    refused(p, "mux or blocking");
    p = resolved("burst", PARAM_UNSET);
    p.connections = 5000;
    refused(p, "a thread for each");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer_follows_the_size),
        cmocka_unit_test(test_what_cannot_be_asked_together),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_lists_name_each_thing_once),
        cmocka_unit_test(test_published_sweeps_can_be_parsed),
        cmocka_unit_test(test_resolve_fills_everything),
        cmocka_unit_test(test_defaults_of_the_workloads),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_size_of_the_protocol),
        cmocka_unit_test(test_resolve_leaves_what_is_set),
    };
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
