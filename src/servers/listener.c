/* SPDX-License-Identifier: MIT */
/* The kernel lists listening sockets with their inode numbers, and a process's descriptors as links
 * that name them. Source: proc(5). */
#include "servers/listener.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MOST 256
#define SOCKETS_MOST 64 /* that listen on one port: with SO_REUSEPORT there are many */

static int listeners(pid_t pid, int port, unsigned long *inodes, int most)
{
    static const char *const tables[] = {"tcp", "tcp6"};
    int n = 0;
    for (size_t i = 0; i < 2; i++) {
        char path[64], line[512];
        snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, tables[i]);
        FILE *f = fopen(path, "re");
        while (f && n < most && fgets(line, sizeof line, f)) {
            unsigned here, state;
            unsigned long inode;
            if (sscanf(line,
                       " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %*u %*d %lu",
                       &here, &state, &inode) == 3 && (int)here == port && state == 0x0a)
                inodes[n++] = inode;
        }
        if (f)
            fclose(f);
    }
    return n;
}

static bool holds(const char *folder, const char *name, const unsigned long *inodes, int n)
{
    char path[320], link[64];
    unsigned long inode;
    snprintf(path, sizeof path, "%s/%.255s", folder, name);
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0)
        return false;
    link[length] = '\0';
    if (sscanf(link, "socket:[%lu]", &inode) != 1)
        return false;
    for (int i = 0; i < n; i++)
        if (inodes[i] == inode)
            return true;
    return false;
}

/* 1, 0, or -1. */
static int in_table(const char *folder, const unsigned long *inodes, int n)
{
    int found = 0;
    DIR *d = opendir(folder);
    if (!d)
        return -1;
    for (const struct dirent *f; !found && (f = readdir(d));)
        found = holds(folder, f->d_name, inodes, n);
    closedir(d);
    return found;
}

/* Threads may have descriptors of their own, as those of `iodash serve` do. */
static int among_its_own(pid_t pid, const unsigned long *inodes, int n)
{
    char folder[64];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
    int found = in_table(folder, inodes, n), left = THREADS_MOST;
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)pid);
    DIR *d = found == 0 ? opendir(folder) : NULL;
    for (const struct dirent *f; d && !found && left-- && (f = readdir(d));) {
        snprintf(folder, sizeof folder, "/proc/%d/task/%.20s/fd", (int)pid, f->d_name);
        found = *f->d_name != '.' && in_table(folder, inodes, n) > 0;
    }
    if (d)
        closedir(d);
    return found;
}

int listener_among(const pid_t *pids, int count, int port)
{
    unsigned long inodes[SOCKETS_MOST];
    int n = count > 0 ? listeners(pids[0], port, inodes, SOCKETS_MOST) : 0, known = 0;
    for (int i = 0; i < count; i++) {
        int found = among_its_own(pids[i], inodes, n);
        if (found > 0)
            return 1;
        known += found == 0;
    }
    return known == count ? 0 : -1;
}
