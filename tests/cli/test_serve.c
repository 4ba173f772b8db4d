/* SPDX-License-Identifier: MIT */
/* `iodash serve` from outside: every model answers in both places, says what it does, and is gone
 * when it is told to. */
#include "cli/cli.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/program.h"
#include "metrics/proc.h"
#include "net/protocol.h"
#include "net/sock.h"
#include "servers/io_models.h"

#define LONG_MS 15000 /* never waited for when all is well */

static struct program p;
static struct net_addr address;

static int end_program(void **state)
{
    (void)state;
    program_stop(&p);
    return 0;
}

/* Starts it on a free port and takes the real one from what it says. */
static void serve(const char *model, const char *place)
{
    char text[64];
    struct err e = {""};
    const char *const words[] = {"serve",   "-m",  model,        "--listen", "127.0.0.1:0",
                                 "--place", place, "--protocol", "fetch",    NULL};
    program_start(&p, &(struct program_want){.words = words});
    if (!program_says(&p, "listens on 127.0.0.1:", LONG_MS) || !program_says(&p, "\n", LONG_MS))
        fail_msg("%s, %s: %s", model, place, p.err);
    assert_int_equal(sscanf(strstr(p.err, "127.0.0.1:"), "%63[0-9.:]", text), 1);
    assert_int_equal(net_addr_parse(text, false, &address, &e), 0);
}

static int dial(void)
{
    int fd = net_connect_blocking(&address, true, 5);
    assert_true(fd >= 0);
    return fd;
}

/* One request, every byte of its reply checked. */
static void fetch(int fd, uint64_t size)
{
    const struct protocol *fetch = protocol_table[protocol_find("fetch")];
    uint8_t buf[4096];
    struct proto_check check;
    size_t n = fetch->ask(&check, 7, size, buf);
    assert_int_equal(send(fd, buf, n, MSG_NOSIGNAL), (ssize_t)n);
    for (int done = 0; done != 1;) {
        ssize_t got = recv(fd, buf, sizeof buf, 0);
        if (got < 0 && errno == EINTR)
            continue; /* the ring that probing for io_uring made is taken down later */
        if (got <= 0)
            fail_msg("%zd after a request: %s; it said: %s", got, strerror(errno), p.err);
        done = fetch->check(&check, buf, (size_t)got);
        assert_true(done >= 0);
    }
}

static void ends(int number, int status)
{
    kill(p.pid, number);
    assert_true(program_ends(&p, LONG_MS));
    assert_int_equal(p.status, status);
}

static long server_pid(void)
{
    long pid = 0;
    assert_int_equal(sscanf(strstr(p.err, "(pid "), "(pid %ld)", &pid), 1);
    return pid;
}

/* Ended, even where nobody waits for orphans. */
static bool dead(long pid)
{
    struct proc_stat stat;
    struct err e;
    return proc_stat_read((pid_t)pid, &stat, &e) < 0 || stat.state == 'Z' || stat.state == 'X';
}

static bool gone(long pid)
{
    for (int i = 0; i < 200 && !dead(pid); i++)
        clock_sleep_until(clock_ns() + 10 * NS_PER_MS);
    return dead(pid);
}

static void every_model_in_both_places(void **state)
{
    static const char *const places[] = {"process", "inside"};
    (void)state;
    for (int i = 0; i < io_model_count; i++) {
        for (int k = 0; k < 2; k++) {
            if (io_model_table[i]->probe && io_model_table[i]->probe(NULL) < 0) {
                print_message("[  SKIPPED ] %s cannot run here\n", io_model_table[i]->id);
                continue;
            }
            serve(io_model_table[i]->id, places[k]);
            assert_int_equal(server_pid() == p.pid, k);
            int fd = dial();
            fetch(fd, 1024);
            fetch(fd, 100000);
            long pid = server_pid();
            ends(k ? SIGINT : SIGTERM, 0); /* with a connection open */
            assert_true(gone(pid));
            close(fd);
            assert_string_equal(p.out, "");
        }
    }
}

static void a_status_line_counts(void **state)
{
    (void)state;
    serve("epoll-lt", "process");
    int a = dial(), b = dial();
    fetch(a, 10);
    fetch(b, 10);
    assert_true(program_says(&p, "connections 2  requests/s ", LONG_MS));
    assert_true(program_says(&p, "CPU ", LONG_MS));
    net_close_reset(a);
    assert_true(program_says(&p, "connections 1  requests/s 0", LONG_MS));
    assert_null(strchr(p.err, 0x1b));
    assert_null(strchr(p.err, '\r')); /* no terminal: whole lines */
    close(b);
    ends(SIGTERM, 0);
}

static void by_default_one_process_serves(void **state)
{
    const char *const words[] = {"serve", "-m", "poll", "--listen", "127.0.0.1:0", NULL};
    (void)state;
    program_start(&p, &(struct program_want){.words = words});
    assert_true(program_says(&p, "(pid ", LONG_MS) && program_says(&p, "\n", LONG_MS));
    assert_int_equal(server_pid(), p.pid);
    ends(SIGTERM, 0);
}

static void a_child_has_its_name(void **state)
{
    struct proc_stat stat;
    (void)state;
    serve("poll", "process");
    assert_int_equal(proc_stat_read((pid_t)server_pid(), &stat, NULL), 0);
    assert_string_equal(stat.name, "iodash");
    ends(SIGTERM, 0);
}

