/* SPDX-License-Identifier: MIT */
/* burst against a server whose behaviour is known: exact bytes, exact figures, and what it says
 * when something is not to be had. */
#include "sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ticks.h"

#define N 24
#define SIZE 65536
#define CPU_NS 123456789

static struct repeat_result pass(const struct load_spec *spec)
{
    struct repeat_result r;
    struct err e = {""};
    if (workload_of(&spec->params)->repeat(spec, NULL, &r, &e) < 0)
        fail_msg("%s", e.text);
    return r;
}

static double value(const struct repeat_result *r, enum metric_id m)
{
    return r->values.v[m];
}

static void test_counts_every_byte(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    struct repeat_result r = pass(&spec);
    struct server_counts c = sink_counts(s);
    struct sink_marks m = sink_marks(s);
    assert_string_equal(r.note, "");
    assert_int_equal(c.bytes_in, 2 * N * SIZE);
    assert_int_equal(rig_errors(&r.counts), 0);
    assert_int_equal(r.counts.connects, N);
    assert_int_equal(r.counts.closed, N);
    assert_int_equal(c.closes, c.accepts);
    assert_true(value(&r, METRIC_established) == N && value(&r, METRIC_accepted) == N);
    /* Nothing was read behind the gate before it opened, and all of it before the end. */
    assert_true(m.begins == 1 && m.ends == 1);
    assert_int_equal(m.begin_bytes, N * SIZE);
    assert_int_equal(m.end_bytes, 2 * N * SIZE);
    sink_stop(s);
}

static void test_figures_of_the_sends(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    struct repeat_result r = pass(&spec);
    double sum = value(&r, METRIC_send_ns), least = value(&r, METRIC_send_min_ns),
           most = value(&r, METRIC_send_max_ns);
    assert_true(least > 0 && least <= most && N * least <= sum && sum <= N * most);
    assert_true(sum >= least * (N - 1) + most - 1 && sum <= most * (N - 1) + least + 1);
    assert_int_equal(!isnan(value(&r, METRIC_send_ticks)), ticks_invariant());
    assert_true(value(&r, METRIC_rearm_ns) > 0);
    assert_true(r.duration_s > 0 && r.load_cpu_ns > 0);
    sink_stop(s);
}

static void test_drain_is_the_servers(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    sink_manners(s)->first_gap_ns = 200 * MS;
    struct repeat_result r = pass(&spec);
    assert_true(value(&r, METRIC_drain_ns) >= 200e6);
    assert_true(value(&r, METRIC_drain_cpu_ns) == CPU_NS);
    sink_stop(s);
}

static void test_without_a_gate(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    spec.gate_set = NULL;
    struct repeat_result r = pass(&spec);
    assert_non_null(strstr(r.note, "no gate"));
    assert_true(isnan(value(&r, METRIC_drain_ns)) && isnan(value(&r, METRIC_drain_cpu_ns)));
    assert_true(value(&r, METRIC_send_ns) > 0);
    assert_int_equal(sink_counts(s).bytes_in, N * SIZE);

    spec = sink_spec(s, "burst", N);
    sink_manners(s)->passes = true;
    r = pass(&spec);
    assert_non_null(strstr(r.note, "reads outside its wait"));
    assert_true(isnan(value(&r, METRIC_drain_ns)) && value(&r, METRIC_send_ns) > 0);
    sink_stop(s);
}

static void test_sockets_too_small(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", 4);
    spec.params.size = 4 << 20;
    struct repeat_result r = pass(&spec);
    assert_non_null(strstr(r.note, "hold less than 4194304 bytes"));
    assert_true(isnan(value(&r, METRIC_drain_ns)) && value(&r, METRIC_send_ns) > 0);
    assert_int_equal(rig_errors(&r.counts), 0);
    sink_stop(s);
}

