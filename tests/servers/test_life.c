/* SPDX-License-Identifier: MIT */
/* Start, stop, death: nothing is left behind, and who asks is told why. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "servers/harness.h"

static void stop_in_time(struct server *s)
{
    uint64_t start = clock_ns();
    server_stop(s);
    assert_true(clock_ns() - start < NS_PER_S);
}

/* 20 times on one port, with nobody and with a hundred connected. */
static void start_and_stop(void **state)
{
    struct server_spec spec = harness_spec(*state);
    int fd[100], threads = harness_threads();
    struct server *s = harness_start(&spec);
    server_address(s, &spec.listen);
    stop_in_time(s);
    long fds = limits_open_fds();
    for (int i = 0; i < 20; i++) {
        int n = i % 2 * 100;
        s = harness_start(&spec);
        for (int k = 0; k < n; k++)
            fd[k] = client_open(s);
        if (n > 0) {
            assert_true(client_ping(fd[0], 1, 100));
            client_ask(fd[1], 1, 16 << 20); /* one is stopped in the middle of its reply */
        }
        stop_in_time(s);
        for (int k = 0; k < n; k++)
            close(fd[k]);
    }
    assert_int_equal(limits_open_fds(), fds);
    /* A joined thread may still be listed for a moment. */
    UNTIL(harness_threads() <= threads + UNDER_TSAN); /* that has one of its own */
}

static void address_in_use(void **state)
{
    struct server *s = harness_start_plain(*state);
    struct server_spec spec = harness_spec(*state);
    long fds = limits_open_fds();
    for (int workers = 1; workers <= 2; workers++) {
        struct err e = {""};
        server_address(s, &spec.listen);
        spec.params.workers = workers;
        assert_null(server_start(&spec, &e));
        assert_non_null(strstr(e.text, "cannot listen on 127.0.0.1:"));
        assert_non_null(strstr(e.text, "Address already in use"));
    }
    assert_int_equal(limits_open_fds(), fds);
    server_stop(s);
}

/* Each has its own counters, and its own listener but in a pool, where one may get all. Two such
 * servers do not share a port by accident. */
static void two_workers(void **state)
{
    struct server_spec spec = harness_spec(*state);
    spec.params.workers = 2;
    spec.cpu = 0;
    struct server *s = harness_start(&spec);
    struct server_counts each;
    struct err e = {""};
    int fd[64], least = spec.model->caps & CAP_POOL ? 0 : 1;
    assert_int_equal(server_workers(s), 2);
    for (int i = 0; i < 64; i++)
        fd[i] = client_open(s);
    for (int i = 0; i < 64; i++)
        assert_true(client_ping(fd[i], (uint64_t)i, 2000));
    uint64_t sum = 0;
    UNTIL(harness_counts(s).requests == 64 && harness_counts(s).accepts == 64);
    for (int i = 0; i < 2; i++) {
        server_read_worker(s, i, &each);
        assert_in_range(each.accepts, least, 64 - least);
        assert_true(server_worker_cpu_ns(s, i) > 0);
        sum += each.accepts;
    }
    assert_int_equal(sum, 64);
    server_address(s, &spec.listen);
    assert_null(server_start(&spec, &e));
    assert_non_null(strstr(e.text, "Address already in use"));
    for (int i = 0; i < 64; i++)
        close(fd[i]);
    UNTIL(harness_held(s) == 0);
    stop_in_time(s);
}

static void figures(void **state)
{
    const struct setting *setting = *state;
    struct server *s = harness_start_plain(setting);
    int fd = client_open(s);
    int64_t before = server_cpu_ns(s);
    for (int i = 0; i < 300; i++)
        assert_true(client_ping(fd, 1, 10000));
    assert_true(before >= 0);
    assert_true(server_cpu_ns(s) > before);
    assert_int_equal(server_tick_ns(s) < 0, setting->place == PLACE_INSIDE);
    assert_ptr_equal(server_model(s), setting->model);
    assert_true(server_alive(s, NULL));
    assert_int_equal(server_pid(s) == getpid(), setting->place == PLACE_INSIDE);
    assert_int_equal(server_troubles(s, NULL), 0);
    close(fd);
    server_stop(s);
}

/* Stopped and continued by its shell, and signalled (SIGIO without an end of its owner too), while
 * replies are on their way. */
static void interrupted(void **state)
{
    const struct setting *setting = *state;
    struct server *s = harness_start_plain(setting);
    pid_t helper = fork();
    if (helper == 0) {
        for (int i = 0; i < 100; i++) {
            if (setting->place == PLACE_PROCESS) {
                kill(server_pid(s), SIGSTOP);
                harness_sleep_ms(1);
                kill(server_pid(s), SIGCONT);
                kill(server_pid(s), SIGIO);
            }
            kill(server_pid(s), SIGWINCH);
            harness_sleep_ms(1);
        }
        _exit(0);
    }
    int fd = client_open(s), rounds = 0;
    do
        assert_true(client_ping(fd, (uint64_t)rounds++, 1 << 20));
    while (waitpid(helper, NULL, WNOHANG) == 0);
    assert_true(server_alive(s, NULL));
    close(fd);
    stop_in_time(s);
}

