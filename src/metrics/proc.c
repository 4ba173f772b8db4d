/* SPDX-License-Identifier: MIT */
/* /proc as text. A name may hold anything, ") R 1 (" and line breaks too, so stat is parsed from
 * its last ')'. CPU time comes from the process's CPU clock where there is one: it counts in ns,
 * holds threads that have ended, and is exact for a running one; stat's ticks are a few ms wide. */
#include "metrics/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

static char root[256] = "/proc";
static long ticks_per_s, page_bytes;
static _Atomic int stat_above; /* descriptor of its file "stat" + 1 */

void proc_inject(const char *folder, long ticks, long page)
{
    if (stat_above)
        close(stat_above - 1);
    stat_above = 0;
    snprintf(root, sizeof root, "%s", folder ? folder : "/proc");
    ticks_per_s = ticks;
    page_bytes = page;
}

const char *proc_root(void)
{
    return root;
}

static uint64_t ticks_to_ns(uint64_t ticks)
{
    uint64_t hz = (uint64_t)(ticks_per_s ? ticks_per_s : sysconf(_SC_CLK_TCK));
    return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

static int64_t pages_to_bytes(int64_t pages)
{
    int64_t bytes;
    if (__builtin_mul_overflow(pages, page_bytes ? page_bytes : sysconf(_SC_PAGESIZE), &bytes))
        return -1;
    return bytes;
}

/* Bytes of the control character at s, 0 when it is none. */
static int control_length(const unsigned char *s)
{
    if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0) /* U+0080..U+009F in UTF-8 */
        return 2;
    return s[0] < 0x20 || s[0] == 0x7f;
}

static void copy_name(const char *from, const char *end, char *out, size_t size)
{
    size_t n = 0;
    while (from < end && n < size - 1) {
        int control = control_length((const unsigned char *)from);
        out[n++] = control ? '?' : *from;
        from += control ? control : 1;
    }
    out[n] = '\0';
}

int proc_stat_parse(const char *text, struct proc_stat *out)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    uint64_t user, sys, children_user, children_sys;
    int64_t pages;
    memset(out, 0, sizeof *out);
    if (!open || !close || close < open || sscanf(text, "%d", &out->pid) != 1)
        return -EINVAL;
    copy_name(open + 1, close, out->name, sizeof out->name);
    /* proc(5), fields 3 to 24. */
    int got = sscanf(close + 1,
                     " %c %d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
                     " %" SCNu64 " %" SCNu64 " %" SCNu64 " %*d %*d %" SCNd64 " %*d %" SCNu64
                     " %*u %" SCNd64,
                     &out->state, &out->parent, &out->minor_faults, &out->major_faults, &user, &sys,
                     &children_user, &children_sys, &out->threads, &out->start_ticks, &pages);
    if (got != 11)
        return -EINVAL;
    out->children_user_ns = ticks_to_ns(children_user);
    out->children_sys_ns = ticks_to_ns(children_sys);
    out->user_ns = ticks_to_ns(user);
    out->sys_ns = ticks_to_ns(sys);
    out->rss_bytes = pages_to_bytes(pages);
    return 0;
}

static int read_proc(const char *name, char *buf, size_t size)
{
    char path[sizeof root + 64];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return limits_read_file(path, buf, size);
}

/* Files of /proc come whole in one read that starts at 0. */
static int reread(struct proc_file *f, const char *name, char *buf, size_t size)
{
    char path[sizeof root + 64];
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (!f->above)
        f->above = open(path, O_RDONLY | O_CLOEXEC) + 1;
    ssize_t n = f->above ? pread(f->above - 1, buf, size - 1, 0) : -1;
    if (n < 0) {
        int code = -errno;
        proc_file_close(f);
        return code;
    }
    buf[n] = '\0';
    return (int)n;
}

void proc_file_close(struct proc_file *f)
{
    if (f->above)
        close(f->above - 1);
    f->above = 0;
}

/* What stat says of it is off by up to 64 pages for each CPU on newer kernels, which keep it in
 * parts there and add them up for statm and status only. name: of the stat file. */
static void exact_rss(const char *name, struct proc_stat *out)
{
    char statm[40], text[128];
    int64_t pages;
    snprintf(statm, sizeof statm, "%sm", name);
    if (read_proc(statm, text, sizeof text) > 0 && sscanf(text, "%*s %" SCNd64, &pages) == 1)
        out->rss_bytes = pages_to_bytes(pages);
}

int proc_stat_reread(struct proc_file *f, pid_t pid, struct proc_stat *out)
{
    char name[32], text[1024];
    snprintf(name, sizeof name, "%d/stat", pid);
    int n = reread(f, name, text, sizeof text);
    int code = n < 0 ? n : proc_stat_parse(text, out);
    if (code == 0)
        exact_rss(name, out);
    return code;
}

