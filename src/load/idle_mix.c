/* SPDX-License-Identifier: MIT */
/* One pass of `idle-mix`: a load with a budget of requests beside idle connections. Only the
 * exchanges are measured; opening and closing lie outside. A pass that could not open all of its
 * connections measures no time: beside fewer idle ones it would be another figure. A request that
 * is lost is asked again, so the number of exchanges is exact, and the errors say what it cost. */
#include "load/idle_mix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "load/watch.h"

#define SLICE_NS (20 * NS_PER_MS)
#define LOOK_NS (500 * NS_PER_US) /* between two looks at the server's counters */
#define QUIET_NS NS_PER_S         /* without a move: done; for less it may only have had no CPU */
#define CLEAR_NS (5 * NS_PER_S)   /* longest wait for the server's closes */

struct pass {
    const struct load_spec *spec;
    struct load_spec own; /* with the budget */
    struct watcher watcher;
    struct load *load;
    struct server_counts before, now;
    uint64_t begin_ns, start_ns, timeout_ns;
    int64_t load_cpu_ns; /* of the exchanges */
    long wanted, established;
    bool whole; /* every connection was there before and after */
};

static bool stopped(const struct pass *p)
{
    return watcher_stopped(&p->watcher);
}

/* As measured on a small virtual machine; a walk costs its 22 ns for each idle connection and
 * exchange because a slow server finds several requests at a time. */
double idle_mix_seconds(const struct params *p, bool walks)
{
    double open = (p->connections + p->idle) * 60e-6;
    return 0.1 + open + p->requests * (9e-6 + (walks ? p->idle * 22e-9 : 0));
}

/* --- opening ---------------------------------------------------------------------------------- */

static long accepted(const struct pass *p)
{
    return (long)(p->now.accepts - p->before.accepts);
}

/* With those that it refused. */
static long taken(const struct pass *p)
{
    return accepted(p) + (long)(p->now.refusals - p->before.refusals);
}

/* Until `got` says so, or nothing moved for a while. */
static void wait_for_server(struct pass *p, bool (*got)(const struct pass *p), uint64_t most_ns)
{
    uint64_t end = clock_ns() + most_ns, moved = clock_ns();
    struct server_counts last = p->now;
    load_pass_look(p->spec, &p->now);
    while (p->spec->server_read && !got(p) && clock_ns() < end && !stopped(p)) {
        if (memcmp(&last, &p->now, sizeof last) != 0)
            moved = clock_ns();
        else if (clock_ns() - moved > QUIET_NS)
            return;
        last = p->now;
        clock_sleep_until(clock_ns() + LOOK_NS);
        load_pass_look(p->spec, &p->now);
    }
}

static bool has_all(const struct pass *p)
{
    return taken(p) >= p->wanted;
}

static bool has_none(const struct pass *p)
{
    return p->now.closes - p->before.closes >= p->now.accepts - p->before.accepts;
}

static void wait_open(struct pass *p)
{
    uint64_t end = clock_ns() + p->timeout_ns + CLEAR_NS;
    while (!load_wait_open(p->load, SLICE_NS) && clock_ns() < end && !stopped(p))
        ;
    wait_for_server(p, has_all, p->timeout_ns);
    p->established = load_established(p->load);
    p->whole = p->established == p->wanted && (!p->spec->server_read || accepted(p) >= p->wanted);
}

/* --- the exchanges ---------------------------------------------------------------------------- */

static uint64_t replies(const struct pass *p)
{
    struct load_counts c;
    load_read(p->load, &c);
    return c.replies;
}

static void show(struct pass *p, uint64_t now_ns, uint64_t done)
{
    watcher_add(&p->watcher, now_ns, (double)done, METRIC_NONE);
}

/* Until the budget is spent; a server that answers nothing for the time-out ends it. */
static void exchange(struct pass *p)
{
    uint64_t seen = 0, moved = clock_ns();
    show(p, p->start_ns, 0);
    load_set_phase(p->load, LOAD_MEASURE);
    while (!load_drained(p->load, SLICE_NS) && !stopped(p)) {
        uint64_t done = replies(p), now = clock_ns();
        if (watcher_due(&p->watcher, now))
            show(p, now, done);
        if (done != seen)
            moved = now;
        else if (now - moved > p->timeout_ns + NS_PER_S / 2)
            break;
        seen = done;
    }
}

/* --- the pass --------------------------------------------------------------------------------- */

static void measure(struct pass *p)
{
    load_pass_measured(p->spec, true);
    p->load_cpu_ns = -load_cpu_ns(p->load);
    p->start_ns = clock_ns();
    watcher_start(&p->watcher, p->watcher.watch, p->start_ns);
    exchange(p);
    p->load_cpu_ns += load_cpu_ns(p->load);
    load_pass_measured(p->spec, false);
    show(p, load_spent_ns(p->load) ? load_spent_ns(p->load) : clock_ns(), replies(p));
    p->whole &= load_established(p->load) == p->wanted;
}

static void say_why(const struct pass *p, struct repeat_result *out)
{
    if (p->established < p->wanted)
        snprintf(out->note, sizeof out->note,
                 "no exchanges: %ld of %ld connections open within %g s", p->established, p->wanted,
                 p->spec->params.timeout);
    else if (!p->whole)
        snprintf(out->note, sizeof out->note,
                 "no exchanges: the server did not hold all connections");
    else
        snprintf(out->note, sizeof out->note, "no exchanges: %llu of %llu, then no reply for %g s",
                 (unsigned long long)out->counts.replies, (unsigned long long)p->own.budget,
                 p->spec->params.timeout);
}

static void results(struct pass *p, struct repeat_result *out)
{
    double *v = out->values.v;
    load_read(p->load, &out->counts);
    out->load_cpu_ns = p->load_cpu_ns;
    bool all = p->whole && out->counts.replies == p->own.budget;
    if (!all && !stopped(p))
        say_why(p, out);
    if (all)
        v[METRIC_exchange_s] = (double)(load_spent_ns(p->load) - p->start_ns) / 1e9;
    v[METRIC_established] = (double)p->established;
    if (p->spec->server_read)
        v[METRIC_accepted] = (double)accepted(p);
    v[METRIC_served] = (double)load_served(p->load);
    v[METRIC_never_answered] = (double)load_never_answered(p->load);
}

int idle_mix_repeat(const struct load_spec *spec, struct load_watch *watch,
                    struct repeat_result *out, struct err *e)
{
    struct pass p = {.spec = spec, .own = *spec, .watcher.watch = watch, .begin_ns = clock_ns(),
                     .timeout_ns = (uint64_t)(spec->params.timeout * 1e9)};
    memset(out, 0, sizeof *out);
    values_clear(&out->values);
    p.wanted = (long)spec->params.idle; /* without keepalive those that ask hold none */
    if (spec->params.keepalive != KEEPALIVE_OFF)
        p.wanted += (long)spec->params.connections;
    p.own.budget = (uint64_t)spec->params.requests;
    p.own.params.rate = PARAM_MAX; /* one exchange after the other, whatever other workloads do */
    watcher_start(&p.watcher, watch, p.begin_ns);
    load_pass_look(p.spec, &p.now);
    p.before = p.now;
    p.load = load_open(&p.own, e);
    if (!p.load)
        return -EAGAIN;
    wait_open(&p);
    if (p.whole && !stopped(&p))
        measure(&p);
    results(&p, out);
    load_close(p.load);
    wait_for_server(&p, has_none, CLEAR_NS); /* the next pass begins with none */
    out->duration_s = (double)(clock_ns() - p.begin_ns) / 1e9;
    return 0;
}
