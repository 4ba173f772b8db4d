/* SPDX-License-Identifier: MIT */
/* The sampler: once a second, whatever runs, the CPU of this whole process from /proc/self/stat, of
 * the thread that draws, and of the server's CPU as the kernel counts it. What the server itself
 * used of that CPU is the sum of the servers' own clocks; the rest are others. */
#include "session/inner.h"

#include <unistd.h>

#include "base/clock.h"
#include "servers/tree.h"

struct second {
    uint64_t t_ns;
    int64_t process_ns, ui_ns;
    pid_t pid[LINEUP_MAX];
    int64_t server_ns[LINEUP_MAX]; /* -1: not known any more */
    struct proc_cpu cpu;
};

static int64_t clock_of(clockid_t id)
{
    struct timespec ts;
    if (clock_gettime(id, &ts) < 0)
        return -1;
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Of several processes. One that goes takes its CPU along: then the sum falls, and is not known. */
static int64_t cpu_below(pid_t root)
{
    pid_t pids[TREE_MOST];
    int n = tree_find(root, pids, TREE_MOST);
    int64_t sum = proc_cpu_ns(root);
    for (int i = 0; i < n && sum >= 0; i++) {
        int64_t ns = proc_cpu_ns(pids[i]);
        sum += ns > 0 ? ns : 0;
    }
    return sum;
}

static void read_second(struct session *s, struct second *out)
{
    struct proc_stat self;
    out->t_ns = clock_ns();
    out->process_ns =
        proc_stat_read(0, &self, NULL) < 0 ? -1 : (int64_t)(self.user_ns + self.sys_ns);
    out->ui_ns = atomic_load(&s->has_ui) ? clock_of(s->ui_clock) : -1;
    for (int i = 0; i < LINEUP_MAX; i++) {
        pid_t pid = session_server_pid(s, i);
        out->pid[i] = pid != getpid() ? pid : 0;
        out->server_ns[i] = pid < 0 ? cpu_below(-pid) : out->pid[i] ? proc_cpu_ns(pid) : 0;
    }
    proc_cpu_read(s->cpus.pinned ? s->cpus.server : -1, &out->cpu);
}

static double pct(int64_t from, int64_t to, double t_s)
{
    return from < 0 || to < from || t_s <= 0 ? METRIC_NONE : (double)(to - from) / 1e7 / t_s;
}

/* What the servers used between the two. One that came in between used all that it has; what one
 * used that went is not known, and so the sum is not either. */
static double servers_pct(const struct second *a, const struct second *b, double t_s)
{
    int64_t sum = 0;
    for (int i = 0; i < LINEUP_MAX; i++) {
        bool same = a->pid[i] == b->pid[i];
        if ((a->pid[i] && !same) || b->server_ns[i] < 0)
            return METRIC_NONE;
        sum += b->server_ns[i] - (same ? a->server_ns[i] : 0);
    }
    return pct(0, sum, t_s);
}

static void publish(struct session *s, const struct second *a, const struct second *b)
{
    double t = (double)(b->t_ns - a->t_ns) / 1e9;
    double busy = pct(a->cpu.busy_ns, b->cpu.busy_ns, t);
    double servers = servers_pct(a, b, t);
    pthread_mutex_lock(&s->lock);
    s->now.process_cpu_pct = pct(a->process_ns, b->process_ns, t);
    s->now.ui_cpu_pct = pct(a->ui_ns, b->ui_ns, t);
    s->now.server_cpu_busy_pct = busy;
    s->now.others_pct = busy < servers ? 0 : busy - servers; /* of two moments */
    s->now.steal_pct = pct(a->cpu.steal_ns, b->cpu.steal_ns, t);
    pthread_mutex_unlock(&s->lock);
}

void *session_sampler(void *session)
{
    struct session *s = session;
    struct second a, b;
    pthread_mutex_lock(&s->lock);
    s->sampler_tid = gettid();
    pthread_mutex_unlock(&s->lock);
    read_second(s, &a);
    uint64_t next = a.t_ns;
    while (!atomic_load(&s->quit)) {
        next += NS_PER_S;
        for (unsigned seen; !atomic_load(&s->quit) && clock_ns() < next;) {
            seen = atomic_load(&s->orders);
            session_sleep(s, next, seen);
        }
        read_second(s, &b);
        publish(s, &a, &b);
        a = b;
    }
    return NULL;
}
