/* SPDX-License-Identifier: MIT */
/* What /proc says of the whole machine: its memory, its CPUs, what the kernel counts of TCP and
 * what its sockets take. The file of the CPUs is read twice a turn, so it stays open. */
#include "metrics/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics/proc_text.h"

static _Atomic int stat_above; /* descriptor of /proc/stat + 1 */

void proc_machine_forget(void)
{
    if (stat_above)
        close(stat_above - 1);
    stat_above = 0;
}

int64_t proc_mem_total(void)
{
    char text[4096];
    int64_t kib;
    if (proc_text("meminfo", text, sizeof text) <= 0)
        return -1;
    const char *line = strstr(text, "MemTotal:");
    return line && sscanf(line, "MemTotal: %" SCNd64, &kib) == 1 ? kib * 1024 : -1;
}

/* ---- what the kernel counts of TCP ---- */

/* netstat and snmp have two lines a group: names, then values in the same order. */
struct group {
    const char *names, *values;
};

static int64_t column(const struct group *g, const char *wanted)
{
    const char *names = g->names, *values = g->values;
    size_t length = strlen(wanted);
    while (*names && *names != '\n' && *values && *values != '\n') {
        size_t name = strcspn(names, " \n"), value = strcspn(values, " \n");
        if (name == length && !memcmp(names, wanted, length))
            return strtoll(values, NULL, 10);
        names += name + strspn(names + name, " ");
        values += value + strspn(values + value, " ");
    }
    return -1;
}

/* head: how both lines begin, with the line break before them where another line holds it too. */
static bool find_group(const char *text, const char *head, struct group *out)
{
    out->names = strstr(text, head);
    out->values = out->names ? strstr(out->names + 1, head) : NULL;
    if (!out->values)
        return false;
    out->names += *head == '\n';
    out->values += *head == '\n';
    return true;
}

void proc_net_read(struct proc_net *out)
{
    char text[16384];
    struct group g;
    *out = (struct proc_net){-1, -1, -1, -1, -1, -1, -1};
    if (proc_text("net/netstat", text, sizeof text) > 0 && find_group(text, "TcpExt: ", &g)) {
        out->listen_overflows = column(&g, "ListenOverflows");
        out->listen_drops = column(&g, "ListenDrops");
        out->syn_retrans = column(&g, "TCPSynRetrans");
        out->syn_cookies_sent = column(&g, "SyncookiesSent");
    }
    if (proc_text("net/snmp", text, sizeof text) > 0 && find_group(text, "\nTcp: ", &g))
        out->retransmits = column(&g, "RetransSegs");
    if (proc_text("net/sockstat", text, sizeof text) <= 0)
        return;
    const char *tcp = strstr(text, "TCP:");
    int64_t pages = tcp ? proc_number_after(tcp, " mem ") : -1;
    out->time_wait = tcp ? proc_number_after(tcp, " tw ") : -1;
    out->mem_bytes = pages < 0 ? -1 : proc_pages_to_bytes(pages);
}

/* ---- CPUs ---- */

static void fill_cpu(const char *ticks, struct proc_cpu *out)
{
    uint64_t user, nice, sys, idle, iowait, irq, softirq, steal;
    int got = sscanf(ticks,
                     "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                     " %" SCNu64 " %" SCNu64,
                     &user, &nice, &sys, &idle, &iowait, &irq, &softirq, &steal);
    if (got != 8)
        return;
    out->busy_ns = (int64_t)proc_ticks_to_ns(user + nice + sys + irq + softirq);
    out->steal_ns = (int64_t)proc_ticks_to_ns(steal);
    out->idle_ns = (int64_t)proc_ticks_to_ns(idle + iowait);
}

/* The line of a CPU, or of all, in what was read of /proc/stat; NULL: not there. */
static const char *cpu_line(const char *text, int cpu)
{
    char head[24];
    int n = cpu < 0 ? snprintf(head, sizeof head, "cpu ") :
                      snprintf(head, sizeof head, "cpu%d ", cpu);
    while (text && !strncmp(text, "cpu", 3)) { /* the long line of the interrupts ends it */
        if (!strncmp(text, head, (size_t)n))
            return text + n;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return NULL;
}

/* /proc/stat, open from the first reading on: twice a turn it would cost more to find than to
 * read. */
static int stat_file(void)
{
    char path[272];
    int above = atomic_load(&stat_above), none = 0;
    if (above)
        return above - 1;
    snprintf(path, sizeof path, "%s/stat", proc_root());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || atomic_compare_exchange_strong(&stat_above, &none, fd + 1))
        return fd;
    close(fd); /* another thread was first */
    return none - 1;
}

void proc_cpu_read(int cpu, struct proc_cpu *out)
{
    char text[32768]; /* the lines of the CPUs come first, some 80 bytes each */
    *out = (struct proc_cpu){-1, -1, -1};
    int fd = stat_file();
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    text[n < 0 ? 0 : n] = '\0';
    const char *line = cpu_line(text, cpu);
    if (line)
        fill_cpu(line, out);
}

/* ---- the kernel's memory ---- */

/* What a connection is made of; a cache of anything else changes with whatever else runs. */
static bool socket_cache(const char *name)
{
    static const char *const begin[] = {"TCP", "sock_inode_cache", "filp", "eventpoll_", "tcp_bind",
                                        "request_sock_TCP", "tw_sock_TCP"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (!strncmp(name, begin[i], strlen(begin[i])))
            return true;
    return false;
}

/* With what a slab wastes beside its objects. */
int64_t proc_socket_bytes(void)
{
    char path[272], line[512], name[64];
    long active, total, size, per_slab, pages;
    int64_t sum = 0;
    bool tcp = false; /* kernels may merge caches of one size, and then name another one */
    snprintf(path, sizeof path, "%s/slabinfo", proc_root());
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %ld %ld %ld %ld %ld", name, &active, &total, &size, &per_slab,
                   &pages) == 6 && per_slab > 0 && socket_cache(name)) {
            sum += active * proc_pages_to_bytes(pages) / per_slab;
            tcp |= !strcmp(name, "TCP");
        }
    fclose(file);
    return tcp ? sum : -1;
}
