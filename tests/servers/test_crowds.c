/* SPDX-License-Identifier: MIT */
/* Many connections at once, and more than there are descriptors for. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "servers/harness.h"

static bool shares_its_table(const struct setting *s)
{
    return UNDER_TSAN && s->place == PLACE_INSIDE;
}

/* Connects are all under way before the first is waited for. */
static void storm(const struct server_spec *spec, int n)
{
    struct server *s = harness_start(spec);
    struct net_addr a;
    int *fd = calloc((size_t)n, sizeof *fd);
    server_address(s, &a);
    for (int i = 0; i < n; i++) {
        fd[i] = net_connect_start(&a, true);
        assert_true(fd[i] >= 0);
    }
    for (int i = 0; i < n; i++) {
        struct pollfd p = {.fd = fd[i], .events = POLLOUT};
        assert_int_equal(poll(&p, 1, 10000), 1);
        assert_int_equal(net_connect_result(fd[i]), 0);
        fcntl(fd[i], F_SETFL, 0);
        client_ask(fd[i], (uint64_t)i, 10);
    }
    for (int i = 0; i < n; i++)
        assert_true(client_reply(fd[i], (uint64_t)i, 10));
    /* A thread may answer before its connection is counted. */
    UNTIL(harness_counts(s).accepts == (uint64_t)n);
    assert_true(harness_counts(s).last_accept_ns <= clock_ns());
    for (int i = 0; i < n; i++)
        net_close_reset(fd[i]);
    UNTIL(harness_held(s) == 0);
    free(fd);
    server_stop(s);
}

static void thousand_at_once(void **state)
{
    struct server_spec spec = harness_spec(*state);
    if (shares_its_table(*state) && (spec.model->caps & CAP_FD_LIMIT)) {
        print_message("skipped: under TSan server and clients share one table of descriptors\n");
        skip();
    }
    storm(&spec, 1000);
}

static void one_accept_a_wake(void **state)
{
    struct server_spec spec = harness_spec(*state);
    spec.params.accept = ACCEPT_ONE;
    storm(&spec, 300);
}

static void set_nofile(rlim_t n)
{
    struct rlimit r;
    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = n;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &r), 0);
}

static void out_of_descriptors(void **state)
{
    struct server_spec spec = harness_spec(*state);
    struct rlimit before;
    if (UNDER_TSAN && !strcmp(spec.model->id, "pool")) {
        print_message("skipped: TSan needs descriptors to find out what tsan.supp leaves out\n");
        skip();
    }
    getrlimit(RLIMIT_NOFILE, &before);
    set_nofile(64);
    struct server *s = harness_start(&spec);
    struct crowd crowd = crowd_open(s, 200);
    UNTIL(harness_counts(s).accept_failures > 0);
    uint64_t start = clock_ns();
    struct server_counts a = harness_counts(s), b;
    int64_t cpu = server_cpu_ns(s);
    harness_sleep_ms(300);
    UNTIL(harness_counts(s).accept_failures > a.accept_failures);
    b = harness_counts(s);
    uint64_t tenths = (clock_ns() - start) / (100 * NS_PER_MS);
    assert_in_range(harness_held(s), 10, 62);
    assert_in_range(b.accept_failures - a.accept_failures, 1, tenths + 2);
    assert_in_range(b.waits - a.waits, 1, 4 * tenths + 8);
    assert_true(server_cpu_ns(s) - cpu < 50 * (int64_t)NS_PER_MS);
    struct err text = {""};
    assert_in_range(server_troubles(s, &text), 1, tenths / 10 + 2);
    assert_string_equal(text.text, "accept: Too many open files");
    crowd_close(&crowd);
    start = clock_ns();
    UNTIL(harness_held(s) == 0 && harness_counts(s).accepts >= 200);
    int fd = client_open(s);
    assert_true(client_ping(fd, 1, 1));
    assert_true(clock_ns() - start < NS_PER_S);
    close(fd);
    setrlimit(RLIMIT_NOFILE, &before);
    server_stop(s);
}

/* 1100 clients of a server that can hold some 1020: the surplus is closed at once and counted. */
static void past_the_limit_of_select(void **state)
{
    enum { N = 1100 };
    const struct setting *setting = *state;
    struct server *s = harness_start_plain(setting);
    int fd[N], served = 0, refused = 0;
    struct net_addr a;
    server_address(s, &a);
    for (int i = 0; i < N; i++) {
        fd[i] = net_connect_blocking(&a, true, 10);
        if (fd[i] < 0) /* the reset may come before connect() returns */
            assert_int_equal(fd[i], -ECONNRESET);
    }
    UNTIL(harness_counts(s).accepts + harness_counts(s).refusals == N);
    struct server_counts c = harness_counts(s);
    for (int i = 0; i < N; i++) {
        if (fd[i] < 0) {
            refused++;
            continue;
        }
        struct pollfd p = {.fd = fd[i], .events = POLLIN};
        if (poll(&p, 1, 0) == 1)
            refused += client_at_end(fd[i]);
        else
            served += client_ping(fd[i], (uint64_t)i, 100);
    }
    assert_int_equal(served, c.accepts);
    assert_int_equal(refused, c.refusals);
    if (setting->model->caps & CAP_FD_LIMIT) {
        struct err text = {""};
        assert_true(c.refusals > 0);
        if (!shares_its_table(setting))
            assert_in_range(c.accepts, 1000, FD_SETSIZE - 3);
        assert_true(server_troubles(s, &text) > 0);
        assert_non_null(strstr(text.text, "select takes those below 1024"));
    } else {
        assert_int_equal(c.refusals, 0);
    }
    for (int i = 0; i < N; i++)
        if (fd[i] >= 0)
            net_close_reset(fd[i]);
    UNTIL(harness_held(s) == 0);
    int again = client_open(s); /* room again */
    if (!shares_its_table(setting))
        assert_true(client_ping(again, 1, 1));
    close(again);
    server_stop(s);
}

/* A shell that left 1050 descriptors open, across exec too. */
static void descriptors_inherited(void **state)
{
    enum { N = 1050 };
    int open_before[N];
    const struct setting *setting = *state;
    for (int i = 0; i < N; i++)
        assert_true((open_before[i] = open("/dev/null", O_RDONLY)) >= 0);
    struct server_spec spec = harness_spec(setting);
    struct err e = {""};
    struct server *s = server_start(&spec, &e);
    if (shares_its_table(setting) && (setting->model->caps & CAP_FD_LIMIT)) {
        assert_null(s);
        assert_non_null(strstr(e.text, "select cannot watch descriptor"));
    } else {
        assert_non_null(s);
        int fd = client_open(s);
        assert_true(client_ping(fd, 1, 1000));
        close(fd);
        server_stop(s);
    }
    for (int i = 0; i < N; i++)
        close(open_before[i]);
}

static int tests(void)
{
    static const struct contract all[] = {
        {"1000 at once", thousand_at_once},
        {"300 at once, one accept a wake", one_accept_a_wake},
        {"out of descriptors", out_of_descriptors},
        {"1100 connections", past_the_limit_of_select},
        {"1050 descriptors inherited", descriptors_inherited},
    };
    return harness_contract("crowds", all, sizeof all / sizeof *all);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
