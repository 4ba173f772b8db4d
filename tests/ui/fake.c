/* SPDX-License-Identifier: MIT */
/* Figures follow simple laws with a little noise from a fixed sequence, so every run of the tests
 * shows the same screens. */
#include "ui/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/protocol.h"
#include "session/csv.h"

struct session {
    struct rows rows;
    struct session_now now;
    struct values trace[LINEUP_MAX][TRACE_POINTS];
    struct fake_orders orders;
    struct environment env;
    char *file; /* of a saved one */
    unsigned noise;
};

const char *const session_phase_words[] = {
    "idle",     "pricing calls", "starting servers", "connecting",      "warming up", "measuring",
    "measured", "load off",      "nothing runs",     "a saved session",
};

/* --- what a test sets up ---------------------------------------------------------------------- */

static void set_prices(struct prices *p)
{
    static const double ns[PRICE_COUNT] = {
        [PRICE_call] = 970,       [PRICE_wait] = 1080,       [PRICE_look] = 70,
        [PRICE_look_sleep] = 147, [PRICE_recv] = 1500,       [PRICE_recv_empty] = 1140,
        [PRICE_send] = 5200,      [PRICE_mod] = 1330,        [PRICE_accept] = 9000,
        [PRICE_sleep] = 4000,     [PRICE_poll_look] = 80,    [PRICE_poll_look_sleep] = 160,
        [PRICE_kib] = 200,        [PRICE_close] = 2000,      [PRICE_ring_wait] = 1300,
        [PRICE_ring_recv] = 900,  [PRICE_ring_send] = 4700,
    };
    memcpy(p->ns, ns, sizeof ns);
}

static void bind_tables(void)
{
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
}

struct session *fake_new(void)
{
    bind_tables();
    struct session *s = xcalloc(1, sizeof *s);
    struct session_now *n = &s->now;
    n->turn_pane = n->watch_pane = -1;
    n->load_on = true;
    n->process_cpu_pct = n->ui_cpu_pct = n->servers_cpu_pct = n->others_pct = NAN;
    n->steal_pct = n->load_spare_pct = NAN;
    n->cpus = (struct cpu_plan){.pinned = true, .server = 0, .load_count = 1, .allowed = 2};
    CPU_SET(1, &n->cpus.load);
    for (int i = 0; i < LINEUP_MAX; i++)
        n->panes[i].trace = s->trace[i];
    snprintf(s->env.host, sizeof s->env.host, "fake");
    set_prices(&s->env.prices);
    s->noise = 7;
    return s;
}

struct fake_orders *fake_orders(struct session *s)
{
    return &s->orders;
}

struct session_now *fake_now(struct session *s)
{
    return &s->now;
}

struct prices *fake_prices(struct session *s)
{
    return &s->env.prices;
}

struct plan_row fake_want(const char *workload, const char *models)
{
    struct plan_row r = {0};
    struct err e = {""};
    bind_tables();
    params_init(&r.params);
    r.params.workload = workload_find(workload);
    workload_resolve(&r.params);
    if (lineup_parse(models, &r.lineup, &e) < 0)
        die("%s", e.text);
    return r;
}

struct row *fake_row(struct session *s, const struct plan_row *of)
{
    struct row *r = rows_add(&s->rows, &of->params, of->lineup.count);
    for (int i = 0; i < of->lineup.count; i++) {
        snprintf(r->panes[i].model, sizeof r->panes[i].model, "%s", of->lineup.models[i]->id);
        r->panes[i].io = of->lineup.models[i];
        r->panes[i].verdict = VERDICT_OK;
        s->now.panes[i].alive = true;
        s->now.panes[i].established = (long)of->params.connections;
    }
    s->now.row_number = r->number;
    s->now.asked = (int)(r->workload->repeat ? r->params.repeats : r->params.samples);
    s->now.taken = 0;
    s->now.want = *of;
    return r;
}

/* -1 .. 1 */
static double noise(struct session *s)
{
    s->noise = s->noise * 1103515245u + 12345u;
    return ((s->noise >> 16) & 0x7fff) / 16383.5 - 1;
}

static void push(struct session *s, struct row *r, int pane, enum kept kept, const struct values *v)
{
    struct sample *sample = pane_add(&r->panes[pane]);
    struct pane_now *p = &s->now.panes[pane];
    sample->index = r->panes[pane].count;
    sample->kept = kept;
    sample->elapsed_s = s->now.elapsed_s;
    sample->interval_s = 0.4;
    sample->values = *v;
    if (p->trace_count == TRACE_POINTS) {
        p->trace_count--;
        memmove(&p->trace_t_s[0], &p->trace_t_s[1], sizeof p->trace_t_s[0] * (TRACE_POINTS - 1));
        memmove(&p->trace[0], &p->trace[1], sizeof p->trace[0] * (TRACE_POINTS - 1));
    }
    p->trace_t_s[p->trace_count] = s->now.elapsed_s;
    p->trace[p->trace_count++] = *v;
}

