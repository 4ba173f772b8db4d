/* SPDX-License-Identifier: MIT */
/* The gate, for every model in both placements: nothing is read and nobody accepted while it is
 * shut, but by a model that says so; all of it once it opens, with the times noted. */
#include "servers/harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/protocol.h"

#define CLIENTS 20
#define BYTES 4096
#define KNOCKS 64

static struct gate_reading look(const struct server *s)
{
    struct gate_reading g;
    server_gate_read(s, &g);
    return g;
}

/* Shuts the gate and wakes the workers until all stand there; returns how many it woke. */
static int shut(struct server *s, int *knocks)
{
    int n = 0;
    server_gate(s, GATE_SHUT);
    for (int i = 0; i < 2000 && look(s).standing < look(s).workers; i++) {
        if (i % 20 == 2 && n < KNOCKS)
            knocks[n++] = client_open(s);
        harness_sleep_ms(1);
    }
    assert_int_equal(look(s).standing, look(s).workers);
    return n;
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

static struct server *start(const struct setting *on, int workers)
{
    struct server_spec spec = harness_spec(on);
    spec.params.protocol = protocol_find("discard");
    spec.params.workers = workers;
    return harness_start(&spec);
}

static void send_bytes(const int *fds, int n)
{
    static const char bytes[BYTES];
    for (int i = 0; i < n; i++)
        assert_int_equal(send(fds[i], bytes, BYTES, MSG_NOSIGNAL), BYTES);
}

static void holds_reads_back(struct server *s)
{
    int fds[CLIENTS], knocks[KNOCKS];
    for (int i = 0; i < CLIENTS; i++)
        fds[i] = client_open(s);
    UNTIL(harness_held(s) == CLIENTS);
    send_bytes(fds, CLIENTS);
    UNTIL(harness_counts(s).bytes_in == CLIENTS * BYTES);

    int woken = shut(s, knocks);
    send_bytes(fds, CLIENTS);
    bool passes = look(s).passes & GATE_PASSES_READS;
    if (passes)
        UNTIL(harness_counts(s).bytes_in == 2 * CLIENTS * BYTES);
    harness_sleep_ms(10);
    assert_int_equal(harness_counts(s).bytes_in, (passes ? 2 : 1) * CLIENTS * BYTES);
    assert_int_equal(look(s).drained, 0);

    uint64_t before = clock_ns();
    server_gate(s, GATE_STAMPS);
    UNTIL(harness_counts(s).bytes_in == 2 * CLIENTS * BYTES);
    if (!passes) {
        UNTIL(look(s).drained == CLIENTS * BYTES);
        struct gate_reading g = look(s);
        assert_true(before <= g.passed_ns && g.passed_ns <= g.drained_ns);
        assert_true(g.drained_ns <= clock_ns());
    }
    server_gate(s, GATE_OPEN);
    send_bytes(fds, CLIENTS);
    UNTIL(harness_counts(s).bytes_in == 3 * CLIENTS * BYTES);
    close_all(fds, CLIENTS);
    close_all(knocks, woken);
}

static void reads(void **state)
{
    struct server *s = start(*state, 1);
    holds_reads_back(s);
    server_stop(s);
}

static void reads_of_two_workers(void **state)
{
    const struct setting *on = *state;
    struct server *s = start(on, on->model->caps & CAP_OWN_WORKERS ? 1 : 2);
    holds_reads_back(s);
    server_stop(s);
}

static void accepts(void **state)
{
    struct server *s = start(*state, 1);
    int fds[CLIENTS], knocks[KNOCKS];
    int woken = shut(s, knocks);
    uint64_t before = harness_counts(s).accepts;
    for (int i = 0; i < CLIENTS; i++)
        fds[i] = client_open(s);
    harness_sleep_ms(10);
    if (!(look(s).passes & GATE_PASSES_ACCEPTS))
        assert_int_equal(harness_counts(s).accepts, before);
    server_gate(s, GATE_STAMPS);
    UNTIL(harness_counts(s).accepts == (uint64_t)(woken + CLIENTS)); /* who knocked late, too */
    UNTIL(look(s).passed_ns > 0);
    harness_sleep_ms(5);
    assert_true(harness_counts(s).last_accept_ns >= look(s).passed_ns);
    close_all(fds, CLIENTS);
    close_all(knocks, woken);
    UNTIL(harness_held(s) == 0);
    server_stop(s);
}

/* One that stands there ends like any other. */
static void stops_behind_it(void **state)
{
    struct server *s = start(*state, 1);
    int knocks[KNOCKS];
    int woken = shut(s, knocks);
    uint64_t start_ns = clock_ns();
    struct err why = {""};
    assert_true(server_alive(s, &why));
    server_stop(s);
    assert_true(clock_ns() - start_ns < 5 * NS_PER_S);
    close_all(knocks, woken);
}

static int tests(void)
{
    static const struct contract all[] = {
        {"reads are held back", reads},
        {"reads of two workers", reads_of_two_workers},
        {"accepts are held back", accepts},
        {"stops behind it", stops_behind_it},
    };
    return harness_contract("gate", all, sizeof all / sizeof *all);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
