/* SPDX-License-Identifier: MIT */
/* Passes of `connect`, and the watch. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"
#include "load/watch.h"
#include "rig.h"

static int setup(void **state)
{
    *state = fake_start(1024);
    return 0;
}

static int teardown(void **state)
{
    fake_stop(*state);
    return 0;
}

static struct load_spec spec_of(struct fake *f, int connections, double arrival)
{
    struct load_spec s = {.server_read = fake_read, .server_ctx = f, .cpu_count = 1};
    params_init(&s.params);
    s.params.workload = workload_find("connect");
    s.params.connections = connections;
    s.params.arrival = arrival;
    s.params.timeout = 5;
    workload_resolve(&s.params);
    fake_address(f, &s.target);
    return s;
}

#define V(metric) r.values.v[METRIC_##metric]

static int pass(const struct load_spec *s, struct load_watch *w, struct repeat_result *r)
{
    struct err e = {""};
    int failed = workload_of(&s->params)->repeat(s, w, r, &e);
    if (failed)
        fail_msg("%s", e.text);
    return failed;
}

static void check_points(const struct load_watch *w, int n)
{
    assert_in_range(w->points, 2, WATCH_POINTS);
    for (int i = 1; i < w->points; i++) {
        assert_true(w->x[i] >= w->x[i - 1]);
        assert_true(w->series[0][i] >= w->series[0][i - 1]);
        assert_true(w->series[1][i] >= w->series[1][i - 1]);
    }
    assert_true(w->series[0][w->points - 1] == n);
    assert_true(w->series[1][w->points - 1] == n);
}

static void test_whole_passes(void **state)
{
    struct fake *f = *state;
    struct load_watch w, copy;
    load_watch_init(&w);
    for (int i = 0; i < 6; i++) {
        struct load_spec s = spec_of(f, 300, i % 2 ? ARRIVAL_STORM : ARRIVAL_SERIAL);
        struct repeat_result r;
        pass(&s, &w, &r);
        assert_int_equal(V(established), 300);
        assert_int_equal(V(accepted), 300);
        assert_int_equal(r.counts.connects, 300);
        assert_int_equal(r.counts.closed, 300);
        assert_int_equal(V(syn_retransmits), 0);
        assert_int_equal(rig_errors(&r.counts), 0);
        assert_true(V(connect_s) > 0 && V(connect_s) <= r.duration_s);
        assert_true(V(accepted_s) > 0 && V(accepted_s) <= r.duration_s);
        assert_true(fabs(V(connections_per_s) * V(connect_s) - 300) < 1e-6);
        assert_true(r.load_cpu_ns > 0);
        assert_int_equal(fake_open(f), 0); /* it has caught up: the next pass starts from none */
        load_watch_copy(&w, &copy);
        check_points(&copy, 300);
    }
    load_watch_fini(&w);
}

static void test_slow_accepts_end_later_than_connects(void **state)
{
    struct fake *f = *state;
    struct load_spec s = spec_of(f, 50, ARRIVAL_STORM);
    struct repeat_result r;
    fake_manners(f)->accept_gap_ns = 10 * MS;
    pass(&s, NULL, &r);
    assert_int_equal(V(accepted), 50);
    assert_true(V(accepted_s) > 0.45);
    assert_true(V(connect_s) < V(accepted_s));
}

static void test_a_server_that_never_accepts(void **state)
{
    struct fake *f = *state;
    struct load_spec s = spec_of(f, 50, ARRIVAL_SERIAL);
    struct repeat_result r;
    s.params.timeout = 0.5;
    fake_deafen(f);
    uint64_t dead = 0;
    do {
        assert_true(dead < 250); /* longer than its time-out each time */
        pass(&s, NULL, &r);
        dead += 50;
        assert_int_equal(V(established), 50);
        assert_false(isnan(V(connect_s))); /* the client's side is whole */
        assert_int_equal(V(accepted), 0);
        assert_true(isnan(V(accepted_s)));
        assert_true(r.duration_s >= 0.5);
    } while (!HOLDS(r.duration_s < 1.5));
    fake_manners(f)->deaf = false;
    struct load_spec again = spec_of(f, 20, ARRIVAL_SERIAL);
    struct server_counts c = {0};
    for (int i = 0; i < 1000 && c.accepts < dead; i++) {
        rig_sleep(10 * MS); /* it takes what is dead by now */
        fake_read(f, &c);
    }
    assert_int_equal(c.accepts, dead);
    pass(&again, NULL, &r);
    assert_int_equal(V(accepted), 20);
}

