/* SPDX-License-Identifier: MIT */
/* How much CPU time a control group grants this process. Sources: cgroups(7), cpu.max of version 2,
 * cpu.cfs_quota_us of version 1. Thread: any. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

/* CPUs that the tightest quota allows (fractional); INFINITY when there is none. root stands before
 * /proc and /sys: "" but in tests. */
double cgroup_cpus(const char *root);

#endif