/* A loop that walks its clients works on each at every wake; no other does, and a long work does
 * not hold up the end. */
static void client_work(void **state)
{
    enum { CLIENTS = 20, PINGS = 10 };
    struct server_spec spec = harness_spec(*state);
    spec.params.client_work = 500;
    struct server *s = harness_start(&spec);
    int fd[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        fd[i] = client_open(s);
    UNTIL(harness_held(s) == CLIENTS);
    int64_t before = server_cpu_ns(s);
    for (int i = 0; i < PINGS; i++)
        assert_true(client_ping(fd[i], 1, 10));
    if (spec.model->policies & POLICY_CLIENT_WORK)
        assert_true(server_cpu_ns(s) - before > CLIENTS * PINGS * 500 * 1000ll / 4);
    else
        assert_true(server_cpu_ns(s) - before < CLIENTS * PINGS * 500 * 1000ll);
    server_stop(s);
    spec.params.client_work = 1000000; /* 20 s at one wake */
    s = harness_start(&spec);
    for (int i = 0; i < CLIENTS; i++) {
        close(fd[i]);
        fd[i] = client_open(s);
    }
    harness_sleep_ms(20);
    uint64_t start = clock_ns();
    server_stop(s);
    if (spec.model->policies & POLICY_CLIENT_WORK)
        assert_true(clock_ns() - start < 2 * NS_PER_S);
    for (int i = 0; i < CLIENTS; i++)
        close(fd[i]);
}

/* --- processes only --------------------------------------------------------------------------- */

static struct setting in_process(void)
{
    return (struct setting){io_model_table[io_model_find("epoll-lt")], PLACE_PROCESS};
}

/* The CPUs of all threads of a server process together; each has one. */
static void cpus_of(pid_t pid, cpu_set_t *all)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    assert_non_null(d);
    CPU_ZERO(all);
    for (struct dirent *entry; (entry = readdir(d));) {
        cpu_set_t one;
        if (entry->d_name[0] == '.')
            continue;
        assert_int_equal(sched_getaffinity(atoi(entry->d_name), sizeof one, &one), 0);
        assert_int_equal(CPU_COUNT(&one), 1);
        CPU_OR(all, all, &one);
    }
    closedir(d);
}

/* Neighbouring CPUs where there are some, else all on the server's. */
static void pinned(void **state)
{
    (void)state;
    struct setting setting = in_process();
    struct server_spec spec = harness_spec(&setting);
    cpu_set_t allowed, got;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (UNDER_TSAN) {
        print_message("skipped: under TSan a process has one more thread\n");
        skip();
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        spec.params.workers = 2;
        spec.cpu = cpu;
        struct server *s = harness_start(&spec);
        cpus_of(server_pid(s), &got);
        server_stop(s);
        assert_true(CPU_ISSET(cpu, &got));
        bool two = CPU_ISSET(cpu + 1, &allowed);
        assert_int_equal(CPU_COUNT(&got), 1 + two);
        if (two)
            assert_true(CPU_ISSET(cpu + 1, &got));
        if (!two)
            return;
    }
}

static void killed(void **state)
{
    (void)state;
    struct setting setting = in_process();
    struct server_spec spec = harness_spec(&setting);
    struct server *s = harness_start(&spec);
    struct err why = {""};
    int fd = client_open(s);
    assert_true(client_ping(fd, 1, 1));
    UNTIL(harness_counts(s).requests == 1);
    kill(server_pid(s), SIGKILL);
    UNTIL(!server_alive(s, &why));
    assert_string_equal(why.text, "killed by SIGKILL");
    assert_int_equal(server_cpu_ns(s), -1);
    assert_int_equal(harness_counts(s).requests, 1);
    assert_true(client_at_end(fd));
    close(fd);
    server_address(s, &spec.listen);
    server_stop(s);
    s = harness_start(&spec); /* the same port again */
    server_stop(s);
}

/* One that does not answer to its lifeline is killed. */
static void stopped_by_force(void **state)
{
    (void)state;
    struct setting setting = in_process();
    struct server *s = harness_start_plain(&setting);
    pid_t pid = server_pid(s);
    kill(pid, SIGSTOP);
    stop_in_time(s);
    assert_int_equal(kill(pid, 0), -1);
}

