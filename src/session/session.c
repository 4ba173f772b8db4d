/* SPDX-License-Identifier: MIT */
/* The session's outside: its life, the orders it takes, and the copies it hands out. An order only
 * writes down what is wanted and wakes the runner; the runner alone starts, measures and stops. */
#include "session/inner.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

const char *const session_phase_words[] = {
    "idle", "pricing calls", "starting servers", "connecting", "warming up", "measuring",
    "measured", "load off", "nothing runs", "a saved session",
};

void session_base(struct session *s)
{
    s->now.turn_pane = s->now.watch_pane = -1;
    s->now.process_cpu_pct = s->now.ui_cpu_pct = METRIC_NONE;
    s->now.servers_cpu_pct = s->now.others_pct = METRIC_NONE;
    s->now.steal_pct = s->now.load_spare_pct = METRIC_NONE;
    s->idle = true;
    load_watch_init(&s->watch);

    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&s->lock, NULL);
}

static void start_fields(struct session *s, const struct session_options *o)
{
    session_base(s);
    s->options = *o;
    s->t0_ns = clock_ns();
    char stamp[24];
    clock_stamp(stamp, sizeof stamp);
    snprintf(s->id, sizeof s->id, "%s-%d", stamp, (int)getpid());
    environment_read(&s->env);
    s->mem_total = proc_mem_total();
    cpus_plan(o->pin, &s->cpus);
    s->now.cpus = s->cpus;
    s->now.load_on = true;
}

struct session *session_new(const struct session_options *o, struct err *e)
{
    struct session *s = xcalloc(1, sizeof *s);
    start_fields(s, o);
    /* Whatever this thread starts from here on, screen included, leaves the server's CPU alone. */
    if (s->cpus.pinned && cpus_pin_set(&s->cpus.load, e) < 0)
        goto fail;
    errno = pthread_create(&s->runner, NULL, session_runner, s);
    if (errno) {
        err_sys(e, "start the runner's thread");
        goto fail;
    }
    s->threads++;
    errno = pthread_create(&s->sampler, NULL, session_sampler, s);
    if (errno) {
        err_sys(e, "start the sampler's thread");
        goto fail;
    }
    s->threads++;
    if (o->autosave)
        s->autosave = autosave_start(s, o->autosave);
    return s;
fail:
    session_free(s);
    return NULL;
}

static void ordered(struct session *s) /* under the lock */
{
    atomic_fetch_add(&s->orders, 1);
    atomic_store(&s->watch.stop, true);
    s->idle = false;
    pthread_cond_broadcast(&s->changed);
}

void session_free(struct session *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->quit, true);
    ordered(s);
    pthread_mutex_unlock(&s->lock);
    if (s->threads > 0)
        pthread_join(s->runner, NULL);
    if (s->threads > 1)
        pthread_join(s->sampler, NULL);
    autosave_stop(s->autosave);
    rig_close(&s->rig);
    plan_free(&s->plan);
    rows_free(&s->rows);
    load_watch_fini(&s->watch);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    free(s->file);
    free(s);
}

/* --- orders ------------------------------------------------------------------------------- */

void session_live(struct session *s, const struct plan_row *want)
{
    pthread_mutex_lock(&s->lock);
    s->now.want = *want;
    s->now.plan_row = 0;
    s->have_want = true;
    s->more = 0;
    ordered(s);
    pthread_mutex_unlock(&s->lock);
}

unsigned session_plan(struct session *s, const struct plan *p)
{
    pthread_mutex_lock(&s->lock);
    plan_free(&s->plan);
    s->plan = *p;
    s->plan.rows = xcalloc((size_t)p->count, sizeof *p->rows);
    memcpy(s->plan.rows, p->rows, (size_t)p->count * sizeof *p->rows);
    s->plan_next = 0;
    s->now.plan_row = 0;
    s->more = 0;
    unsigned number = ++s->plan_number;
    ordered(s);
    pthread_mutex_unlock(&s->lock);
    return number;
}

/* Under the lock. */
static void stop_plan(struct session *s)
{
    bool of_claims = s->plan.count && s->plan.rows[0].claim[0];
    plan_free(&s->plan);
    memset(&s->plan, 0, sizeof s->plan);
    s->plan_next = 0;
    s->now.plan_row = of_claims ? 0 : s->now.row_number;
    ordered(s);
}

