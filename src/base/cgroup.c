/* SPDX-License-Identifier: MIT */
/* A group is bound by its own quota and by those of all groups above it. Which group this process
 * is in says /proc/self/cgroup, as a path below a mount; in a container that path may be the host's
 * and not exist under the mount, whose own files are then those of the container. A file that is
 * not there is no limit. */
#include "base/cgroup.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

static bool read_in(const char *folder, const char *name, char *buf, size_t size)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return limits_read_file(path, buf, size) > 0;
}

static double quota_v2(const char *folder)
{
    char buf[64];
    long quota, period;
    if (!read_in(folder, "cpu.max", buf, sizeof buf) ||
        sscanf(buf, "%ld %ld", &quota, &period) != 2 || period <= 0)
        return INFINITY;
    return (double)quota / (double)period;
}

static double quota_v1(const char *folder)
{
    char quota[32], period[32];
    if (!read_in(folder, "cpu.cfs_quota_us", quota, sizeof quota) ||
        !read_in(folder, "cpu.cfs_period_us", period, sizeof period))
        return INFINITY;
    long q = atol(quota), p = atol(period);
    return q > 0 && p > 0 ? (double)q / (double)p : INFINITY;
}

/* A mounted hierarchy, and how a quota is read from a folder of it. */
struct hierarchy {
    const char *root, *mount;
    double (*quota)(const char *folder);
};

/* The tightest quota from the group up to the mount. */
static double tightest(struct hierarchy h, const char *path)
{
    char folder[PATH_MAX];
    size_t top = (size_t)snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", h.root, h.mount);
    if (top >= sizeof folder)
        return INFINITY;
    snprintf(folder + top, sizeof folder - top, "%s", path);
    double least = h.quota(folder);
    while (strlen(folder) > top) {
        *strrchr(folder, '/') = '\0';
        least = fmin(least, h.quota(folder));
    }
    return least;
}

static bool has_cpu(const char *controllers)
{
    char list[128];
    char *rest = list;
    snprintf(list, sizeof list, "%s", controllers);
    for (char *word; (word = strsep(&rest, ","));)
        if (!strcmp(word, "cpu"))
            return true;
    return false;
}

/* A line of /proc/self/cgroup is "0::PATH" (version 2) or "N:CONTROLLERS:PATH" (version 1). */
static double line_quota(const char *root, char *line)
{
    char mount[160];
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return INFINITY;
    *controllers++ = *path++ = '\0';
    if (!*controllers) {
        double pure = tightest((struct hierarchy){root, "", quota_v2}, path);
        return fmin(pure, tightest((struct hierarchy){root, "/unified", quota_v2}, path));
    }
    if (!has_cpu(controllers))
        return INFINITY;
    snprintf(mount, sizeof mount, "/%s", controllers);
    double joint = tightest((struct hierarchy){root, mount, quota_v1}, path);
    return fmin(joint, tightest((struct hierarchy){root, "/cpu", quota_v1}, path));
}

double cgroup_cpus(const char *root)
{
    char folder[PATH_MAX], buf[4096];
    char *rest = buf;
    double least = INFINITY;
    snprintf(folder, sizeof folder, "%s/proc/self", root);
    if (!read_in(folder, "cgroup", buf, sizeof buf))
        return least;
    for (char *line; (line = strsep(&rest, "\n"));)
        least = fmin(least, line_quota(root, line));
    return least;
}
