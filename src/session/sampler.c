/* SPDX-License-Identifier: MIT */
/* The sampler: once a second, whatever runs, the CPU of this whole process from /proc/self/stat, of
 * the thread that draws, and of the server's CPU as the kernel counts it. What the server itself
 * used of that CPU is what the same ticks saw of the servers; the rest are others. */
#include "session/inner.h"

#include <unistd.h>

#include "base/clock.h"
#include "servers/tree.h"

struct second {
    uint64_t t_ns;
    int64_t process_ns, ui_ns;
    pid_t pid[LINEUP_MAX];
    int64_t server_ns[LINEUP_MAX], server_tick_ns[LINEUP_MAX]; /* -1: not known any more */
    struct proc_cpu cpu;
};

/* CPU of several processes. One that goes takes its own along: then the sum falls, and is not
 * known. */
static void sum_below(pid_t root, int64_t *exact_ns, int64_t *tick_ns)
{
    pid_t pids[TREE_MOST];
    int n = tree_find(root, pids, TREE_MOST);
    *exact_ns = proc_cpu_ns(root);
    *tick_ns = proc_tick_ns(root);
    for (int i = 0; i < n && *exact_ns >= 0; i++) {
        int64_t exact = proc_cpu_ns(pids[i]), tick = proc_tick_ns(pids[i]);
        *exact_ns += exact > 0 ? exact : 0;
        *tick_ns += tick > 0 ? tick : 0;
    }
}

/* Of threads of this process it is not known. */
static void read_server(struct session *s, int pane, struct second *out)
{
    pid_t pid = out->pid[pane] = session_server_pid(s, pane);
    int64_t *exact_ns = &out->server_ns[pane], *tick_ns = &out->server_tick_ns[pane];
    *exact_ns = *tick_ns = pid == getpid() ? -1 : 0;
    if (pid < 0) {
        sum_below(-pid, exact_ns, tick_ns);
    } else if (pid && pid != getpid()) {
        *exact_ns = proc_cpu_ns(pid);
        *tick_ns = proc_tick_ns(pid);
    }
}

static void read_second(struct session *s, struct second *out)
{
    struct proc_stat self;
    out->t_ns = clock_ns();
    out->process_ns =
        proc_stat_read(0, &self, NULL) < 0 ? -1 : (int64_t)(self.user_ns + self.sys_ns);
    out->ui_ns = atomic_load(&s->has_ui) ? clock_cpu_ns(s->ui_clock) : -1;
    for (int i = 0; i < LINEUP_MAX; i++)
        read_server(s, i, out);
    proc_cpu_read(s->cpus.pinned ? s->cpus.server : -1, &out->cpu);
}

static double pct(int64_t from, int64_t to, double t_s)
{
    return from < 0 || to < from || t_s <= 0 ? METRIC_NONE : (double)(to - from) / 1e7 / t_s;
}

static double seconds(const struct second *a, const struct second *b)
{
    return (double)(b->t_ns - a->t_ns) / 1e9;
}

/* What the servers used between the two, by one of their clocks. One that came in between used all
 * that it has; what one used that went is not known, and so the sum is not either. */
static double servers_pct(const struct second *a, const struct second *b, const int64_t *from_ns,
                          const int64_t *to_ns)
{
    int64_t sum = 0;
    for (int i = 0; i < LINEUP_MAX; i++) {
        bool same = a->pid[i] == b->pid[i];
        if ((a->pid[i] && !same) || to_ns[i] < 0)
            return METRIC_NONE;
        sum += to_ns[i] - (same ? from_ns[i] : 0);
    }
    return pct(0, sum, seconds(a, b));
}

static void publish(struct session *s, const struct second *a, const struct second *b)
{
    double t = seconds(a, b), busy = pct(a->cpu.busy_ns, b->cpu.busy_ns, t);
    double by_ticks = servers_pct(a, b, a->server_tick_ns, b->server_tick_ns);
    pthread_mutex_lock(&s->lock);
    s->now.process_cpu_pct = pct(a->process_ns, b->process_ns, t);
    s->now.ui_cpu_pct = pct(a->ui_ns, b->ui_ns, t);
    s->now.servers_cpu_pct = servers_pct(a, b, a->server_ns, b->server_ns);
    s->now.others_pct = busy < by_ticks ? 0 : busy - by_ticks; /* of two moments */
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
    pthread_mutex_lock(&s->lock);
    s->sampler_tid = 0; /* the number may be another thread's soon */
    pthread_mutex_unlock(&s->lock);
    return NULL;
}
