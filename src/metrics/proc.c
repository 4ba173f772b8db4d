/* SPDX-License-Identifier: MIT */
/* /proc as text, and what it says of processes. A name may hold anything, ") R 1 (" and line breaks
 * too, so stat is parsed from its last ')'. CPU time comes from the process's CPU clock where there
 * is one: it counts in ns, holds threads that have ended, and is exact for a running one; stat's
 * ticks are a few ms wide. */
#include "metrics/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "metrics/proc_text.h"

static char root[256] = "/proc";
static long ticks_per_s, page_bytes;

void proc_inject(const char *folder, long ticks, long page)
{
    proc_machine_forget();
    snprintf(root, sizeof root, "%s", folder ? folder : "/proc");
    ticks_per_s = ticks;
    page_bytes = page;
}

const char *proc_root(void)
{
    return root;
}

uint64_t proc_ticks_to_ns(uint64_t ticks)
{
    uint64_t hz = (uint64_t)(ticks_per_s ? ticks_per_s : sysconf(_SC_CLK_TCK));
    return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

int64_t proc_pages_to_bytes(int64_t pages)
{
    int64_t bytes;
    if (__builtin_mul_overflow(pages, page_bytes ? page_bytes : sysconf(_SC_PAGESIZE), &bytes))
        return -1;
    return bytes;
}

int proc_text(const char *name, char *buf, size_t size)
{
    char path[sizeof root + 64];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return limits_read_file(path, buf, size);
}

int64_t proc_number_after(const char *text, const char *label)
{
    const char *at = strstr(text, label);
    return at ? strtoll(at + strlen(label), NULL, 10) : -1;
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
    out->children_user_ns = proc_ticks_to_ns(children_user);
    out->children_sys_ns = proc_ticks_to_ns(children_sys);
    out->user_ns = proc_ticks_to_ns(user);
    out->sys_ns = proc_ticks_to_ns(sys);
    out->rss_bytes = proc_pages_to_bytes(pages);
    return 0;
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
    if (proc_text(statm, text, sizeof text) > 0 && sscanf(text, "%*s %" SCNd64, &pages) == 1)
        out->rss_bytes = proc_pages_to_bytes(pages);
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
    int n = proc_text(name, text, sizeof text);
    if (n < 0)
        return err_set(e, -n, "process %d: %s", pid, strerror(-n));
    if (proc_stat_parse(text, out))
        return err_set(e, EINVAL, "process %d: its stat file cannot be read", pid);
    exact_rss(name, out);
    return 0;
}

/* The clocks of a process have ids that linux/posix-timers.h makes of the pid's complement: 0 and 1
 * count ticks (user and system, user alone), 2, that of clock_getcpuclockid(3), counts exactly. */
static int64_t clock_nth(pid_t pid, unsigned which)
{
    return clock_cpu_ns((clockid_t)(~(unsigned)pid << 3 | which));
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
    out->rss_bytes = proc_pages_to_bytes(pages);
    return 0;
}

int64_t proc_tick_ns(pid_t pid)
{
    return clock_nth(pid, 0);
}

int64_t proc_cpu_ns(pid_t pid)
{
    clockid_t clock;
    int64_t ns = clock_getcpuclockid(pid, &clock) ? -1 : clock_cpu_ns(clock);
    if (ns >= 0)
        return ns;
    struct proc_stat stat;
    if (proc_stat_read(pid, &stat, NULL))
        return -1;
    return (int64_t)(stat.user_ns + stat.sys_ns);
}

/* ---- threads ---- */

void proc_thread_read(struct proc_thread_files *f, pid_t pid, pid_t tid, struct proc_thread *out)
{
    char name[64], text[4096];
    *out = (struct proc_thread){-1, -1, -1};
    snprintf(name, sizeof name, "%d/task/%d/status", pid, tid);
    if (reread(&f->status, name, text, sizeof text) > 0) {
        out->sleeps = proc_number_after(text, "\nvoluntary_ctxt_switches:");
        out->preempted = proc_number_after(text, "\nnonvoluntary_ctxt_switches:");
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
    int64_t kib = proc_text(name, text, sizeof text) > 0 ? proc_number_after(text, "\nPss:") : -1;
    out->pss_bytes = kib < 0 ? -1 : kib * 1024;
}
