/* SPDX-License-Identifier: MIT */
/* Threads and sets as files that this test wrote, then a process that waits in a way of which much
 * is known. */
#include "metrics/fingerprint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/fake_tree.h"
#include "metrics/diag.h"
#include "metrics/fingerprint_inner.h"
#include "metrics/proc.h"

#define NOBODY 4194400 /* above the highest pid: only the files are there */

static int make_tree(void **state)
{
    (void)state;
    proc_inject(fake_tree_make(), 100, 4096);
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    proc_inject(NULL, 0, 0);
    fake_tree_remove();
    return 0;
}

static void thread(int tid, long number, const char *args)
{
    char path[96], text[160];
    snprintf(path, sizeof path, "/%d/task/%d/syscall", NOBODY, tid);
    snprintf(text, sizeof text, "%ld %s\n", number, args);
    fake_tree_write(path, number < -1 ? "running\n" : text);
}

static void set(int fd, const char *lines)
{
    char path[96];
    snprintf(path, sizeof path, "/%d/fdinfo/%d", NOBODY, fd);
    fake_tree_write(path, lines);
}

static struct fingerprint look(int looks)
{
    pid_t pid = NOBODY;
    struct fingerprint_taking *t = fingerprint_begin(&pid, 1, 0);
    struct fingerprint out;
    for (int i = 0; i < looks; i++)
        fingerprint_look(t);
    fingerprint_end(t, &out);
    return out;
}

#define TFD(fd, events) "tfd:        " #fd " events: " events " data:  0  pos:0 ino:61 sdev:c\n"

static void threads_as_written(void **state)
{
    (void)state;
    thread(1, SYS_epoll_pwait, "0x5 0x7ffe 0x100 0xffffffff 0x0 0x8 0x7ffe 0x7f00");
    thread(2, SYS_epoll_pwait, "0x5 0x7ffe 0x100 0xffffffff 0x0 0x8 0x7ffe 0x7f00");
    thread(3, SYS_futex, "0x1 0x0 0x0 0x0 0x0 0x0 0x7ffe 0x7f00");
    thread(4, -2, "");
    thread(5, -1, "0x7ffe 0x7f00");
    thread(6, SYS_recvfrom, "0x9 0x7ffe 0x100 0x0 0x0 0x0 0x7ffe 0x7f00");
    set(5, "pos:\t0\nflags:\t02\n" TFD(7, "80002019") TFD(8, "80002019") TFD(6, "19"));
    struct fingerprint f = look(2);
    char text[200];
    assert_string_equal(f.waits, "epoll edge + recv");
    assert_int_equal(f.waiting, 3);
    assert_int_equal(f.threads, 6);
    assert_int_equal(f.watched, 3 + 1); /* the set counts once */
    assert_int_equal(f.backlog, -1);
    assert_non_null(strstr(f.unknown, "looking into process 4194400"));
    assert_string_equal(fingerprint_text(&f, text, sizeof text),
                        "epoll edge + recv in 3 of 6 threads");
}

static void flags_of_sets(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *word;
    } sets[] = {
        {TFD(7, "19") TFD(8, "2019") TFD(9, "80000019"), "epoll level"},
        {TFD(7, "c0000019") TFD(8, "40000000") TFD(9, "1"), "epoll one-shot"},
        {TFD(7, "80000019") TFD(8, "80000001"), "epoll edge"},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        thread(1, SYS_epoll_pwait, "0x5 0x7ffe 0x100 0xffffffff 0x0 0x8 0x7ffe 0x7f00");
        set(5, sets[i].lines);
        assert_string_equal(look(1).waits, sets[i].word);
    }
}

static void nothing_there(void **state)
{
    (void)state;
    struct fingerprint f = look(1);
    char text[200];
    assert_true(f.taken);
    assert_string_equal(f.waits, "");
    assert_int_equal(f.threads, -1);
    assert_non_null(strstr(fingerprint_text(&f, text, sizeof text), "waits unknown, "));
    f = (struct fingerprint){0};
    assert_string_equal(fingerprint_text(&f, text, sizeof text), "");
}

static void calls_by_number(void **state)
{
    (void)state;
    struct asleep a;
    char text[64];
    assert_false(asleep_parse("running\n", &a));
    snprintf(text, sizeof text, "%ld 0x10 0xabc 0x0 0x0", (long)SYS_pselect6);
    assert_true(asleep_parse(text, &a));
    assert_int_equal(a.in, ASLEEP_SELECT);
    assert_int_equal(a.args[0], 16);
    assert_int_equal(a.args[1], 0xabc);
    assert_true(asleep_parse("-1 0x1 0x2\n", &a));
    assert_int_equal(a.in, ASLEEP_ELSEWHERE);
}

/* --- a process of ours ------------------------------------------------------------------------ */