int proc_stat_read(pid_t pid, struct proc_stat *out, struct err *e)
{
    char name[32], text[1024];
    if (pid)
        snprintf(name, sizeof name, "%d/stat", pid);
    else
        snprintf(name, sizeof name, "self/stat");
    int n = read_proc(name, text, sizeof text);
    if (n < 0)
        return err_set(e, -n, "process %d: %s", pid, strerror(-n));
    if (proc_stat_parse(text, out))
        return err_set(e, EINVAL, "process %d: its stat file cannot be read", pid);
    exact_rss(name, out);
    return 0;
}

/* A clock of a process; -1 when that is gone. */
static int64_t clock_of(clockid_t clock)
{
    struct timespec ts;
    return clock_gettime(clock, &ts) ? -1 : (int64_t)ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
}

/* The clocks of a process have ids that linux/posix-timers.h makes of the pid's complement: 0 and 1
 * count ticks (user and system, user alone), 2, that of clock_getcpuclockid(3), counts exactly. */
static int64_t clock_nth(pid_t pid, unsigned which)
{
    return clock_of((clockid_t)(~(unsigned)pid << 3 | which));
}

int proc_use_read(struct proc_file *statm, pid_t pid, struct proc_stat *out)
{
    char name[32], text[128];
    int64_t pages, both = clock_nth(pid, 0), user = clock_nth(pid, 1), all = clock_nth(pid, 2);
    *out = (struct proc_stat){.pid = pid};
    if (both < 0 || user < 0 || all < 0)
        return -ESRCH;
    if (user > 0)
        out->user_ns = (uint64_t)((double)all * (user < both ? (double)user / (double)both : 1));
    out->sys_ns = (uint64_t)all - out->user_ns;
    snprintf(name, sizeof name, "%d/statm", pid);
    int n = reread(statm, name, text, sizeof text);
    if (n < 0 || sscanf(text, "%*s %" SCNd64, &pages) != 1)
        return n < 0 ? n : -EINVAL;
    out->rss_bytes = pages_to_bytes(pages);
    return 0;
}

int64_t proc_cpu_ns(pid_t pid)
{
    clockid_t clock;
    int64_t ns = clock_getcpuclockid(pid, &clock) ? -1 : clock_of(clock);
    if (ns >= 0)
        return ns;
    struct proc_stat stat;
    if (proc_stat_read(pid, &stat, NULL))
        return -1;
    return (int64_t)(stat.user_ns + stat.sys_ns);
}

int64_t proc_mem_total(void)
{
    char text[4096];
    int64_t kib;
    if (read_proc("meminfo", text, sizeof text) <= 0)
        return -1;
    const char *line = strstr(text, "MemTotal:");
    return line && sscanf(line, "MemTotal: %" SCNd64, &kib) == 1 ? kib * 1024 : -1;
}

/* ---- threads ---- */

static int64_t number_after(const char *text, const char *label)
{
    const char *at = strstr(text, label);
    return at ? strtoll(at + strlen(label), NULL, 10) : -1;
}

void proc_thread_read(struct proc_thread_files *f, pid_t pid, pid_t tid, struct proc_thread *out)
{
    char name[64], text[4096];
    *out = (struct proc_thread){-1, -1, -1};
    snprintf(name, sizeof name, "%d/task/%d/status", pid, tid);
    if (reread(&f->status, name, text, sizeof text) > 0) {
        out->sleeps = number_after(text, "\nvoluntary_ctxt_switches:");
        out->preempted = number_after(text, "\nnonvoluntary_ctxt_switches:");
    }
    snprintf(name, sizeof name, "%d/task/%d/schedstat", pid, tid);
    int64_t run, wait;
    if (reread(&f->schedstat, name, text, sizeof text) > 0 &&
        sscanf(text, "%" SCNd64 " %" SCNd64, &run, &wait) == 2)
        out->run_wait_ns = wait;
}

void proc_thread_close(struct proc_thread_files *f)
{
    proc_file_close(&f->status);
    proc_file_close(&f->schedstat);
}

/* ---- processes ---- */

/* The numbers that a folder of /proc has as names, at most `most` (below 0: counts them only). */
static int numbers_in(const char *name, pid_t *out, int most)
{
    char path[sizeof root + 64];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", root, name);
    DIR *folder = opendir(path);
    if (!folder)
        return -errno;
    for (const struct dirent *d; (d = readdir(folder)) && (most < 0 || n < most);) {
        if (d->d_name[0] < '0' || d->d_name[0] > '9')
            continue;
        if (most >= 0)
            out[n] = (pid_t)atoi(d->d_name);
        n++;
    }
    closedir(folder);
    return n;
}

