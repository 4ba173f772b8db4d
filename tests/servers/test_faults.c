/* SPDX-License-Identifier: MIT */
/* System calls that fail. The program is linked with --wrap, see faults.h. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/protocol.h"
#include "servers/faults.h"
#include "servers/harness.h"

int __real_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
int __real_epoll_wait(int fd, struct epoll_event *ev, int n, int ms);
int __wrap_epoll_wait(int fd, struct epoll_event *ev, int n, int ms);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);

static _Atomic int calls;

int fault(const char *name)
{
    char call[32];
    int code, from, every;
    const char *text = getenv("TEST_FAULT");
    if (!text || sscanf(text, "%31[^:]:%d:%d:%d", call, &code, &from, &every) != 4 ||
        strcmp(call, name) != 0)
        return 0;
    int n = atomic_fetch_add(&calls, 1) - from;
    return n >= 0 && n % every == 0 ? code : 0;
}

void set_fault(const char *call, int code, int from, int every)
{
    char text[64];
    snprintf(text, sizeof text, "%s:%d:%d:%d", call, code, from, every);
    setenv("TEST_FAULT", text, 1);
    atomic_store(&calls, 0);
}

int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    errno = fault("accept");
    return errno ? -1 : __real_accept4(fd, addr, len, flags);
}

int __wrap_epoll_wait(int fd, struct epoll_event *ev, int n, int ms)
{
    errno = fault("wait");
    return errno ? -1 : __real_epoll_wait(fd, ev, n, ms);
}

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
    int code = fault("thread");
    return code ? code : __real_pthread_create(t, a, fn, arg);
}

/* --- accept ----------------------------------------------------------------------------------- */

/* Every other accept fails for a reason that is not the server's: the next client is served. */
static void served_after(void **state, int code, int how)
{
    struct server_spec spec = harness_spec(*state);
    spec.params.accept = how;
    set_fault("accept", code, 0, 2);
    struct server *s = harness_start(&spec);
    for (int i = 0; i < 5; i++) {
        int fd = client_open(s);
        assert_true(client_ping(fd, 1, 100));
        close(fd);
    }
    if (code == EINTR)
        assert_int_equal(harness_counts(s).accept_failures, 0);
    else
        assert_true(harness_counts(s).accept_failures > 0);
    server_stop(s);
    unsetenv("TEST_FAULT");
}

static void connection_gone(void **state)
{
    served_after(state, ECONNABORTED, ACCEPT_DRAIN);
    served_after(state, EPROTO, ACCEPT_ONE);
}

static void interrupted(void **state)
{
    served_after(state, EINTR, ACCEPT_DRAIN);
    served_after(state, EINTR, ACCEPT_ONE);
}

/* The machine's table is full, then it is not: no close of ours tells, the timer does. */
static void machine_full(void **state)
{
    served_after(state, ENFILE, ACCEPT_DRAIN);
    served_after(state, ENOBUFS, ACCEPT_ONE);
}

/* --- threads and waits ------------------------------------------------------------------------ */

/* Whichever thread cannot be made: one line, and nothing stays behind. */
static void no_thread(void **state)
{
    struct server_spec spec = harness_spec(*state);
    long fds = limits_open_fds();
    spec.params.workers = 3;
    int threads = spec.params.place == PLACE_INSIDE ? 3 : 2;
    for (int n = 0; n < threads; n++) {
        struct err e = {""};
        set_fault("thread", EAGAIN, n, 1000);
        struct server *s = server_start(&spec, &e);
        unsetenv("TEST_FAULT");
        assert_null(s);
        assert_non_null(strstr(e.text, "cannot start"));
        assert_non_null(strstr(e.text, "Resource temporarily unavailable"));
    }
    assert_int_equal(limits_open_fds(), fds);
    server_stop(harness_start(&spec));
}

/* As client_ping(), of a server that may be gone already. */
static bool still_answers(int fd)
{
    uint8_t buf[PROTO_ASK_MAX];
    struct proto_check c;
    size_t n = protocol_table[0]->ask(&c, 1, 100, buf);
    return send(fd, buf, n, MSG_NOSIGNAL) == (ssize_t)n && client_reply(fd, 1, 100);
}

/* A wait that fails ends the whole server, its other worker too, and the owner is told. */
static void wait_fails(int place, const char *text)
{
    struct setting setting = {io_model_table[io_model_find("epoll-lt")], place};
    struct server_spec spec = harness_spec(&setting);
    struct err why = {""};
    spec.params.workers = 2;
    set_fault("wait", EBADF, 4, 1000);
    struct server *s = harness_start(&spec);
    int fd = client_open(s);
    for (int i = 0; i < 10 && still_answers(fd); i++)
        ;
    UNTIL(!server_alive(s, &why));
    unsetenv("TEST_FAULT");
    assert_string_equal(why.text, text);
    assert_true(client_at_end(fd));
    close(fd);
    server_stop(s);
}

static void wait_fails_in_process(void **state)
{
    (void)state;
    wait_fails(PLACE_PROCESS, "exit 1: epoll_wait: Bad file descriptor");
}

static void wait_fails_inside(void **state)
{
    (void)state;
    wait_fails(PLACE_INSIDE, "its threads ended: epoll_wait: Bad file descriptor");
}

/* A thread a connection, and no thread: who comes is closed at once, and counted; those that are
 * there stay; who comes when there are threads again is served. The worker's thread is made. */
static void no_thread_for_a_connection(int place)
{
    struct setting setting = {io_model_table[io_model_find("blocking")], place};
    struct server_spec spec = harness_spec(&setting);
    int made = place == PLACE_INSIDE ? 1 : 0;
    set_fault("thread", EAGAIN, made + 1, 2);
    struct server *s = harness_start(&spec);
    long fds = limits_open_fds();
    for (int i = 0; i < 40; i++) {
        int fd = client_open(s);
        if (i % 2 == 0)
            assert_true(client_ping(fd, (uint64_t)i, 100));
        else
            assert_true(client_at_end(fd));
        close(fd);
    }
    unsetenv("TEST_FAULT");
    UNTIL(harness_held(s) == 0);
    assert_int_equal(harness_counts(s).accepts, 20);
    assert_int_equal(harness_counts(s).refusals, 20);
    assert_int_equal(harness_counts(s).resets, 0);
    struct err text = {""};
    assert_true(server_troubles(s, &text) > 0);
    assert_string_equal(text.text, "refused a connection: no thread for it: "
                                   "Resource temporarily unavailable");
    assert_int_equal(limits_open_fds(), fds);
    server_stop(s);
}

static void no_thread_in_process(void **state)
{
    (void)state;
    no_thread_for_a_connection(PLACE_PROCESS);
}

static void no_thread_inside(void **state)
{
    (void)state;
    no_thread_for_a_connection(PLACE_INSIDE);
}

static int tests(void)
{
    static const struct contract all[] = {
        {"the connection is gone", connection_gone},
        {"interrupted", interrupted},
        {"the machine is full", machine_full},
        {"no thread", no_thread},
    };
    static const struct CMUnitTest waits[] = {
        cmocka_unit_test(wait_fails_in_process),
        cmocka_unit_test(wait_fails_inside),
        cmocka_unit_test(no_thread_in_process),
        cmocka_unit_test(no_thread_inside),
    };
    return harness_contract("faults", all, sizeof all / sizeof *all) +
           cmocka_run_group_tests(waits, NULL, NULL);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
