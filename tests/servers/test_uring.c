/* SPDX-License-Identifier: MIT */
/* What is special about io_uring: it may be forbidden, or lack flags; buffers may be fewer than
 * connections; a peer that sends and does not read must not fill our memory. */
#include <errno.h>
#include <liburing.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "metrics/proc.h"
#include "net/protocol.h"
#include "servers/harness.h"

/* --- forbidden -------------------------------------------------------------------------------- */

/* io_uring_setup fails with this code from here on, in this process and its children. */
static bool forbid(int code)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog all = {.len = sizeof rules / sizeof *rules, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}

static bool serves(const char *id)
{
    struct setting setting = {io_model_table[io_model_find(id)], PLACE_PROCESS};
    struct server_spec spec = harness_spec(&setting);
    struct err e = {""};
    struct server *s = server_start(&spec, &e);
    if (!s)
        return false;
    int fd = client_open(s);
    bool good = client_ping(fd, 1, 100);
    close(fd);
    server_stop(s);
    return good;
}

/* In a child: 0, or the number of the step that went wrong. */
static int forbidden_steps(int code, const char *text)
{
    struct err e = {""}, whole = {""};
    struct lineup l;
    char told[256];
    int model = io_model_find("uring");
    struct setting setting = {io_model_table[model], PLACE_PROCESS};
    struct server_spec spec = harness_spec(&setting);
    errno = ENOTTY; /* nobody may look at it */
    if (!forbid(code))
        return 1;
    if (io_model_table[model]->probe(&e) != -code || !strstr(e.text, text))
        return 2;
    snprintf(told, sizeof told, "uring cannot run here: %.200s", e.text);
    if (lineup_parse("epoll-lt,uring", &l, &whole) != -code || strcmp(whole.text, told) != 0)
        return 3;
    if (server_start(&spec, &whole) || strcmp(whole.text, told) != 0)
        return 4;
    if (io_model_table[io_model_find("uring-poll")]->probe(&e) != -code)
        return 5;
    for (int i = 0; i < io_model_count; i++)
        if (strncmp(io_model_table[i]->id, "uring", 5) != 0 &&
            io_model_table[i]->probe(NULL) == 0 && !serves(io_model_table[i]->id))
            return 10 + i;
    return 0;
}

