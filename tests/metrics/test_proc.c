/* SPDX-License-Identifier: MIT */
/* /proc as files that this test wrote: names that try to break the parser, other tick rates and
 * page sizes; then real processes for the CPU clock. */
#include "metrics/proc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/fake_tree.h"

static const char *root;

static int make_tree(void **state)
{
    (void)state;
    root = fake_tree_make();
    proc_inject(root, 100, 4096);
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    proc_inject(NULL, 0, 0);
    fake_tree_remove();
    return 0;
}

/* Fields 3 to 26 of a stat file: 500 + 250 ticks, 7 threads, started at 987654, 3 pages. */
#define FIELDS "S 1 77 77 0 -1 4194560 111 9 22 8 500 250 60 70 20 0 7 0 987654 10000000 3 184 0"

static void parse(const char *name, struct proc_stat *out)
{
    char text[512];
    snprintf(text, sizeof text, "4711 (%s) %s\n", name, FIELDS);
    assert_int_equal(proc_stat_parse(text, out), 0);
}

static void check_fields(const struct proc_stat *s)
{
    assert_int_equal(s->pid, 4711);
    assert_int_equal(s->state, 'S');
    assert_true(s->minor_faults == 111 && s->major_faults == 22);
    assert_true(s->user_ns == 5 * NS_PER_S && s->sys_ns == 2500 * NS_PER_MS);
    assert_true(s->threads == 7);
    assert_true(s->start_ticks == 987654);
    assert_true(s->rss_bytes == 3 * 4096);
}

static void test_names_that_look_like_fields(void **state)
{
    (void)state;
    static const struct { const char *is, *shown; } names[] = {
        {"plain", "plain"},
        {"a) R 1 (2 b", "a) R 1 (2 b"},
        {"two\nlines", "two?lines"},
        {"\033[31mred", "?[31mred"},
        {"c1 \xc2\x9b" "2J", "c1 ?2J"},
        {"", ""},
        {")) (", ")) ("},
        {"µs 日本", "µs 日本"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct proc_stat s;
        parse(names[i].is, &s);
        check_fields(&s);
        assert_string_equal(s.name, names[i].shown);
    }
}

static void test_a_long_name_is_cut(void **state)
{
    (void)state;
    char name[200];
    struct proc_stat s;
    memset(name, 'w', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    parse(name, &s);
    check_fields(&s);
    assert_int_equal(strlen(s.name), sizeof s.name - 1);
}

static void test_no_stat_file(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "4711", "4711 (x", "x) (y", "4711 (x) S 1 2", ")("};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct proc_stat s;
        assert_int_equal(proc_stat_parse(bad[i], &s), -EINVAL);
    }
}

static void test_ticks_and_pages_of_other_machines(void **state)
{
    (void)state;
    struct proc_stat s;
    proc_inject(root, 250, 65536);
    parse("x", &s);
    assert_true(s.user_ns == 2 * NS_PER_S && s.sys_ns == NS_PER_S);
    assert_true(s.rss_bytes == 3 * 65536);
    proc_inject(root, 1000, 16384);
    parse("x", &s);
    assert_true(s.user_ns == 500 * NS_PER_MS && s.sys_ns == 250 * NS_PER_MS);
    assert_true(s.rss_bytes == 3 * 16384);
}

static void test_centuries_of_ticks_do_not_overflow(void **state)
{
    (void)state;
    struct proc_stat s;
    assert_int_equal(proc_stat_parse("1 (x) R 1 1 1 0 -1 0 0 0 0 0 300000000001 0 0 0 20 0 1 0 5 0 "
                                     "9000000000 0", &s), 0);
    assert_true(s.user_ns == 3000000000010000000u);
    assert_true(s.rss_bytes == 9000000000 * 4096);
}

static void test_stat_files_by_pid(void **state)
{
    (void)state;
    struct proc_stat s;
    struct err e = {0};
    fake_tree_write("/4711/stat", "4711 (a) R 1 (2 b) " FIELDS "\n");
    fake_tree_write("/self/stat", "12 (me) " FIELDS "\n");
    fake_tree_write("/13/stat", "nothing\n");
    assert_int_equal(proc_stat_read(4711, &s, &e), 0);
    check_fields(&s);
    assert_int_equal(proc_stat_read(0, &s, &e), 0);
    assert_int_equal(s.pid, 12);
    assert_int_equal(proc_stat_read(13, &s, &e), -EINVAL);
    assert_int_equal(proc_stat_read(14, &s, &e), -ENOENT);
    assert_non_null(strstr(e.text, "14"));
}

