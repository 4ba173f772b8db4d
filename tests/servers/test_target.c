/* SPDX-License-Identifier: MIT */
/* What a person types about a server of theirs, and the handle on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fake_tree.h"
#include "base/limits.h"
#include "metrics/proc.h"
#include "servers/server.h"
#include "servers/target.h"

static void parses(const char *url, const char *protocol, const char *id, const char *begins)
{
    struct target t;
    struct err e = {""};
    if (target_parse(url, &t, &e) != 0)
        fail_msg("%s: %s", url, e.text);
    assert_string_equal(protocol_table[t.protocol]->id, protocol);
    assert_string_equal(t.model.id, id);
    assert_ptr_equal(t.model.target, &t);
    assert_string_equal(t.path, "loopback");
    assert_int_equal(t.request_length, strlen(t.request));
    if (strncmp(t.request, begins, strlen(begins)) != 0)
        fail_msg("%s asks: %s", url, t.request);
}

static void urls(void **state)
{
    (void)state;
    parses("127.0.0.1:80", "http", "127.0.0.1:80", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    parses("http://127.0.0.1", "http", "127.0.0.1:80", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    parses("http://127.0.0.1:8080/a?b#c", "http", "127.0.0.1:8080",
           "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n");
    parses("127.0.0.1:81?q", "http", "127.0.0.1:81", "GET /?q HTTP/1.1\r\n");
    parses("http://[::1]", "http", "[::1]:80", "GET / HTTP/1.1\r\nHost: [::1]\r\n");
    parses("[::1]:81/x", "http", "[::1]:81", "GET /x HTTP/1.1\r\nHost: [::1]:81\r\n");
    parses("fetch://127.0.0.1:9", "fetch", "127.0.0.1:9", "");
    parses("echo://127.0.0.1:9/", "echo", "127.0.0.1:9", "");
    parses("discard://127.9.9.9:9", "discard", "127.9.9.9:9", "");
}

static void refused(int code, const char *url, const char *why)
{
    struct target t;
    struct err e = {""};
    assert_int_equal(target_parse(url, &t, &e), -code);
    if (!strstr(e.text, why))
        fail_msg("'%s' says '%s', not '%s'", url, e.text, why);
}

static void mistakes(void **state)
{
    (void)state;
    refused(EINVAL, "", "host is missing");
    refused(EINVAL, "http:///x", "host is missing");
    refused(EINVAL, "http://:1/", "host is missing");
    refused(EINVAL, "127.0.0.1", "port is missing");
    refused(EINVAL, "http://127.0.0.1:", "port is missing");
    refused(EINVAL, "host:99999", "above 65535");
    refused(EINVAL, "http://::1/", "in brackets");
    refused(EINVAL, "https://127.0.0.1/", "https:// is not spoken here, only fetch://");
    refused(EINVAL, "http://user@127.0.0.1/", "user name");
    refused(EINVAL, "http://127.0.0.1/a b", "%20");
    refused(EINVAL, "http://127.0.0.1/\xc3\xa4", "%20");
    refused(EINVAL, "echo://127.0.0.1:1/x", "only http has a path");
    refused(ENOENT, "no-such-host.invalid:1", "no-such-host");
    char url[700] = "http://127.0.0.1/";
    memset(url + strlen(url), 'a', 600);
    refused(EINVAL, url, "at most");
}

static void by_size(void **state)
{
    (void)state;
    struct target t;
    assert_int_equal(target_parse("127.0.0.1:80", &t, NULL), 0);
    assert_int_equal(target_by_size(&t, NULL), 0);
    assert_int_equal(t.request_length, 0);
    assert_int_equal(target_parse("127.0.0.1:80/x", &t, NULL), 0);
    assert_int_equal(target_by_size(&t, NULL), -EINVAL);
    assert_int_equal(target_parse("fetch://127.0.0.1:80", &t, NULL), 0);
    assert_int_equal(target_by_size(&t, NULL), 0);
}

/* A process that does nothing until it is ended. */
static pid_t sleeper(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int process_of(const char *url, const char *pid)
{
    struct target t;
    assert_int_equal(target_parse(url, &t, NULL), 0);
    return target_process(&t, pid, NULL);
}

static void processes(void **state)
{
    (void)state;
    pid_t pid = sleeper();
    char text[16];
    snprintf(text, sizeof text, "%d", pid);
    assert_int_equal(process_of("127.0.0.1:1", text), 0);
    assert_int_equal(process_of("192.0.2.1:1", text), -EHOSTUNREACH);
    static const char *const bad[] = {"", "0", "-1", "1x", " 1", "1e3", "99999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(process_of("127.0.0.1:1", bad[i]), -EINVAL);
    kill(pid, SIGKILL);
    for (int i = 0; i < 500; i++) { /* a zombie is no server */
        struct proc_stat stat;
        if (proc_stat_read(pid, &stat, NULL) == 0 && stat.state == 'Z')
            break;
        clock_sleep_until(clock_ns() + 10 * NS_PER_MS);
    }
    assert_int_equal(process_of("127.0.0.1:1", text), -ESRCH);
    end(pid);
    assert_int_equal(process_of("127.0.0.1:1", text), -ESRCH);
}

/* Attached to, what cannot be read is no failure: it is said, and the rest is measured. */
static void far_away(void **state)
{
    (void)state;
    struct target t;
    struct err why = {""};
    char text[16];
    snprintf(text, sizeof text, "%d", getpid());
    assert_int_equal(target_parse("192.0.2.1:1", &t, NULL), 0);
    assert_string_equal(t.path, "network");
    assert_int_equal(target_attach_process(&t, text, NULL), 0);
    assert_int_equal(t.pid, 0);
    assert_non_null(strstr(t.doubt, "192.0.2.1:1 is not this machine, so its CPU cannot be read"));
    assert_int_equal(target_attach_process(&t, "x", &why), -EINVAL);
    assert_int_equal(target_attach_process(&t, "4194303", &why), -ESRCH);
    assert_non_null(strstr(why.text, "no such process"));
}

static struct server *handle(struct target *t, const char *pid)
{
    struct server_spec spec = {.cpu = -1};
    assert_int_equal(target_parse("127.0.0.1:7", t, NULL), 0);
    if (pid)
        assert_int_equal(target_process(t, pid, NULL), 0);
    spec.model = &t->model;
    params_init(&spec.params);
    struct server *s = server_start(&spec, NULL);
    assert_non_null(s);
    return s;
}

static void unknown_process(void **state)
{
    (void)state;
    struct target t;
    struct err why;
    struct net_addr addr;
    struct server_counts c;
    char text[80];
    struct server *s = handle(&t, NULL);
    assert_false(server_counted(s));
    assert_true(server_alive(s, &why));
    assert_int_equal(server_cpu_ns(s), -1);
    assert_int_equal(server_pid(s), 0);
    server_address(s, &addr);
    assert_string_equal(net_addr_print(&addr, text, sizeof text), "127.0.0.1:7");
    server_read(s, &c);
    assert_int_equal(c.accepts, 0);
    server_stop(s);
}

static void known_process(void **state)
{
    (void)state;
    struct target t;
    struct err why = {""};
    char text[32];
    pid_t pid = sleeper();
    snprintf(text, sizeof text, "%d", pid);
    struct server *s = handle(&t, text);
    assert_int_equal(server_pid(s), pid);
    assert_true(server_alive(s, &why));
    assert_true(server_cpu_ns(s) >= 0);
    end(pid);
    assert_false(server_alive(s, &why));
    assert_non_null(strstr(why.text, text));
    assert_int_equal(server_cpu_ns(s), -1);
    server_stop(s);
    struct server_spec again = {.model = &t.model, .cpu = -1};
    params_init(&again.params);
    assert_null(server_start(&again, &why));
    assert_non_null(strstr(why.text, "ended; cannot connect to 127.0.0.1:7"));
    net_addr_parse("127.0.0.1:0", true, &t.addr, NULL);
    int another = net_listen(&t.addr, &(struct net_listen){.backlog = 8}, NULL);
    assert_true(another >= 0);
    snprintf(text, sizeof text, "127.0.0.1:%d", net_local_port(another));
    net_addr_parse(text, false, &t.addr, NULL);
    assert_null(server_start(&again, &why));
    assert_non_null(strstr(why.text, "ended; another one listens there"));
    close(another);
}

/* The same number may come back as another process. */
static void a_number_that_came_back(void **state)
{
    (void)state;
    struct target t;
    struct err why;
    char text[16];
    snprintf(text, sizeof text, "%d", getpid());
    struct server *s = handle(&t, text);
    assert_true(server_alive(s, &why));
    server_stop(s);
    t.start_ticks--;
    struct server_spec other = {.model = &t.model, .cpu = -1};
    params_init(&other.params);
    assert_null(server_start(&other, &why));
    assert_non_null(strstr(why.text, "ended"));
}

/* Two connections that the client ended first: their ports towards this server wait. */
static void leave_two(int listener, const struct net_addr *a)
{
    char byte;
    for (int i = 0; i < 2; i++) {
        int c = net_connect_blocking(a, true, 5), s = accept(listener, NULL, NULL);
        assert_true(c >= 0 && s >= 0);
        close(c);
        assert_int_equal(recv(s, &byte, 1, 0), 0);
        close(s);
    }
}

static void busy_ports_are_those_towards_it(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "[::1]"};
    (void)state;
    limits_inject(fake_tree_make());
    for (int i = 0; i < 2; i++) {
        struct net_addr any;
        struct target t, other;
        char text[64];
        snprintf(text, sizeof text, "%s:0", hosts[i]);
        assert_int_equal(net_addr_parse(text, true, &any, NULL), 0);
        int l = net_listen(&any, &(struct net_listen){.backlog = 8}, NULL);
        if (l < 0) {
            print_message("[  SKIPPED ] no %s here\n", hosts[i]);
            continue;
        }
        fcntl(l, F_SETFL, 0);
        snprintf(text, sizeof text, "%s:%d", hosts[i], net_local_port(l));
        assert_int_equal(target_parse(text, &t, NULL), 0);
        assert_int_equal(target_parse(i ? "[::1]:1" : "127.0.0.1:1", &other, NULL), 0);
        fake_tree_write("/sys/net/ipv4/tcp_tw_reuse", "0\n");
        long before = target_busy_ports(&t);
        leave_two(l, &t.addr);
        assert_int_equal(target_busy_ports(&t), before + 2);
        assert_int_equal(target_busy_ports(&other), 0);
        fake_tree_write("/sys/net/ipv4/tcp_tw_reuse", "2\n"); /* used again after a second */
        assert_int_equal(target_busy_ports(&t), 0);
        close(l);
    }
    limits_inject(NULL);
    fake_tree_remove();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls),          cmocka_unit_test(mistakes),
        cmocka_unit_test(by_size),       cmocka_unit_test(processes),
        cmocka_unit_test(known_process), cmocka_unit_test(unknown_process),
        cmocka_unit_test(a_number_that_came_back), cmocka_unit_test(far_away),
        cmocka_unit_test(busy_ports_are_those_towards_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