/* The owner is killed: its server ends by itself. This process inherits it, to see that. */
static void owner_killed_of(const struct io_model *model)
{
    struct setting setting = {model, PLACE_PROCESS};
    int pipes[2];
    pid_t server = 0;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(pipes), 0);
    /* libuv, once it was used inside, closes two low numbers in every child that is forked. */
    int tell = fcntl(pipes[1], F_DUPFD, 100);
    assert_true(tell >= 100);
    pid_t owner = fork();
    if (owner == 0) {
        struct server *s = harness_start_plain(&setting);
        server = server_pid(s);
        if (write(tell, &server, sizeof server) == sizeof server)
            pause();
        _exit(1);
    }
    assert_int_equal(read(pipes[0], &server, sizeof server), sizeof server);
    assert_int_equal(kill(server, 0), 0);
    kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    uint64_t start = clock_ns();
    int status = -1;
    UNTIL(waitpid(server, &status, WNOHANG) == server);
    assert_true(clock_ns() - start < NS_PER_S);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(pipes[0]);
    close(pipes[1]);
    close(tell);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void owner_killed(void **state)
{
    (void)state;
    for (int i = 0; i < io_model_count; i++)
        if (io_model_table[i]->probe(NULL) == 0)
            owner_killed_of(io_model_table[i]);
}

/* What it holds: 0 to 2, the lifeline, a wake-up, a listener, the epoll set. */
static void holds_only_its_own(void **state)
{
    (void)state;
    struct setting setting = in_process();
    int pipes[2];
    assert_int_equal(pipe(pipes), 0); /* not close-on-exec */
    struct server *s = harness_start_plain(&setting);
    char path[64];
    int open_ones = 0;
    for (int fd = 0; fd < 100; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)server_pid(s), fd);
        open_ones += access(path, F_OK) == 0;
    }
    assert_int_equal(open_ones, 7);
    assert_int_equal(getpgid(server_pid(s)), server_pid(s));
    close(pipes[0]);
    close(pipes[1]);
    server_stop(s);
}

static void start_fails(const char *exe, const char *text)
{
    char *mine = strdup(getenv("IODASH_EXE"));
    struct setting setting = in_process();
    struct server_spec spec = harness_spec(&setting);
    struct err e = {""};
    setenv("IODASH_EXE", exe, 1);
    struct server *s = server_start(&spec, &e);
    setenv("IODASH_EXE", mine, 1);
    free(mine);
    assert_null(s);
    assert_non_null(strstr(e.text, text));
}

static void cannot_start(void **state)
{
    (void)state;
    long fds = limits_open_fds();
    start_fails("/nonexistent/iodash", "cannot start /nonexistent/iodash: No such file");
    start_fails("/bin/true", "the server ended at its start: exit 0");
    assert_int_equal(limits_open_fds(), fds);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left to wait for */
    assert_int_equal(errno, ECHILD);
}

static void bad_header(void **state)
{
    (void)state;
    char name[] = "x", flag[] = "--server-child", none[] = "77", zero[] = "0";
    assert_int_equal(server_child_main(3, (char *[]){name, flag, none, NULL}), 2);
    assert_int_equal(server_child_main(3, (char *[]){name, flag, zero, NULL}), 2);
    assert_int_equal(server_child_main(2, (char *[]){name, flag, NULL}), 2);
}

/* Inside: the table is the server's own, so this process sees none of its descriptors. */
static void inside_takes_no_descriptors(void **state)
{
    (void)state;
    if (UNDER_TSAN) {
        print_message("skipped: under TSan the table stays shared\n");
        skip();
    }
    struct setting setting = {io_model_table[io_model_find("epoll-et")], PLACE_INSIDE};
    long fds = limits_open_fds();
    struct server *s = harness_start_plain(&setting);
    assert_int_equal(limits_open_fds(), fds + 1); /* the wake-up */
    int fd = client_open(s);
    UNTIL(harness_held(s) == 1);
    assert_int_equal(limits_open_fds(), fds + 2);
    close(fd);
    server_stop(s);
    assert_int_equal(limits_open_fds(), fds);
}

static int tests(void)
{
    static const struct contract all[] = {
        {"start and stop", start_and_stop}, {"address in use", address_in_use},
        {"two workers", two_workers},       {"figures", figures},
        {"interrupted", interrupted},       {"client work", client_work},
    };
    static const struct CMUnitTest process[] = {
        cmocka_unit_test(killed),           cmocka_unit_test(stopped_by_force),
        cmocka_unit_test(owner_killed),     cmocka_unit_test(holds_only_its_own),
        cmocka_unit_test(cannot_start),     cmocka_unit_test(bad_header),
        cmocka_unit_test(inside_takes_no_descriptors), cmocka_unit_test(pinned),
    };
    return harness_contract("life", all, sizeof all / sizeof *all) +
           cmocka_run_group_tests(process, NULL, NULL);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