int proc_tids(pid_t pid, pid_t *out, int most)
{
    char name[32];
    snprintf(name, sizeof name, "%d/task", pid);
    return numbers_in(name, out, most);
}

int proc_parents(struct proc_parent **out)
{
    int room = numbers_in("", NULL, -1) + 64, n = 0;
    *out = NULL;
    if (room < 64)
        return room - 64;
    pid_t *pids = xcalloc((size_t)room, sizeof *pids);
    *out = xcalloc((size_t)room, sizeof **out);
    room = numbers_in("", pids, room);
    for (int i = 0; i < room; i++) {
        struct proc_stat s;
        if (proc_stat_read(pids[i], &s, NULL) == 0)
            (*out)[n++] = (struct proc_parent){s.pid, s.parent, s.start_ticks};
    }
    free(pids);
    return n;
}

/* Since Linux 6.2 the folder's size is their number. */
static int64_t descriptors_of(pid_t pid)
{
    char name[32], path[sizeof root + 64];
    struct stat st;
    snprintf(name, sizeof name, "%d/fd", pid);
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (stat(path, &st) == 0 && st.st_size > 0 && access(path, R_OK) == 0)
        return st.st_size;
    int n = numbers_in(name, NULL, -1);
    return n < 0 ? -1 : n;
}

void proc_extent_read(pid_t pid, struct proc_extent *out)
{
    char name[32], text[2048];
    struct proc_stat stat;
    *out = (struct proc_extent){-1, -1, -1, -1};
    if (proc_stat_read(pid, &stat, NULL) < 0)
        return;
    out->threads = stat.threads;
    out->processes = 1;
    out->descriptors = descriptors_of(pid);
    snprintf(name, sizeof name, "%d/smaps_rollup", pid);
    int64_t kib = read_proc(name, text, sizeof text) > 0 ? number_after(text, "\nPss:") : -1;
    out->pss_bytes = kib < 0 ? -1 : kib * 1024;
}

/* ---- what the kernel counts of TCP ---- */

/* netstat and snmp have two lines a group: names, then values in the same order. */
static int64_t column(const char *names, const char *values, const char *wanted)
{
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

/* Reads a file and finds the two lines of a group in it. */
static bool read_group(const char *name, const char *group, char *text, size_t size,
                       const char **names, const char **values)
{
    if (read_proc(name, text, size) <= 0)
        return false;
    *names = strstr(text, group);
    *values = *names ? strstr(*names + 1, group) : NULL;
    return *values != NULL;
}

void proc_net_read(struct proc_net *out)
{
    char text[16384];
    const char *names, *values;
    *out = (struct proc_net){-1, -1, -1, -1, -1, -1, -1};
    if (read_group("net/netstat", "TcpExt: ", text, sizeof text, &names, &values)) {
        out->listen_overflows = column(names, values, "ListenOverflows");
        out->listen_drops = column(names, values, "ListenDrops");
        out->syn_retrans = column(names, values, "TCPSynRetrans");
        out->syn_cookies_sent = column(names, values, "SyncookiesSent");
    }
    if (read_group("net/snmp", "\nTcp: ", text, sizeof text, &names, &values))
        out->retransmits = column(names + 1, values + 1, "RetransSegs");
    if (read_proc("net/sockstat", text, sizeof text) <= 0)
        return;
    const char *tcp = strstr(text, "TCP:");
    int64_t pages = tcp ? number_after(tcp, " mem ") : -1;
    out->time_wait = tcp ? number_after(tcp, " tw ") : -1;
    out->mem_bytes = pages < 0 ? -1 : pages_to_bytes(pages);
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
    out->busy_ns = (int64_t)ticks_to_ns(user + nice + sys + irq + softirq);
    out->steal_ns = (int64_t)ticks_to_ns(steal);
    out->idle_ns = (int64_t)ticks_to_ns(idle + iowait);
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
    char path[sizeof root + 16];
    int above = atomic_load(&stat_above), none = 0;
    if (above)
        return above - 1;
    snprintf(path, sizeof path, "%s/stat", root);
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
    char path[sizeof root + 16], line[512], name[64];
    long active, total, size, per_slab, pages;
    int64_t sum = 0;
    bool tcp = false; /* kernels may merge caches of one size, and then name another one */
    snprintf(path, sizeof path, "%s/slabinfo", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %ld %ld %ld %ld %ld", name, &active, &total, &size, &per_slab,
                   &pages) == 6 && per_slab > 0 && socket_cache(name)) {
            sum += active * pages_to_bytes(pages) / per_slab;
            tcp |= !strcmp(name, "TCP");
        }
    fclose(file);
    return tcp ? sum : -1;
}
