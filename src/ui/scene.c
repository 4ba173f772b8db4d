/* SPDX-License-Identifier: MIT */
/* One lock, one copy. The figures of a row are means over its kept samples; before the first of
 * them the views show the newest sample of the trace instead, so a scene says whether a figure is
 * measured. The table of a workload is only made while it is looked at. */
#include "ui/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/published.h"
#include "session/say.h"

struct scene *scene_new(void)
{
    struct scene *s = xcalloc(1, sizeof *s);
    s->now = session_now_new();
    return s;
}

void scene_free(struct scene *s)
{
    if (!s)
        return;
    if (s->has_table)
        table_free(&s->table);
    scene_take_map(s, NULL, NULL);
    scene_free_curves(&s->curves);
    session_now_free(s->now);
    free(s);
}

bool scene_planning(const struct scene *s)
{
    return s->now->plan_count > 0;
}

static bool has_kept(const struct row *r)
{
    for (int i = 0; i < r->pane_count; i++)
        if (pane_kept(&r->panes[i]) > 0)
            return true;
    return false;
}

/* --- the small table -------------------------------------------------------------------------- */

/* The parameter that differs most among rows of one table; connections when none does. */
static enum param_id differing(const struct rows *rows, const struct row *like)
{
    enum param_id best = PARAM_connections;
    int most = 1;
    for (int p = 0; p < PARAM_COUNT; p++) {
        if (!param_table[p].axis)
            continue;
        double seen[16];
        int n = 0;
        for (const struct row *r = rows->first; r && n < 16; r = r->next) {
            double v = params_get(&r->params, (enum param_id)p);
            bool known = !row_in_table(r, like);
            for (int i = 0; i < n && !known; i++)
                known = seen[i] == v;
            if (!known)
                seen[n++] = v;
        }
        if (n > most)
            best = (enum param_id)p, most = n;
    }
    return best;
}

static void add_metric(struct small_table *t, enum metric_id m)
{
    for (int i = 0; i < t->cells; i++)
        if (t->metric[i] == m)
            return;
    if (m != METRIC_COUNT && t->cells < SMALL_CELLS)
        t->metric[t->cells++] = m;
}

/* The figure beside the main one: how long a request takes, or what the workload yields next. */
static enum metric_id beside_of(const struct workload *w, double rate)
{
    enum metric_id p99 = isinf(rate) ? METRIC_latency_p99_us : METRIC_response_p99_us;
    return workload_yields(w, p99)        ? p99
           : w->yields[1] != METRIC_COUNT ? w->yields[1]
                                          : w->yields[0];
}

/* Which figures, best first. A cost stands as the ratio, so what follows it is shown: the share
 * of a CPU and the tail. Times and rates are shown themselves. */
static void pick_metrics(struct small_table *t, const struct row *r)
{
    const enum metric_id *y = r->workload->yields;
    t->cells = 0;
    t->ratio = row_main(r);
    if (metric_table[t->ratio].cls != CLASS_COST)
        add_metric(t, t->ratio);
    for (int i = 1; i < 3 && y[0] != METRIC_COUNT && y[i - 1] != METRIC_COUNT; i++)
        add_metric(t, y[i]);
    add_metric(t, beside_of(r->workload, r->params.rate));
    add_metric(t, t->ratio);
    for (int i = 1; y[0] != METRIC_COUNT && y[i - 1] != METRIC_COUNT; i++)
        add_metric(t, y[i]);
}

static void fill_small(struct small_row *out, const struct small_table *t, const struct row *r,
                       int against)
{
    out->number = r->number;
    out->axis = params_get(&r->params, t->axis);
    for (int p = 0; p < r->pane_count; p++)
        for (int i = 0; i < t->cells; i++)
            out->cell[p][i] = row_summary(r, p, t->metric[i]).mean;
    out->ratio.ratio = NAN;
    if (against < 1 || against >= r->pane_count || metric_table[t->ratio].cls == CLASS_STATE)
        return;
    if (row_undecided(r, against, t->ratio))
        return;
    out->ratio = row_ratio(r, against, t->ratio);
    out->withheld = !row_may_rank(r, against, t->ratio);
}

