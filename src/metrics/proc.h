/* SPDX-License-Identifier: MIT */
/* Readers of /proc. The root is injectable, so every figure is tested on files that a test wrote.
 * Ticks and page size come from sysconf() unless a test says otherwise. A value that is not there
 * is -1 or NaN, never 0. Sources: proc(5), Documentation/filesystems/proc.rst. Thread: any. */
#ifndef METRICS_PROC_H
#define METRICS_PROC_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* "/proc" unless set (NULL: again). Before threads start. ticks/page 0: from sysconf. */
void proc_inject(const char *root, long ticks_per_s, long page_bytes);

const char *proc_root(void);

struct proc_stat {
    pid_t pid, parent;
    char name[64];  /* control characters replaced by '?' */
    char state;
    uint64_t user_ns, sys_ns; /* from ticks */
    uint64_t children_user_ns, children_sys_ns; /* of those that ended and were waited for */
    int64_t threads;
    uint64_t start_ticks;     /* with pid: the identity of a process */
    int64_t rss_bytes;
    uint64_t minor_faults, major_faults;
};

/* Parses the text of a stat file, from the last ')'. Returns 0 or -EINVAL. */
int proc_stat_parse(const char *text, struct proc_stat *out);

/* Reads /proc/PID/stat; pid 0 is /proc/self/stat. -ENOENT/-ESRCH when it is gone. */
int proc_stat_read(pid_t pid, struct proc_stat *out, struct err *e);

/* A file of /proc that is read again and again stays open: to find it anew costs more than to read
 * it. All zero: not open yet. One thread at a time; proc_file_close() ends it. */
struct proc_file {
    int above; /* its descriptor + 1 */
};
void proc_file_close(struct proc_file *f);

/* As proc_stat_read() of one process each time; 0 or -errno. */
int proc_stat_reread(struct proc_file *f, pid_t pid, struct proc_stat *out);

/* Of *out only what each sample needs: pid, rss_bytes, and the exact CPU time shared into user_ns
 * and sys_ns as its ticks fell so far, which is how a stat file has it. By clocks and a kept file:
 * the kernel takes ten times as long to make a stat file. 0 or -errno: it is gone. */
int proc_use_read(struct proc_file *statm, pid_t pid, struct proc_stat *out);

/* CPU time of a whole process with all its threads, ended ones too, in ns, by its CPU clock
 * (clock_getcpuclockid(3)); where that fails, by ticks. -1 when the process is gone. */
int64_t proc_cpu_ns(pid_t pid);

/* The same as the kernel's ticks saw it, and so as struct proc_cpu holds it: what else a CPU did is
 * the difference of those two alone. Who is woken by others that tick at the same moments is seen
 * by fewer ticks than its time would have (down to a quarter, beside a load that spins). -1: it is
 * gone. */
int64_t proc_tick_ns(pid_t pid);

/* What the scheduler did to one thread; -1: not there. */
struct proc_thread {
    int64_t sleeps;      /* it gave its CPU away: a wait that found nothing */
    int64_t preempted;   /* it was taken from it */
    int64_t run_wait_ns; /* it was ready and had none */
};
struct proc_thread_files {
    struct proc_file status, schedstat;
};
void proc_thread_read(struct proc_thread_files *f, pid_t pid, pid_t tid, struct proc_thread *out);
void proc_thread_close(struct proc_thread_files *f);

/* Threads of a process, at most `most`. Returns how many, or -errno. */
int proc_tids(pid_t pid, pid_t *out, int most);

/* All processes, each by its pid, parent and start. Returns how many, -errno: /proc is not there.
 * The caller frees *out. */
struct proc_parent {
    pid_t pid, parent;
    uint64_t start_ticks;
};
int proc_parents(struct proc_parent **out);

/* How much a process has. -1: not readable. Its memory takes some time to count, for both sides:
 * outside of what is measured. */
struct proc_extent {
    int64_t pss_bytes; /* resident memory, of shared pages a process's part */
    int64_t descriptors, threads, processes;
};
void proc_extent_read(pid_t pid, struct proc_extent *out);

/* MemTotal in bytes, -1 when unknown. */
int64_t proc_mem_total(void);

/* What the kernel counts of TCP in this network namespace, whoever caused it; -1: not there. */
struct proc_net {
    int64_t listen_overflows, listen_drops, syn_retrans, syn_cookies_sent; /* net/netstat */
    int64_t retransmits;                                                   /* net/snmp */
    int64_t time_wait, mem_bytes;                                          /* net/sockstat, now */
};
void proc_net_read(struct proc_net *out);

/* Machine-wide CPU ticks in ns since boot from /proc/stat's line of one CPU (cpu >= 0) or all (-1):
 * busy (user+nice+system+irq+softirq), steal, idle (idle+iowait). -1 each when unknown. */
struct proc_cpu {
    int64_t busy_ns, steal_ns, idle_ns;
};
void proc_cpu_read(int cpu, struct proc_cpu *out);

/* Bytes of the kernel's slabs that hold TCP sockets, files and epoll's items, on the whole machine.
 * -1: /proc/slabinfo cannot be read (root alone may) or does not name them. */
int64_t proc_socket_bytes(void);

#endif
