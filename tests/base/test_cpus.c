/* SPDX-License-Identifier: MIT */
/* Plans for machines that are not this one, from topology files that this test wrote, and pinning
 * on this one. */
#include "base/cpus.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/fake_tree.h"
#include "base/ranges.h"

static int make_tree(void **state)
{
    (void)state;
    cpus_inject(fake_tree_make());
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    cpus_inject(NULL);
    fake_tree_remove();
    return 0;
}

static void write_siblings(int cpu, const char *list)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    fake_tree_write(path, list);
}

static void write_ids(int cpu, const char *package, const char *core)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    fake_tree_write(path, package);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
    fake_tree_write(path, core);
}

static void write_nodes(const char *online, const char *first, const char *second)
{
    fake_tree_write("/sys/devices/system/node/online", online);
    fake_tree_write("/sys/devices/system/node/node0/cpulist", first);
    if (second)
        fake_tree_write("/sys/devices/system/node/node1/cpulist", second);
}

static cpu_set_t cpus(const char *list)
{
    cpu_set_t set;
    long low, high;
    CPU_ZERO(&set);
    while (ranges_next(&list, &low, &high))
        for (long cpu = low; cpu <= high; cpu++)
            CPU_SET(cpu, &set);
    return set;
}

static struct cpu_plan plan(const char *allowed)
{
    struct cpu_plan p;
    cpu_set_t set = cpus(allowed);
    cpus_plan_for(true, &set, &p);
    return p;
}

static void check_pinned(const char *allowed, int server, const char *load, const char *note)
{
    struct cpu_plan p = plan(allowed);
    cpu_set_t expected = cpus(load);
    assert_string_equal(p.note, note);
    assert_true(p.pinned);
    assert_int_equal(p.server, server);
    assert_true(CPU_EQUAL(&p.load, &expected));
    assert_int_equal(p.load_count, CPU_COUNT(&expected));
}

static void check_not_pinned(const char *allowed, const char *note)
{
    struct cpu_plan p = plan(allowed);
    cpu_set_t expected = cpus(allowed);
    assert_string_equal(p.note, note);
    assert_false(p.pinned);
    assert_int_equal(p.server, -1);
    assert_true(CPU_EQUAL(&p.load, &expected));
}

static void test_two_plain_cores(void **state)
{
    (void)state;
    write_nodes("0\n", "0-1\n", NULL);
    write_siblings(0, "0\n");
    write_siblings(1, "1\n");
    check_pinned("0-1", 0, "1", "server on CPU 0, load on CPU 1");
    check_not_pinned("1", "not pinned: only CPU 1 is allowed");
}

/* 4 cores of 2 threads, numbered as Linux does: i and i + 4 are siblings. */
static void test_siblings_stay_apart(void **state)
{
    (void)state;
    static const char *const pairs[] = {"0,4\n", "1,5\n", "2,6\n", "3,7\n"};
    write_nodes("0\n", "0-7\n", NULL);
    for (int cpu = 0; cpu < 8; cpu++)
        write_siblings(cpu, pairs[cpu % 4]);
    assert_true(cpus_siblings(0, 4));
    assert_false(cpus_siblings(0, 1));
    assert_false(cpus_siblings(3, 3));
    check_pinned("0-7", 0, "1-3,5-7", "server on CPU 0, load on CPUs 1-3,5-7");
    check_pinned("2,5-6", 2, "5", "server on CPU 2, load on CPU 5");
    check_not_pinned("1,5", "not pinned: CPUs 1,5 are one core");
}

static void test_core_numbers_do_where_lists_are_missing(void **state)
{
    (void)state;
    write_nodes("0\n", "0-3\n", NULL);
    write_ids(0, "0\n", "0\n");
    write_ids(1, "0\n", "0\n");
    write_ids(2, "1\n", "0\n");
    write_ids(3, "1\n", "1\n");
    assert_true(cpus_siblings(0, 1));
    assert_false(cpus_siblings(0, 2));
    check_pinned("0-3", 0, "2-3", "server on CPU 0, load on CPUs 2-3");
}

static void test_one_node_only(void **state)
{
    (void)state;
    write_nodes("0-1\n", "0,2\n", "1,3,5\n");
    for (int cpu = 0; cpu < 6; cpu++)
        write_ids(cpu, cpu % 2 ? "1\n" : "0\n", (char[]){(char)('0' + cpu), '\n', '\0'});
    check_pinned("0-3,5", 1, "3,5", "server on CPU 1, load on CPUs 3,5");
    check_pinned("0-2", 0, "2", "server on CPU 0, load on CPU 2");
    check_not_pinned("0-1", "not pinned: CPUs 0-1 are no two cores of one node");
}

static void test_no_topology_at_all(void **state)
{
    (void)state;
    assert_false(cpus_siblings(0, 1));
    check_pinned("0-2", 0, "1-2", "server on CPU 0, load on CPUs 1-2");
}

