/* SPDX-License-Identifier: MIT */
/* The owner's side of a load. One word per load, a running number and a phase, drives all threads:
 * they compare it after each reply, sleep on it between turns, and report when they rest. The pace
 * runs on a virtual clock kept here: it advances only in turns, so that over many short turns each
 * connection of a slow pace gets its own. */
#include "load/load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/limits.h"
#include "load/engine.h"
#include "load/mux_way.h"
#include "load/workloads.h"
#include "net/uring_probe.h"

#define UNREAD_NS (5 * NS_PER_S) /* for what a server goes on reading after that */
#define GIVE_UP_NS (200 * NS_PER_MS) /* until threads have seen that the drain was given up */

/* --- words and rest --------------------------------------------------------------------------- */

void load_publish(struct load *l, uint32_t phase)
{
    uint32_t old = word_get(l), word = ((old / WORD_STEP + 1) * WORD_STEP) | phase;
    atomic_store(&l->resting, (uint64_t)word << 32);
    atomic_store(&l->word, word);
    if (phase == LOAD_MEASURE && (old & WORD_PHASE) == LOAD_SETTLE)
        return; /* who sleeps takes it when something happens: waking all would be measured */
    futex_wake_all(&l->word);
    for (int i = 0; i < l->mux_count; i++)
        mux_wake(l->muxes[i], old);
    if (!phase_in_turn(phase) && phase != LOAD_STOP)
        blocking_interrupt(l, old);
}

static bool all_rest(const struct load *l)
{
    uint64_t resting = atomic_load(&l->resting);
    return (uint32_t)resting >= atomic_load(&l->threads) && resting >> 32 == word_get(l);
}

static bool wait_rest(struct load *l, uint64_t timeout_ns)
{
    uint64_t start = clock_ns();
    for (;;) {
        uint32_t seen = atomic_load(&l->all_rest);
        if (all_rest(l))
            return true;
        uint64_t spent = clock_ns() - start;
        if (spent >= timeout_ns)
            return false;
        futex_wait(&l->all_rest, seen, timeout_ns - spent);
    }
}

/* --- settings --------------------------------------------------------------------------------- */

static struct load_want want_of(const struct params *p)
{
    bool holds = workload_of(p)->holds;
    double idle = (p->idle > 0 ? p->idle : 0) + (holds ? p->connections : 0);
    return (struct load_want){
        .connections = holds ? 0 : (int)p->connections,
        .idle = (int)idle,
        .rate = isnan(p->rate) ? PARAM_MAX : p->rate,
        .size = (uint64_t)p->size,
    };
}

struct load_want load_settings(struct load *l, struct pace *p, int first, int stride)
{
    pace_fini(p);
    pthread_mutex_lock(&l->lock);
    struct load_want w = l->want;
    if (l->phases) {
        struct pace_share share = {w.connections, first, stride > 0 ? stride : w.connections};
        pace_init(p, l->phases, share, w.rate);
    }
    pthread_mutex_unlock(&l->lock);
    return w;
}

static void set_want(struct load *l, const struct params *p)
{
    struct load_want w = want_of(p);
    w.number = atomic_load(&l->settings) + 1;
    double *phases = NULL;
    if (w.rate < PARAM_MAX)
        phases = pace_phases((uint64_t)l->spec.params.seed, w.connections, w.rate);
    pthread_mutex_lock(&l->lock);
    free(l->phases);
    l->phases = phases;
    l->want = w;
    l->trouble[0] = '\0';
    pthread_mutex_unlock(&l->lock);
    atomic_store(&l->settings, w.number);
}

/* Descriptor tables for these connections, 0: they fit into the one that all threads share, beside
 * those to three other servers. */
static int tables_for(const struct params *p)
{
    struct load_want w = want_of(p);
    double n = w.idle + (p->engine == ENGINE_BLOCKING ? 0 : w.connections);
    double limit = (double)limits_nofile_soft();
    if (limit < 0 || n <= limit / LOAD_SHARED_PART)
        return 0;
    double room = limit - LOAD_HOUSEHOLD;
    return room >= 1 ? (int)ceil(n / room) : 1;
}

bool load_fits(const struct load *l, const struct params *p)
{
    return tables_for(p) <= (l->own_tables ? l->mux_limit : 0);
}

static int thread_count(const struct load_spec *s)
{
    double asked = s->params.load_threads;
    int n = asked >= 1 ? (int)asked : s->cpu_count, tables = tables_for(&s->params);
    if (s->params.engine == ENGINE_BLOCKING)
        n = 1; /* they only keep the idle ones */
    n = n < tables ? tables : n;
    return n < 1 ? 1 : n;
}

