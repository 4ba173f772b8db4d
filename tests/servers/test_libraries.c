/* SPDX-License-Identifier: MIT */
/* What the models over libraries owe to the libraries: which one answers to a name that two have,
 * that none ends or prints when a call fails, and that our counters are what it really calls. The
 * program's own epoll_* stand before the C library's, so the libraries call these: they count, and
 * fail as TEST_FAULT says ("CALL:ERRNO:FROM:TIMES"), which a server's process inherits. */
#include <dlfcn.h>
#include <errno.h>
#include <event2/event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "servers/harness.h"

#define MIB (1u << 20)

static const char *const library_ids[] = {"libevent", "libuv", "libev"};
static _Atomic uint64_t waits, controls;
static _Atomic int faults;

static int fault(const char *name)
{
    char call[32];
    int code, from, times;
    const char *text = getenv("TEST_FAULT");
    if (!text || sscanf(text, "%31[^:]:%d:%d:%d", call, &code, &from, &times) != 4 ||
        strcmp(call, name) != 0)
        return 0;
    int n = atomic_fetch_add(&faults, 1) - from;
    return n >= 0 && n < times ? code : 0;
}

static void set_fault(const char *text)
{
    setenv("TEST_FAULT", text, 1);
    atomic_store(&faults, 0);
}

static bool is_connection(int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    return getpeername(fd, (struct sockaddr *)&a, &n) == 0;
}

int epoll_wait(int set, struct epoll_event *ev, int n, int ms)
{
    int (*next)(int, struct epoll_event *, int, int) = dlsym(RTLD_NEXT, "epoll_wait");
    atomic_fetch_add(&waits, 1);
    errno = fault("wait");
    return errno ? -1 : next(set, ev, n, ms);
}

int epoll_pwait(int set, struct epoll_event *ev, int n, int ms, const sigset_t *mask)
{
    int (*next)(int, struct epoll_event *, int, int, const sigset_t *) =
        dlsym(RTLD_NEXT, "epoll_pwait");
    atomic_fetch_add(&waits, 1);
    return next(set, ev, n, ms, mask);
}

int epoll_ctl(int set, int op, int fd, struct epoll_event *ev)
{
    int (*next)(int, int, int, struct epoll_event *) = dlsym(RTLD_NEXT, "epoll_ctl");
    atomic_fetch_add(&controls, 1);
    errno = op == EPOLL_CTL_ADD && is_connection(fd) ? fault("add") : 0;
    return errno ? -1 : next(set, op, fd, ev);
}

/* --- stderr, to see that nobody writes there -------------------------------------------------- */

static int stderr_before = -1, stderr_caught = -1;

static void catch_stderr(void)
{
    fflush(stderr);
    stderr_before = dup(STDERR_FILENO);
    stderr_caught = memfd_create("stderr", MFD_CLOEXEC);
    assert_true(stderr_before >= 0 && stderr_caught >= 0);
    dup2(stderr_caught, STDERR_FILENO);
}

/* Gives it back, says there what was written meanwhile, returns how much that is. */
static int release_stderr(void **state)
{
    char text[4096];
    (void)state;
    unsetenv("TEST_FAULT");
    if (stderr_before < 0)
        return 0;
    fflush(stderr);
    dup2(stderr_before, STDERR_FILENO);
    ssize_t n = pread(stderr_caught, text, sizeof text, 0);
    fprintf(stderr, "%.*s", (int)n, text);
    close(stderr_before);
    close(stderr_caught);
    stderr_before = stderr_caught = -1;
    return (int)n;
}

/* --- tests ------------------------------------------------------------------------------------ */

static struct setting library(int i, int place)
{
    return (struct setting){io_model_table[io_model_find(library_ids[i])], place};
}

/* libev exports event_get_version() too; who is linked first answers. */
static void libevent_answers(void **state)
{
    (void)state;
    assert_string_equal(event_get_version(), LIBEVENT_VERSION);
    assert_int_equal(event_get_version_number(), LIBEVENT_VERSION_NUMBER);
}

static void all_serve_in_one_run(void **state)
{
    (void)state;
    for (int place = PLACE_PROCESS; place <= PLACE_INSIDE; place++) {
        struct server *s[3];
        int fd[3];
        for (int i = 0; i < 3; i++) {
            struct setting setting = library(i, place);
            s[i] = harness_start_plain(&setting);
        }
        for (int i = 0; i < 3; i++)
            fd[i] = client_open(s[i]);
        for (int round = 0; round < 50; round++)
            for (int i = 0; i < 3; i++)
                assert_true(client_ping(fd[i], (uint64_t)round, 1024));
        for (int i = 0; i < 3; i++) {
            UNTIL(harness_counts(s[i]).requests == 50);
            close(fd[i]);
            server_stop(s[i]);
        }
    }
}

