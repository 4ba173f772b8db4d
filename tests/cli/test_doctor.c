/* SPDX-License-Identifier: MIT */
/* What `iodash doctor` says of machines that are files which this test wrote. */
#include "cli/doctor.h"

#include <string.h>

#include "base/check.h"
#include "base/cpus.h"
#include "base/fake_tree.h"
#include "base/limits.h"
#include "metrics/proc.h"

#define CPU "/sys/devices/system/cpu/"
#define CLOCK "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static int make_tree(void **state)
{
    static char proc[256];
    const char *root = fake_tree_make();
    (void)state;
    snprintf(proc, sizeof proc, "%s/proc", root);
    cpus_inject(root);
    limits_inject(proc);
    proc_inject(proc, 100, 4096);
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    cpus_inject(NULL);
    limits_inject(NULL);
    proc_inject(NULL, 0, 0);
    fake_tree_remove();
    return 0;
}

/* The figure begins so, and the fix holds this; NULL: there is none. */
static void expect(const char *name, const char *figure, const char *fix)
{
    struct finding f;
    if (!doctor_look(name, &f))
        fail_msg("no check %s", name);
    if (strncmp(f.figure, figure, strlen(figure)) != 0)
        fail_msg("%s: %s; expected %s", name, f.figure, figure);
    if (fix ? !strstr(f.fix, fix) : *f.fix)
        fail_msg("%s -> %s; expected %s", name, f.fix, fix ? fix : "nothing");
}

static void an_unknown_check(void **state)
{
    struct finding f;
    (void)state;
    assert_false(doctor_look("horoscope", &f));
}

static void what_cannot_be_read_is_not_measured(void **state)
{
    (void)state;
    expect("clock source", "not measured: " CLOCK ": No such file", NULL);
    expect("load average", "not measured: /proc/loadavg: No such file", NULL);
    expect("NUMA", "not measured: ", NULL);
    expect("steal", "not measured: ", NULL);
    expect("governor", "none", NULL);
    expect("boost", "not known", NULL);
    expect("conntrack", "none", NULL);
    expect("somaxconn", "unknown", NULL);
    expect("in TIME_WAIT", "unknown", NULL);
    expect("counters", "not measured here: a full accept queue (/proc/net/netstat); retransmits",
           NULL);
}

/* Of the CPU that a server would run on, whatever this process may use. */
static void write_governor(const char *text)
{
    struct cpu_plan plan;
    char path[96];
    cpus_plan(true, &plan);
    snprintf(path, sizeof path, CPU "cpu%d/cpufreq/scaling_governor",
             plan.pinned ? plan.server : 0);
    fake_tree_write(path, text);
}

static void clocks(void **state)
{
    (void)state;
    write_governor("powersave\n");
    expect("governor", "powersave", "cpupower frequency-set -g performance");
    write_governor("performance\n");
    expect("governor", "performance", NULL);
    fake_tree_write(CPU "cpufreq/boost", "1\n");
    expect("boost", "on", "echo 0 >" CPU "cpufreq/boost");
    fake_tree_write(CPU "cpufreq/boost", "0\n");
    expect("boost", "off", NULL);
    fake_tree_write(CPU "intel_pstate/no_turbo", "0\n");
    expect("boost", "on", "echo 1 >" CPU "intel_pstate/no_turbo");
    fake_tree_write(CLOCK, "hpet\n");
    expect("clock source", "hpet", "clocksource=tsc");
    fake_tree_write(CLOCK, "tsc\n");
    expect("clock source", "tsc", NULL);
}

static void what_else_runs(void **state)
{
    (void)state;
    fake_tree_write("/proc/loadavg", "3.25 1.00 0.50 1/99 1234\n");
    expect("load average", "3.25 ", "stop what else runs");
    fake_tree_write("/proc/loadavg", "0.04 1.00 0.50 1/99 1234\n");
    expect("load average", "0.04 ", NULL);
    fake_tree_write("/proc/stat",
                    "cpu  900 0 50 9000 0 0 0 50 0 0\ncpu0 900 0 50 9000 0 0 0 50 0 0\n");
    expect("steal", "0.5 %", NULL);
    fake_tree_write("/proc/stat", "cpu  900 0 50 8000 0 0 0 1050 0 0\n");
    expect("steal", "10 %", "hypervisor");
}

static void sockets(void **state)
{
    (void)state;
    fake_tree_write("/proc/sys/net/core/somaxconn", "128\n");
    expect("somaxconn", "128", "sysctl -w net.core.somaxconn");
    fake_tree_write("/proc/sys/net/ipv4/tcp_syncookies", "2\n");
    expect("SYN cookies", "2, always", "tcp_syncookies=1");
    fake_tree_write("/proc/sys/net/ipv4/ip_local_port_range", "32768 60999\n");
    fake_tree_write("/proc/net/sockstat", "TCP: inuse 3 orphan 0 tw 9000 alloc 5 mem 1\n");
    expect("in TIME_WAIT", "9000 sockets", "60 s");
    fake_tree_write("/proc/sys/net/netfilter/nf_conntrack_count", "0\n");
    expect("conntrack", "there, but tracks nothing", NULL);
    fake_tree_write("/proc/sys/net/netfilter/nf_conntrack_count", "812\n");
    expect("conntrack", "tracks 812 connections", "notrack on lo");
}

static void nodes_and_quota(void **state)
{
    (void)state;
    fake_tree_write("/sys/devices/system/node/online", "0-1\n");
    expect("NUMA", "2 nodes", "numactl"); /* no node of them has two cores */
    fake_tree_write("/sys/devices/system/node/online", "0\n");
    fake_tree_write("/proc/self/cgroup", "0::/\n");
    fake_tree_write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    struct finding f;
    assert_true(doctor_look("CPUs", &f));
    assert_non_null(strstr(f.figure, "0.5 usable by quota"));
    assert_true(*f.fix);
}

/* Of the machine that this runs on, whatever it is. */
static void probes_answer(void **state)
{
    static const char *const names[] = {"HZ", "soft interrupts", "nftables", "TSC", "ticks"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct finding f;
        assert_true(doctor_look(names[i], &f));
        assert_true(*f.figure);
    }
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_tree, remove_tree)
    const struct CMUnitTest tests[] = {
        TEST(an_unknown_check),
        TEST(what_cannot_be_read_is_not_measured),
        TEST(clocks),
        TEST(what_else_runs),
        TEST(sockets),
        TEST(nodes_and_quota),
        cmocka_unit_test(probes_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
