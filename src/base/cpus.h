/* SPDX-License-Identifier: MIT */
/* Which CPUs there are for this process, and how server and load share them. Sources:
 * sched_getaffinity(2), /sys/devices/system/cpu/cpuN/topology, cgroup cpu.max. */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Reads /sys and /proc below this folder instead, for tests (NULL: the real ones again). */
void cpus_inject(const char *root);

struct cpu_plan {
    bool pinned;    /* server and load have cores of their own */
    int server;     /* CPU of the first worker; -1 when not pinned */
    cpu_set_t load; /* CPUs of the load and the screen; all allowed ones when not pinned */
    int load_count;
    int allowed;    /* CPUs this process may use */
    double usable;  /* of those of the load, after a cgroup's quota: at least 0.01 */
    char note[96];  /* one clause: "server on CPU 0, load on CPU 1", or why not pinned */
};

/* Fills the plan. pin false: nobody is pinned. pin true: two cores (never SMT siblings) of one NUMA
 * node, the first to the server, the rest to the load; where that cannot be, pinned is false and
 * note says why. */
void cpus_plan(bool pin, struct cpu_plan *out);

/* The same as if these were the CPUs this process may use. */
void cpus_plan_for(bool pin, const cpu_set_t *allowed, struct cpu_plan *out);

/* Ties the calling thread (and threads and children it makes) to the set or to one CPU. */
int cpus_pin_set(const cpu_set_t *set, struct err *e);
int cpus_pin_one(int cpu, struct err *e);

/* CPUs this process may use after affinity and a cgroup quota (fractional, at least 0.01). */
double cpus_usable(void);

/* Clock of a CPU now in kHz, as cpufreq says; -1 where there is none (a virtual machine). */
long cpus_khz(int cpu);

/* True when CPUs a and b are SMT siblings of one core. */
bool cpus_siblings(int a, int b);

/* The first line of a file of /sys or /proc, without its end, below the same folder. Its length or
 * -errno. */
int cpus_first_line(const char *path, char *buf, size_t size);

#endif
