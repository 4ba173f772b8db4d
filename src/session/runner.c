/* SPDX-License-Identifier: MIT */
/* The runner: one thread that takes the next thing wanted (a row of the plan, else the live
 * row), makes the rig fit it, measures, judges, and looks again. An order ends the running row
 * between two turns; what was measured stays when it had enough kept rounds. */
#include "session/inner.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/opening.h"
#include "session/prints.h"
#include "session/ramp.h"
#include "servers/target.h"
#include "session/verdict.h"

#define KEEP_ROUNDS 3
#define TAKE_AGAIN_NS (4 * NS_PER_S)
#define CROWD 16 /* threads a CPU: more, and a slice of each is what a person notices */

struct job {
    bool any, from_plan;
    struct plan_row want;
    unsigned seen;
};

static bool plan_runs(const struct session *s)
{
    return s->plan_next < s->plan.count;
}

/* Of the rows that come after the next one. */
static double plan_rest(const struct session *s)
{
    double rest = 0;
    for (int i = s->plan_next + 1; i < s->plan.count; i++)
        rest += plan_row_seconds(&s->plan.rows[i]);
    return rest;
}

/* Waits for something to do. False: the session ends. */
static bool next_job(struct session *s, struct job *job)
{
    pthread_mutex_lock(&s->lock);
    for (;;) {
        bool runnable = s->now.load_on && (plan_runs(s) || s->have_want);
        if (atomic_load(&s->quit) || runnable)
            break;
        s->now.phase = s->now.load_on ? PHASE_IDLE : PHASE_OFF;
        s->now.load_spare_pct = METRIC_NONE;
        if (s->now.load_on) /* else its figures stand until the load is on again */
            s->now.row_number = 0;
        s->idle = !plan_runs(s) && !s->have_want;
        pthread_cond_broadcast(&s->changed);
        pthread_cond_wait(&s->changed, &s->lock);
    }
    job->from_plan = plan_runs(s);
    job->want = job->from_plan ? s->plan.rows[s->plan_next] : s->now.want;
    job->seen = atomic_load(&s->orders);
    for (int i = 0; i < LINEUP_MAX; i++)
        if (s->restart & 1u << i)
            rig_drop(&s->rig, i);
    s->restart = 0;
    s->now.plan_count = job->from_plan ? s->plan.count : 0;
    s->now.plan_done = s->plan_next;
    s->rest_s = plan_rest(s);
    memcpy(s->now.plan_title, s->plan.title, sizeof s->now.plan_title);
    atomic_store(&s->watch.stop, false);
    pthread_mutex_unlock(&s->lock);
    return !atomic_load(&s->quit);
}

/* What the plan makes of what it has measured. */
static void more_rows(struct session *s)
{
    plan_more_fn more = s->plan.more;
    int before = s->plan.count;
    s->plan.more = NULL;
    if (more)
        more(&s->rows, &s->plan);
    if (s->plan.count == before)
        return;
    snprintf(s->now.log, sizeof s->now.log, "more rounds at %d places, where the two are close",
             s->plan.count - before);
    s->now.log_number++;
}

static void job_done(struct session *s, const struct job *job)
{
    pthread_mutex_lock(&s->lock);
    if (job->from_plan && !session_ordered(s, job->seen)) {
        s->plan_next++;
        s->now.plan_done = s->plan_next;
        if (!plan_runs(s))
            more_rows(s);
        if (!plan_runs(s)) {
            snprintf(s->now.log, sizeof s->now.log, "done: %s", s->plan.title);
            s->now.log_number++;
            s->now.plan_count = 0;
            s->now.plan_row = job->want.claim[0] ? 0 : s->now.row_number;
        }
        pthread_cond_broadcast(&s->changed);
    }
    /* A live row that ended by itself (no server of it runs) is not begun again without an
     * order. */
    s->resting = !job->from_plan;
    while (s->resting && !session_ordered(s, job->seen))
        pthread_cond_wait(&s->changed, &s->lock);
    s->resting = false;
    pthread_mutex_unlock(&s->lock);
}