static void round_of(struct session *s, const struct row *r, int pane, struct values *v)
{
    bool scans =
        !strncmp(r->panes[pane].model, "select", 6) || !strcmp(r->panes[pane].model, "poll");
    double n = r->params.connections, cost = 14 + (scans ? n * 0.146 : 0) + noise(s) * 0.4;
    double rate = isinf(r->params.rate) ? 80000 : r->params.rate;
    values_clear(v);
    v->v[METRIC_cpu_us_per_request] = cost;
    v->v[METRIC_server_cpu_pct] = fmin(100, cost * rate / 1e4);
    v->v[METRIC_requests_per_s] = rate;
    v->v[METRIC_rss_bytes] = 1.9 * 1048576 + pane * 65536;
    v->v[METRIC_mem_pct] = 0.0241;
    v->v[METRIC_events_per_wait] = 1.01;
    v->v[METRIC_looks_per_request] = scans ? n * 0.99 : 1;
    v->v[METRIC_latency_p99_us] = scans ? 300 : 112;
    v->v[METRIC_response_p99_us] = (scans ? 310 : 120) + noise(s) * 4;
    v->v[METRIC_established] = n;
    v->v[METRIC_waits_per_request] = v->v[METRIC_sleeps_per_request] = 0.99;
    v->v[METRIC_reads_per_request] = v->v[METRIC_writes_per_request] = 1;
    v->v[METRIC_empty_reads_per_request] = v->v[METRIC_controls_per_request] = 0;
    v->v[METRIC_mib_per_s] = rate / 1024;
    v->v[METRIC_switches_per_s] = rate * 0.99;
    v->v[METRIC_run_wait_pct] = 0.02;
    v->v[METRIC_retransmits] = v->v[METRIC_listen_drops] = 0;
}

void fake_rounds(struct session *s, struct row *r, int warm, int rounds)
{
    struct values v;
    for (int i = 0; i < rounds; i++) {
        fake_pass(s, 1);
        for (int p = 0; p < r->pane_count; p++) {
            round_of(s, r, p, &v);
            enum kept kept = i < warm                       ? KEPT_WARMUP
                             : s->now.taken >= s->now.asked ? KEPT_EXTRA
                                                            : KEPT_YES;
            push(s, r, p, kept, &v);
        }
        if (i >= warm && s->now.taken < s->now.asked)
            s->now.taken++;
        s->now.phase = i < warm                      ? PHASE_WARMUP
                       : s->now.taken < s->now.asked ? PHASE_MEASURING
                                                     : PHASE_EXTRA;
    }
    s->now.turn_pane = 0;
    s->now.servers_cpu_pct = 84;
    s->now.load_spare_pct = 59;
    s->now.others_pct = 1;
    s->now.steal_pct = 0;
    s->now.ui_cpu_pct = 1;
}

void fake_repeats(struct session *s, struct row *r, int repeats)
{
    struct values v;
    for (int i = 0; i < repeats; i++)
        for (int p = 0; p < r->pane_count; p++) {
            fake_pass(s, 3.25);
            values_clear(&v);
            v.v[METRIC_connect_s] = 3.1 + p * 0.05 + noise(s) * 0.02;
            v.v[METRIC_accepted_s] = 3.12 + p * 0.05;
            v.v[METRIC_connections_per_s] = r->params.connections / v.v[METRIC_connect_s];
            v.v[METRIC_syn_retransmits] = 3;
            v.v[METRIC_timer_s] = 3;
            v.v[METRIC_rss_bytes] = 1.9 * 1048576;
            push(s, r, p, KEPT_YES, &v);
        }
    s->now.taken = repeats;
    s->now.phase = PHASE_MEASURING;
    struct load_watch *w = &s->now.watch[0];
    s->now.watch_pane = s->now.turn_pane = 0;
    w->points = WATCH_POINTS;
    for (int i = 0; i < WATCH_POINTS; i++) {
        w->x[i] = 3.1 * (i + 1) / WATCH_POINTS;
        double steps = floor(w->x[i]) + 1; /* a lost SYN stops everything for a second */
        w->series[0][i] = fmin(r->params.connections, r->params.connections * steps / 4);
        w->series[1][i] = w->series[0][i] * 0.9;
    }
}

