/* SPDX-License-Identifier: MIT */
/* Server and load must not share a core: two SMT siblings take each other's cycles, and a figure
 * for one would hold the other's work. So a plan takes whole cores of one NUMA node (memory of the
 * far node is dearer), the first for the server, its siblings left idle, the others for the load.
 * A cgroup quota is no CPU set: it throttles both, so it goes into the note. */
#include "base/cpus.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/limits.h"
#include "base/ranges.h"
#include "base/units.h"

#define CPU_FOLDER "/sys/devices/system/cpu/cpu%d/topology/"

static char root[256];
static _Atomic bool no_cpufreq; /* found out once: it is asked for at every edge of a turn */

void cpus_inject(const char *folder)
{
    no_cpufreq = false;
    snprintf(root, sizeof root, "%s", folder ? folder : "");
}

static bool read_at(char *buf, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool read_at(char *buf, size_t size, const char *fmt, ...)
{
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%s", root);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path + used, sizeof path - (size_t)used, fmt, ap);
    va_end(ap);
    return limits_read_file(path, buf, size) > 0;
}

static void list_to_set(const char *list, cpu_set_t *out)
{
    long low, high;
    CPU_ZERO(out);
    while (ranges_next(&list, &low, &high))
        for (long cpu = low; cpu <= high && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, out);
}

static void set_to_list(const cpu_set_t *set, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++) {
        if (!CPU_ISSET(cpu, set))
            continue;
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        const char *comma = used ? "," : "";
        if (last == cpu)
            used += (size_t)snprintf(buf + used, size - used, "%s%d", comma, cpu);
        else
            used += (size_t)snprintf(buf + used, size - used, "%s%d-%d", comma, cpu, last);
        cpu = last;
    }
    if (used >= size)
        snprintf(buf, size, "(%d CPUs)", CPU_COUNT(set));
}

static int first_of(const cpu_set_t *set)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, set))
            return cpu;
    return -1;
}

static void read_allowed(cpu_set_t *out)
{
    if (!sched_getaffinity(0, sizeof *out, out))
        return;
    /* Only a kernel built for more CPUs than cpu_set_t holds gets here. */
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(out);
    for (long cpu = 0; cpu < online && cpu < CPU_SETSIZE; cpu++)
        CPU_SET(cpu, out);
}

/* ---- cores and nodes ---- */

static long core_number(int cpu, const char *name)
{
    char buf[32], *end;
    if (!read_at(buf, sizeof buf, CPU_FOLDER "%s", cpu, name))
        return -1;
    long value = strtol(buf, &end, 10);
    return end == buf ? -1 : value;
}

static bool same_core_by_number(int a, int b)
{
    long core = core_number(a, "core_id");
    return core >= 0 && core == core_number(b, "core_id") &&
           core_number(a, "physical_package_id") == core_number(b, "physical_package_id");
}

bool cpus_siblings(int a, int b)
{
    char buf[1024];
    cpu_set_t set;
    if (a == b)
        return false;
    if (!read_at(buf, sizeof buf, CPU_FOLDER "thread_siblings_list", a))
        return same_core_by_number(a, b);
    list_to_set(buf, &set);
    return CPU_ISSET(b, &set);
}

static void without_core(int cpu, const cpu_set_t *from, cpu_set_t *out)
{
    *out = *from;
    CPU_CLR(cpu, out);
    for (int other = 0; other < CPU_SETSIZE; other++)
        if (CPU_ISSET(other, out) && cpus_siblings(cpu, other))
            CPU_CLR(other, out);
}

/* The node whose allowed CPUs are most, of those that have two cores of them. */
static bool best_node(const cpu_set_t *allowed, cpu_set_t *best)
{
    char nodes[1024], buf[4096];
    cpu_set_t cpus, rest;
    long low, high;
    int most = 0;
    if (!read_at(nodes, sizeof nodes, "/sys/devices/system/node/online")) {
        *best = *allowed;
        return true;
    }
    for (const char *list = nodes; ranges_next(&list, &low, &high);)
        for (long node = low; node <= high; node++) {
            if (!read_at(buf, sizeof buf, "/sys/devices/system/node/node%ld/cpulist", node))
                continue;
            list_to_set(buf, &cpus);
            CPU_AND(&cpus, &cpus, allowed);
            int count = CPU_COUNT(&cpus);
            if (count <= most)
                continue;
            without_core(first_of(&cpus), &cpus, &rest);
            if (CPU_COUNT(&rest) == 0)
                continue;
            most = count;
            *best = cpus;
        }
    return most > 0;
}