void session_stop_plan(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    stop_plan(s);
    pthread_mutex_unlock(&s->lock);
}

void session_stop_plan_of(struct session *s, unsigned plan)
{
    pthread_mutex_lock(&s->lock);
    if (s->plan_number == plan && s->plan.count)
        stop_plan(s);
    pthread_mutex_unlock(&s->lock);
}

void session_load(struct session *s, bool on)
{
    pthread_mutex_lock(&s->lock);
    if (s->now.load_on != on) {
        s->now.load_on = on;
        ordered(s);
    }
    pthread_mutex_unlock(&s->lock);
}

void session_more(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    s->more++;
    if (s->resting)
        ordered(s);
    pthread_mutex_unlock(&s->lock);
}

void session_restart(struct session *s, int pane)
{
    pthread_mutex_lock(&s->lock);
    s->restart |= 1u << pane;
    ordered(s);
    pthread_mutex_unlock(&s->lock);
}

void session_interrupted(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    ordered(s);
    pthread_mutex_unlock(&s->lock);
}

int session_apart(struct session *s)
{
    int ended = -ENODATA;
    pthread_mutex_lock(&s->lock);
    for (const struct row *r = s->rows.first; r && ended < 0; r = r->next)
        if (r->period == s->rows.period && r->state != ROW_DROPPED && row_kept(r) > 0)
            ended = r->period;
    if (ended >= 0) {
        s->rows.period++;
        s->now.plan_row = 0;
        ordered(s);
    }
    pthread_mutex_unlock(&s->lock);
    return ended;
}

void session_stop(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    s->have_want = false;
    plan_free(&s->plan);
    memset(&s->plan, 0, sizeof s->plan);
    s->plan_next = 0;
    ordered(s);
    pthread_mutex_unlock(&s->lock);
}

bool session_wait(struct session *s, uint64_t timeout_ns)
{
    struct timespec until = clock_timespec(clock_ns() + timeout_ns);
    pthread_mutex_lock(&s->lock);
    int r = 0;
    while (!s->idle && r == 0)
        r = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    bool done = s->idle;
    pthread_mutex_unlock(&s->lock);
    return done;
}

int session_wait_rows(struct session *s, unsigned plan, int rows, uint64_t timeout_ns)
{
    struct timespec until = clock_timespec(clock_ns() + timeout_ns);
    pthread_mutex_lock(&s->lock);
    int r = 0;
    while (s->plan_number == plan && s->plan_next < rows && rows <= s->plan.count && r == 0)
        r = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    bool theirs = s->plan_number == plan && rows <= s->plan.count;
    int done = !theirs ? -ECANCELED : s->plan_next >= rows;
    pthread_mutex_unlock(&s->lock);
    return done;
}

void session_ui_thread(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    bool has = pthread_getcpuclockid(pthread_self(), &s->ui_clock) == 0;
    s->ui_tid = gettid();
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->has_ui, has);
}

/* --- reading ------------------------------------------------------------------------------ */

void session_lock(struct session *s)
{
    pthread_mutex_lock(&s->lock);
}

void session_unlock(struct session *s)
{
    pthread_mutex_unlock(&s->lock);
}

const struct rows *session_rows(const struct session *s)
{
    return &s->rows;
}

unsigned long session_samples(const struct session *s)
{
    return s->samples;
}

void session_saved(struct session *s, unsigned long samples)
{
    pthread_mutex_lock(&s->lock);
    s->saved = samples;
    pthread_mutex_unlock(&s->lock);
}

const struct environment *session_environment(const struct session *s)
{
    return &s->env;
}

const char *session_id(const struct session *s)
{
    return s->id;
}

pid_t session_server_pid(struct session *s, int pane)
{
    pthread_mutex_lock(&s->lock);
    pid_t pid = pane >= 0 && pane < LINEUP_MAX ? s->pids[pane] : 0;
    pthread_mutex_unlock(&s->lock);
    return pid;
}

struct session_now *session_now_new(void)
{
    struct session_now *n = xcalloc(1, sizeof *n);
    for (int i = 0; i < LINEUP_MAX; i++)
        n->panes[i].trace = xcalloc(TRACE_POINTS, sizeof(struct values));
    return n;
}

