/* SPDX-License-Identifier: MIT */
/* A server starts with nothing open that is not its own: what a shell or a load left open would
 * keep strangers' sockets alive, and push accepted descriptors past select's limit. The same holds
 * for a thread that takes a copy of its process's table, to have room for more than one holds. */
#include "base/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

#if defined(__SANITIZE_THREAD__)
#define OWN_TABLES false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OWN_TABLES false
#endif
#endif
#ifndef OWN_TABLES
#define OWN_TABLES true
#endif

static void close_span(unsigned first, unsigned last)
{
    if (first > last || close_range(first, last, 0) == 0)
        return;
    long most = limits_nofile_hard(); /* a kernel before 5.9 */
    for (unsigned fd = first; fd <= last && (long)fd < most; fd++)
        close((int)fd);
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

void fds_keep_only(const int *keep, int n)
{
    int sorted[FDS_KEEP_MOST];
    unsigned from = 3;
    memcpy(sorted, keep, (size_t)n * sizeof *keep);
    qsort(sorted, (size_t)n, sizeof *sorted, by_number);
    for (int i = 0; i < n; i++) {
        if (sorted[i] < 3)
            continue;
        close_span(from, (unsigned)sorted[i] - 1);
        from = (unsigned)sorted[i] + 1;
    }
    close_span(from, UINT_MAX);
}

int fds_own_table(const int *keep, int n)
{
    if (!OWN_TABLES)
        return -ENOSYS;
    if (unshare(CLONE_FILES) < 0)
        return -errno;
    fds_keep_only(keep, n);
    return 0;
}

int fds_lower(int fd)
{
    int low = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (low < 0 || low > fd) {
        if (low >= 0)
            close(low);
        return fd;
    }
    close(fd);
    return low;
}
