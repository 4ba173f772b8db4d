/* SPDX-License-Identifier: MIT */
/* Loads that wait for no reply, in both engines that can: what one end sent and the other received
 * is equal to the byte when a turn is over, however the server behaves. */
#include "sink.h"

#include <stdlib.h>

#include "base/clock.h"

static const double engines[] = {ENGINE_MUX, ENGINE_BLOCKING};
#define ENGINES (sizeof engines / sizeof *engines)

static struct load_counts counts(const struct load *l)
{
    struct load_counts c;
    load_read(l, &c);
    return c;
}

static struct load_spec stream(struct sink *s, int connections, double size, double engine)
{
    struct load_spec spec = sink_spec(s, "stream", connections);
    spec.params.size = size;
    spec.params.engine = engine;
    return spec;
}

static void test_equal_at_both_ends(void **state)
{
    (void)state;
    static const double sizes[] = {1, 100, 4096, 200000};
    for (size_t i = 0; i < ENGINES * 4; i++) {
        struct sink *s = sink_start();
        struct load_spec spec = stream(s, 20, sizes[i / ENGINES], engines[i % ENGINES]);
        struct load *l = rig_open(&spec);
        for (int turn = 0; turn < 2; turn++) {
            rig_turn(l, 10 * MS, 40 * MS);
            struct load_counts c = counts(l);
            assert_true(c.sent > 0 && c.sent_bytes >= c.sent * (uint64_t)spec.params.size);
            assert_int_equal(c.sent_bytes, sink_counts(s).bytes_in);
            assert_int_equal(c.sent_bytes % (uint64_t)spec.params.size, 0); /* whole messages */
            assert_int_equal(rig_errors(&c), 0);
            assert_true(c.replies == 0 && c.answered == 0);
        }
        assert_int_equal(load_established(l), 20);
        load_close(l);
        sink_stop(s);
    }
}

/* Flat out the connections take turns. */
static void test_equal_shares(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    uint64_t least, most;
    struct load_spec spec = stream(s, 10, 512, ENGINE_MUX);
    struct load *l = rig_open(&spec);
    rig_turn(l, 50 * MS, 200 * MS);
    sink_shares(s, &least, &most);
    assert_true(least > 0 && most <= 2 * least);
    assert_int_equal(counts(l).sent_bytes, sink_counts(s).bytes_in);
    load_close(l);
    sink_stop(s);
}

static void test_paced(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENGINES; i++) {
        struct sink *s = sink_start();
        struct load_spec spec = stream(s, 20, 300, engines[i]);
        spec.params.rate = 1000;
        struct load *l = rig_open(&spec);
        rig_turn(l, 0, 400 * MS);
        struct load_counts c = counts(l);
        assert_in_range(c.due, 360, 480);
        assert_true(c.sent <= c.due && c.sent + 30 >= c.due);
        assert_int_equal(c.sent_bytes, sink_counts(s).bytes_in);
        assert_int_equal(c.sent_bytes % 300, 0);
        struct hist_copy *late = rig_hist(l, LOAD_LATE), *latency = rig_hist(l, LOAD_LATENCY);
        assert_true(late->count >= c.sent && latency->count == 0);
        free(late);
        free(latency);
        load_close(l);
        sink_stop(s);
    }
}

/* What comes due while a socket is full goes out later: all of it, and no more. */
static void test_paced_with_a_pause(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = stream(s, 2, 65536, ENGINE_MUX);
    spec.params.rate = 400;
    sink_manners(s)->silent = true;
    struct load *l = rig_open(&spec);
    load_set_phase(l, LOAD_SETTLE);
    load_set_phase(l, LOAD_MEASURE);
    rig_sleep(300 * MS);
    uint64_t stuck = counts(l).sent;
    sink_manners(s)->silent = false;
    rig_sleep(500 * MS);
    load_set_phase(l, LOAD_STOP);
    assert_true(load_drained(l, 8000 * MS));
    struct load_counts c = counts(l);
    assert_true(stuck < 60);
    assert_true(c.due >= 280 && c.sent <= c.due && c.sent + 20 >= c.due);
    assert_int_equal(c.sent_bytes, sink_counts(s).bytes_in);
    assert_int_equal(rig_errors(&c), 0);
    load_close(l);
    sink_stop(s);
}

