/* SPDX-License-Identifier: MIT */
/* Kernels without CONFIG_PROC_CHILDREN do not tell a process's children, so each look reads the
 * parent of every process there is: some ms, outside of what is measured. In between the members
 * are known, and an edge reads only their clocks. Who ends moves from its own clock into what its
 * parent counts of ended children; read in that order, parents first, a moment in between misses it
 * and never counts it twice, and the sum is held at what it was. Sources: proc(5), getrusage(2). */
#include "servers/tree.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define THREADS_MOST 16 /* whose waits are looked at */

struct member {
    pid_t pid;
    uint64_t start_ticks;
    struct proc_file stat_file; /* one that was opened stays the same process's */
};

struct thread {
    pid_t pid, tid;
    struct proc_thread_files files;
};

struct tree {
    pid_t root;
    bool itself;
    uint64_t start_ticks; /* of the root, if it belongs to it */
    const _Atomic int64_t *ended_ns;
    bool too_many;
    int64_t least_ns; /* CPU time so far */
    int count, thread_count; /* thread_count below 0: too many */
    struct member members[TREE_MOST];
    struct thread threads[THREADS_MOST];
};

struct tree *tree_new(const struct tree_root *root)
{
    struct tree *t = xcalloc(1, sizeof *t);
    t->root = root->pid;
    t->itself = root->itself;
    t->start_ticks = root->start_ticks;
    t->ended_ns = root->ended_ns;
    tree_look(t);
    return t;
}

static void forget_threads(struct tree *t)
{
    for (int i = 0; i < THREADS_MOST; i++)
        proc_thread_close(&t->threads[i].files);
    memset(t->threads, 0, sizeof t->threads);
    t->thread_count = 0;
}

void tree_free(struct tree *t)
{
    if (!t)
        return;
    forget_threads(t);
    for (int i = 0; i < t->count; i++)
        proc_file_close(&t->members[i].stat_file);
    free(t);
}

/* --- who belongs to it ------------------------------------------------------------------------ */

static int by_pid(const void *a, const void *b)
{
    const struct proc_parent *p = a, *q = b;
    return (p->pid > q->pid) - (p->pid < q->pid);
}

static bool holds(const bool *in, const struct proc_parent *all, int n, pid_t pid)
{
    struct proc_parent key = {.pid = pid};
    const struct proc_parent *at = bsearch(&key, all, (size_t)n, sizeof *all, by_pid);
    return at && in[at - all];
}

/* Marks everything below root. A child may stand before its parent in the list. */
static void mark_below(struct proc_parent *all, int n, pid_t root, bool *in)
{
    if (n > 0)
        qsort(all, (size_t)n, sizeof *all, by_pid);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++) {
            if (in[i] || all[i].pid == root)
                continue;
            in[i] = all[i].parent == root || holds(in, all, n, all[i].parent);
            more |= in[i];
        }
    }
}

int tree_find(pid_t root, pid_t *out, int most)
{
    struct proc_parent *all;
    int n = proc_parents(&all), found = 0;
    bool *in = xcalloc((size_t)(n > 0 ? n : 1), sizeof *in);
    mark_below(all, n, root, in);
    for (int i = 0; i < n && found < most; i++)
        if (in[i])
            out[found++] = all[i].pid;
    free(in);
    free(all);
    return found;
}

static bool is_root(const struct tree *t, const struct proc_parent *p)
{
    return t->itself && p->pid == t->root && p->start_ticks == t->start_ticks;
}

static bool known(const struct tree *t, const struct proc_parent *p)
{
    for (int i = 0; i < t->count; i++)
        if (t->members[i].pid == p->pid && t->members[i].start_ticks == p->start_ticks)
            return true;
    return false;
}

static bool listed(const struct member *m, const struct proc_parent *all, int n)
{
    for (int i = 0; i < n; i++)
        if (all[i].pid == m->pid && all[i].start_ticks == m->start_ticks)
            return true;
    return false;
}

static void drop_gone(struct tree *t, const struct proc_parent *all, int n)
{
    int kept = 0;
    for (int i = 0; i < t->count; i++) {
        if (listed(&t->members[i], all, n))
            t->members[kept++] = t->members[i];
        else
            proc_file_close(&t->members[i].stat_file);
    }
    t->count = kept;
}

static int64_t add(struct tree *t, const struct proc_parent *p)
{
    if (t->count == TREE_MOST) {
        t->too_many = true;
        return 0;
    }
    t->members[t->count++] = (struct member){.pid = p->pid, .start_ticks = p->start_ticks};
    int64_t ns = proc_cpu_ns(p->pid);
    return ns < 0 ? 0 : ns;
}

/* Anew when any is another one; who sleeps how often is asked of few threads only. */
static void find_threads(struct tree *t)
{
    struct thread now[THREADS_MOST] = {{0}};
    pid_t tids[THREADS_MOST + 1];
    int n = 0;
    for (int i = 0; i < t->count && n >= 0; i++) {
        int found = proc_tids(t->members[i].pid, tids, THREADS_MOST + 1);
        if (found > THREADS_MOST - n)
            n = -1;
        for (int k = 0; k < found && n >= 0; k++)
            now[n++] = (struct thread){.pid = t->members[i].pid, .tid = tids[k]};
    }
    bool same = n == t->thread_count;
    for (int i = 0; i < n && same; i++)
        same = now[i].tid == t->threads[i].tid;
    if (same)
        return;
    forget_threads(t);
    if (n > 0)
        memcpy(t->threads, now, sizeof now);
    t->thread_count = n;
}