static void what_is_not_answered_counts_in_bytes(void **state)
{
    const char *const words[] = {"serve", "-m", "epoll-lt", "--listen", "127.0.0.1:0",
                                 "--protocol", "discard", NULL};
    char text[64];
    (void)state;
    program_start(&p, &(struct program_want){.words = words});
    assert_true(program_says(&p, "listens on 127.0.0.1:", LONG_MS) &&
                program_says(&p, "MiB/s 0", LONG_MS));
    assert_int_equal(sscanf(strstr(p.err, "127.0.0.1:"), "%63[0-9.:]", text), 1);
    assert_int_equal(net_addr_parse(text, false, &address, NULL), 0);
    int fd = dial();
    assert_int_equal(send(fd, text, 10, MSG_NOSIGNAL), 10);
    assert_true(program_says(&p, "connections 1", LONG_MS)); /* so the second before it is over */
    ends(SIGTERM, 0);
    assert_non_null(strstr(p.err, "in all 1 connections, 10 bytes received\n"));
    assert_null(strstr(p.err, "request"));
    close(fd);
}

/* Two listeners share the connections by a hash; two threads of a pool share one listener. */
static void a_status_line_is_split_by_worker(void **state)
{
    const char *const two[] = {"serve", "-m", "epoll-lt", "--listen", "127.0.0.1:0",
                               "--workers", "2", NULL};
    const char *const pool[] = {"serve", "-m", "pool", "--listen", "127.0.0.1:0", NULL};
    (void)state;
    program_start(&p, &(struct program_want){.words = two});
    assert_true(program_says(&p, ", 2 workers)", LONG_MS));
    assert_true(program_says(&p, "connections 0 (0+0)  requests/s 0 (0+0)  CPU ", LONG_MS));
    assert_true(program_says(&p, " % (", LONG_MS));
    ends(SIGTERM, 0);
    program_start(&p, &(struct program_want){.words = pool});
    assert_true(program_says(&p, " workers), Ctrl-C", LONG_MS));
    assert_true(program_says(&p, "connections 0  requests/s 0 (0", LONG_MS));
    ends(SIGTERM, 0);
}

static void junk_is_counted_and_survived(void **state)
{
    static const char *const junk[] = {
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\x16\x03\x01\x02",
        "IODF, then what is no version, no size, no sequence and no rest of 0",
    };
    (void)state;
    serve("epoll-lt", "process");
    close(dial());
    for (int i = 0; i < 3; i++) {
        int fd = dial();
        send(fd, junk[i], strlen(junk[i]), MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
        char c;
        while (recv(fd, &c, 1, 0) > 0)
            ;
        close(fd);
    }
    int fd = dial();
    fetch(fd, 1000);
    assert_true(program_says(&p, "junk ", LONG_MS));
    close(fd);
    ends(SIGINT, 0);
}

static void a_taken_port_is_told(void **state)
{
    char text[64];
    static struct program second;
    (void)state;
    serve("select", "process");
    net_addr_print(&address, text, sizeof text);
    const char *const words[] = {"serve", "-m", "poll", "--listen", text, NULL};
    assert_int_equal(program_run(&second, &(struct program_want){.words = words}), 1);
    assert_int_equal(lines_of(second.err), 1);
    assert_non_null(strstr(second.err, text));
    assert_non_null(strstr(second.err, "in use"));
    ends(SIGTERM, 0);
    for (int i = 0; i < 2; i++) { /* and free at once when the first is gone, twice */
        program_start(&p, &(struct program_want){.words = words});
        assert_true(program_says(&p, "listens on", LONG_MS));
        ends(SIGTERM, 0);
    }
}

static void a_server_that_dies_is_named(void **state)
{
    (void)state;
    serve("epoll-lt", "process");
    kill((pid_t)server_pid(), SIGKILL);
    assert_true(program_ends(&p, LONG_MS));
    assert_int_equal(p.status, 1);
    assert_non_null(strstr(p.err, "SIGKILL"));
}

static void the_end_of_the_parent_ends_the_server(void **state)
{
    (void)state;
    serve("epoll-lt", "process");
    long pid = server_pid();
    kill(p.pid, SIGKILL);
    program_ends(&p, LONG_MS);
    assert_true(gone(pid));
}

static void quiet_says_only_where(void **state)
{
    const char *const words[] = {"serve", "-m", "poll", "--listen", "127.0.0.1:0", "--quiet", NULL};
    (void)state;
    program_start(&p, &(struct program_want){.words = words});
    assert_true(program_says(&p, "listens on", LONG_MS));
    assert_false(program_says(&p, "connections", 1500));
    ends(SIGTERM, 0);
    assert_int_equal(lines_of(p.err), 1);
}

#define TEST(f) cmocka_unit_test_teardown(f, end_program)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_model_in_both_places),
        TEST(a_status_line_counts),
        TEST(by_default_one_process_serves),
        TEST(a_child_has_its_name),
        TEST(what_is_not_answered_counts_in_bytes),
        TEST(a_status_line_is_split_by_worker),
        TEST(junk_is_counted_and_survived),
        TEST(a_taken_port_is_told),
        TEST(a_server_that_dies_is_named),
        TEST(the_end_of_the_parent_ends_the_server),
        TEST(quiet_says_only_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
