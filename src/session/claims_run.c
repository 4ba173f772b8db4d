/* SPDX-License-Identifier: MIT */
/* One plan of the rows of all claims that are tried, so that the session goes from one to the next
 * without measuring anything else in between; probes come first, since they take no time. A row
 * bears the name of its claim: by that the judge finds it. */
#include "session/claims_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session/inner.h"
#include "session/reach.h"

#define PROBE_S 0.1
#define LOOK_NS (50 * NS_PER_MS) /* how soon it is seen that it is to stop */

struct claims_run {
    /* frozen after start */
    struct session *session;
    const struct claims *claims;

    /* the owner's */
    pthread_t thread;
    bool has_thread; /* to be joined */

    _Atomic bool stop;

    /* under lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool running;
    struct claim_try *tries;

    /* the thread's, while it runs */
    double (*probes)[PROBE_FIGURES];
    int *rows; /* of the plan, up to and with those of a claim; 0: it has none */
};

struct claims_run *claims_run_new(struct session *s, const struct claims *c)
{
    struct claims_run *r = xcalloc(1, sizeof *r);
    size_t n = (size_t)c->count + 1;
    pthread_condattr_t attr;
    r->session = s;
    r->claims = c;
    r->tries = xcalloc(n, sizeof *r->tries);
    r->probes = xcalloc(n, sizeof *r->probes);
    r->rows = xcalloc(n, sizeof *r->rows);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

static void join(struct claims_run *r)
{
    if (r->has_thread)
        pthread_join(r->thread, NULL);
    r->has_thread = false;
}

void claims_run_free(struct claims_run *r)
{
    if (!r)
        return;
    claims_run_stop(r);
    join(r);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r->tries);
    free(r->probes);
    free(r->rows);
    free(r);
}

double claims_seconds(const struct claims *c, const bool *wanted)
{
    double seconds = 0;
    for (int i = 0; i < c->count; i++)
        if (!wanted || wanted[i])
            seconds += c->list[i]->plan.seconds + (c->list[i]->probe ? PROBE_S : 0);
    return seconds;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void set_state(struct claims_run *r, int i, enum try_state state)
{
    pthread_mutex_lock(&r->lock);
    r->tries[i].state = state;
    pthread_mutex_unlock(&r->lock);
}

static bool is_wanted(struct claims_run *r, int i)
{
    pthread_mutex_lock(&r->lock);
    bool yes = r->tries[i].state != TRY_RESTS;
    pthread_mutex_unlock(&r->lock);
    return yes;
}

static void set_result(struct claims_run *r, int i, const struct claim_result *result)
{
    pthread_mutex_lock(&r->lock);
    r->tries[i] = (struct claim_try){.state = TRY_RESTS, .tried = true, .result = *result};
    pthread_mutex_unlock(&r->lock);
}

static void judge(struct claims_run *r, int i)
{
    struct claim_result result;
    session_lock(r->session);
    claim_judge(r->claims->list[i], session_rows(r->session)->first, r->probes[i], &result);
    session_unlock(r->session);
    set_result(r, i, &result);
}

/* False, and why: its rows cannot be measured here, or its probe not be made. */
static bool begin(struct claims_run *r, int i, char *why, size_t size)
{
    const struct claim *c = r->claims->list[i];
    struct err e = {""};
    for (int k = 0; k < PROBE_FIGURES; k++)
        r->probes[i][k] = NAN;
    if (c->cannot[0])
        snprintf(e.text, sizeof e.text, "%s", c->cannot);
    else if ((!c->plan.count || reach_check_here(&c->plan, &e) == 0) &&
             (!c->probe || c->probe->run(r->probes[i], &e) >= 0))
        return true;
    snprintf(why, size, "%s", e.text);
    return false;
}

/* Probes; and the plan of what is left to measure. */
static void begin_all(struct claims_run *r, struct plan *plan)
{
    for (int i = 0; i < r->claims->count && !atomic_load(&r->stop); i++) {
        const struct plan *p = &r->claims->list[i]->plan;
        struct claim_result cannot = {.verdict = CLAIM_NOT_MEASURED};
        r->rows[i] = 0;
        if (!is_wanted(r, i))
            continue;
        if (!begin(r, i, cannot.reason, sizeof cannot.reason)) {
            set_result(r, i, &cannot);
        } else if (!p->count) {
            judge(r, i);
        } else {
            size_t all = (size_t)plan->count + (size_t)p->count;
            plan->rows = xrealloc(plan->rows, all, sizeof *plan->rows);
            memcpy(plan->rows + plan->count, p->rows, (size_t)p->count * sizeof *p->rows);
            r->rows[i] = plan->count = (int)all;
            plan->seconds += p->seconds;
        }
    }
}

/* False: it is to stop. */
static bool rows_come(struct claims_run *r, unsigned plan, int rows)
{
    int done = 0;
    while (done == 0 && !atomic_load(&r->stop))
        done = session_wait_rows(r->session, plan, rows, LOOK_NS);
    if (done == 0) /* unless somebody has stopped it, and perhaps ordered another one since */
        session_stop_plan_of(r->session, plan);
    return done > 0;
}

static void measure(struct claims_run *r, const struct plan *plan)
{
    unsigned number = session_plan(r->session, plan);
    for (int i = 0; i < r->claims->count; i++) {
        if (!r->rows[i])
            continue;
        set_state(r, i, TRY_RUNS);
        session_log(r->session, "tried: %s", r->claims->list[i]->title);
        if (!rows_come(r, number, r->rows[i]))
            return;
        judge(r, i);
    }
}

static void ended(struct claims_run *r)
{
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < r->claims->count; i++)
        r->tries[i].state = TRY_RESTS;
    r->running = false;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void *run(void *claims_run)
{
    struct claims_run *r = claims_run;
    struct plan plan = {.title = "the claims", .axis = {PARAM_COUNT, PARAM_COUNT}};
    begin_all(r, &plan);
    if (plan.count && !atomic_load(&r->stop))
        measure(r, &plan);
    plan_free(&plan);
    ended(r);
    return NULL;
}

/* --- the owner -------------------------------------------------------------------------------- */

bool claims_run_start(struct claims_run *r, const bool *wanted)
{
    if (!claims_run_wait(r, 0))
        return false;
    join(r);
    atomic_store(&r->stop, false);
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < r->claims->count; i++)
        r->tries[i].state = !wanted || wanted[i] ? TRY_WAITS : TRY_RESTS;
    r->running = r->has_thread = pthread_create(&r->thread, NULL, run, r) == 0;
    for (int i = 0; i < r->claims->count && !r->running; i++)
        r->tries[i].state = TRY_RESTS;
    pthread_mutex_unlock(&r->lock);
    return r->has_thread;
}

void claims_run_stop(struct claims_run *r)
{
    atomic_store(&r->stop, true);
}

bool claims_run_wait(struct claims_run *r, uint64_t timeout_ns)
{
    struct timespec until = clock_timespec(clock_ns() + timeout_ns);
    int error = 0;
    pthread_mutex_lock(&r->lock);
    while (r->running && error == 0)
        error = pthread_cond_timedwait(&r->changed, &r->lock, &until);
    bool done = !r->running;
    pthread_mutex_unlock(&r->lock);
    return done;
}

void claims_run_read(struct claims_run *r, struct claim_try *out)
{
    pthread_mutex_lock(&r->lock);
    memcpy(out, r->tries, (size_t)r->claims->count * sizeof *out);
    pthread_mutex_unlock(&r->lock);
}
