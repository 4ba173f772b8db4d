/* SPDX-License-Identifier: MIT */
/* What the CPUs, the clocks and the kernel do to a measurement. Files of /sys and /proc are read
 * below the roots that tests may give; what cannot be read is "not measured", with the reason. */
#include "cli/doctor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/limits.h"
#include "base/ranges.h"
#include "base/ticks.h"
#include "base/units.h"
#include "load/load.h"
#include "metrics/irq_time.h"
#include "metrics/prices.h"
#include "metrics/proc.h"
#include "net/netfilter.h"
#include "net/uring_probe.h"

/* Of the wall clock's time of a send: less, and soft interrupts are not the sender's. */
#define CHARGED_ALL 0.93

/* False, and so said, when it cannot be read. */
static bool first_line(const char *path, char *buf, size_t size, struct finding *f)
{
    int n = cpus_first_line(path, buf, size);
    if (n < 0)
        FIGURE(f, "not measured: %s: %s", path, strerror(-n));
    else if (n == 0)
        FIGURE(f, "not measured: %s is empty", path);
    return n > 0;
}

static void check_cpus(struct finding *f)
{
    struct cpu_plan plan;
    char number[32];
    double usable = round(cpus_usable() * 100) / 100;
    cpus_plan(true, &plan);
    FIGURE(f, "%d allowed, %s usable by quota", plan.allowed,
           units_exact(number, sizeof number, usable));
    if (plan.allowed < 2)
        FIX(f, "give it two CPUs: with one, server and load take turns on it");
    else if (usable < 2)
        FIX(f, "lift the cgroup's cpu.max to two CPUs: throttling stops server and load alike");
}

/* Pairs of allowed CPUs that are one core. */
static void check_siblings(struct finding *f)
{
    cpu_set_t set;
    int pairs = 0, a = -1, b = -1;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        for (int j = i + 1; CPU_ISSET(i, &set) && j < CPU_SETSIZE; j++)
            if (CPU_ISSET(j, &set) && cpus_siblings(i, j) && !pairs++) {
                a = i;
                b = j;
            }
    if (!pairs)
        FIGURE(f, "none: each CPU is a core");
    else
        FIGURE(f, "%d pair%s, as CPU %d and %d", pairs, pairs > 1 ? "s" : "", a, b);
}

static void check_pinning(struct finding *f)
{
    struct cpu_plan plan;
    cpus_plan(true, &plan);
    FIGURE(f, "%s", plan.note);
    if (!plan.pinned)
        FIX(f, "allow two cores (taskset, cpuset): now the load's work disturbs the server's");
}

static void check_numa(struct finding *f)
{
    char list[128];
    long low, high, nodes = 0;
    struct cpu_plan plan;
    if (!first_line("/sys/devices/system/node/online", list, sizeof list, f))
        return;
    for (const char *at = list; ranges_next(&at, &low, &high);)
        nodes += high - low + 1;
    FIGURE(f, "%ld node%s", nodes, nodes == 1 ? "" : "s");
    cpus_plan(true, &plan);
    if (nodes > 1 && !plan.pinned)
        FIX(f, "numactl --cpunodebind=0 iodash: memory of the far node is dearer");
}

static void check_governor(struct finding *f)
{
    char path[96], name[32];
    struct cpu_plan plan;
    cpus_plan(true, &plan);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
             plan.pinned ? plan.server : 0);
    if (cpus_first_line(path, name, sizeof name) <= 0) {
        FIGURE(f, "none: no cpufreq here (a virtual machine, or a fixed clock)");
        return;
    }
    FIGURE(f, "%s", name);
    if (strcmp(name, "performance"))
        FIX(f, "cpupower frequency-set -g performance: under %s a quiet server runs slower", name);
}

/* A file that holds `on` when the CPUs may exceed their nominal clock. */
static bool boost_in(const char *path, char on, struct finding *f)
{
    char text[16];
    if (cpus_first_line(path, text, sizeof text) <= 0)
        return false;
    FIGURE(f, "%s", text[0] == on ? "on" : "off");
    if (text[0] == on)
        FIX(f, "echo %c >%s: a boosted clock depends on heat and on other cores",
            on == '1' ? '0' : '1', path);
    return true;
}

static void check_boost(struct finding *f)
{
    if (!boost_in("/sys/devices/system/cpu/intel_pstate/no_turbo", '0', f) &&
        !boost_in("/sys/devices/system/cpu/cpufreq/boost", '1', f))
        FIGURE(f, "not known: no cpufreq here");
}

static void check_clock(struct finding *f)
{
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
    char name[64];
    const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    if (!first_line(path, name, sizeof name, f))
        return;
    FIGURE(f, "%s", name);
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (!strcmp(name, slow[i]))
            FIX(f, "boot with clocksource=tsc if the TSC is stable: %s is slow to read", name);
}

static void check_tsc(struct finding *f)
{
    bool even = ticks_invariant();
    FIGURE(f, "%s", even ? "ticks evenly" : "none that ticks evenly: send_ticks is not measured");
}

static void check_ticks(struct finding *f)
{
    long hz = sysconf(_SC_CLK_TCK);
    FIGURE(f, "%ld a second: user and system are told apart in steps of %ld ms", hz,
           hz > 0 ? 1000 / hz : 0);
}

/* The coarse clock moves with the kernel's own tick. */
static void check_hz(struct finding *f)
{
    struct timespec t;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) < 0 || t.tv_nsec <= 0) {
        FIGURE(f, "not measured: no coarse clock");
        return;
    }
    FIGURE(f, "%.0f: steal and what others use are seen in steps of %.3g ms",
           1e9 / (double)t.tv_nsec, (double)t.tv_nsec / 1e6);
}