/* Half of the accept queue: a server that is away for a moment drops nothing. */
static long queue_of(const struct load_spec *s)
{
    double backlog = s->params.backlog, most = (double)limits_somaxconn();
    double queue = (most >= 0 && most < backlog ? most : backlog) / 2;
    return queue < 1 ? 1 : (long)queue;
}

uint64_t load_taken(const struct load *l)
{
    struct server_counts c;
    if (!l->spec.server_read)
        return UINT64_MAX;
    l->spec.server_read(l->spec.server_ctx, &c);
    return c.accepts + c.refusals - l->taken_before;
}

static bool wants_spin(const struct load *l)
{
    const struct load_spec *s = &l->spec;
    if (l->blocking || s->params.load_wait == WAIT_BLOCK)
        return false;
    return s->params.load_wait == WAIT_SPIN || (s->own_cpus && l->mux_limit <= s->cpu_count);
}

static void make_shards(struct load *l)
{
    int cpus = l->spec.cpu_count > 1 ? l->spec.cpu_count : 1;
    l->shard_count = l->mux_limit + (l->blocking ? cpus : 0);
    size_t size = (size_t)l->shard_count * sizeof *l->shards;
    l->shards = aligned_alloc(_Alignof(struct load_shard), size);
    if (!l->shards)
        die("out of memory");
    memset(l->shards, 0, size);
    for (int i = 0; i < l->shard_count; i++)
        for (int h = 0; h < LOAD_HISTS; h++)
            l->shards[i].hists[h] = hist_new();
}

static struct load *make(const struct load_spec *spec)
{
    struct load *l = aligned_alloc(_Alignof(struct load), sizeof *l);
    if (!l)
        die("out of memory");
    memset(l, 0, sizeof *l);
    l->spec = *spec;
    l->protocol = protocol_get((int)spec->params.protocol, spec->params.suffix == 1);
    l->timeout_ns = (uint64_t)(spec->params.timeout * 1e9);
    l->blocking = spec->params.engine == ENGINE_BLOCKING;
    l->way = spec->params.engine == ENGINE_MUX_URING ? &mux_uring : &mux_epoll;
    l->fresh = spec->params.keepalive == KEEPALIVE_OFF && !l->protocol->one_way;
    l->fin = spec->params.close == CLOSE_FIN;
    l->mux_limit = thread_count(spec);
    l->own_tables = tables_for(&spec->params) > 0;
    l->queue_most = queue_of(spec);
    l->taken_before = spec->server_read ? load_taken(l) : 0;
    l->spins = wants_spin(l);
    l->phase = LOAD_PARKED;
    l->muxes = xcalloc((size_t)l->mux_limit, sizeof *l->muxes);
    pthread_mutex_init(&l->lock, NULL);
    set_want(l, &spec->params);
    atomic_store(&l->measure_ns, UINT64_MAX);
    make_shards(l);
    return l;
}

/* All of the mux engine's threads; of the blocking engine the one for idle connections, once there
 * are any. */
static int start_muxes(struct load *l, struct err *e)
{
    int wanted = l->blocking && !l->want.idle ? l->mux_count : l->mux_limit;
    while (l->mux_count < wanted) {
        struct mux *m = mux_start(l, l->mux_count, l->mux_limit, e);
        if (!m)
            return -EAGAIN;
        l->muxes[l->mux_count++] = m;
    }
    return 0;
}

/* Parks all threads with the settings in force and brings their number to what those need. */
static int settle_threads(struct load *l, struct err *e)
{
    int connections = l->blocking ? l->want.connections : 0;
    int muxes = l->blocking && !l->want.idle ? l->mux_count : l->mux_limit;
    atomic_store(&l->threads, (uint32_t)(muxes + connections));
    load_publish(l, LOAD_PARKED);
    int failed = start_muxes(l, e);
    if (!failed && (connections || l->blocker_count))
        failed = blocking_resize(l, connections, e);
    atomic_store(&l->threads, (uint32_t)load_threads(l));
    return failed;
}

int load_probe(const struct params *p, struct err *e)
{
    struct err why;
    int rc = p->engine == ENGINE_MUX_URING ? uring_probe(&why) : 0;
    return rc < 0 ? err_set(e, ENOSYS, "--engine mux-uring cannot run here: %s", why.text) : 0;
}

struct load *load_open(const struct load_spec *spec, struct err *e)
{
    if (load_probe(&spec->params, e) < 0)
        return NULL;
    struct load *l = make(spec);
    if (settle_threads(l, e) == 0)
        return l;
    load_close(l);
    return NULL;
}

