/* SPDX-License-Identifier: MIT */
/* Figures of several processes as one: against what their own clocks and /proc say. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "servers/listener.h"
#include "servers/tree.h"
#include "net/sock.h"

#define MS 1000000

static void burn(int64_t ns)
{
    struct timespec t;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while (t.tv_sec * 1000000000ll + t.tv_nsec < ns);
}

struct family {
    pid_t master;
    _Atomic int *ready;
};

/* A master with `workers` children, each of which used so much CPU; then they sleep. */
static struct family family_start(int workers, int64_t ns)
{
    struct family f;
    f.ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    f.master = fork();
    if (f.master == 0) {
        prctl(PR_SET_NAME, "a) R 1 (2\nb");
        for (int i = 0; i < workers; i++)
            if (fork() == 0) {
                burn(ns);
                ++*f.ready;
                for (;;)
                    pause();
            }
        for (;;)
            pause();
    }
    while (*f.ready < workers)
        usleep(1000);
    return f;
}

static void family_end(struct family *f)
{
    pid_t pids[16];
    int n = tree_find(f->master, pids, 16);
    kill(f->master, SIGKILL);
    for (int i = 0; i < n; i++)
        kill(pids[i], SIGKILL);
    waitpid(f->master, NULL, 0);
    munmap((void *)f->ready, 4096);
}

static struct tree *tree_of(pid_t pid)
{
    struct proc_stat s;
    assert_int_equal(proc_stat_read(pid, &s, NULL), 0);
    return tree_new(&(struct tree_root){.pid = pid, .itself = true, .start_ticks = s.start_ticks});
}

static void sums(void **state)
{
    (void)state;
    struct family f = family_start(3, 20 * MS);
    struct tree *t = tree_of(f.master);
    struct proc_stat all, one;
    struct proc_extent extent;
    struct proc_thread threads;
    pid_t pids[8];
    int64_t cpu = 0, ticks = 0, rss = 0;
    int n = tree_pids(t, pids, 8);
    assert_int_equal(n, 4);
    for (int i = 0; i < n; i++) {
        cpu += proc_cpu_ns(pids[i]);
        ticks += proc_tick_ns(pids[i]);
        assert_int_equal(proc_stat_read(pids[i], &one, NULL), 0);
        rss += one.rss_bytes;
    }
    assert_true(cpu >= 60 * MS);
    assert_near((double)tree_cpu_ns(t), (double)cpu, 1e6);
    assert_true(ticks > 0); /* 60 ms of work */
    assert_int_equal(tree_tick_ns(t), ticks);
    assert_int_equal(tree_stat(t, &all), 0);
    assert_int_equal(all.rss_bytes, rss);
    assert_int_equal(all.threads, 4);
    tree_extent(t, &extent);
    assert_int_equal(extent.processes, 4);
    assert_int_equal(extent.threads, 4);
    assert_true(extent.pss_bytes > 0 && extent.pss_bytes <= rss);
    assert_true(extent.descriptors >= 12);
    tree_threads(t, &threads);
    assert_true(threads.sleeps >= 4);
    assert_true(tree_lives(t));
    tree_free(t);
    family_end(&f);
}

/* Workers that come and go: nothing is lost, nothing counts twice, the sum never falls. */
static void comings_and_goings(void **state)
{
    (void)state;
    int to[2], from[2];
    char c;
    assert_true(pipe(to) == 0 && pipe(from) == 0);
    pid_t master = fork();
    if (master == 0) {
        while (read(to[0], &c, 1) == 1) {
            if (fork() == 0) {
                burn(30 * MS);
                _exit(0);
            }
            if (c == 'w')
                wait(NULL);
            if (write(from[1], &c, 1) != 1)
                break;
        }
        _exit(0);
    }
    struct tree *t = tree_of(master);
    int64_t before = tree_cpu_ns(t), late;
    assert_true(write(to[1], "w", 1) == 1 && read(from[0], &c, 1) == 1);
    int64_t after = tree_cpu_ns(t);
    /* A parent shows its ended children by ticks of 10 ms. */
    assert_near((double)(after - before), 30.0 * MS, 20.0 * MS);
    assert_true(write(to[1], "x", 1) == 1 && read(from[0], &c, 1) == 1);
    pid_t child = 0;
    for (int i = 0; i < 5000 && (!child || proc_cpu_ns(child) < 25 * MS); i++) {
        tree_find(master, &child, 1);
        assert_true(tree_cpu_ns(t) >= after);
        usleep(1000);
    }
    late = tree_look(t);
    assert_true(late >= 20 * MS); /* what the new one had used before anybody knew of it */
    assert_true(tree_cpu_ns(t) >= after + late - 10 * MS);
    kill(master, SIGKILL);
    waitpid(master, NULL, 0);
    assert_int_equal(tree_cpu_ns(t) < 0 || !tree_lives(t), 1);
    assert_false(tree_lives(t));
    tree_free(t);
    for (int i = 0; i < 2; i++)
        close(to[i]), close(from[i]);
}

static void who_listens(void **state)
{
    (void)state;
    struct net_addr a;
    net_addr_parse("127.0.0.1:0", true, &a, NULL);
    int fd = net_listen(&a, &(struct net_listen){.backlog = 1}, NULL);
    int port = net_local_port(fd);
    struct family f = family_start(1, 0);
    pid_t pids[2] = {f.master, getpid()};
    assert_int_equal(listener_among(pids, 1, port), 1); /* it has inherited it */
    close(fd);
    assert_int_equal(listener_among(pids + 1, 1, port), 0);
    family_end(&f);
    pid_t none = 4194303;
    assert_int_equal(listener_among(&none, 1, port), -1);
}

static void others_are_left_alone(void **state)
{
    (void)state;
    struct family f = family_start(1, 0);
    struct tree *wrong = tree_new(&(struct tree_root){.pid = f.master, .itself = true,
                                                      .start_ticks = 1}); /* another process's */
    assert_int_equal(tree_cpu_ns(wrong), -1);
    assert_false(tree_lives(wrong));
    pid_t pids[4];
    assert_int_equal(tree_pids(wrong, pids, 4), 0);
    tree_free(wrong);
    _Atomic int64_t ended = 5 * MS;
    struct tree *t = tree_new(&(struct tree_root){.pid = f.master, .ended_ns = &ended});
    assert_int_equal(tree_pids(t, pids, 4), 1); /* a keeper is none of them */
    assert_true(tree_cpu_ns(t) >= 5 * MS);
    tree_free(t);
    family_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(comings_and_goings),
        cmocka_unit_test(who_listens),
        cmocka_unit_test(others_are_left_alone),
    };
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
