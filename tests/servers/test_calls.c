/* SPDX-License-Identifier: MIT */
/* What a model really calls for a request in steady state. This program's own recv, send, waits and
 * clock stand before the C library's, so servers and libraries call these; those of a server inside
 * are counted, by any thread but the one that tests. They must be what the counters say (the
 * contract says how many these are), and no kernel-call or thread model may read a clock: what a
 * library does at a turn of its loop is its own business. */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "servers/harness.h"

#define REQUESTS 500

enum { RECV, SEND, WAIT, CONTROL, CLOCK, KINDS };

static const char *const kinds[KINDS] = {"recv", "send", "wait", "epoll_ctl", "clock"};
static _Atomic uint64_t called[KINDS];
static pthread_t tester;
static _Atomic bool counting;

static void count(int kind)
{
    if (atomic_load(&counting) && !pthread_equal(pthread_self(), tester))
        atomic_fetch_add(&called[kind], 1);
}

ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    ssize_t (*next)(int, void *, size_t, int) = dlsym(RTLD_NEXT, "recv");
    count(RECV);
    return next(fd, buf, n, flags);
}

ssize_t send(int fd, const void *buf, size_t n, int flags)
{
    ssize_t (*next)(int, const void *, size_t, int) = dlsym(RTLD_NEXT, "send");
    count(SEND);
    return next(fd, buf, n, flags);
}

int select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *t)
{
    int (*next)(int, fd_set *, fd_set *, fd_set *, struct timeval *) = dlsym(RTLD_NEXT, "select");
    count(WAIT);
    return next(n, in, out, other, t);
}

int poll(struct pollfd *list, nfds_t n, int ms)
{
    int (*next)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
    count(WAIT);
    return next(list, n, ms);
}

int epoll_wait(int set, struct epoll_event *ev, int n, int ms)
{
    int (*next)(int, struct epoll_event *, int, int) = dlsym(RTLD_NEXT, "epoll_wait");
    count(WAIT);
    return next(set, ev, n, ms);
}

int epoll_pwait(int set, struct epoll_event *ev, int n, int ms, const sigset_t *mask)
{
    int (*next)(int, struct epoll_event *, int, int, const sigset_t *) =
        dlsym(RTLD_NEXT, "epoll_pwait");
    count(WAIT);
    return next(set, ev, n, ms, mask);
}

int epoll_ctl(int set, int op, int fd, struct epoll_event *ev)
{
    int (*next)(int, int, int, struct epoll_event *) = dlsym(RTLD_NEXT, "epoll_ctl");
    count(CONTROL);
    return next(set, op, fd, ev);
}

/* Also called before anything can be looked up. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    count(CLOCK);
    return (int)syscall(SYS_clock_gettime, id, t);
}

static void equal(const struct io_model *m, int kind, uint64_t counter, uint64_t slack)
{
    uint64_t n = atomic_load(&called[kind]);
    if (n < counter || n > counter + slack)
        fail_msg("%s: %llu calls of %s where %llu are counted", m->id, (unsigned long long)n,
                 kinds[kind], (unsigned long long)counter);
}

static void one_model(const struct io_model *m)
{
    struct setting setting = {m, PLACE_INSIDE};
    struct server *s = harness_start_plain(&setting);
    bool ring = strncmp(m->id, "uring", 5) == 0, completes = m->caps & CAP_COMPLETION;
    int fd = client_open(s);
    assert_true(client_ping(fd, 0, 1024));
    UNTIL(harness_counts(s).requests == 1);
    harness_sleep_ms(20); /* what comes after the reply */
    for (int i = 0; i < KINDS; i++)
        atomic_store(&called[i], 0);
    struct server_counts a = harness_counts(s);
    atomic_store(&counting, true);
    for (int i = 0; i < REQUESTS; i++)
        assert_true(client_ping(fd, (uint64_t)i, 1024));
    UNTIL(harness_counts(s).requests == 1 + REQUESTS);
    harness_sleep_ms(20);
    atomic_store(&counting, false);
    struct server_counts b = harness_counts(s);
    equal(m, RECV, completes ? 0 : b.reads - a.reads, m->caps & CAP_BLOCKS ? 1 : 0);
    equal(m, SEND, completes ? 0 : b.writes - a.writes, 0);
    equal(m, WAIT, ring ? 0 : b.waits - a.waits, 1); /* the one it sleeps in is not over */
    equal(m, CONTROL, b.controls - a.controls, 0);
    if (m->group != GROUP_LIBRARIES)
        equal(m, CLOCK, 0, 0);
    close(fd);
    server_stop(s);
}

static void calls_are_counted(void **state)
{
    (void)state;
    tester = pthread_self();
    for (int i = 0; i < io_model_count; i++) {
        struct err why = {""};
        if (io_model_table[i]->probe(&why) == 0)
            one_model(io_model_table[i]);
        else
            print_message("skipped: %s: %s\n", io_model_table[i]->id, why.text);
    }
}

static int tests(void)
{
    static const struct CMUnitTest all[] = {cmocka_unit_test(calls_are_counted)};
    return cmocka_run_group_tests(all, NULL, NULL);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