static void test_a_long_list_is_a_number(void **state)
{
    (void)state;
    char list[1024] = "0";
    for (int cpu = 100; cpu < 300; cpu += 2)
        snprintf(list + strlen(list), sizeof list - strlen(list), ",%d", cpu);
    struct cpu_plan p = plan(list);
    assert_string_equal(p.note, "server on CPU 0, load on CPUs (100 CPUs)");
}

static void test_pin_off(void **state)
{
    (void)state;
    struct cpu_plan p;
    cpu_set_t set = cpus("0-3");
    cpus_plan_for(false, &set, &p);
    assert_false(p.pinned);
    assert_int_equal(p.load_count, 4);
    assert_string_equal(p.note, "not pinned: pin is off");
}

/* ---- quotas ---- */

static int affinity_count(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return CPU_COUNT(&set);
}

static void test_no_quota(void **state)
{
    (void)state;
    assert_near(cpus_usable(), affinity_count(), 0);
    fake_tree_write("/proc/self/cgroup", "0::/a\n");
    fake_tree_write("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_near(cpus_usable(), affinity_count(), 0);
}

static void test_the_tightest_quota_of_v2_counts(void **state)
{
    (void)state;
    fake_tree_write("/proc/self/cgroup", "0::/a/b\n");
    fake_tree_write("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    fake_tree_write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_near(cpus_usable(), 0.5, 1e-12);
    fake_tree_write("/sys/fs/cgroup/a/b/cpu.max", "25000 100000\n");
    assert_near(cpus_usable(), 0.25, 1e-12);
    fake_tree_write("/sys/fs/cgroup/a/b/cpu.max", "1 1000000\n");
    assert_near(cpus_usable(), 0.01, 1e-12);
}

static void test_a_container_sees_its_quota_at_the_mount(void **state)
{
    (void)state;
    fake_tree_write("/proc/self/cgroup", "0::/of/the/host\n");
    fake_tree_write("/sys/fs/cgroup/cpu.max", "75000 100000\n");
    assert_near(cpus_usable(), 0.75, 1e-12);
}

static void test_quota_of_v1(void **state)
{
    (void)state;
    fake_tree_write("/proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/x\n0::/\n");
    fake_tree_write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
    fake_tree_write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    assert_near(cpus_usable(), affinity_count(), 0);
    fake_tree_write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "30000\n");
    assert_near(cpus_usable(), 0.3, 1e-12);
}

static void test_the_note_names_the_quota(void **state)
{
    (void)state;
    fake_tree_write("/proc/self/cgroup", "0::/\n");
    fake_tree_write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    check_pinned("0-1", 0, "1", "server on CPU 0, load on CPU 1; cgroup quota 0.500 CPUs");
}

/* ---- this machine ---- */

static void check_plan_of_this_machine(const struct cpu_plan *p)
{
    assert_int_equal(p->allowed, affinity_count());
    assert_true(p->load_count > 0);
    if (!p->pinned)
        return;
    assert_false(CPU_ISSET(p->server, &p->load));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        assert_false(CPU_ISSET(cpu, &p->load) && cpus_siblings(cpu, p->server));
}

static void test_pinning_this_thread(void **state)
{
    (void)state;
    struct err e = {0};
    struct cpu_plan p;
    cpu_set_t before, set;
    cpus_plan(true, &p);
    check_plan_of_this_machine(&p);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(cpus_pin_set(&p.load, &e), 0);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_true(CPU_EQUAL(&set, &p.load));
    int cpu = p.server >= 0 ? p.server : sched_getcpu();
    assert_int_equal(cpus_pin_one(cpu, &e), 0);
    assert_int_equal(sched_getcpu(), cpu);
    assert_int_equal(cpus_pin_set(&before, &e), 0);
    assert_int_equal(cpus_pin_one(-1, &e), -EINVAL);
    assert_int_equal(cpus_pin_one(CPU_SETSIZE - 1, &e), -EINVAL);
    assert_non_null(strstr(e.text, "1023"));
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TREE(test_two_plain_cores),
        WITH_TREE(test_siblings_stay_apart),
        WITH_TREE(test_core_numbers_do_where_lists_are_missing),
        WITH_TREE(test_one_node_only),
        WITH_TREE(test_no_topology_at_all),
        WITH_TREE(test_a_long_list_is_a_number),
        WITH_TREE(test_pin_off),
        WITH_TREE(test_no_quota),
        WITH_TREE(test_the_tightest_quota_of_v2_counts),
        WITH_TREE(test_a_container_sees_its_quota_at_the_mount),
        WITH_TREE(test_quota_of_v1),
        WITH_TREE(test_the_note_names_the_quota),
        cmocka_unit_test(test_pinning_this_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