/* libuv is left out: where its wait fails it calls abort(), whatever one does. */
static void failed_wait(int i, int place, const char *text)
{
    struct setting setting = library(i, place);
    struct err why = {""};
    catch_stderr();
    set_fault("wait:9:4:1000");
    struct server *s = harness_start_plain(&setting);
    struct net_addr a;
    server_address(s, &a);
    for (int n = 0, fd; n < 10 && (fd = net_connect_blocking(&a, true, 5)) >= 0; n++) {
        harness_sleep_ms(5);
        close(fd);
    }
    UNTIL(!server_alive(s, &why));
    assert_int_equal(release_stderr(NULL), 0);
    assert_non_null(strstr(why.text, text));
    server_stop(s);
}

static void wait_fails(void **state)
{
    (void)state;
    for (int place = PLACE_PROCESS; place <= PLACE_INSIDE; place++) {
        failed_wait(0, place, "libevent: epoll_wait: Bad file descriptor");
        failed_wait(2, place, "libev: its wait failed: Bad file descriptor");
    }
}

/* As with fs.epoll.max_user_watches used up: that connection ends, at the latest when the next one
 * comes (libev tells it after its wait), and that one is served. */
static void one_not_watched(int i, int place)
{
    struct setting setting = library(i, place);
    struct err text = {""};
    char spec[32];
    snprintf(spec, sizeof spec, "add:%d:0:1", ENOSPC);
    catch_stderr();
    set_fault(spec);
    struct server *s = harness_start_plain(&setting);
    int fd = client_open(s), next;
    harness_sleep_ms(20);
    next = client_open(s);
    assert_true(client_ping(next, 1, 1000));
    assert_true(client_at_end(fd));
    UNTIL(harness_counts(s).closes + harness_counts(s).refusals == 1);
    assert_int_equal(server_troubles(s, &text), 1);
    assert_non_null(strstr(text.text, "cannot watch"));
    close(fd);
    close(next);
    UNTIL(harness_held(s) == 0);
    server_stop(s);
    assert_int_equal(release_stderr(NULL), 0);
}

static void cannot_watch(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int place = PLACE_PROCESS; place <= PLACE_INSIDE; place++)
            one_not_watched(i, place);
}

/* Comes, asks, blocks, is taken on, goes. */
static void some_traffic(struct server *s)
{
    int fd[20];
    for (int i = 0; i < 20; i++) {
        fd[i] = i < 4 ? client_open_small(s) : client_open(s);
        assert_true(client_ping(fd[i], (uint64_t)i, 100));
    }
    for (int i = 0; i < 20; i++)
        client_ask(fd[i], (uint64_t)i, i < 4 ? 8 * MIB : 100);
    UNTIL(harness_counts(s).write_full >= 4);
    for (int i = 0; i < 20; i++)
        assert_true(client_reply(fd[i], (uint64_t)i, i < 4 ? 8 * MIB : 100));
    for (int i = 0; i < 20; i++)
        close(fd[i]);
    UNTIL(harness_held(s) == 1);
}

/* libuv hands its changes to a ring of its own from 1.46 on, where the kernel has rings. */
static bool has_its_own_ring(const char *library)
{
    unsigned (*version)(void) = dlsym(RTLD_DEFAULT, "uv_version");
    return !strcmp(library, "libuv") && version && version() >= 0x012e00;
}

/* A server inside, so that what it calls is counted here. The second round brings numbers that were
 * used before. One wait more: the one it sleeps in. */
static void counters_are_calls(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct setting setting = library(i, PLACE_INSIDE);
        struct server *s = harness_start_plain(&setting);
        int fd = client_open(s);
        assert_true(client_ping(fd, 1, 1));
        harness_sleep_ms(20);
        struct server_counts a = harness_counts(s);
        uint64_t calls = atomic_load(&controls), sleeps = atomic_load(&waits);
        some_traffic(s);
        some_traffic(s);
        harness_sleep_ms(20);
        struct server_counts b = harness_counts(s);
        assert_true(b.controls - a.controls >= 2 * 20);
        calls = atomic_load(&controls) - calls;
        if (has_its_own_ring(library_ids[i]))
            assert_true(calls <= b.controls - a.controls);
        else
            assert_int_equal(calls, b.controls - a.controls);
        assert_int_equal(b.waits - a.waits, atomic_load(&waits) - sleeps);
        close(fd);
        server_stop(s);
    }
}

static int tests(void)
{
    static const struct CMUnitTest all[] = {
        cmocka_unit_test(libevent_answers),
        cmocka_unit_test(all_serve_in_one_run),
        cmocka_unit_test_teardown(wait_fails, release_stderr),
        cmocka_unit_test_teardown(cannot_watch, release_stderr),
        cmocka_unit_test(counters_are_calls),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