/* A row in which a server died is not gone on with: it begins again, with a server that lives. Nor
 * is a claim's: it is tried anew each time, and its rows are not one's own. */
static bool same_ask(const struct row *r, const struct plan_row *want)
{
    if (r->pane_count != want->lineup.count || r->claim[0] || want->claim[0])
        return false;
    for (int i = 0; i < r->pane_count; i++)
        if (r->panes[i].io != want->lineup.models[i] || r->panes[i].died)
            return false;
    return params_same_but(&r->params, &want->params, PARAM_COUNT);
}

/* Ours are all over loopback. */
static const char *path_of(const struct lineup *l)
{
    int farthest = 0;
    for (int i = 0; i < l->count; i++)
        for (int k = 0; l->models[i]->target && row_paths[k]; k++)
            if (!strcmp(row_paths[k], l->models[i]->target->path) && k > farthest)
                farthest = k;
    return row_paths[farthest];
}

/* What is known beforehand that will not be measured of a server that is not ours. */
static void note_doubt(struct pane *p)
{
    const struct target *t = p->io->target;
    if (t && t->doubt[0])
        snprintf(p->note, sizeof p->note, "%.90s: no CPU measured", t->doubt);
    else if (t && !t->recipe && t->pid == 0 && strcmp(t->path, "network") != 0)
        snprintf(p->note, sizeof p->note, "no pid given: no CPU measured");
}

