/* SPDX-License-Identifier: MIT */
/* One pass of `burst`: N threads at a barrier, released together, each sends once without waiting.
 * That is what was published, the sum of N send calls of the client; on loopback they contain the
 * waking of the server, so a model that sleeps looks dear. Then the same bytes again with the
 * server at its gate: when all lie in its sockets the gate opens, and what follows is the server's
 * alone. */
#include "load/burst.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ticks.h"
#include "load/drain.h"
#include "load/engine.h"
#include "load/senders.h"
#include "load/watch.h"

#define LOOK_NS (200 * NS_PER_US)
#define CLEAR_NS (2 * NS_PER_S) /* longest wait for the server's closes */
#define REARMS 4000             /* epoll_ctl calls timed */

struct pass {
    const struct load_spec *spec;
    struct watcher watcher;
    struct senders senders;
    struct drain drain;
    struct server_counts before, now;
    uint64_t start_ns, deadline_ns;
    bool drawn; /* the picture, that of the first burst, is complete or not begun */
    double *v;
    char *note; /* sizeof ((struct repeat_result *)0)->note */
};

#define NOTE (sizeof ((struct repeat_result *)0)->note)

static double received(const struct pass *p) /* messages */
{
    return (double)(p->now.bytes_in - p->before.bytes_in) / (double)p->senders.size;
}

static void show(struct pass *p, uint64_t now_ns)
{
    if (p->drawn)
        return;
    load_pass_look(p->spec, &p->now);
    watcher_add(&p->watcher, now_ns, p->senders.done, received(p));
}

/* False when the pass must end: time is up or somebody said so. Sleeps a little. */
static bool goes_on(struct pass *p)
{
    uint64_t now = clock_ns();
    if (watcher_due(&p->watcher, now))
        show(p, now);
    if (now >= p->deadline_ns || watcher_stopped(&p->watcher))
        return false;
    clock_sleep_until(now + LOOK_NS);
    load_pass_look(p->spec, &p->now);
    return true;
}

/* Lets all threads do a step and waits for them; when the time is up they give up by themselves. */
static bool step(struct pass *p, enum senders_step what)
{
    if (what != SENDERS_CONNECT)
        senders_go(&p->senders, what);
    while (!senders_through(&p->senders)) {
        if (goes_on(p))
            continue;
        atomic_store(&p->senders.stop, true);
        clock_sleep_until(clock_ns() + LOOK_NS);
    }
    return !atomic_load(&p->senders.stop);
}

static long accepted(const struct pass *p)
{
    return (long)(p->now.accepts - p->before.accepts);
}

static long refused(const struct pass *p)
{
    return (long)(p->now.refusals - p->before.refusals);
}

/* Until the server has taken all; false when it does not hold them. Without its counters nobody can
 * tell. */
static bool all_taken(struct pass *p)
{
    load_pass_look(p->spec, &p->now);
    while (p->spec->server_read && accepted(p) + refused(p) < p->senders.n)
        if (!goes_on(p))
            return false;
    return refused(p) == 0;
}

static bool all_received(struct pass *p, double messages)
{
    load_pass_look(p->spec, &p->now);
    while (p->spec->server_read && received(p) < messages)
        if (!goes_on(p))
            return false;
    return true;
}

/* --- the published figure --------------------------------------------------------------------- */

static void send_figures(struct pass *p)
{
    const struct senders *s = &p->senders;
    double ns = 0, ticks = 0, least = INFINITY, most = 0;
    for (int i = 0; i < s->n; i++) {
        const struct sender *t = &s->sender[i];
        ns += (double)t->ns;
        ticks += (double)t->ticks;
        least = fmin(least, (double)t->ns);
        most = fmax(most, (double)t->ns);
    }
    p->v[METRIC_send_ns] = ns;
    p->v[METRIC_send_min_ns] = least;
    p->v[METRIC_send_max_ns] = most;
    if (ticks_invariant())
        p->v[METRIC_send_ticks] = ticks;
}

/* --- the gated burst -------------------------------------------------------------------------- */

static bool drained(struct pass *p, struct gate_reading *g)
{
    uint64_t all = (uint64_t)p->senders.n * p->senders.size;
    for (;;) {
        p->spec->gate_read(p->spec->server_ctx, g);
        if (g->drained >= all)
            return true;
        if (!goes_on(p))
            return false;
    }
}

static int64_t server_cpu_ns(const struct pass *p)
{
    return p->spec->server_cpu_ns ? p->spec->server_cpu_ns(p->spec->server_ctx) : -1;
}

static void time_drain(struct pass *p)
{
    struct gate_reading g;
    load_pass_measured(p->spec, true);
    int64_t from_ns = server_cpu_ns(p);
    drain_open(&p->drain);
    bool whole = drained(p, &g);
    int64_t to_ns = server_cpu_ns(p);
    load_pass_measured(p->spec, false);
    if (!whole)
        return;
    p->v[METRIC_drain_ns] = (double)(g.drained_ns - g.passed_ns);
    if (from_ns >= 0 && to_ns >= from_ns)
        p->v[METRIC_drain_cpu_ns] = (double)(to_ns - from_ns);
}