/* No process has a number past the kernel's limit of 2^22, so the CPU clock must fail. */
static void test_ticks_where_there_is_no_cpu_clock(void **state)
{
    (void)state;
    fake_tree_write("/99999999/stat", "99999999 (x) " FIELDS "\n");
    assert_true(proc_cpu_ns(99999999) == 7500 * (int64_t)NS_PER_MS);
    assert_true(proc_cpu_ns(99999998) == -1);
}

static void test_accept_queue_counters(void **state)
{
    (void)state;
    struct proc_net n;
    proc_net_read(&n);
    assert_true(n.listen_overflows == -1 && n.listen_drops == -1);
    fake_tree_write("/net/netstat",
                    "TcpExt: SyncookiesSent SyncookiesRecv ListenOverflows ListenDrops "
                    "TCPSynRetrans TCPSynRetransX\n"
                    "TcpExt: 5 1 5000000000 5000000017 9007199254740993 4\n"
                    "IpExt: ListenDrops\nIpExt: 3\n");
    proc_net_read(&n);
    assert_true(n.syn_cookies_sent == 5);
    assert_true(n.listen_overflows == 5000000000);
    assert_true(n.listen_drops == 5000000017);
    assert_true(n.syn_retrans == 9007199254740993);
}

static void test_a_kernel_without_some_counters(void **state)
{
    (void)state;
    struct proc_net n;
    fake_tree_write("/net/netstat", "TcpExt: XListenDrops ListenOverflows\nTcpExt: 8 6\n");
    proc_net_read(&n);
    assert_true(n.listen_overflows == 6);
    assert_true(n.listen_drops == -1 && n.syn_retrans == -1 && n.syn_cookies_sent == -1);
    fake_tree_write("/net/netstat", "TcpExt: ListenDrops ListenOverflows\n");
    proc_net_read(&n);
    assert_true(n.listen_overflows == -1);
}

static void test_what_the_kernel_counts_of_tcp(void **state)
{
    (void)state;
    struct proc_net n;
    proc_net_read(&n);
    assert_true(n.retransmits == -1 && n.time_wait == -1 && n.mem_bytes == -1);
    fake_tree_write("/net/snmp", "Ip: RetransSegs\nIp: 1\nTcp: InSegs RetransSegs OutRsts\n"
                                 "Tcp: 3 5000000001 4\nUdp: RetransSegs\nUdp: 2\n");
    fake_tree_write("/net/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 0 tw 17 alloc 5 mem 3\n"
                                     "UDP: inuse 0 mem 8\n");
    proc_net_read(&n);
    assert_true(n.retransmits == 5000000001);
    assert_true(n.time_wait == 17 && n.mem_bytes == 3 * 4096);
}

static void read_thread(pid_t pid, pid_t tid, struct proc_thread *out)
{
    struct proc_thread_files files = {0};
    proc_thread_read(&files, pid, tid, out);
    proc_thread_close(&files);
}

static void test_threads(void **state)
{
    (void)state;
    struct proc_thread t;
    read_thread(77, 78, &t);
    assert_true(t.sleeps == -1 && t.preempted == -1 && t.run_wait_ns == -1);
    fake_tree_write("/77/task/78/status", "Name:\tnonvoluntary_ctxt_switches:\nThreads:\t1\n"
                                          "voluntary_ctxt_switches:\t5000000000\n"
                                          "nonvoluntary_ctxt_switches:\t12\n");
    read_thread(77, 78, &t);
    assert_true(t.sleeps == 5000000000 && t.preempted == 12 && t.run_wait_ns == -1);
    fake_tree_write("/77/task/78/schedstat", "123456 5000000007 9\n");
    read_thread(77, 78, &t);
    assert_true(t.run_wait_ns == 5000000007);
}

