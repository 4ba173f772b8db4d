/* SPDX-License-Identifier: MIT */
/* Limits are asked of the kernel at the moment they matter, never remembered: somebody may raise
 * them while the dashboard is up. What cannot be read is -1 and stays "unknown" for the reader, so
 * that a missing /proc never looks like a limit of 0. */
#include "base/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/ranges.h"

static char proc_root[256] = "/proc";

void limits_inject(const char *root)
{
    snprintf(proc_root, sizeof proc_root, "%s", root ? root : "/proc");
}

static long as_long(rlim_t limit)
{
    return limit > LONG_MAX ? LONG_MAX : (long)limit;
}

long limits_nofile_soft(void)
{
    struct rlimit l;
    return getrlimit(RLIMIT_NOFILE, &l) ? -1 : as_long(l.rlim_cur);
}

long limits_nofile_hard(void)
{
    struct rlimit l;
    return getrlimit(RLIMIT_NOFILE, &l) ? -1 : as_long(l.rlim_max);
}

long limits_raise_nofile(void)
{
    struct rlimit l;
    if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = l.rlim_max;
        setrlimit(RLIMIT_NOFILE, &l);
    }
    return limits_nofile_soft();
}

long limits_open_fds(void)
{
    char path[sizeof proc_root + 16];
    snprintf(path, sizeof path, "%s/self/fd", proc_root);
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    long count = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count - 1; /* the folder's own descriptor stood in it */
}

int limits_read_file(const char *path, char *buf, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t used = 0;
    ssize_t n = 1;
    while (n > 0 && used < size - 1) {
        n = read(fd, buf + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            used += (size_t)n;
    }
    int code = n < 0 ? -errno : (int)used;
    close(fd);
    buf[used] = '\0';
    return code;
}

static bool read_proc(const char *name, char *buf, size_t size)
{
    char path[sizeof proc_root + 64];
    snprintf(path, sizeof path, "%s/%s", proc_root, name);
    return limits_read_file(path, buf, size) > 0;
}

static long read_number(const char *name)
{
    char buf[64], *end;
    if (!read_proc(name, buf, sizeof buf))
        return -1;
    long value = strtol(buf, &end, 10);
    return end == buf ? -1 : value;
}

static long reserved_between(long low, long high)
{
    char buf[4096];
    long count = 0, from, to;
    if (!read_proc("sys/net/ipv4/ip_local_reserved_ports", buf, sizeof buf))
        return 0;
    for (const char *list = buf; ranges_next(&list, &from, &to);) {
        from = from < low ? low : from;
        to = to > high ? high : to;
        count += to >= from ? to - from + 1 : 0;
    }
    return count;
}

static bool local_ports(long *low, long *high)
{
    char buf[64];
    return read_proc("sys/net/ipv4/ip_local_port_range", buf, sizeof buf) &&
           sscanf(buf, "%ld %ld", low, high) == 2 && *high >= *low;
}

long limits_local_ports(void)
{
    long low, high;
    return local_ports(&low, &high) ? high - low + 1 - reserved_between(low, high) : -1;
}

long limits_first_local_port(void)
{
    long low, high;
    return local_ports(&low, &high) ? low : -1;
}

long limits_somaxconn(void)
{
    return read_number("sys/net/core/somaxconn");
}

long limits_syncookies(void)
{
    return read_number("sys/net/ipv4/tcp_syncookies");
}

long limits_tw_reuse(void)
{
    return read_number("sys/net/ipv4/tcp_tw_reuse");
}

long limits_time_wait(void)
{
    char buf[1024];
    long count;
    if (!read_proc("net/sockstat", buf, sizeof buf))
        return -1;
    const char *tcp = strstr(buf, "TCP:");
    const char *tw = tcp ? strstr(tcp, " tw ") : NULL;
    return tw && sscanf(tw, " tw %ld", &count) == 1 ? count : -1;
}

long limits_tracked(void)
{
    return read_number("sys/net/netfilter/nf_conntrack_count");
}
