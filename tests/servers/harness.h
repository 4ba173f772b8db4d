/* SPDX-License-Identifier: MIT */
/* What the tests of servers share: starting one, plain blocking clients that check every byte, and
 * a table of tests run for every model in both placements. */
#ifndef TESTS_SERVERS_HARNESS_H
#define TESTS_SERVERS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "net/sock.h"
#include "servers/server.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN true
#else
#define UNDER_TSAN false
#endif

/* What a test of the contract gets as *state. */
struct setting {
    const struct io_model *model;
    int place;
};

/* The main of every program here: a server's child, or the tests. */
int harness_main(int argc, char **argv, int (*tests)(void));

/* A test of the contract. */
struct contract {
    const char *name;
    void (*run)(void **state);
};

/* Runs each over the whole model table and both placements. */
int harness_contract(const char *group, const struct contract *tests, int n);

/* A specification on 127.0.0.1, any port, defaults; params may be changed before the start. */
struct server_spec harness_spec(const struct setting *s);
struct server *harness_start(const struct server_spec *spec);
struct server *harness_start_plain(const struct setting *s);

/* TSan looks up who called before it leaves a report out (tsan.supp), which takes it seconds. */
#define UNTIL_S (UNDER_TSAN ? 30 : 5)

/* Waits until the condition holds; fails the test after UNTIL_S. */
#define UNTIL(cond)                                                                                \
    do {                                                                                           \
        uint64_t until_end = clock_ns() + UNTIL_S * NS_PER_S;                                      \
        bool until_held = false;                                                                   \
        while (!(until_held = (cond)) && clock_ns() < until_end)                                   \
            clock_sleep_until(clock_ns() + NS_PER_MS);                                             \
        if (!until_held)                                                                           \
            fail_msg("not within %d s: %s", UNTIL_S, #cond);                                       \
    } while (0)

struct server_counts harness_counts(const struct server *s);
long harness_held(const struct server *s); /* accepted - closed */
void harness_sleep_ms(int ms);
int harness_threads(void); /* of this process */

/* recv(2), again after EINTR: with a time-out on the socket the kernel does not go on by itself. */
ssize_t client_recv(int fd, void *buf, size_t n);

/* Clients. All block, for at most 10 s. */
int client_open(const struct server *s);
int client_open_small(const struct server *s); /* with the smallest receive buffer */
void client_widen(int fd);                     /* with a usual one from now on */
void client_ask(int fd, uint64_t sequence, uint64_t size);
bool client_reply(int fd, uint64_t sequence, uint64_t size);
bool client_ping(int fd, uint64_t sequence, uint64_t size);
bool client_at_end(int fd); /* the next read says end of file or reset */

/* A process that holds n connections to a server. */
struct crowd {
    int pid, pipe;
};
struct crowd crowd_open(const struct server *s, int n);
void crowd_close(struct crowd *c);

#endif