/* Do both speak of the same: CPU, or figures of one class? Else their ratios do not compare. */
static bool same_kind(enum metric_id a, enum metric_id b)
{
    unsigned cpu = 1u << CLASS_COST | 1u << CLASS_SHARE;
    unsigned x = 1u << metric_table[a].cls, y = 1u << metric_table[b].cls;
    return x == y || (x & cpu && y & cpu);
}

/* The published figures of one number of connections, when there are any. */
static bool fill_published(struct small_row *out, const struct small_table *t, const struct row *r,
                           int against)
{
    bool any = false;
    enum metric_id m = published_metric(r->workload);
    *out = (struct small_row){.axis = r->params.connections, .ratio.ratio = NAN};
    for (int p = 0; p < r->pane_count; p++)
        for (int i = 0; i < t->cells; i++) {
            out->cell[p][i] = published_value(&r->params, r->panes[p].model, t->metric[i]);
            any = any || !isnan(out->cell[p][i]);
        }
    if (m != METRIC_COUNT && same_kind(m, t->ratio) && against > 0 && against < r->pane_count)
        out->ratio.ratio =
            published_ratio(&r->params, r->panes[0].model, r->panes[against].model, m);
    out->ratio.low = out->ratio.high = NAN;
    return any;
}

static int by_axis(const void *a, const void *b)
{
    const struct small_row *x = a, *y = b;
    if (x->axis != y->axis)
        return x->axis < y->axis ? -1 : 1;
    return x->number - y->number;
}

static void take_small(struct scene *s, const struct rows *rows, const struct row *like)
{
    struct small_table *t = &s->small;
    t->axis = differing(rows, like);
    t->count = 0;
    pick_metrics(t, like);
    if (s->against > 0)
        t->ratio = row_compared(like, s->against);
    for (const struct row *r = rows->first; r; r = r->next) {
        if (!row_in_table(r, like) || (r != like && !has_kept(r)))
            continue;
        if (t->count == SMALL_ROWS - 1) /* the newest are worth most */
            memmove(&t->row[0], &t->row[1], sizeof t->row[0] * --t->count);
        fill_small(&t->row[t->count++], t, r, s->against);
    }
    qsort(t->row, (size_t)t->count, sizeof t->row[0], by_axis);
    int at = 0;
    while (at < t->count && t->row[at].number != like->number)
        at++;
    struct small_row published;
    if (at < t->count && t->axis == PARAM_connections &&
        fill_published(&published, t, like, s->against)) {
        memmove(&t->row[at + 2], &t->row[at + 1], sizeof t->row[0] * (size_t)(t->count - at - 1));
        t->row[at + 1] = published;
        t->count++;
    }
}

/* --- figures ---------------------------------------------------------------------------------- */

struct figures {
    const struct row *row;
    int pane;
};

static double mean_figure(const void *ctx, enum metric_id m)
{
    const struct figures *f = ctx;
    return row_summary(f->row, f->pane, m).mean;
}

static void take_pane(struct scene_pane *out, const struct row *r, int i)
{
    const struct pane *p = &r->panes[i];
    struct text says = {out->says, sizeof out->says, 0};
    out->measured = pane_kept(p) > 0;
    out->main_summary = row_summary(r, i, row_main(r));
    out->main = out->main_summary.mean;
    out->beside = row_summary(r, i, beside_of(r->workload, r->params.rate)).mean;
    out->says[0] = '\0';
    say_sentence(&says, r->workload->draws.says, mean_figure, &(struct figures){r, i});
    fingerprint_text(&p->print, out->waits, sizeof out->waits);
    out->taken = p->count;
    out->verdict = p->verdict;
    memcpy(out->reason, p->reason, sizeof out->reason);
}

static void no_figures(struct scene_pane *out)
{
    out->measured = false;
    out->main = out->beside = NAN;
    out->says[0] = out->waits[0] = '\0';
    out->taken = 0;
    out->main_summary = (struct summary){.mean = NAN, .low = NAN, .high = NAN};
    out->verdict = VERDICT_NONE;
    out->reason[0] = '\0';
}

/* of: the row that they are, which may have models of another build; NULL: only asked for. */
static void name_panes(struct scene *s, const struct row *of)
{
    s->pane_count = s->shown.lineup.count;
    for (int i = 0; i < s->pane_count; i++) {
        struct scene_pane *p = &s->pane[i];
        p->io = s->shown.lineup.models[i];
        snprintf(p->model, sizeof p->model, "%s", of      ? of->panes[i].model
                                                  : p->io ? p->io->id
                                                          : "?");
        no_figures(p);
    }
}