int64_t tree_look(struct tree *t)
{
    struct proc_parent *all;
    int n = proc_parents(&all);
    int64_t came_ns = 0;
    bool *in = xcalloc((size_t)(n > 0 ? n : 1), sizeof *in);
    if (!t->itself || tree_lives(t)) /* the number may be another process's by now */
        mark_below(all, n, t->root, in);
    t->too_many = false;
    drop_gone(t, all, n);
    for (int i = 0; i < n; i++)
        if ((in[i] || is_root(t, &all[i])) && !known(t, &all[i]))
            came_ns += add(t, &all[i]);
    find_threads(t);
    free(in);
    free(all);
    return came_ns;
}

int tree_pids(const struct tree *t, pid_t *out, int most)
{
    int n = 0;
    while (n < t->count && n < most) {
        out[n] = t->members[n].pid;
        n++;
    }
    return n;
}

bool tree_lives(const struct tree *t)
{
    struct proc_stat s;
    return proc_stat_read(t->root, &s, NULL) == 0 && s.start_ticks == t->start_ticks &&
           s.state != 'Z' && s.state != 'X';
}

/* --- figures ---------------------------------------------------------------------------------- */

static bool read_stat(struct member *m, struct proc_stat *out)
{
    return proc_stat_reread(&m->stat_file, m->pid, out) == 0 && out->start_ticks == m->start_ticks;
}

void tree_kill(struct tree *t)
{
    struct proc_stat s;
    for (int i = 0; i < t->count; i++)
        if (read_stat(&t->members[i], &s))
            kill(t->members[i].pid, SIGKILL);
}

/* By one clock of those that live; of those that ended as whoever took leave of them has it. */
static int64_t sum_of(struct tree *t, int64_t (*clock)(pid_t))
{
    int64_t sum = t->ended_ns ? atomic_load(t->ended_ns) : 0;
    int alive = 0;
    bool there[TREE_MOST];
    for (int i = 0; i < t->count; i++) {
        struct proc_stat s;
        there[i] = read_stat(&t->members[i], &s);
        if (!there[i])
            continue;
        sum += (int64_t)(s.children_user_ns + s.children_sys_ns);
        alive += s.state != 'Z' && s.state != 'X'; /* one that nobody took leave of yet */
    }
    for (int i = 0; i < t->count; i++) {
        int64_t ns = there[i] ? clock(t->members[i].pid) : -1;
        sum += ns > 0 ? ns : 0;
    }
    return alive == 0 || t->too_many ? -1 : sum;
}

int64_t tree_cpu_ns(struct tree *t)
{
    int64_t sum = sum_of(t, proc_cpu_ns);
    if (sum < 0)
        return -1;
    return t->least_ns = sum > t->least_ns ? sum : t->least_ns;
}

int64_t tree_tick_ns(struct tree *t)
{
    return sum_of(t, proc_tick_ns);
}

int tree_stat(struct tree *t, struct proc_stat *out)
{
    *out = (struct proc_stat){.pid = 0};
    for (int i = 0; i < t->count; i++) {
        struct proc_stat s;
        if (!read_stat(&t->members[i], &s))
            continue;
        if (!out->pid) { /* the first one gives its name */
            out->pid = s.pid;
            out->state = s.state;
            memcpy(out->name, s.name, sizeof out->name);
        }
        out->user_ns += s.user_ns + s.children_user_ns;
        out->sys_ns += s.sys_ns + s.children_sys_ns;
        out->threads += s.threads;
        out->rss_bytes += s.rss_bytes;
        out->minor_faults += s.minor_faults;
        out->major_faults += s.major_faults;
    }
    return out->pid && !t->too_many ? 0 : -ESRCH;
}

static void add_known(int64_t *sum, int64_t v)
{
    *sum = *sum < 0 || v < 0 ? -1 : *sum + v;
}

void tree_threads(struct tree *t, struct proc_thread *out)
{
    *out = t->thread_count > 0 ? (struct proc_thread){0, 0, 0} : (struct proc_thread){-1, -1, -1};
    for (int i = 0; i < t->thread_count; i++) {
        struct proc_thread one;
        proc_thread_read(&t->threads[i].files, t->threads[i].pid, t->threads[i].tid, &one);
        add_known(&out->sleeps, one.sleeps);
        add_known(&out->preempted, one.preempted);
        add_known(&out->run_wait_ns, one.run_wait_ns);
    }
}

void tree_extent(struct tree *t, struct proc_extent *out)
{
    bool any = t->count > 0 && !t->too_many;
    *out = any ? (struct proc_extent){0, 0, 0, 0} : (struct proc_extent){-1, -1, -1, -1};
    for (int i = 0; i < t->count && any; i++) {
        struct proc_extent one;
        proc_extent_read(t->members[i].pid, &one);
        if (one.processes < 0)
            continue; /* it ended in between */
        add_known(&out->pss_bytes, one.pss_bytes);
        add_known(&out->descriptors, one.descriptors);
        add_known(&out->threads, one.threads);
        out->processes++;
    }
}