static void forbidden(void **state)
{
    static const struct {
        int code;
        const char *text;
    } all[] = {
        {EPERM, "io_uring is forbidden here"},
        {ENOSYS, "this kernel has none, or a filter hides it"},
        {ENOMEM, "limit of locked memory"},
        {EINVAL, "too old or restricted: Invalid argument"},
        {EMFILE, "io_uring: Too many open files"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(forbidden_steps(all[i].code, all[i].text));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* --- without flags ---------------------------------------------------------------------------- */

int __real_io_uring_queue_init_params(unsigned n, struct io_uring *r, struct io_uring_params *p);
int __wrap_io_uring_queue_init_params(unsigned n, struct io_uring *r, struct io_uring_params *p);

/* A kernel that does not know the flags in TEST_NO_FLAGS. */
int __wrap_io_uring_queue_init_params(unsigned n, struct io_uring *r, struct io_uring_params *p)
{
    const char *none = getenv("TEST_NO_FLAGS");
    if (none && p->flags & (unsigned)strtoul(none, NULL, 0))
        return -EINVAL;
    return __real_io_uring_queue_init_params(n, r, p);
}

static void older_kernels(void **state)
{
    static const struct {
        unsigned none;
        const char *note;
    } all[] = {
        {IORING_SETUP_DEFER_TASKRUN, "SINGLE_ISSUER COOP_TASKRUN"},
        {IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER, "COOP_TASKRUN"},
        {IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
         "no flags"},
    };
    const struct setting *setting = *state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char number[16], note[64];
        snprintf(number, sizeof number, "%#x", all[i].none);
        setenv("TEST_NO_FLAGS", number, 1);
        setting->model->note(note, sizeof note);
        assert_string_equal(note, all[i].note);
        struct server *s = harness_start_plain(setting);
        int fd[50];
        for (int k = 0; k < 50; k++)
            client_ask(fd[k] = client_open(s), (uint64_t)k, 100000);
        for (int k = 0; k < 50; k++)
            assert_true(client_reply(fd[k], (uint64_t)k, 100000));
        for (int k = 0; k < 50; k++)
            close(fd[k]);
        UNTIL(harness_held(s) == 0);
        server_stop(s);
        unsetenv("TEST_NO_FLAGS");
    }
}

/* --- buffers ---------------------------------------------------------------------------------- */

enum { MANY = 300 };

static struct server *start_uring(double buffer)
{
    struct setting setting = {io_model_table[io_model_find("uring")], PLACE_PROCESS};
    struct server_spec spec = harness_spec(&setting);
    spec.params.buffer = buffer;
    return harness_start(&spec);
}

static void open_many(const struct server *s, int *fd)
{
    for (int i = 0; i < MANY; i++)
        fd[i] = client_open(s);
    UNTIL(harness_held(s) == MANY);
}

/* All ask while the server is stopped: it finds them all at once. Returns how many found no
 * buffer. */
static uint64_t ask_at_once(const struct server *s, const int *fd, uint64_t sequence)
{
    uint64_t before = harness_counts(s).shortages;
    kill(server_pid(s), SIGSTOP);
    for (int i = 0; i < MANY; i++)
        client_ask(fd[i], sequence + (uint64_t)i, 500);
    kill(server_pid(s), SIGCONT);
    for (int i = 0; i < MANY; i++)
        assert_true(client_reply(fd[i], sequence + (uint64_t)i, 500));
    return harness_counts(s).shortages - before;
}

static void fewer_buffers_than_connections(void **state)
{
    (void)state;
    struct server *s = start_uring(1 << 20);
    int fd[MANY];
    open_many(s, fd);
    assert_true(ask_at_once(s, fd, 1) > 0);
    for (uint64_t i = 2; i < 5; i++)
        ask_at_once(s, fd, i);
    assert_int_equal(harness_counts(s).resets, 0);
    assert_int_equal(harness_held(s), MANY);
    for (int i = 0; i < MANY; i++)
        shutdown(fd[i], SHUT_WR); /* the end needs a buffer, too */
    UNTIL(harness_held(s) == 0);
    for (int i = 0; i < MANY; i++)
        close(fd[i]);
    server_stop(s);
}

static void buffers_grow(void **state)
{
    (void)state;
    struct server *s = start_uring(1 << 18);
    int fd[MANY];
    open_many(s, fd);
    uint64_t first = ask_at_once(s, fd, 1);
    for (uint64_t i = 2; i < 12; i++)
        ask_at_once(s, fd, i);
    assert_in_range(ask_at_once(s, fd, 99), 0, first - 1);
    for (int i = 0; i < MANY; i++)
        close(fd[i]);
    server_stop(s);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Sends requests until the server takes no more for a while. Returns how many went. */
static int fill(int fd, int most)
{
    uint8_t ask[PROTO_ASK_MAX];
    struct proto_check c;
    int sent = 0;
    size_t part = 0;
    while (sent < most) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        size_t n = protocol_table[0]->ask(&c, (uint64_t)sent, 1024, ask);
        if (poll(&p, 1, 300) == 0)
            break;
        ssize_t k = send(fd, ask + part, n - part, MSG_DONTWAIT);
        if (k > 0)
            part += (size_t)k;
        if (part == n) {
            part = 0;
            sent++;
        }
    }
    return sent;
}

static void sends_and_does_not_read(void **state)
{
    (void)state;
    struct server *s = start_uring(16384);
    int fd = client_open(s), other = client_open(s), most = 1 << 20;
    int sent = fill(fd, most);
    assert_true(sent < most);
    struct server_counts a = harness_counts(s);
    /* What lies with the server: received, not answered. */
    assert_in_range(a.bytes_in - a.requests * 64, 0, 2 << 20);
    assert_true(client_ping(other, 1, 1000));
    for (int i = 0; i < sent; i++)
        assert_true(client_reply(fd, (uint64_t)i, 1024));
    assert_true(client_ping(other, 1, 1000));
    close(fd);
    close(other);
    UNTIL(harness_held(s) == 0);
    server_stop(s);
}

static void memory_of_many(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("skipped: the memory of a sanitizer is not the server's\n");
    skip();
#endif
    enum { N = 1000 };
    struct server *s = start_uring(16384);
    int fd[N];
    struct proc_stat stat;
    for (int i = 0; i < N; i++)
        fd[i] = client_open(s);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++)
            client_ask(fd[i], (uint64_t)i, 1024);
        for (int i = 0; i < N; i++)
            assert_true(client_reply(fd[i], (uint64_t)i, 1024));
    }
    assert_int_equal(proc_stat_read(server_pid(s), &stat, NULL), 0);
    assert_in_range(stat.rss_bytes, 1, 12 << 20);
    for (int i = 0; i < N; i++)
        net_close_reset(fd[i]);
    server_stop(s);
}

static int tests(void)
{
    /* Before the first probe that succeeds, which is remembered. */
    static const struct CMUnitTest first[] = {cmocka_unit_test(forbidden)};
    static struct setting settings[4];
    static const struct CMUnitTest all[] = {
        cmocka_unit_test_prestate(older_kernels, &settings[0]),
        cmocka_unit_test_prestate(older_kernels, &settings[1]),
        cmocka_unit_test_prestate(older_kernels, &settings[2]),
        cmocka_unit_test_prestate(older_kernels, &settings[3]),
        cmocka_unit_test(fewer_buffers_than_connections),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(sends_and_does_not_read),
        cmocka_unit_test(memory_of_many),
    };
    for (int i = 0; i < 4; i++) {
        const char *id = i < 2 ? "uring" : "uring-poll";
        settings[i] = (struct setting){io_model_table[io_model_find(id)],
                                       i % 2 ? PLACE_INSIDE : PLACE_PROCESS};
    }
    struct err why = {""};
    int failed = cmocka_run_group_tests_name("uring forbidden", first, NULL, NULL);
    if (settings[0].model->probe(&why) < 0) {
        print_message("skipped: all else about io_uring: %s\n", why.text);
        return failed;
    }
    return failed + cmocka_run_group_tests_name("uring", all, NULL, NULL);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