static void check_softirq(struct finding *f)
{
    double charged = irq_time_charged();
    if (isnan(charged))
        FIGURE(f, "not measured: no datagram could be sent over loopback");
    else if (charged >= CHARGED_ALL)
        FIGURE(f, "billed to who sends: a server's CPU holds its half of TCP");
    else
        FIGURE(f, "not billed to tasks (%.0f %% of a send is): servers look cheaper by that",
               100 * charged);
    if (charged < CHARGED_ALL)
        FIX(f, "boot with tsc=noirqtime, or compare with machines of the same setting only");
}

static void check_call(struct finding *f)
{
    struct prices p;
    char call[16], wait[16];
    prices_measure(&(struct prices_spec){.cpu = -1, .alone = true}, &p);
    FIGURE(f, "%s µs, an epoll_wait %s: the dearer, the more is won by making fewer calls",
           units_number(call, sizeof call, p.ns[PRICE_call] / 1e3),
           units_number(wait, sizeof wait, p.ns[PRICE_wait] / 1e3));
}

static void check_load(struct finding *f)
{
    char text[64], *end;
    if (!first_line("/proc/loadavg", text, sizeof text, f))
        return;
    double now = units_strtod(text, &end);
    FIGURE(f, "%.2f over the last minute", now);
    if (now > 0.5)
        FIX(f, "stop what else runs: it takes the server's CPU, and the row says noisy");
}

static void check_steal(struct finding *f)
{
    struct proc_cpu c;
    proc_cpu_read(-1, &c);
    double all = (double)(c.busy_ns + c.steal_ns + c.idle_ns);
    if (c.busy_ns < 0 || c.steal_ns < 0 || !(all > 0)) {
        FIGURE(f, "not measured: /proc/stat cannot be read");
        return;
    }
    double stolen = 100 * (double)c.steal_ns / all;
    FIGURE(f, "%.2g %% of all CPU time since boot", stolen);
    if (stolen > 1)
        FIX(f, "take a machine with CPUs of its own: the hypervisor takes these away");
}

static void check_engine(struct finding *f)
{
    struct params p = {.engine = ENGINE_MUX_URING};
    struct err e = {""};
    if (load_probe(&p, &e) < 0) {
        FIGURE(f, "--engine mux-uring cannot run here");
        FIX(f, "%s", strstr(e.text, ": ") + 2);
        return;
    }
    char flags[80];
    uring_note(flags, sizeof flags);
    FIGURE(f, "--engine mux-uring can run (%s)", flags);
}

/* --- the kernel ------------------------------------------------------------------------------ */

static void check_conntrack(struct finding *f)
{
    long tracked = limits_tracked();
    if (tracked < 0)
        FIGURE(f, "none");
    else if (tracked == 0)
        FIGURE(f, "there, but tracks nothing");
    else
        FIGURE(f, "tracks %ld connections", tracked);
    if (tracked > 0)
        FIX(f, "exempt loopback: nft or iptables -t raw, notrack on lo: each packet pays for it");
}

static void check_nftables(struct finding *f)
{
    int tables = netfilter_tables();
    if (tables == -EPERM || tables == -EACCES)
        FIGURE(f, "not measured: only root may list the tables");
    else if (tables < 0)
        FIGURE(f, "none: %s", strerror(-tables));
    else
        FIGURE(f, "%d table%s", tables, tables == 1 ? "" : "s");
    if (tables > 0)
        FIX(f,
            "accept \"iif lo\" in the first rule (nft list ruleset): packets on lo pass them too");
}

static void name(struct finding *f, bool there, const char *what)
{
    size_t n = strlen(f->figure);
    if (!there)
        snprintf(f->figure + n, sizeof f->figure - n, "%s%s",
                 n ? "; " : "not measured here: ", what);
}

/* What a table leaves empty for want of a counter, and why. */
static void check_counters(struct finding *f)
{
    struct proc_net net;
    struct proc_cpu cpu;
    struct proc_thread thread;
    struct proc_thread_files files = {0};
    proc_net_read(&net);
    proc_cpu_read(0, &cpu);
    proc_thread_read(&files, getpid(), getpid(), &thread);
    proc_thread_close(&files);
    name(f, net.listen_drops >= 0, "a full accept queue (/proc/net/netstat)");
    name(f, net.retransmits >= 0, "retransmits (/proc/net/snmp)");
    name(f, net.time_wait >= 0, "TIME_WAIT (/proc/net/sockstat)");
    name(f, cpu.steal_ns >= 0, "steal, others (/proc/stat)");
    name(f, thread.sleeps >= 0, "sleeps (/proc/PID/status)");
    name(f, thread.run_wait_ns >= 0, "run-queue wait (no /proc/PID/schedstat: SCHED_INFO is off)");
    name(f, cpus_khz(0) >= 0, "clock of the CPU (no cpufreq)");
    if (!*f->figure)
        FIGURE(f, "all can be read");
}

const struct check doctor_machine[] = {
    {"CPUs", check_cpus},
    {"SMT siblings", check_siblings},
    {"NUMA", check_numa},
    {"pinning", check_pinning},
    {"governor", check_governor},
    {"boost", check_boost},
    {"clock source", check_clock},
    {"TSC", check_tsc},
    {"ticks", check_ticks},
    {"HZ", check_hz},
    {"soft interrupts", check_softirq},
    {"system call", check_call},
    {"load average", check_load},
    {"steal", check_steal},
    {"load engines", check_engine},
    {"conntrack", check_conntrack},
    {"nftables", check_nftables},
    {"counters", check_counters},
};
const int doctor_machine_count = sizeof doctor_machine / sizeof *doctor_machine;