/* What it still accepts of a pass that is over must not count in the next one. */
static void test_a_slow_server_is_waited_for(void **state)
{
    struct fake *f = *state;
    struct load_spec s = spec_of(f, 6, ARRIVAL_SERIAL), again = s;
    struct repeat_result r;
    s.params.timeout = 0.5;
    fake_manners(f)->accept_gap_ns = 200 * MS;
    pass(&s, NULL, &r);
    assert_int_equal(V(established), 6);
    assert_true(V(accepted) < 6);
    fake_manners(f)->accept_gap_ns = 0;
    pass(&again, NULL, &r);
    assert_int_equal(V(established), 6);
    assert_int_equal(V(accepted), 6);
}

/* A full queue drops SYNs: the pass ends at its time-out in the middle of a connect. */
static bool full_queue_once(void **state, double arrival)
{
    fake_stop(*state);
    struct fake *f = *state = fake_start(1);
    struct load_spec s = spec_of(f, 20, arrival);
    struct repeat_result r;
    s.params.timeout = 0.7;
    fake_deafen(f);
    pass(&s, NULL, &r);
    assert_in_range(V(established), 1, 5);
    assert_true(isnan(V(connect_s)) && isnan(V(accepted_s)) && isnan(V(connections_per_s)));
    assert_true(r.duration_s >= 0.7);
    assert_int_equal(r.counts.errors_timeout, 20 - V(established));
    return HOLDS(r.duration_s < 1.5);
}

static void full_queue(void **state, double arrival)
{
    for (int tries = 1; !full_queue_once(state, arrival); tries++)
        assert_true(tries < 5);
}

static void test_full_queue_serial(void **state)
{
    full_queue(state, ARRIVAL_SERIAL);
}

static void test_full_queue_storm(void **state)
{
    full_queue(state, ARRIVAL_STORM);
}

/* A queue of 1 and a slow accept: a SYN is lost now and then, and the kernel's timer of a second is
 * in the pass. */
static void test_lost_syns_are_counted(void **state)
{
    fake_stop(*state);
    struct fake *f = *state = fake_start(1);
    struct load_spec s = spec_of(f, 6, ARRIVAL_SERIAL);
    struct repeat_result r;
    s.params.timeout = 20;
    fake_manners(f)->accept_gap_ns = 100 * MS;
    pass(&s, NULL, &r);
    assert_int_equal(V(established), 6);
    assert_in_range(V(syn_retransmits), 1, 6);
    assert_true(V(connect_s) > 0.9);
    assert_int_equal(rig_errors(&r.counts), 0);
}

static void test_closed_port(void **state)
{
    struct fake *f = *state;
    struct repeat_result r;
    for (int arrival = ARRIVAL_SERIAL; arrival <= ARRIVAL_STORM; arrival++) {
        struct load_spec s = spec_of(f, 30, arrival);
        rig_at_nobody(&s);
        pass(&s, NULL, &r);
        assert_int_equal(r.counts.errors_refused, 30);
        assert_int_equal(V(established), 0);
        assert_true(isnan(V(connect_s)));
        assert_true(r.duration_s < s.params.timeout / 2); /* over when all have failed */
    }
}