/* The last bytes may still be on their way when the last send returned. */
static bool delivered(struct pass *p)
{
    uint64_t end = clock_ns() + NS_PER_S;
    if (!senders_whole(&p->senders))
        return false;
    while (!senders_delivered(&p->senders))
        if (clock_ns() >= end || !goes_on(p))
            return false;
    return true;
}

static void gated(struct pass *p)
{
    if (!drain_shut(&p->drain, p->spec, GATE_PASSES_READS, p->note, NOTE))
        return;
    if (!step(p, SENDERS_FILL))
        return;
    if (delivered(p))
        time_drain(p);
    else
        snprintf(p->note, NOTE, "no gated burst: the sockets hold less than %zu bytes",
                 p->senders.size);
}

/* --- the price of a re-arm -------------------------------------------------------------------- */

/* On a set of the pass's own connections, of its clients' ends. */
static void time_rearm(struct pass *p)
{
    const struct senders *s = &p->senders;
    struct epoll_event ev = {.events = EPOLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC), failed = set < 0;
    for (int i = 0; i < s->n && !failed; i++)
        failed |= epoll_ctl(set, EPOLL_CTL_ADD, s->sender[i].fd, &ev) < 0;
    uint64_t start = clock_ns();
    for (int i = 0; i < REARMS && !failed; i++) {
        ev.events = i / s->n % 2 ? EPOLLIN : EPOLLIN | EPOLLPRI;
        failed |= epoll_ctl(set, EPOLL_CTL_MOD, s->sender[i % s->n].fd, &ev) < 0;
    }
    if (!failed)
        p->v[METRIC_rearm_ns] = (double)(clock_ns() - start) / REARMS;
    if (set >= 0)
        close(set);
}

/* --- the pass --------------------------------------------------------------------------------- */

/* The picture begins with the release. */
static bool first_burst(struct pass *p)
{
    p->drawn = false;
    watcher_start(&p->watcher, p->watcher.watch, clock_ns());
    watcher_add(&p->watcher, p->watcher.start_ns, 0, 0); /* nothing is sent yet */
    bool sent = step(p, SENDERS_BURST) && senders_whole(&p->senders);
    show(p, clock_ns());
    if (!sent) /* a sum over fewer would compare with nothing */
        return false;
    send_figures(p);
    bool received_all = all_received(p, p->senders.n);
    show(p, clock_ns());
    p->drawn = true;
    return received_all;
}

static void run(struct pass *p)
{
    int n = p->senders.n;
    bool whole = step(p, SENDERS_CONNECT) && senders_connected(&p->senders) == n && all_taken(p);
    p->v[METRIC_established] = senders_connected(&p->senders);
    if (p->spec->server_read)
        p->v[METRIC_accepted] = (double)accepted(p);
    if (!whole || !first_burst(p))
        return;
    time_rearm(p);
    gated(p);
    drain_end(&p->drain);
}

/* Until the server has noticed that all are closed: the next pass starts from none. */
static void clear(struct pass *p)
{
    uint64_t end = clock_ns() + CLEAR_NS;
    load_pass_look(p->spec, &p->now);
    while (p->spec->server_read && clock_ns() < end &&
           (long)(p->now.closes - p->before.closes) < accepted(p)) {
        clock_sleep_until(clock_ns() + LOOK_NS);
        load_pass_look(p->spec, &p->now);
    }
}

static void begin(struct pass *p, struct load_watch *watch)
{
    load_pass_look(p->spec, &p->now);
    p->before = p->now;
    p->start_ns = clock_ns();
    p->deadline_ns = p->start_ns + (uint64_t)(p->spec->params.timeout * 1e9);
    p->drain.spec = p->spec;
    p->drawn = true;
    watcher_start(&p->watcher, watch, p->start_ns);
}

/* Threads made and joined, two bursts of some 30 us a connection, and the closes. */
double burst_seconds(const struct params *p, bool walks)
{
    (void)walks;
    return 0.1 + p->connections * 300e-6;
}

int burst_repeat(const struct load_spec *spec, struct load_watch *watch, struct repeat_result *out,
                 struct err *e)
{
    struct pass p = {.spec = spec, .v = out->values.v, .note = out->note};
    int64_t cpu_ns = clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    memset(out, 0, sizeof *out);
    values_clear(&out->values);
    begin(&p, watch);
    int failed = senders_start(&p.senders, spec, p.deadline_ns, e);
    if (!failed)
        run(&p);
    out->duration_s = (double)(clock_ns() - p.start_ns) / 1e9;
    senders_stop(&p.senders);
    clear(&p);
    counter_set(&p.senders.counts.closed, counter_get(&p.senders.counts.connects));
    load_counts_add(&out->counts, &p.senders.counts);
    out->load_cpu_ns =
        clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns + atomic_load(&p.senders.cpu_ns);
    /* Of the whole pass: the measured part is the drain's. */
    p.v[METRIC_load_cpu_pct] = (double)out->load_cpu_ns / 1e7 / out->duration_s;
    return failed;
}
