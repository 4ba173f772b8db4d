/* SPDX-License-Identifier: MIT */
/* Limits from files that this test wrote, and the descriptor limit of this process for real. */
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/fake_tree.h"

static int make_tree(void **state)
{
    (void)state;
    limits_inject(fake_tree_make());
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    limits_inject(NULL);
    fake_tree_remove();
    return 0;
}

static void test_what_is_not_there_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(limits_local_ports(), -1);
    assert_int_equal(limits_somaxconn(), -1);
    assert_int_equal(limits_syncookies(), -1);
    assert_int_equal(limits_time_wait(), -1);
    assert_int_equal(limits_open_fds(), -1);
}

static void test_values_of_files(void **state)
{
    (void)state;
    fake_tree_write("/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
    fake_tree_write("/sys/net/core/somaxconn", "4096\n");
    fake_tree_write("/sys/net/ipv4/tcp_syncookies", "0\n");
    fake_tree_write("/net/sockstat", "sockets: used 9\nTCP: inuse 3 orphan 0 tw 217 alloc 5 mem 1\n"
                                     "UDP: inuse 0 mem 0\n");
    assert_int_equal(limits_local_ports(), 28232);
    assert_int_equal(limits_somaxconn(), 4096);
    fake_tree_write("/sys/net/ipv4/tcp_tw_reuse", "2\n");
    assert_int_equal(limits_syncookies(), 0);
    assert_int_equal(limits_tw_reuse(), 2);
    assert_int_equal(limits_time_wait(), 217);
}

static void test_reserved_ports_are_not_counted(void **state)
{
    (void)state;
    fake_tree_write("/sys/net/ipv4/ip_local_port_range", "1000 1099\n");
    fake_tree_write("/sys/net/ipv4/ip_local_reserved_ports", "80,990-1009,1050,1095-2000\n");
    assert_int_equal(limits_local_ports(), 100 - 10 - 1 - 5);
}

static void test_nonsense_is_unknown(void **state)
{
    (void)state;
    fake_tree_write("/sys/net/ipv4/ip_local_port_range", "many\n");
    fake_tree_write("/sys/net/core/somaxconn", "\n");
    fake_tree_write("/net/sockstat", "TCP: inuse 3\n");
    assert_int_equal(limits_local_ports(), -1);
    assert_int_equal(limits_somaxconn(), -1);
    assert_int_equal(limits_time_wait(), -1);
}

static void test_a_file_longer_than_the_buffer_is_cut(void **state)
{
    (void)state;
    char buf[5];
    assert_int_equal(limits_read_file("/nowhere/at/all", buf, sizeof buf), -ENOENT);
    assert_int_equal(limits_read_file("/proc/self/fd", buf, sizeof buf), -EISDIR);
    assert_string_equal(buf, "");
    assert_int_equal(limits_read_file("/proc/self/stat", buf, sizeof buf), 4);
    assert_int_equal(strlen(buf), 4);
}

static void test_descriptors_are_counted(void **state)
{
    (void)state;
    long before = limits_open_fds(), one_by_one = 0;
    for (int i = 0; i < limits_nofile_soft() && i < 100000; i++)
        one_by_one += fcntl(i, F_GETFD) >= 0;
    assert_int_equal(before, one_by_one);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(limits_open_fds(), before + 1);
    close(fd);
    assert_int_equal(limits_open_fds(), before);
}

/* In a child, so that the limit of this process stays what it is. */
static void test_the_soft_limit_is_raised(void **state)
{
    (void)state;
    int status;
    pid_t pid = fork();
    if (!pid) {
        struct rlimit low;
        getrlimit(RLIMIT_NOFILE, &low);
        low.rlim_cur = 64;
        setrlimit(RLIMIT_NOFILE, &low);
        bool was = limits_nofile_soft() == 64;
        bool is = limits_raise_nofile() == limits_nofile_hard() &&
                  limits_nofile_soft() == limits_nofile_hard();
        _exit(was && is ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TREE(test_what_is_not_there_is_unknown),
        WITH_TREE(test_values_of_files),
        WITH_TREE(test_reserved_ports_are_not_counted),
        WITH_TREE(test_nonsense_is_unknown),
        cmocka_unit_test(test_a_file_longer_than_the_buffer_is_cut),
        cmocka_unit_test(test_descriptors_are_counted),
        cmocka_unit_test(test_the_soft_limit_is_raised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