/* Is this the row of what is shown? A new order is not yet in the rows for a moment. */
static bool row_fits(const struct scene *s, const struct row *r)
{
    if (r->pane_count != s->pane_count || r->workload != workload_of(&s->shown.params))
        return false;
    for (int i = 0; i < r->pane_count; i++)
        if (strcmp(r->panes[i].model, s->pane[i].model) != 0)
            return false;
    return true;
}

static void shown_from_row(struct scene *s, const struct row *r)
{
    s->shown.params = r->params;
    s->shown.lineup = row_lineup(r);
}

static void take_row(struct scene *s, const struct rows *rows, const struct row *r)
{
    s->row = r->number;
    s->main = row_main(r);
    s->beside = beside_of(r->workload, r->params.rate);
    for (int i = 0; i < r->pane_count; i++)
        take_pane(&s->pane[i], r, i);
    answer_row(r, s->against, &s->answer);
    answer_sweep(rows, r, s->against, &s->sweep);
    if (r->workload->next_step) /* one step says little of a ramp */
        s->answer = s->sweep;
    take_small(s, rows, r);
    s->sweep_rows = s->small.count;
}

const struct why_fact why_facts[WHY_FACTS] = {
    {METRIC_connect_s, "", false},         {METRIC_accepted_s, "", false},
    {METRIC_kernel_per_connection, "", false}, {METRIC_rss_per_connection, "", false},
    {METRIC_timer_s, "", false},
    {METRIC_events_per_wait, "", false},   {METRIC_run_wait_pct, "", false},
    {METRIC_looks_per_request, "", false}, {METRIC_switches_per_s, "", false},
    {METRIC_server_cpu_pct, "server asleep", true}, {METRIC_retransmits, "", false},
    {METRIC_accepts_per_s, "", false},
    {METRIC_sleeps_per_request, "", false}, {METRIC_listen_drops, "", false},
    {METRIC_accept_queue, "", false},
    {METRIC_waits_per_s, "", false},       {METRIC_syn_retransmits, "", false},
    {METRIC_server_sys_pct, "", false},    {METRIC_syn_cookies, "", false},
    {METRIC_server_user_pct, "", false},   {METRIC_time_wait, "", false},
    {METRIC_others_pct, "", false},        {METRIC_tcp_mem_bytes, "", false},
    {METRIC_steal_pct, "", false},         {METRIC_send_late_p99_us, "", false},
};

bool scene_why_shows(const struct scene_why *w, int line)
{
    bool any = bill_words[line].always;
    for (int i = 0; i < w->count; i++)
        any |= w->bill[i].line[line].calls > 0;
    return any;
}

static void take_workers(struct scene_why *w, const struct row *r)
{
    struct text t = {w->workers, sizeof w->workers, 0};
    for (int i = 0; i < w->count; i++)
        if (r->panes[w->pane[i]].workers[0])
            say(&t, "%s%c %s", t.used ? "; " : "", 'A' + w->pane[i], r->panes[w->pane[i]].workers);
}

static void take_why(struct scene *s, const struct row *r)
{
    struct scene_why *w = &s->why;
    const struct prices *prices = &s->env->prices;
    *w = (struct scene_why){.row = r->number, .count = r->pane_count > 1 ? 2 : 1};
    w->workload = r->workload;
    w->params = r->params;
    w->pane[1] = s->against > 0 && s->against < r->pane_count ? s->against : w->count - 1;
    for (int i = 0; i < w->count; i++) {
        int p = w->pane[i];
        memcpy(w->model[i], r->panes[p].model, sizeof w->model[i]);
        bill_of(r, p, prices, &w->bill[i]);
        for (int f = 0; f < WHY_FACTS; f++) {
            double v = row_summary(r, p, why_facts[f].metric).mean;
            if (why_facts[f].less)
                v = 100 - v / fmax(r->params.workers, 1);
            w->fact[f][i] = why_facts[f].less && v < 0 ? 0 : v;
        }
    }
    same_of(r, w->pane[w->count - 1], s->file ? NULL : &s->now->cpus, &w->same);
    take_workers(w, r);
    w->priced = prices_known(prices);
    w->call_us = prices->ns[PRICE_call] / 1e3;
    w->rounds = row_kept(r);
}