void session_now_free(struct session_now *n)
{
    if (!n)
        return;
    for (int i = 0; i < LINEUP_MAX; i++)
        free(n->panes[i].trace);
    free(n);
}

static void trace_copy(const struct trace *t, struct pane_now *out)
{
    if (out->trace_pushed == t->pushed)
        return;
    unsigned long kept = t->pushed - t->first;
    int count = kept < TRACE_POINTS ? (int)kept : TRACE_POINTS;
    for (int i = 0; i < count; i++) {
        size_t at = (t->pushed - (unsigned long)count + (unsigned long)i) % TRACE_POINTS;
        out->trace_t_s[i] = t->t_s[at];
        out->trace[i] = t->values[at];
    }
    out->trace_count = count;
    out->trace_pushed = t->pushed;
}

void session_read(struct session *s, struct session_now *out)
{
    struct pane_now panes[LINEUP_MAX];
    memcpy(panes, out->panes, sizeof panes); /* they keep their storage */
    pthread_mutex_lock(&s->lock);
    *out = s->now;
    for (int i = 0; i < LINEUP_MAX; i++) {
        panes[i].alive = s->now.panes[i].alive;
        panes[i].established = s->now.panes[i].established;
        memcpy(panes[i].trouble, s->now.panes[i].trouble, sizeof panes[i].trouble);
        trace_copy(&s->traces[i], &panes[i]);
    }
    if (s->now.watch_pane >= 0)
        load_watch_copy(&s->watch, &out->watch[s->now.watch_pane]);
    session_count_down(s, out);
    pthread_mutex_unlock(&s->lock);
    memcpy(out->panes, panes, sizeof panes);
    out->elapsed_s = session_elapsed(s);
}

/* --- for the runner ------------------------------------------------------------------------ */

double session_elapsed(const struct session *s)
{
    return s->file ? s->saved_s : (double)(clock_ns() - s->t0_ns) / 1e9;
}

void session_phase(struct session *s, enum session_phase phase)
{
    pthread_mutex_lock(&s->lock);
    s->now.phase = phase;
    pthread_mutex_unlock(&s->lock);
}

void session_log(struct session *s, const char *fmt, ...)
{
    char text[sizeof s->now.log];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pthread_mutex_lock(&s->lock);
    memcpy(s->now.log, text, sizeof text);
    s->now.log_number++;
    pthread_mutex_unlock(&s->lock);
}

bool session_ordered(const struct session *s, unsigned seen)
{
    return atomic_load(&s->orders) != seen;
}

bool session_sleep(struct session *s, uint64_t t_ns, unsigned seen)
{
    struct timespec until = clock_timespec(t_ns);
    int r = 0;
    pthread_mutex_lock(&s->lock);
    while (!session_ordered(s, seen) && r == 0)
        r = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    pthread_mutex_unlock(&s->lock);
    return session_ordered(s, seen);
}

void session_push(struct session *s, struct row *row, int pane, const struct sample *sample)
{
    pthread_mutex_lock(&s->lock);
    *pane_add(&row->panes[pane]) = *sample;
    struct trace *t = &s->traces[pane];
    t->t_s[t->pushed % TRACE_POINTS] = sample->elapsed_s;
    t->values[t->pushed % TRACE_POINTS] = sample->values;
    t->pushed++;
    s->samples++;
    s->now.taken = row_kept(row);
    pthread_mutex_unlock(&s->lock);
}

void session_trouble(struct session *s, int pane, bool alive, const char *text)
{
    pthread_mutex_lock(&s->lock);
    struct pane_now *p = &s->now.panes[pane];
    p->alive = alive;
    snprintf(p->trouble, sizeof p->trouble, "%s", text ? text : "");
    pthread_mutex_unlock(&s->lock);
}

void session_lost(struct session *s, struct row *row, int pane, bool died, const char *why)
{
    struct pane *p = &row->panes[pane];
    pthread_mutex_lock(&s->lock);
    p->died = died;
    snprintf(p->reason, sizeof p->reason, "%.150s", why);
    if (died)
        s->pids[pane] = 0;
    pthread_mutex_unlock(&s->lock);
    session_trouble(s, pane, false, why);
    session_log(s, "%c %s: %s", 'A' + pane, p->model, why);
}