/* The drain lasts until the server has read all, not until the sockets have taken it. */
static void test_drain_waits_for_the_server(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENGINES; i++) {
        struct sink *s = sink_start();
        struct load_spec spec = stream(s, 4, 1000, engines[i]);
        sink_manners(s)->gap_ns = 4 * MS;
        sink_manners(s)->read_most = 4000;
        struct load *l = rig_open(&spec);
        load_set_phase(l, LOAD_SETTLE);
        load_set_phase(l, LOAD_MEASURE);
        rig_sleep(50 * MS);
        load_set_phase(l, LOAD_STOP);
        assert_false(load_drained(l, 20 * MS));
        assert_true(counts(l).sent_bytes > sink_counts(s).bytes_in);
        sink_manners(s)->gap_ns = 0;
        sink_manners(s)->read_most = 65536;
        assert_true(load_drained(l, 8000 * MS));
        assert_int_equal(counts(l).sent_bytes, sink_counts(s).bytes_in);
        load_close(l);
        sink_stop(s);
    }
}

static void test_silent_server(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENGINES; i++) {
        struct sink *s = sink_start();
        struct load_spec spec = stream(s, 4, 4096, engines[i]);
        spec.params.timeout = 0.3;
        sink_manners(s)->silent = true;
        struct load *l = rig_open(&spec);
        load_set_phase(l, LOAD_SETTLE);
        load_set_phase(l, LOAD_MEASURE);
        for (int k = 0; k < 200 && counts(l).errors_timeout < 4; k++)
            rig_sleep(20 * MS);
        assert_true(counts(l).errors_timeout >= 4);
        load_set_phase(l, LOAD_STOP);
        load_drained(l, 100 * MS);
        load_give_up(l);
        assert_int_equal(sink_counts(s).bytes_in, 0);
        load_close(l);
        sink_stop(s);
    }
}

/* Bytes of broken connections are lost; the turn ends all the same, and the next one begins. */
static void test_resets(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENGINES; i++) {
        struct sink *s = sink_start();
        struct load_spec spec = stream(s, 8, 4096, engines[i]);
        sink_manners(s)->reset_every = 50;
        struct load *l = rig_open(&spec);
        rig_turn(l, 10 * MS, 200 * MS);
        struct load_counts c = counts(l);
        assert_true(c.errors_reset > 0 && c.errors_timeout == 0 && c.errors_bytes == 0);
        assert_true(c.sent_bytes > sink_counts(s).bytes_in);
        sink_manners(s)->reset_every = 0;
        uint64_t sent = c.sent_bytes, got = sink_counts(s).bytes_in;
        rig_turn(l, 10 * MS, 50 * MS);
        c = counts(l);
        assert_true(c.sent_bytes > sent);
        assert_int_equal(c.sent_bytes - sent, sink_counts(s).bytes_in - got);
        load_close(l);
        sink_stop(s);
    }
}

static void test_other_settings(void **state)
{
    (void)state;
    struct sink *s = sink_start();
    struct load_spec spec = stream(s, 10, 100, ENGINE_MUX);
    struct load *l = rig_open(&spec);
    rig_turn(l, 0, 30 * MS);
    spec.params.connections = 4;
    spec.params.size = 777;
    load_adjust(l, &spec.params);
    assert_true(load_wait_open(l, 5000 * MS));
    uint64_t before = counts(l).sent_bytes;
    rig_turn(l, 0, 30 * MS);
    assert_int_equal((counts(l).sent_bytes - before) % 777, 0);
    assert_int_equal(counts(l).sent_bytes, sink_counts(s).bytes_in);
    assert_int_equal(load_established(l), 4);
    load_close(l);
    sink_stop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_at_both_ends),
        cmocka_unit_test(test_equal_shares),
        cmocka_unit_test(test_paced),
        cmocka_unit_test(test_paced_with_a_pause),
        cmocka_unit_test(test_drain_waits_for_the_server),
        cmocka_unit_test(test_silent_server),
        cmocka_unit_test(test_resets),
        cmocka_unit_test(test_other_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