void load_adjust(struct load *l, const struct params *p)
{
    struct err e = {""};
    set_want(l, p);
    if (settle_threads(l, &e) < 0) {
        pthread_mutex_lock(&l->lock);
        snprintf(l->trouble, sizeof l->trouble, "%.120s", e.text);
        pthread_mutex_unlock(&l->lock);
    }
}

bool load_wait_open(struct load *l, uint64_t timeout_ns)
{
    return wait_rest(l, timeout_ns);
}

/* --- phases ----------------------------------------------------------------------------------- */

static void virtual_runs(struct load *l, uint64_t now)
{
    if (l->turn_ns)
        return;
    unread_begin(l);
    l->turn_ns = now;
    atomic_store(&l->offset_ns, now - atomic_load(&l->virtual_ns));
}

static void virtual_stands(struct load *l, uint64_t now)
{
    if (l->turn_ns)
        atomic_fetch_add(&l->virtual_ns, now - l->turn_ns);
    l->turn_ns = 0;
}

void load_set_phase(struct load *l, enum load_phase phase)
{
    uint64_t now = clock_ns();
    if (phase_in_turn(phase)) {
        virtual_runs(l, now);
        atomic_store(&l->measure_ns, phase == LOAD_MEASURE ? now : UINT64_MAX);
    } else {
        virtual_stands(l, now);
    }
    l->phase = phase;
    load_publish(l, phase);
}

bool load_drained(struct load *l, uint64_t timeout_ns)
{
    bool drained = wait_rest(l, timeout_ns) && unread_wait(l, timeout_ns, false);
    if (drained && l->phase == LOAD_STOP)
        l->phase = LOAD_PARKED; /* threads that rest under STOP are parked */
    return drained;
}

void load_give_up(struct load *l)
{
    load_set_phase(l, LOAD_PARKED);
    wait_rest(l, GIVE_UP_NS);
    unread_wait(l, UNREAD_NS, true);
}

void load_close(struct load *l)
{
    if (!l)
        return;
    load_publish(l, PHASE_CLOSE);
    for (int i = 0; i < l->mux_count; i++)
        mux_join(l->muxes[i]);
    blocking_stop(l);
    for (int i = 0; i < l->shard_count; i++)
        for (int h = 0; h < LOAD_HISTS; h++)
            hist_free(l->shards[i].hists[h]);
    pthread_mutex_destroy(&l->lock);
    free(l->phases);
    free(l->shards);
    free(l->muxes);
    free(l);
}

/* --- reading ---------------------------------------------------------------------------------- */

void load_read(const struct load *l, struct load_counts *into)
{
    memset(into, 0, sizeof *into);
    for (int i = 0; i < l->shard_count; i++)
        load_counts_add(into, &l->shards[i].counts);
}

void load_read_hist(const struct load *l, enum load_hist which, struct hist_copy *into)
{
    hist_clear(into);
    for (int i = 0; i < l->shard_count; i++)
        hist_read(l->shards[i].hists[which], into);
}

long load_established(const struct load *l)
{
    return atomic_load_explicit(&l->established, memory_order_relaxed);
}

static int64_t thread_cpu_ns(pthread_t t)
{
    clockid_t clock;
    int64_t ns = pthread_getcpuclockid(t, &clock) ? 0 : clock_cpu_ns(clock);
    return ns < 0 ? 0 : ns;
}

long load_served(const struct load *l)
{
    return atomic_load_explicit(&l->served, memory_order_relaxed);
}

long load_never_answered(const struct load *l)
{
    long asked = atomic_load_explicit(&l->asked, memory_order_relaxed), served = load_served(l);
    return asked > served ? asked - served : 0;
}

void load_note_spent(struct load *l, uint64_t now_ns)
{
    uint64_t was = atomic_load(&l->spent_ns);
    while (was < now_ns && !atomic_compare_exchange_weak(&l->spent_ns, &was, now_ns))
        ;
}

uint64_t load_spent_ns(const struct load *l)
{
    return atomic_load(&l->spent_ns);
}

int64_t load_cpu_ns(const struct load *l)
{
    int64_t sum = 0;
    for (int i = 0; i < l->mux_count; i++)
        sum += thread_cpu_ns(mux_thread(l->muxes[i]));
    for (int i = l->mux_limit; i < l->shard_count; i++)
        sum += atomic_load_explicit(&l->shards[i].cpu_ns, memory_order_relaxed);
    return sum;
}

int load_threads(const struct load *l)
{
    return l->mux_count + l->blocker_count;
}

bool load_spins(const struct load *l)
{
    return l->spins;
}