static void test_silent_server(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    spec.params.timeout = 0.5;
    sink_manners(s)->silent = true;
    struct repeat_result r = pass(&spec);
    assert_int_equal(sink_counts(s).bytes_in, 0);
    assert_true(isnan(value(&r, METRIC_drain_ns)));
    assert_true(r.duration_s >= 0.5 && r.duration_s < 8);
    sink_stop(s);
}

static void test_resets_are_counted(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    spec.params.size = 4 << 20; /* more than sockets hold: whoever is reset is still sending */
    spec.params.timeout = 5;
    sink_manners(s)->reset_every = 3;
    struct repeat_result r = pass(&spec);
    assert_true(r.counts.errors_reset > 0);
    assert_true(isnan(value(&r, METRIC_send_ns)) && isnan(value(&r, METRIC_drain_ns)));
    sink_stop(s);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    spec.server_read = NULL;
    spec.gate_set = NULL;
    sink_stop(s);
    struct repeat_result r = pass(&spec);
    assert_int_equal(r.counts.errors_refused, N);
    assert_true(value(&r, METRIC_established) == 0 && isnan(value(&r, METRIC_send_ns)));
}

static void test_more_than_threads(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", 100000);
    struct repeat_result r;
    struct err e = {""};
    assert_true(workload_of(&spec.params)->repeat(&spec, NULL, &r, &e) < 0);
    assert_non_null(strstr(e.text, "a thread each"));
    sink_stop(s);
}

/* However short a pass is, it is seen to begin and to end. */
static void test_watched(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    struct load_watch w;
    struct repeat_result r;
    struct err e = {""};
    load_watch_init(&w);
    assert_int_equal(workload_of(&spec.params)->repeat(&spec, &w, &r, &e), 0);
    assert_true(w.points >= 3 && w.points <= WATCH_POINTS);
    assert_true(w.x[0] == 0 && w.series[0][0] == 0 && w.series[1][0] == 0);
    assert_true(w.x[w.points - 1] > 0);
    assert_true(w.series[0][w.points - 1] == N && w.series[1][w.points - 1] == N);
    load_watch_fini(&w);
    sink_stop(s);
}

static void test_stopped_from_outside(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "burst", N);
    struct load_watch watch;
    struct repeat_result r;
    struct err e = {""};
    load_watch_init(&watch);
    atomic_store(&watch.stop, true);
    uint64_t start = clock_ns();
    assert_int_equal(workload_of(&spec.params)->repeat(&spec, &watch, &r, &e), 0);
    assert_true(clock_ns() - start < 8 * NS_PER_S);
    load_watch_fini(&watch);
    sink_stop(s);
}

/* connect, out of a full accept queue. */
static void test_accepts_behind_the_gate(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = sink_spec(s, "connect", 200);
    struct repeat_result r = pass(&spec);
    assert_true(value(&r, METRIC_accept_drain_per_s) > 0);
    assert_string_equal(r.note, "");
    assert_int_equal(r.counts.connects, 200); /* of the measured part only */
    assert_int_equal(sink_marks(s).ends, 1);
    assert_int_equal(sink_counts(s).closes, sink_counts(s).accepts);

    spec.params.backlog = 100; /* holds fewer */
    r = pass(&spec);
    assert_true(isnan(value(&r, METRIC_accept_drain_per_s)));
    spec.params.backlog = 1024;
    sink_manners(s)->passes = true;
    r = pass(&spec);
    assert_true(isnan(value(&r, METRIC_accept_drain_per_s)));
    assert_non_null(strstr(r.note, "accepts outside its wait"));
    sink_stop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_every_byte),
        cmocka_unit_test(test_figures_of_the_sends),
        cmocka_unit_test(test_drain_is_the_servers),
        cmocka_unit_test(test_without_a_gate),
        cmocka_unit_test(test_sockets_too_small),
        cmocka_unit_test(test_silent_server),
        cmocka_unit_test(test_resets_are_counted),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_more_than_threads),
        cmocka_unit_test(test_watched),
        cmocka_unit_test(test_stopped_from_outside),
        cmocka_unit_test(test_accepts_behind_the_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