/* The row to measure into: one of this period that was asked for before goes on, else a new one. */
static struct row *row_for(struct session *s, const struct plan_row *want)
{
    struct row *found = NULL;
    pthread_mutex_lock(&s->lock);
    for (struct row *r = s->rows.first; r && (s->options.forever || want->rounds); r = r->next)
        if (r->state != ROW_DROPPED && r->period == s->rows.period && same_ask(r, want))
            found = r;
    if (!found) {
        found = rows_add(&s->rows, &want->params, want->lineup.count);
        found->path = path_of(&want->lineup);
        memcpy(found->claim, want->claim, sizeof found->claim);
        for (int i = 0; i < found->pane_count; i++) {
            found->panes[i].io = want->lineup.models[i];
            snprintf(found->panes[i].model, sizeof found->panes[i].model, "%s",
                     want->lineup.models[i]->id);
            note_doubt(&found->panes[i]);
        }
    }
    found->state = ROW_RUNNING;
    found->rounds = want->rounds > found->rounds ? want->rounds : found->rounds;
    s->now.row_number = found->number;
    s->now.taken = row_kept(found);
    s->now.asked = session_asked(s, found);
    s->row_began_s = session_elapsed(s);
    session_traces(s, found);
    session_left(s, found);
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* Below 0: minus the process below which all of them run. */
static pid_t known_pid(const struct server *s)
{
    return server_root(s) ? -server_root(s) : server_pid(s);
}

static void publish_rig(struct session *s)
{
    for (int i = 0; i < LINEUP_MAX; i++) {
        struct rig_pane *p = i < s->rig.count ? &s->rig.panes[i] : NULL;
        session_trouble(s, i, p && p->server && !p->trouble[0], p ? p->trouble : "");
        pthread_mutex_lock(&s->lock);
        s->pids[i] = p && p->server ? known_pid(p->server) : 0;
        pthread_mutex_unlock(&s->lock);
    }
}

static void show_established(struct session *s, int pane, long n)
{
    pthread_mutex_lock(&s->lock);
    s->now.panes[pane].established = n;
    pthread_mutex_unlock(&s->lock);
}

/* What opening them took; false: none came, as in a row that goes on. */
static bool opened(struct session *s, struct row *row, int pane, const struct opening *from)
{
    struct rig_pane *p = &s->rig.panes[pane];
    char *to = row->panes[pane].no_kernel;
    const char *why;
    if (!opening_end(p->server, from, &p->opened, &why))
        return false;
    pthread_mutex_lock(&s->lock);
    snprintf(to, sizeof row->panes[pane].no_kernel, "%s", why);
    pthread_mutex_unlock(&s->lock);
    return true;
}

/* Opens the connections of one pane, showing how many there are; false: an order came. */
static bool connect_pane(struct session *s, struct row *row, int pane, unsigned seen)
{
    uint64_t give_up = clock_ns() + 5 * NS_PER_S + (uint64_t)(row->params.timeout * 1e9);
    struct rig_pane *p = &s->rig.panes[pane];
    struct opening from;
    struct err why;
    bool measured = row->workload->holds && p->server;
    if (measured)
        opening_begin(p->server, &from);
    rig_load(p, &s->cpus);
    while (p->load && !load_wait_open(p->load, 50 * NS_PER_MS)) {
        show_established(s, pane, load_established(p->load));
        if (session_ordered(s, seen))
            return false;
        if (clock_ns() > give_up || !server_alive(p->server, &why))
            break;
    }
    p->opened_new = measured && opened(s, row, pane, &from);
    show_established(s, pane, p->load ? load_established(p->load) : 0);
    return true;
}

/* One pane after the other: no server accepts while another one does. */
static bool connect_all(struct session *s, struct row *row, unsigned seen)
{
    session_phase(s, PHASE_CONNECTING);
    for (int i = 0; i < s->rig.count; i++)
        show_established(s, i, 0); /* those of the row before are said no more */
    for (int i = 0; i < s->rig.count; i++)
        if (!connect_pane(s, row, i, seen))
            return false;
    publish_rig(s);
    return true;
}

static void begin_split(struct session *s)
{
    for (int i = 0; i < s->rig.count; i++)
        if (s->rig.panes[i].server)
            split_begin(&s->rig.panes[i].split, s->rig.panes[i].server);
}

void session_split(struct session *s, struct row *row)
{
    char text[SPLIT_TEXT];
    for (int i = 0; i < s->rig.count; i++) {
        if (!s->rig.panes[i].server)
            continue;
        split_text(&s->rig.panes[i].split, s->rig.panes[i].server, text);
        pthread_mutex_lock(&s->lock);
        snprintf(row->panes[i].workers, sizeof row->panes[i].workers, "%s", text);
        pthread_mutex_unlock(&s->lock);
    }
}

static void close_row(struct session *s, struct row *row, bool complete)
{
    pthread_mutex_lock(&s->lock);
    int kept = row_kept(row), enough = row_asks_one(&row->params) ? 1 : KEEP_ROUNDS;
    row->state = complete ? ROW_DONE : kept >= enough ? ROW_STOPPED : ROW_DROPPED;
    /* `run` saves what there is, few as it may be, and a row whose load was only turned off goes
     * on; only the live picture drops. */
    if (row->state == ROW_DROPPED && kept > 0 && (!s->options.forever || !s->now.load_on))
        row->state = ROW_STOPPED;
    pthread_mutex_unlock(&s->lock);
    if (row->state == ROW_DROPPED && kept > 0 && !atomic_load(&s->quit))
        session_log(s, "a row with %d kept round%s was dropped", kept, kept == 1 ? "" : "s");
}

/* What is left of a step of a ramp; false: nothing, all models have come to their end. */
static bool fit_step(struct session *s, struct plan_row *step)
{
    if (!workload_of(&step->params)->next_step)
        return true;
    pthread_mutex_lock(&s->lock);
    step->over = ramp_over(&s->rows, step);
    pthread_mutex_unlock(&s->lock);
    return step->over != (1u << step->lineup.count) - 1;
}

/* Load threads on each CPU of the load, of the pane that has most. */
static int crowd(const struct session *s)
{
    int most = 0;
    for (int i = 0; i < s->rig.count; i++) {
        int n = s->rig.panes[i].load ? load_threads(s->rig.panes[i].load) : 0;
        most = n > most ? n : most;
    }
    return most / s->cpus.load_count;
}

/* A thread among a thousand that never sleep gets a thousandth of their CPUs: the screen then takes
 * half a second for a key, and a turn ends as late. Beside so many load threads those that belong
 * to neither side use the server's CPU, a few thousandths of it; else they leave it alone. */
static void seat_others(struct session *s, bool crowded)
{
    cpu_set_t set = s->cpus.load;
    if (!s->cpus.pinned)
        return;
    if (crowded) {
        CPU_ZERO(&set);
        CPU_SET(s->cpus.server, &set);
    }
    pthread_mutex_lock(&s->lock);
    const pid_t others[] = {gettid(), s->sampler_tid, s->ui_tid};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] > 0)
            sched_setaffinity(others[i], sizeof set, &set);
    pthread_mutex_unlock(&s->lock);
}

