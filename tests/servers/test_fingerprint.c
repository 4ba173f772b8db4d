/* SPDX-License-Identifier: MIT */
/* The fingerprint's own test: of every model it is known what it waits with, so what is read has to
 * be that. */
#include "metrics/fingerprint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "servers/harness.h"

enum { CLIENTS = 5 };

static const struct expected {
    const char *model, *waits;
    int waiting; /* threads */
    bool sets; /* what is waited on can be counted */
} expected[] = {
    {"select", "select", 1, true},
    {"select-wide", "select", 1, true},
    {"poll", "poll", 1, true},
    {"epoll-lt", "epoll level", 1, true},
    {"epoll-et", "epoll edge", 1, true},
    {"epoll-oneshot", "epoll one-shot", 1, true},
    {"epoll-rearm", "epoll edge", 1, true},
    {"uring", "io_uring", 1, false},
    {"uring-poll", "io_uring", 1, false},
    {"blocking", "recv + poll", CLIENTS + 1, true},
    {"pool", "epoll one-shot", 2, true},
    {"libevent", "epoll level", 1, true},
    {"libuv", "epoll level", 1, true},
    {"libev", "epoll level", 1, true},
};

static const struct expected *expected_of(const char *model)
{
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strcmp(expected[i].model, model))
            return &expected[i];
    fail_msg("%s: nobody wrote down what it waits with", model);
    return NULL;
}

static struct fingerprint take(pid_t pid, int port)
{
    struct fingerprint_taking *t = fingerprint_begin(&pid, 1, port);
    struct fingerprint out;
    for (int i = 0; i < FINGERPRINT_LOOKS; i++) {
        harness_sleep_ms(i ? FINGERPRINT_GAP_MS : 0);
        fingerprint_look(t);
    }
    fingerprint_end(t, &out);
    return out;
}

static int port_of(const struct server *s)
{
    struct net_addr at;
    server_address(s, &at);
    return net_addr_port(&at);
}

static void check(const struct io_model *model, const struct fingerprint *f)
{
    const struct expected *want = expected_of(model->id);
    long most = limits_somaxconn();
    char text[200];
    fingerprint_text(f, text, sizeof text);
    print_message("%-14s %s; watches %d\n", model->id, text, f->watched);
    assert_string_equal(f->unknown, "");
    assert_string_equal(f->waits, want->waits);
    assert_int_equal(f->waiting, want->waiting);
    assert_in_range(f->threads, want->waiting, want->waiting + UNDER_TSAN); /* one of its own */
    assert_int_equal(f->processes, 1);
    assert_int_equal(f->backlog, most < 1024 ? most : 1024);
    assert_int_equal(f->queue, 0);
    assert_string_equal(f->nagle, "off");
    if (strcmp(model->id, "libuv") != 0) /* which has one for its changes, from 1.46 on */
        assert_int_equal(f->rings > 0, !strcmp(want->waits, "io_uring"));
    if (want->sets)
        assert_in_range(f->watched, CLIENTS, CLIENTS + 8);
}

static void every_model(void **state)
{
    (void)state;
    for (int m = 0; m < io_model_count; m++) {
        struct setting setting = {io_model_table[m], PLACE_PROCESS};
        int fd[CLIENTS];
        if (setting.model->probe(NULL) < 0) {
            print_message("%s cannot run here: not looked at\n", setting.model->id);
            continue;
        }
        struct server *s = harness_start_plain(&setting);
        for (int i = 0; i < CLIENTS; i++) {
            fd[i] = client_open(s);
            assert_true(client_ping(fd[i], 1, 100));
        }
        struct fingerprint f = take(server_pid(s), port_of(s));
        check(setting.model, &f);
        for (int i = 0; i < CLIENTS; i++)
            close(fd[i]);
        server_stop(s);
    }
}

static void other_settings(void **state)
{
    (void)state;
    struct setting setting = {io_model_table[io_model_find("epoll-et")], PLACE_PROCESS};
    struct server_spec spec = harness_spec(&setting);
    spec.params.backlog = 7;
    spec.params.nodelay = 0;
    spec.params.workers = 2;
    struct server *s = harness_start(&spec);
    int fd = client_open(s);
    assert_true(client_ping(fd, 1, 10));
    struct fingerprint f = take(server_pid(s), port_of(s));
    assert_int_equal(f.backlog, 7);
    assert_string_equal(f.nagle, "on");
    assert_int_equal(f.waiting, 2);
    assert_string_equal(f.waits, "epoll edge");
    close(fd);
    server_stop(s);
}

/* What another user may know of it: its accept queue, and that the rest is not for him. */
static void of_another_user(void **state)
{
    (void)state;
    struct setting setting = {io_model_table[io_model_find("poll")], PLACE_PROCESS};
    struct server *s = harness_start_plain(&setting);
    if (getuid() != 0) {
        print_message("not root: skipped\n");
        server_stop(s);
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(9);
        struct fingerprint f = take(server_pid(s), port_of(s));
        bool right = !*f.waits && f.backlog > 0 && strstr(f.unknown, "may not look") && !*f.nagle;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    server_stop(s);
}

static int tests(void)
{
    static const struct CMUnitTest all[] = {
        cmocka_unit_test(every_model),
        cmocka_unit_test(other_settings),
        cmocka_unit_test(of_another_user),
    };
    return cmocka_run_group_tests_name("fingerprint", all, NULL, NULL);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