static void test_cpu_lines(void **state)
{
    (void)state;
    struct proc_cpu c;
    proc_cpu_read(-1, &c);
    assert_true(c.busy_ns == -1 && c.steal_ns == -1 && c.idle_ns == -1);
    fake_tree_write("/stat", "cpu  300 20 100 5000 40 10 30 70 11 0\n"
                             "cpu1 1 2 4 8 16 32 64 128 0 0\n"
                             "cpu12 100 0 0 0 0 0 0 0 0 0\n"
                             "intr 1 2 3\ncpu2 1 1 1 1 1 1 1 1\n");
    proc_cpu_read(-1, &c);
    assert_true(c.busy_ns == 4600 * (int64_t)NS_PER_MS);
    assert_true(c.steal_ns == 700 * (int64_t)NS_PER_MS);
    assert_true(c.idle_ns == 50400 * (int64_t)NS_PER_MS);
    proc_cpu_read(1, &c);
    assert_true(c.busy_ns == 1030 * (int64_t)NS_PER_MS);
    assert_true(c.steal_ns == 1280 * (int64_t)NS_PER_MS);
    proc_cpu_read(12, &c);
    assert_true(c.busy_ns == (int64_t)NS_PER_S);
    proc_cpu_read(2, &c); /* switched off: no line among the CPUs */
    assert_true(c.busy_ns == -1);
}

/* What is in use, with the waste of its slabs: 13 objects to 8 pages, 32 to one. */
static void test_slabs_in_use(void **state)
{
    (void)state;
    assert_true(proc_socket_bytes() == -1);
    fake_tree_write(
        "/slabinfo",
        "slabinfo - version: 2.1\n"
        "# name            <active_objs> <num_objs> <objsize> <objperslab> ...\n"
        "TCP                 130    533   2368   13    8 : tunables 0 0 0 : slabdata 41\n"
        "eventpoll_epi        64   1312    128   32    1 : tunables 0 0 0 : slabdata 41\n"
        "dentry           261150 261576    192   21    1 : tunables 0 0 0 : slabdata 41\n");
    assert_true(proc_socket_bytes() == 130 * 8 * 4096 / 13 + 64 * 4096 / 32);
    fake_tree_write("/slabinfo", "filp 64 1312 128 32 1 : tunables 0 0 0 : slabdata 41\n");
    assert_true(proc_socket_bytes() == -1); /* it names no sockets */
}

static void test_memory_of_the_machine(void **state)
{
    (void)state;
    assert_true(proc_mem_total() == -1);
    fake_tree_write("/meminfo", "MemTotal:       24684000 kB\nMemFree:        1 kB\n");
    assert_true(proc_mem_total() == 24684000ll * 1024);
}

/* ---- real processes ---- */

static bool is_asleep(pid_t pid)
{
    struct proc_stat s;
    return proc_stat_read(pid, &s, NULL) == 0 && s.state == 'S';
}

/* A child of that name that sleeps until it is killed, and does so already. */
static pid_t sleeper(const char *name)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        prctl(PR_SET_NAME, name);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)!write(ready[1], "r", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    for (int i = 0; i < 1000 && !is_asleep(pid); i++)
        clock_sleep_until(clock_ns() + 10 * NS_PER_MS);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void test_odd_names_beside_a_plain_twin(void **state)
{
    (void)state;
    pid_t pids[] = {sleeper("plain"), sleeper("a) R 1 (2 b"), sleeper("two\nlines")};
    static const char *const names[] = {"plain", "a) R 1 (2 b", "two?lines"};
    struct proc_stat s[3];
    struct err e = {0};
    for (int i = 0; i < 3; i++)
        assert_int_equal(proc_stat_read(pids[i], &s[i], &e), 0);
    for (int i = 0; i < 3; i++)
        end(pids[i]);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(s[i].name, names[i]);
        assert_int_equal(s[i].pid, pids[i]);
        assert_int_equal(s[i].state, 'S');
        assert_true(s[i].threads == 1);
        assert_true(s[i].rss_bytes > 0 && llabs(s[i].rss_bytes - s[0].rss_bytes) < 1 << 20);
        assert_true(s[i].start_ticks - s[0].start_ticks < 6000);
    }
}

/* The first figure of a server that does nothing: a difference of two readings, never the total. */
static void test_an_idle_process_costs_nothing(void **state)
{
    (void)state;
    pid_t pid = sleeper("idle");
    int64_t before = proc_cpu_ns(pid);
    uint64_t start = clock_ns();
    clock_sleep_until(start + 100 * NS_PER_MS);
    int64_t used = proc_cpu_ns(pid) - before;
    double pct = 100.0 * (double)used / (double)(clock_ns() - start);
    end(pid);
    assert_true(before >= 0);
    if (!(pct >= 0 && pct <= 3))
        fail_msg("an idle process shows %g %%", pct);
    assert_true(proc_cpu_ns(pid) == -1);
}