static int listener(int backlog, int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (void *)&at, size), 0);
    assert_int_equal(listen(fd, backlog), 0);
    assert_int_equal(getsockname(fd, (void *)&at, &size), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static int connect_to(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (void *)&at, sizeof at), 0);
    return fd;
}

/* Waits by select on its listener, which it never accepts from. */
static void wait_for_ever(int fd, int beside)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(beside, &set);
    if (fd >= 0)
        FD_SET(fd, &set);
    select(FD_SETSIZE, &set, NULL, NULL, NULL);
    _exit(0);
}

static struct fingerprint of(pid_t pid, int port)
{
    struct fingerprint_taking *t = fingerprint_begin(&pid, 1, port);
    struct fingerprint out;
    for (int i = 0; i < FINGERPRINT_LOOKS; i++) {
        clock_sleep_until(clock_ns() + FINGERPRINT_GAP_MS * NS_PER_MS);
        fingerprint_look(t);
    }
    fingerprint_end(t, &out);
    return out;
}

/* As EventMachine does it: poll for the epoll set, in which the listener is. */
static void wait_for_a_set(int fd)
{
    int set = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
    struct pollfd p = {.fd = set, .events = POLLIN};
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev);
    poll(&p, 1, -1);
    _exit(0);
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Its queue holds what nobody accepted: three connections, of which a select that is asleep on
 * another descriptor knows nothing. */
static void a_queue_that_fills(void **state)
{
    (void)state;
    int port, fd = listener(9, &port), quiet[2], client[3];
    assert_int_equal(pipe(quiet), 0);
    pid_t pid = fork();
    if (pid == 0)
        wait_for_ever(-1, quiet[0]);
    for (int i = 0; i < 3; i++)
        client[i] = connect_to(port);
    struct fingerprint f = of(pid, port);
    assert_string_equal(f.waits, ""); /* a pipe is no socket */
    assert_non_null(strstr(f.unknown, "no thread"));
    assert_int_equal(f.backlog, 9);
    assert_int_equal(f.queue, 3);
    struct listen_queue q;
    assert_true(diag_listener(port, &q)); /* sees the same */
    assert_int_equal(q.backlog, 9);
    assert_int_equal(q.waiting, 3);
    assert_int_equal(q.drops, 0);
    assert_false(diag_listener(1, &q));
    assert_int_equal(q.waiting, -1);
    end(pid);
    for (int i = 0; i < 3; i++)
        close(client[i]);
    close(fd), close(quiet[0]), close(quiet[1]);
}

/* One more than its backlog wait; who comes then is dropped, and that is counted. */
static void a_queue_that_is_full(void **state)
{
    (void)state;
    int port, fd = listener(1, &port), client[3];
    struct listen_queue q;
    for (int i = 0; i < 2; i++)
        client[i] = connect_to(port);
    assert_true(diag_listener(port, &q));
    assert_int_equal(q.waiting, 2);
    assert_int_equal(q.drops, 0);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    client[2] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(connect(client[2], (struct sockaddr *)&at, sizeof at), -1);
    assert_true(diag_listener(port, &q));
    assert_int_equal(q.waiting, q.backlog + 1);
    assert_true(q.drops >= 1);
    for (int i = 0; i < 3; i++)
        close(client[i]);
    close(fd);
}

static void a_select_on_a_listener(void **state)
{
    (void)state;
    int port, fd = listener(9, &port), quiet[2];
    assert_int_equal(pipe(quiet), 0);
    pid_t pid = fork();
    if (pid == 0)
        wait_for_ever(fd, quiet[0]);
    struct fingerprint f = of(pid, port);
    char text[200];
    assert_string_equal(f.waits, "select");
    assert_int_equal(f.watched, 2);
    assert_string_equal(f.nagle, ""); /* no connection that could tell */
    assert_string_equal(fingerprint_text(&f, text, sizeof text), "select, 1 thread, backlog 9");
    end(pid);
    close(fd), close(quiet[0]), close(quiet[1]);
}

static void an_epoll_set_that_is_polled(void **state)
{
    (void)state;
    int port, fd = listener(9, &port);
    pid_t pid = fork();
    if (pid == 0)
        wait_for_a_set(fd);
    struct fingerprint f = of(pid, port);
    assert_string_equal(f.waits, "epoll");
    assert_int_equal(f.watched, 1);
    end(pid);
    close(fd);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_as_written, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(flags_of_sets, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(nothing_there, make_tree, remove_tree),
        cmocka_unit_test(calls_by_number),
        cmocka_unit_test(a_queue_that_fills),
        cmocka_unit_test(a_queue_that_is_full),
        cmocka_unit_test(a_select_on_a_listener),
        cmocka_unit_test(an_epoll_set_that_is_polled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
