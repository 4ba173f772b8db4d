/* SPDX-License-Identifier: MIT */
/* The test program is its own server binary: IODASH_EXE points to it, and its main hands over to
 * server_child_main() as the real one does. */
#include "servers/harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/protocol.h"

#define TESTS_MAX 1024

int harness_main(int argc, char **argv, int (*tests)(void))
{
    static char self[4096];
    if (argc > 1 && strcmp(argv[1], "--server-child") == 0)
        return server_child_main(argc, argv);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return 1;
    setenv("IODASH_EXE", self, 1);
    limits_raise_nofile();
    return tests();
}

/* TEST_MODELS="poll libev", for who works on one: no others then. */
static bool asked_for(const char *id)
{
    const char *at = getenv("TEST_MODELS");
    size_t n = strlen(id), len;
    if (!at)
        return true;
    for (; *at; at += len) {
        at += strspn(at, " ,");
        len = strcspn(at, " ,");
        if (len == n && strncmp(at, id, n) == 0)
            return true;
    }
    return false;
}

/* One that is listed but cannot run here is skipped, and said to be. */
static bool runs_here(const struct io_model *m)
{
    struct err why = {""};
    if (!asked_for(m->id))
        return false;
    if (m->probe(&why) == 0)
        return true;
    print_message("skipped: %s: %s\n", m->id, why.text);
    return false;
}

/* What a failed test left open, or a limit that it left lowered, would fail all that follow. (Some
 * are open before a test: a library keeps a pipe from its first use on.) */
#define OPEN_BEFORE 64
static bool open_before[OPEN_BEFORE];
static struct rlimit descriptors;

static int note_state(void **state)
{
    (void)state;
    for (int fd = 0; fd < OPEN_BEFORE; fd++)
        open_before[fd] = fcntl(fd, F_GETFD) >= 0;
    return getrlimit(RLIMIT_NOFILE, &descriptors);
}

static int restore_state(void **state)
{
    (void)state;
    if (setrlimit(RLIMIT_NOFILE, &descriptors) < 0)
        return -1;
    for (int fd = 0; fd < OPEN_BEFORE; fd++)
        if (!open_before[fd])
            close(fd);
    return close_range(OPEN_BEFORE, ~0u, 0);
}

int harness_contract(const char *group, const struct contract *tests, int n)
{
    static struct CMUnitTest all[TESTS_MAX];
    static struct setting settings[TESTS_MAX];
    static char names[TESTS_MAX][96];
    int count = 0;
    for (int m = 0; m < io_model_count; m++) {
        if (!runs_here(io_model_table[m]))
            continue;
        for (int t = 0; t < n; t++) {
            for (int place = PLACE_PROCESS; place <= PLACE_INSIDE; place++, count++) {
                if (count == TESTS_MAX)
                    die("more than %d tests of the contract", TESTS_MAX);
                settings[count] = (struct setting){io_model_table[m], place};
                snprintf(names[count], sizeof names[count], "%s, %s %s", tests[t].name,
                         io_model_table[m]->id, place == PLACE_INSIDE ? "inside" : "process");
                all[count] = (struct CMUnitTest){.name = names[count],
                                                 .test_func = tests[t].run,
                                                 .setup_func = note_state,
                                                 .teardown_func = restore_state,
                                                 .initial_state = &settings[count]};
            }
        }
    }
    return _cmocka_run_group_tests(group, all, (size_t)count, NULL, NULL);
}

struct server_spec harness_spec(const struct setting *s)
{
    struct server_spec spec = {.model = s->model, .cpu = -1};
    params_init(&spec.params);
    spec.params.place = s->place;
    assert_int_equal(net_addr_parse("127.0.0.1:0", true, &spec.listen, NULL), 0);
    return spec;
}

struct server *harness_start(const struct server_spec *spec)
{
    struct err e = {""};
    struct server *s = server_start(spec, &e);
    if (!s)
        fail_msg("server_start: %s", e.text);
    return s;
}

struct server *harness_start_plain(const struct setting *s)
{
    struct server_spec spec = harness_spec(s);
    return harness_start(&spec);
}

struct server_counts harness_counts(const struct server *s)
{
    struct server_counts c;
    server_read(s, &c);
    return c;
}

long harness_held(const struct server *s)
{
    struct server_counts c = harness_counts(s);
    return (long)c.accepts - (long)c.closes;
}

void harness_sleep_ms(int ms)
{
    clock_sleep_until(clock_ns() + (uint64_t)ms * NS_PER_MS);
}

int harness_threads(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

/* --- clients ---------------------------------------------------------------------------------- */

int client_open(const struct server *s)
{
    struct net_addr a;
    server_address(s, &a);
    int fd = net_connect_blocking(&a, true, 10);
    if (fd < 0)
        fail_msg("connect: %s", strerror(-fd));
    return fd;
}

int client_open_small(const struct server *s)
{
    struct net_addr a;
    int least = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval tv = {10, 0};
    server_address(s, &a);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    assert_int_equal(connect(fd, (struct sockaddr *)&a.ss, a.len), 0);
    return fd;
}

void client_widen(int fd)
{
    int usual = 1 << 16;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &usual, sizeof usual), 0);
}

ssize_t client_recv(int fd, void *buf, size_t n)
{
    ssize_t got;
    do
        got = recv(fd, buf, n, 0);
    while (got < 0 && errno == EINTR);
    return got;
}

void client_ask(int fd, uint64_t sequence, uint64_t size)
{
    uint8_t buf[PROTO_ASK_MAX];
    struct proto_check c;
    size_t n = protocol_table[0]->ask(&c, sequence, size, buf);
    assert_int_equal(send(fd, buf, n, MSG_NOSIGNAL), n);
}

bool client_reply(int fd, uint64_t sequence, uint64_t size)
{
    static __thread uint8_t buf[65536];
    uint8_t ask[PROTO_ASK_MAX];
    struct proto_check c;
    protocol_table[0]->ask(&c, sequence, size, ask);
    int whole = 0;
    while (whole == 0) {
        uint64_t left = size - c.got;
        ssize_t n = client_recv(fd, buf, left < sizeof buf ? left : sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        whole = protocol_table[0]->check(&c, buf, (size_t)n);
    }
    return whole == 1;
}

bool client_ping(int fd, uint64_t sequence, uint64_t size)
{
    client_ask(fd, sequence, size);
    return client_reply(fd, sequence, size);
}

bool client_at_end(int fd)
{
    char c;
    ssize_t n = client_recv(fd, &c, 1);
    return n == 0 || (n < 0 && (errno == ECONNRESET || errno == EPIPE));
}

/* --- a crowd ---------------------------------------------------------------------------------- */

static void crowd_main(const struct net_addr *a, int n, int pipe)
{
    for (int i = 0; i < n; i++)
        if (net_connect_blocking(a, true, 10) < 0)
            _exit(1);
    char c = '+';
    if (write(pipe, &c, 1) != 1)
        _exit(2);
    /* Until the other end is closed. */
    while (read(pipe, &c, 1) > 0)
        ;
    _exit(0);
}

struct crowd crowd_open(const struct server *s, int n)
{
    struct net_addr a;
    int pair[2];
    char c = 0;
    server_address(s, &a);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    int pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(pair[0]);
        limits_raise_nofile();
        crowd_main(&a, n, pair[1]);
    }
    close(pair[1]);
    assert_int_equal(read(pair[0], &c, 1), 1);
    return (struct crowd){pid, pair[0]};
}

void crowd_close(struct crowd *c)
{
    int status;
    close(c->pipe);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