static void *spin(void *arg)
{
    struct timespec ts;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    while (ts.tv_sec == 0 && ts.tv_nsec < 60000000);
    return arg;
}

/* 2 threads of 60 ms that have ended: the main thread's own clock would miss them. */
static void test_ended_threads_still_count(void **state)
{
    (void)state;
    pthread_t thread[2];
    int64_t before = proc_cpu_ns(getpid());
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, spin, NULL), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    int64_t used = proc_cpu_ns(0) - before;
    assert_true(used >= 120 * (int64_t)NS_PER_MS);
}

static void test_this_machine_has_it_all(void **state)
{
    (void)state;
    struct proc_stat s;
    struct proc_cpu c;
    struct err e = {0};
    assert_int_equal(proc_stat_read(0, &s, &e), 0);
    assert_int_equal(s.pid, getpid());
    assert_int_equal(s.state, 'R');
    assert_true(s.rss_bytes > 0 && s.start_ticks > 0);
    assert_true(proc_mem_total() > s.rss_bytes);
    proc_cpu_read(-1, &c);
    assert_true(c.busy_ns > 0 && c.idle_ns >= 0 && c.steal_ns >= 0);
    struct proc_thread t;
    clock_sleep_until(clock_ns() + NS_PER_MS);
    read_thread(getpid(), getpid(), &t);
    assert_true(t.sleeps > 0 && t.preempted >= 0);
}

/* The file that stays open tells of this process only, also when its number is used again. */
static void test_a_file_that_stays_open(void **state)
{
    (void)state;
    struct proc_file f = {0}, statm = {0};
    struct proc_stat stat, use;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        for (;;)
            pause();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(proc_stat_reread(&f, pid, &stat), 0);
        assert_int_equal(stat.pid, pid);
        assert_int_equal(proc_use_read(&statm, pid, &use), 0);
    }
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(proc_stat_reread(&f, pid, &stat) < 0);
    assert_true(proc_use_read(&statm, pid, &use) < 0);
    proc_file_close(&statm);
    assert_int_equal(f.above, 0);
    proc_file_close(&f);
}

/* What clocks say of a process is what its stat file says, whose sum is rounded to ticks. */
static void test_use_as_the_stat_file_has_it(void **state)
{
    (void)state;
    struct proc_file statm = {0};
    struct proc_stat use, stat;
    spin(NULL); /* most of it in user mode */
    int64_t tick = NS_PER_S / sysconf(_SC_CLK_TCK), before = proc_cpu_ns(getpid());
    assert_int_equal(proc_use_read(&statm, getpid(), &use), 0);
    int64_t after = proc_cpu_ns(getpid());
    assert_int_equal(proc_stat_read(getpid(), &stat, NULL), 0);
    assert_int_equal(use.pid, getpid());
    assert_true(proc_tick_ns(getpid()) > 0);
    assert_in_range(use.user_ns + use.sys_ns, before, after);
    assert_in_range(use.user_ns + tick, stat.user_ns, stat.user_ns + 3 * (uint64_t)tick);
    assert_in_range(use.rss_bytes + (1 << 20), stat.rss_bytes, stat.rss_bytes + (2 << 20));
    proc_file_close(&statm);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TREE(test_names_that_look_like_fields),
        WITH_TREE(test_a_long_name_is_cut),
        WITH_TREE(test_no_stat_file),
        WITH_TREE(test_ticks_and_pages_of_other_machines),
        WITH_TREE(test_centuries_of_ticks_do_not_overflow),
        WITH_TREE(test_stat_files_by_pid),
        WITH_TREE(test_ticks_where_there_is_no_cpu_clock),
        WITH_TREE(test_accept_queue_counters),
        WITH_TREE(test_a_kernel_without_some_counters),
        WITH_TREE(test_what_the_kernel_counts_of_tcp),
        WITH_TREE(test_threads),
        WITH_TREE(test_cpu_lines),
        WITH_TREE(test_slabs_in_use),
        WITH_TREE(test_memory_of_the_machine),
        cmocka_unit_test(test_a_file_that_stays_open),
        cmocka_unit_test(test_odd_names_beside_a_plain_twin),
        cmocka_unit_test(test_an_idle_process_costs_nothing),
        cmocka_unit_test(test_ended_threads_still_count),
        cmocka_unit_test(test_this_machine_has_it_all),
        cmocka_unit_test(test_use_as_the_stat_file_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