void fake_pass(struct session *s, double seconds)
{
    s->now.elapsed_s += seconds;
}

/* --- session.h -------------------------------------------------------------------------------- */

struct session *session_new(const struct session_options *o, struct err *e)
{
    (void)o;
    (void)e;
    return fake_new();
}

void session_free(struct session *s)
{
    if (!s)
        return;
    rows_free(&s->rows);
    free(s->file);
    free(s);
}

void session_live(struct session *s, const struct plan_row *want)
{
    s->orders.live++;
    s->orders.want = *want;
    s->now.want = *want;
}

unsigned session_plan(struct session *s, const struct plan *p)
{
    s->orders.plans++;
    s->orders.plan_rows = p->count;
    snprintf(s->orders.plan_title, sizeof s->orders.plan_title, "%s", p->title);
    s->now.plan_count = p->count;
    s->now.plan_done = 0;
    s->now.plan_left_s = p->seconds;
    return (unsigned)s->orders.plans;
}

void session_stop_plan(struct session *s)
{
    s->orders.stops++;
    s->now.plan_count = s->now.plan_done = 0;
}

void session_load(struct session *s, bool on)
{
    s->orders.loads++;
    s->orders.load_on = on;
    s->now.load_on = on;
    s->now.phase = on ? PHASE_MEASURING : PHASE_OFF;
}

void session_more(struct session *s)
{
    s->orders.more++;
}

void session_interrupted(struct session *s)
{
    (void)s;
}

void session_restart(struct session *s, int pane)
{
    s->orders.restarts++;
    s->orders.restarted = pane;
}

int session_apart(struct session *s)
{
    for (const struct row *r = s->rows.first; r; r = r->next)
        if (r->period == s->rows.period && row_kept(r) > 0) {
            s->now.row_number = 0; /* it begins anew */
            return s->rows.period++;
        }
    return -1;
}

void session_stop(struct session *s)
{
    (void)s;
}

bool session_wait(struct session *s, uint64_t timeout_ns)
{
    (void)s;
    (void)timeout_ns;
    return true;
}

void session_ui_thread(struct session *s)
{
    (void)s;
}

void session_lock(struct session *s)
{
    (void)s;
}

void session_unlock(struct session *s)
{
    (void)s;
}

const struct rows *session_rows(const struct session *s)
{
    return &s->rows;
}

struct rows *session_rows_edit(struct session *s)
{
    return &s->rows;
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
    for (int i = 0; n && i < LINEUP_MAX; i++)
        free(n->panes[i].trace);
    free(n);
}

void session_read(struct session *s, struct session_now *out)
{
    struct values *trace[LINEUP_MAX];
    for (int i = 0; i < LINEUP_MAX; i++)
        trace[i] = out->panes[i].trace;
    *out = s->now;
    for (int i = 0; i < LINEUP_MAX; i++) {
        out->panes[i].trace = trace[i];
        memcpy(trace[i], s->trace[i], sizeof s->trace[i]);
    }
}

unsigned long session_samples(const struct session *s)
{
    unsigned long n = 0;
    for (const struct row *r = s->rows.first; r; r = r->next)
        for (int i = 0; i < r->pane_count; i++)
            n += (unsigned long)r->panes[i].count;
    return n;
}

void session_saved(struct session *s, unsigned long samples)
{
    s->orders.saved = samples;
}

struct session *session_open(const char *name, char note[200], struct err *e)
{
    struct session *s = fake_new();
    int n = csv_open(name, &s->rows, &s->env, note, e);
    if (n < 0) {
        session_free(s);
        return NULL;
    }
    s->file = xstrdup(name);
    s->now.row_number = s->rows.last->number;
    s->now.want.params = s->rows.last->params;
    s->now.want.lineup.count = s->rows.last->pane_count;
    for (int i = 0; i < s->rows.last->pane_count; i++)
        s->now.want.lineup.models[i] = s->rows.last->panes[i].io;
    s->now.load_on = false;
    s->now.phase = PHASE_SAVED;
    return s;
}

const char *session_file(const struct session *s)
{
    return s->file;
}

bool session_show(struct session *s, int number)
{
    s->now.row_number = number;
    return true;
}

pid_t session_server_pid(struct session *s, int pane)
{
    (void)s;
    (void)pane;
    return 0;
}

const struct environment *session_environment(const struct session *s)
{
    return &s->env;
}

const char *session_id(const struct session *s)
{
    (void)s;
    return "fake";
}