/* ---- the plan ---- */

static double after_quota(int cpus)
{
    return fmax(0.01, fmin(cgroup_cpus(root), cpus));
}

static void note_quota(struct cpu_plan *out)
{
    char number[32];
    double usable = cpus_usable();
    size_t used = strlen(out->note);
    if (usable < out->allowed && usable < 2)
        snprintf(out->note + used, sizeof out->note - used, "; cgroup quota %s CPUs",
                 units_number(number, sizeof number, usable));
}

static bool pin_plan(const cpu_set_t *allowed, struct cpu_plan *out)
{
    cpu_set_t node, rest;
    char list[48];
    set_to_list(allowed, list, sizeof list);
    if (out->allowed < 2) {
        snprintf(out->note, sizeof out->note, "not pinned: only CPU %s is allowed", list);
        return false;
    }
    without_core(first_of(allowed), allowed, &rest);
    if (CPU_COUNT(&rest) == 0) {
        snprintf(out->note, sizeof out->note, "not pinned: CPUs %s are one core", list);
        return false;
    }
    if (!best_node(allowed, &node)) {
        snprintf(out->note, sizeof out->note, "not pinned: CPUs %s are no two cores of one node",
                 list);
        return false;
    }
    out->server = first_of(&node);
    without_core(out->server, &node, &out->load);
    out->load_count = CPU_COUNT(&out->load);
    set_to_list(&out->load, list, sizeof list);
    snprintf(out->note, sizeof out->note, "server on CPU %d, load on CPU%s %s", out->server,
             out->load_count > 1 ? "s" : "", list);
    return true;
}

void cpus_plan_for(bool pin, const cpu_set_t *allowed, struct cpu_plan *out)
{
    memset(out, 0, sizeof *out);
    out->server = -1;
    out->load = *allowed;
    out->load_count = out->allowed = CPU_COUNT(allowed);
    if (pin)
        out->pinned = pin_plan(allowed, out);
    else
        snprintf(out->note, sizeof out->note, "not pinned: pin is off");
    out->usable = after_quota(out->load_count);
    note_quota(out);
}

void cpus_plan(bool pin, struct cpu_plan *out)
{
    cpu_set_t allowed;
    read_allowed(&allowed);
    cpus_plan_for(pin, &allowed, out);
}

int cpus_pin_set(const cpu_set_t *set, struct err *e)
{
    char list[64];
    if (!sched_setaffinity(0, sizeof *set, set))
        return 0;
    set_to_list(set, list, sizeof list);
    return err_sys(e, "pin to CPUs %s", list);
}

int cpus_pin_one(int cpu, struct err *e)
{
    cpu_set_t set;
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return err_set(e, EINVAL, "pin to CPU %d: there is no such CPU", cpu);
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return cpus_pin_set(&set, e);
}

double cpus_usable(void)
{
    cpu_set_t allowed;
    read_allowed(&allowed);
    return after_quota(CPU_COUNT(&allowed));
}

long cpus_khz(int cpu)
{
    char text[32];
    if (no_cpufreq)
        return -1;
    no_cpufreq =
        !read_at(text, sizeof text, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
    if (no_cpufreq)
        return -1;
    long khz = strtol(text, NULL, 10);
    return khz > 0 ? khz : -1;
}

int cpus_first_line(const char *path, char *buf, size_t size)
{
    char all[PATH_MAX];
    snprintf(all, sizeof all, "%s%s", root, path);
    int n = limits_read_file(all, buf, size);
    buf[strcspn(buf, "\n")] = '\0';
    return n < 0 ? n : (int)strlen(buf);
}