static void run_row(struct session *s, struct job *job)
{
    if (job->from_plan && !fit_step(s, &job->want))
        return;
    session_phase(s, PHASE_STARTING);
    s->rig.orders = &s->orders;
    s->rig.seen = job->seen;
    rig_fit(&s->rig, &job->want, &s->cpus);
    publish_rig(s);
    struct row *row = row_for(s, &job->want);
    if (!connect_all(s, row, job->seen)) {
        close_row(s, row, false);
        return;
    }
    seat_others(s, crowd(s) > CROWD);
    int failed = -1; /* the first pane that cannot be measured */
    bool serves = false;
    for (int i = 0; i < s->rig.count; i++) {
        bool ready = rig_ready(&s->rig.panes[i], row->workload);
        serves |= ready;
        failed = failed < 0 && !ready ? i : failed;
    }
    bool complete = false;
    prints_take(s, row, job->seen);
    begin_split(s);
    if (serves && row->workload->repeat)
        complete = passes_run(s, row, job->seen);
    else if (serves)
        complete = turns_run(s, row, job->seen);
    session_split(s, row);
    close_row(s, row, complete);
    pthread_mutex_lock(&s->lock);
    verdict_row(row, &s->rig);
    if (row->workload->next_step)
        ramp_note(&s->rows, row);
    pthread_mutex_unlock(&s->lock);
    if (!serves)
        session_phase(s, PHASE_FAILED);
    if (failed >= 0)
        session_log(s, "%c %s: %s", 'A' + failed, row->panes[failed].model,
                    row->panes[failed].reason);
}

/* While no load runs, so the prices are a server's that is alone on its CPU. What was said before
 * is said again behind it: after the last row nothing else would come. */
static void take_prices(struct session *s)
{
    struct prices_spec spec = {
        .cpu = server_cpu(s), .alone = s->cpus.allowed < 2, .quit = &s->quit};
    struct prices middle;
    pthread_mutex_lock(&s->lock);
    enum session_phase before = s->now.phase;
    pthread_mutex_unlock(&s->lock);
    session_phase(s, PHASE_PRICES);
    prices_measure(&spec, &s->taken[s->takings++ % PRICES_TAKEN]);
    s->taken_ns = clock_ns();
    prices_middle(s->taken, s->takings < PRICES_TAKEN ? s->takings : PRICES_TAKEN, &middle);
    pthread_mutex_lock(&s->lock);
    s->env.prices = middle;
    s->now.phase = before;
    pthread_mutex_unlock(&s->lock);
}

void *session_runner(void *session)
{
    struct session *s = session;
    struct job job;
    if (s->options.prices)
        take_prices(s);
    while (next_job(s, &job)) {
        run_row(s, &job);
        seat_others(s, false);
        /* The machine has slow times of half a second and more: again where nobody waits,
         * and not between rows that are as short as a taking. */
        if (s->options.prices && clock_ns() - s->taken_ns > TAKE_AGAIN_NS &&
            !session_ordered(s, job.seen))
            take_prices(s);
        job_done(s, &job);
    }
    return NULL;
}