static void test_a_server_that_refuses_some(void **state)
{
    struct fake *f = *state;
    struct repeat_result r;
    fake_manners(f)->capacity = 20;
    for (int arrival = ARRIVAL_SERIAL; arrival <= ARRIVAL_STORM; arrival++) {
        struct load_spec s = spec_of(f, 30, arrival);
        pass(&s, NULL, &r);
        assert_int_equal(V(established), 30);
        assert_int_equal(V(accepted), 20);
        assert_true(isnan(V(accepted_s)));
        assert_true(r.duration_s < s.params.timeout / 2);
    }
}

static void test_no_descriptors(void **state)
{
    struct fake *f = *state;
    struct repeat_result r;
    struct rlimit before, low;
    getrlimit(RLIMIT_NOFILE, &before);
    for (int arrival = ARRIVAL_SERIAL; arrival <= ARRIVAL_STORM; arrival++) {
        struct load_spec s = spec_of(f, 100, arrival);
        s.params.timeout = 0.5;
        low = before;
        low.rlim_cur = (rlim_t)limits_open_fds() + 40; /* both ends are in this process */
        setrlimit(RLIMIT_NOFILE, &low);
        pass(&s, NULL, &r);
        setrlimit(RLIMIT_NOFILE, &before);
        assert_true(r.counts.errors_fd >= 1);
        assert_true(V(established) < 100 && isnan(V(connect_s)));
    }
}

struct stopper {
    struct load_watch *w;
    uint64_t stopped_ns;
};

static void *stop_soon(void *arg)
{
    struct stopper *s = arg;
    rig_sleep(150 * MS);
    s->stopped_ns = clock_ns();
    atomic_store(&s->w->stop, true);
    return NULL;
}

static void test_stop_ends_a_pass(void **state)
{
    for (int arrival = ARRIVAL_SERIAL; arrival <= ARRIVAL_STORM; arrival++) {
        fake_stop(*state);
        struct fake *f = *state = fake_start(1);
        struct load_spec s = spec_of(f, 20, arrival);
        struct repeat_result r;
        struct load_watch w;
        struct stopper stopper = {.w = &w};
        pthread_t t;
        s.params.timeout = 30;
        fake_deafen(f);
        load_watch_init(&w);
        uint64_t start = clock_ns();
        pthread_create(&t, NULL, stop_soon, &stopper);
        pass(&s, &w, &r);
        pthread_join(t, NULL);
        assert_true(r.duration_s < (double)(stopper.stopped_ns - start) / 1e9 + 10);
        assert_true(isnan(V(connect_s)));
        assert_int_equal(r.counts.errors_timeout, 0); /* called off is no error */
        load_watch_fini(&w);
    }
}

static void test_watch_halves_its_resolution(void **state)
{
    (void)state;
    struct load_watch w;
    struct watcher wr;
    load_watch_init(&w);
    watcher_start(&wr, &w, 1000);
    for (uint64_t t = 0; t <= 60 * NS_PER_S; t += 50 * NS_PER_US)
        if (watcher_due(&wr, 1000 + t))
            watcher_add(&wr, 1000 + t, (double)t, (double)t / 2);
    assert_in_range(w.points, WATCH_POINTS / 2, WATCH_POINTS);
    double step = w.x[1] - w.x[0];
    for (int i = 1; i < w.points; i++) {
        assert_true(fabs(w.x[i] - w.x[i - 1] - step) < step / 100 + 1e-4);
        assert_true(fabs(w.series[0][i] / 1e9 - w.x[i]) < 1e-6);
    }
    assert_true(w.x[0] == 0 && w.x[w.points - 1] > 55);
    watcher_start(&wr, &w, 5);
    assert_int_equal(w.points, 0);
    load_watch_fini(&w);
    load_watch_fini(&w);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_whole_passes),
        T(test_slow_accepts_end_later_than_connects),
        T(test_a_server_that_never_accepts),
        T(test_a_slow_server_is_waited_for),
        T(test_full_queue_serial),
        T(test_full_queue_storm),
        T(test_lost_syns_are_counted),
        T(test_closed_port),
        T(test_a_server_that_refuses_some),
        T(test_no_descriptors),
        T(test_stop_ends_a_pass),
        cmocka_unit_test(test_watch_halves_its_resolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
