/* SPDX-License-Identifier: MIT */
/* accept that fails for reasons that are not ours: the next client is served. The program is linked
 * with --wrap=accept4, so that the first calls fail as told by an environment variable. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "servers/harness.h"

int __real_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);

static _Atomic int calls;

int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    const char *fails = getenv("TEST_ACCEPT_FAILS");
    /* Odd calls fail, so that one fails after a connection was there too. */
    if (fails && atomic_fetch_add(&calls, 1) % 2 == 0) {
        errno = atoi(fails);
        return -1;
    }
    return __real_accept4(fd, addr, len, flags);
}

static void served_after(void **state, int code, int how)
{
    char number[16];
    struct server_spec spec = harness_spec(*state);
    spec.params.accept = how;
    snprintf(number, sizeof number, "%d", code);
    setenv("TEST_ACCEPT_FAILS", number, 1);
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
    unsetenv("TEST_ACCEPT_FAILS");
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

static int tests(void)
{
    static const struct contract all[] = {
        {"the connection is gone", connection_gone},
        {"interrupted", interrupted},
        {"the machine is full", machine_full},
    };
    return harness_contract("accept", all, sizeof all / sizeof *all);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