static void forget_row(struct scene *s)
{
    const struct workload *w = workload_of(&s->shown.params);
    s->row = 0;
    s->main = w->yields[0];
    s->beside = beside_of(w, s->shown.params.rate);
    s->small.count = s->sweep_rows = 0;
    memset(&s->answer, 0, sizeof s->answer);
    memset(&s->sweep, 0, sizeof s->sweep);
}

/* A row that was dropped is stood for by the newest one before it that was kept, of its own
 * lineup if there is one; else by any that was kept. */
static const struct row *stands_for(const struct rows *rows, const struct row *gone)
{
    const struct row *before = NULL, *like = NULL, *any = NULL;
    for (const struct row *r = rows->first; r; r = r->next) {
        if (r->state == ROW_DROPPED || (r->claim[0] && !gone->claim[0]))
            continue;
        any = r;
        if (r->number < gone->number)
            before = r;
        if (r->number < gone->number && row_in_table(r, gone))
            like = r;
    }
    return like ? like : before ? before : any;
}

/* The table is of the row in focus; of a plan that has just ended rather than of the live row that
 * goes on behind it. */
static const struct row *table_of(const struct scene *s, const struct rows *rows, int focus)
{
    int number = focus ? focus : s->now->plan_row ? s->now->plan_row : s->row;
    const struct row *r = rows_numbered(rows, number);
    if (!r) /* what is asked for has no row yet, or has none any more */
        r = rows->last;
    return r && r->state == ROW_DROPPED ? stands_for(rows, r) : r;
}

static void take_table(struct scene *s, const struct rows *rows, const struct scene_wish *w)
{
    const struct row *r = w->table ? table_of(s, rows, w->table_row) : NULL;
    if (s->has_table)
        table_free(&s->table);
    s->has_table = r;
    s->table_row = r ? r->number : 0;
    if (!r)
        return;
    table_make(rows, r, &s->table);
    if (r->number != s->row)
        answer_sweep(rows, r, s->against < r->pane_count ? s->against : r->pane_count - 1,
                     &s->sweep);
}

static void take_rows(struct scene *s, const struct rows *rows, const struct scene_wish *w)
{
    const struct row *r = rows_numbered(rows, s->now->row_number);
    if (!r && !scene_planning(s))
        r = rows->last;
    s->shown = *w->want;
    bool of_row = r && (scene_planning(s) || s->file);
    if (of_row)
        shown_from_row(s, r);
    name_panes(s, of_row ? r : NULL);
    s->against = w->against > 0 && w->against < s->pane_count ? w->against
                 : s->pane_count > 1                          ? 1
                                                              : 0;
    if (r && row_fits(s, r) && r->state != ROW_DROPPED)
        take_row(s, rows, r);
    else
        forget_row(s);
    const struct row *why = rows_numbered(rows, w->why ? w->why : s->row);
    s->why.row = 0;
    if (w->explain && why && row_kept(why) > 0)
        take_why(s, why);
    take_table(s, rows, w);
    scene_take_map(s, rows, w->map);
    scene_take_curves(s, rows, w->curves ? table_of(s, rows, w->curves_row) : NULL, w);
    scene_take_before(s, rows, rows_numbered(rows, s->row));
}

/* Has anything been measured, decided or said since the rows were last taken? */
static bool rows_moved(struct scene *s)
{
    const struct session_now *n = s->now;
    double mark[6] = {n->row_number, n->taken, n->phase, n->log_number, n->plan_done, 0};
    for (int i = 0; i < LINEUP_MAX; i++)
        if (n->panes[i].trace_count)
            mark[5] += n->panes[i].trace_t_s[n->panes[i].trace_count - 1];
    bool moved = memcmp(mark, s->mark, sizeof mark) != 0;
    memcpy(s->mark, mark, sizeof mark);
    return moved;
}

void scene_take(struct scene *s, struct session *session, const struct scene_wish *w)
{
    session_read(session, s->now);
    s->env = session_environment(session);
    s->file = session_file(session);
    s->session = session_id(session);
    if (!rows_moved(s) && !w->anew)
        return;
    session_lock(session);
    take_rows(s, session_rows(session), w);
    session_unlock(session);
}
