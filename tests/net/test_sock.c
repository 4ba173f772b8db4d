/* SPDX-License-Identifier: MIT */
/* Listening, connecting, closing and waking, over real sockets of this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "net/sock.h"

static int listen_on(const char *where, int backlog, struct net_addr *at)
{
    struct net_listen how = {.backlog = backlog, .nodelay = true};
    assert_int_equal(net_addr_parse(where, true, at, NULL), 0);
    int fd = net_listen(at, &how, NULL);
    assert_true(fd >= 0);
    net_addr_set_port(at, net_local_port(fd));
    return fd;
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;
    getsockopt(fd, level, name, &value, &len);
    return value;
}

static void wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    assert_int_equal(poll(&p, 1, 5000), 1);
}

static void options_are_set(void **state)
{
    (void)state;
    struct net_addr a;
    int l = listen_on("127.0.0.1:0", 16, &a);
    assert_true(net_local_port(l) > 0);
    assert_true(fcntl(l, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(l, F_GETFD) & FD_CLOEXEC);
    int c = net_connect_blocking(&a, true, 5);
    wait_for(l, POLLIN);
    int s = accept4(l, NULL, NULL, SOCK_CLOEXEC);
    assert_true(s >= 0);
    assert_int_equal(option(s, IPPROTO_TCP, TCP_NODELAY), 1); /* from the listener */
    assert_int_equal(option(c, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_true(fcntl(c, F_GETFD) & FD_CLOEXEC);
    assert_false(fcntl(c, F_GETFL) & O_NONBLOCK);
    close(c);
    c = net_connect_start(&a, false);
    assert_true(fcntl(c, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(c, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(option(c, IPPROTO_TCP, TCP_NODELAY), 0);
    close(c);
    close(s);
    close(l);
}

static void all_addresses_take_both(void **state)
{
    (void)state;
    struct net_addr a, v4;
    int l = listen_on("*:0", 16, &a);
    assert_int_equal(net_addr_parse("127.0.0.1:1", false, &v4, NULL), 0);
    net_addr_set_port(&v4, net_addr_port(&a));
    int c = net_connect_blocking(&v4, false, 5);
    assert_true(c >= 0);
    close(c);
    close(l);
}

static void in_use(void **state)
{
    (void)state;
    struct net_addr a;
    struct err e = {""};
    struct net_listen how = {.backlog = 1}, shared = {.backlog = 1, .shared = true};
    char text[120], at[80];
    int l = listen_on("127.0.0.1:0", 1, &a);
    snprintf(text, sizeof text, "cannot listen on %s: Address already in use",
             net_addr_print(&a, at, sizeof at));
    assert_int_equal(net_listen(&a, &how, &e), -EADDRINUSE);
    assert_string_equal(e.text, text);
    assert_int_equal(net_listen(&a, &shared, &e), -EADDRINUSE);
    close(l);
    l = net_listen(&a, &shared, &e);
    int second = net_listen(&a, &shared, &e);
    assert_true(l >= 0 && second >= 0);
    close(l);
    close(second);
    assert_int_equal(net_addr_parse("192.0.2.1:1", true, &a, NULL), 0);
    assert_int_equal(net_listen(&a, &how, &e), -EADDRNOTAVAIL);
}

static void connects(void **state)
{
    (void)state;
    struct net_addr a;
    int l = listen_on("127.0.0.1:0", 16, &a), c = net_connect_start(&a, true);
    assert_true(c >= 0);
    wait_for(c, POLLOUT);
    assert_int_equal(net_connect_result(c), 0);
    close(c);
    close(l);
    c = net_connect_start(&a, true); /* nobody listens now */
    if (c >= 0) {
        wait_for(c, POLLOUT);
        assert_int_equal(net_connect_result(c), -ECONNREFUSED);
        close(c);
    } else {
        assert_int_equal(c, -ECONNREFUSED);
    }
    assert_int_equal(net_connect_blocking(&a, true, 5), -ECONNREFUSED);
}

static void peer_text(int listener, char *text, size_t size)
{
    struct net_addr a = {.len = sizeof a.ss};
    wait_for(listener, POLLIN);
    int fd = accept(listener, (struct sockaddr *)&a.ss, &a.len);
    assert_true(fd >= 0);
    net_addr_set_port(&a, 1);
    net_addr_print(&a, text, size);
    close(fd);
}

/* To loopback, many connections come from several addresses; elsewhere the kernel chooses. */
static void sources_of_many_connections(void **state)
{
    static const struct {
        long nth;
        const char *from;
    } want[] = {{0, "127.0.0.1:1"}, {9999, "127.0.0.1:1"}, {10000, "127.0.0.2:1"},
                {29999, "127.0.0.3:1"}, {60000, "127.0.0.7:1"}};
    struct net_addr a, from;
    char text[80];
    int l = listen_on("127.0.0.1:0", 16, &a);
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        int c = net_connect_nth(&a, want[i].nth, true);
        assert_true(c >= 0);
        assert_int_equal(net_source(&a, want[i].nth, &from), want[i].nth >= 10000);
        peer_text(l, text, sizeof text);
        assert_string_equal(text, want[i].from);
        close(c);
    }
    close(l);
    assert_int_equal(net_addr_parse("192.0.2.1:80", false, &a, NULL), 0);
    assert_false(net_source(&a, 60000, &from));
    assert_int_equal(net_addr_parse("[::1]:80", false, &a, NULL), 0);
    assert_false(net_source(&a, 60000, &from));
}

static void connect_without_descriptors(void **state)
{
    (void)state;
    struct net_addr a;
    struct rlimit before, none;
    int l = listen_on("127.0.0.1:0", 16, &a);
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
    int start = net_connect_start(&a, true), blocking = net_connect_blocking(&a, true, 1);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(start, -EMFILE);
    assert_int_equal(blocking, -EMFILE);
    close(l);
}

/* The accept queue is full, so the next SYN is dropped: connect itself must give up. And a peer
 * that is silent: recv must. */
static void blocking_gives_up(void **state)
{
    (void)state;
    struct net_addr a;
    int l = listen_on("127.0.0.1:0", 0, &a), c[8], n = 0, last = 0;
    for (; n < 8; n++) {
        last = net_connect_blocking(&a, true, 0.1);
        if (last < 0)
            break;
        c[n] = last;
    }
    if (n < 8)
        assert_int_equal(last, -ETIMEDOUT);
    assert_true(n > 0);
    char byte;
    assert_int_equal(recv(c[0], &byte, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    for (int i = 0; i < n; i++)
        net_close_reset(c[i]);
    close(l);
}

/* The state of the connection between two ports, as /proc/net/tcp has it (6: TIME_WAIT); or 0. */
static int state_of(int from, int to)
{
    char line[256];
    unsigned local, remote, state, found = 0;
    FILE *f = fopen("/proc/net/tcp", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, " %*d: %*x:%x %*x:%x %x", &local, &remote, &state) == 3 &&
            local == (unsigned)from && remote == (unsigned)to)
            found = state;
    fclose(f);
    return (int)found;
}

static void reset_leaves_no_time_wait(void **state)
{
    (void)state;
    struct net_addr a;
    int l = listen_on("127.0.0.1:0", 16, &a);
    for (int reset = 0; reset < 2; reset++) {
        int c = net_connect_blocking(&a, true, 5), port = net_local_port(c);
        wait_for(l, POLLIN);
        int s = accept4(l, NULL, NULL, SOCK_CLOEXEC);
        assert_int_equal(state_of(port, net_addr_port(&a)), 1); /* ESTABLISHED */
        if (reset)
            net_close_reset(c);
        else
            close(c);
        char byte;
        ssize_t n = recv(s, &byte, 1, 0);
        assert_int_equal(n, reset ? -1 : 0);
        assert_true(!reset || errno == ECONNRESET);
        close(s);
        assert_int_equal(state_of(port, net_addr_port(&a)), reset ? 0 : 6);
    }
    close(l);
}

static void wakes(void **state)
{
    (void)state;
    int fd = net_wake_open(NULL);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_true(fd >= 0);
    assert_int_equal(poll(&p, 1, 0), 0);
    net_wake_clear(fd); /* nothing to clear: does not block */
    for (int i = 0; i < 3; i++)
        net_wake_signal(fd);
    assert_int_equal(poll(&p, 1, 0), 1);
    net_wake_clear(fd);
    assert_int_equal(poll(&p, 1, 0), 0);
    close(fd);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_set),
        cmocka_unit_test(all_addresses_take_both),
        cmocka_unit_test(in_use),
        cmocka_unit_test(connects),
        cmocka_unit_test(sources_of_many_connections),
        cmocka_unit_test(connect_without_descriptors),
        cmocka_unit_test(blocking_gives_up),
        cmocka_unit_test(reset_leaves_no_time_wait),
        cmocka_unit_test(wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
