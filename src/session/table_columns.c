/* SPDX-License-Identifier: MIT */
/* A column is a kind with a pane and a metric or parameter; a kind is one function that writes one
 * cell. Which figures a workload shows is decided by what it yields and the order of `shown`: a new
 * workload needs nothing here, a new figure one line. */
#include "session/table_columns.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "session/published.h"
#include "session/say.h"

/* Figures that may have a column, in order, with a head short enough for it. `beside` are the
 * classes of the main metric next to which a figure always stands; elsewhere it comes after all
 * else. */
#define BESIDE(class) (1u << CLASS_##class)
struct shown {
    enum metric_id metric;
    const char *head;
    unsigned beside;
};
static const struct shown shown[] = {
    {METRIC_established, "held", BESIDE(STATE)},
    {METRIC_accepted, "accepted", BESIDE(STATE)},
    {METRIC_accepts_per_s, "accept/s", BESIDE(STATE)},
    {METRIC_kernel_per_connection, "kernel", BESIDE(STATE)},
    {METRIC_rss_per_connection, "RSS", BESIDE(STATE)},
    {METRIC_exchange_s, "s", BESIDE(TIME)},
    {METRIC_messages_per_s, "msg/s", BESIDE(RATE)},
    {METRIC_drain_cpu_ns, "CPU", BESIDE(COST)},
    {METRIC_drain_ns, "drain", BESIDE(COST)},
    {METRIC_send_ns, "sends", BESIDE(COST)},
    {METRIC_server_cpu_pct, "cpu%", BESIDE(COST) | BESIDE(RATE)},
    {METRIC_cpu_us_per_request, "µs/rq", BESIDE(COST) | BESIDE(TIME) | BESIDE(RATE)},
    {METRIC_reads_per_s, "reads/s", 0},
    {METRIC_send_ticks, "ticks", 0},
    {METRIC_rearm_ns, "re-arm", 0},
    {METRIC_accept_drain_per_s, "gated/s", 0},
    {METRIC_connect_s, "s", BESIDE(TIME)},
    {METRIC_accepted_s, "accept s", BESIDE(TIME)},
    {METRIC_syn_retransmits, "re-SYN", 0}, /* after the ratio, which must be in sight */
    {METRIC_timer_s, "timer s", 0},
    {METRIC_requests_per_s, "rq/s", BESIDE(RATE)},
    {METRIC_response_p99_us, "p99µs", 0}, /* latency in the closed loop: row_p99() */
    {METRIC_latency_p99_us, "svc p99", 0}, /* from the send alone: without what was due before */
    {METRIC_events_per_wait, "ev/wait", 0},
    {METRIC_looks_per_request, "looks/rq", 0},
    {METRIC_mem_pct, "mem%", 0},
};
#define SHOWN (sizeof shown / sizeof *shown)

/* --- cells ----------------------------------------------------------------------------------- */

static void write_param(const struct spec *s, const struct row *r, char *cell)
{
    params_show(s->id, params_get(&r->params, s->id), cell, TABLE_CELL);
}

static enum metric_id metric_of(const struct spec *s, const struct row *r)
{
    return s->id == METRIC_response_p99_us ? row_p99(r) : (enum metric_id)s->id;
}

static void write_figure(const struct spec *s, const struct row *r, char *cell)
{
    struct summary m = row_summary(r, s->pane, metric_of(s, r));

    if (!strcmp(metric_table[s->id].unit, "/s"))
        units_si(cell, TABLE_CELL, m.mean);
    else if (!strcmp(metric_table[s->id].unit, "B"))
        units_bytes(cell, TABLE_CELL, m.mean);
    else if (!strcmp(metric_table[s->id].unit, "ns"))
        units_us(cell, TABLE_CELL, m.mean / 1e3, 0);
    else if (!strcmp(metric_table[s->id].unit, "ticks"))
        units_si(cell, TABLE_CELL, m.mean);
    else
        units_number(cell, TABLE_CELL, m.mean);
}

/* The ratio, where these two panes may be ranked by that figure. */
static struct paired ratio_of(const struct spec *s, const struct row *r)
{
    struct paired p = row_ratio(r, s->pane, (enum metric_id)s->id);

    if (p.outcome == OUTCOME_WITHHELD)
        p.ratio = p.low = p.high = NAN;
    return p;
}

static void write_ratio(const struct spec *s, const struct row *r, char *cell)
{
    units_number(cell, TABLE_CELL, ratio_of(s, r).ratio);
}

static void write_range(const struct spec *s, const struct row *r, char *cell)
{
    struct paired p = ratio_of(s, r);
    char low[16], high[16];

    if (isnan(p.low))
        snprintf(cell, TABLE_CELL, "-");
    else if (say_too_wide(p.low, p.high))
        snprintf(cell, TABLE_CELL, "too wide");
    else
        snprintf(cell, TABLE_CELL, "%s .. %s", units_number(low, sizeof low, p.low),
                 units_number(high, sizeof high, p.high));
}

static void write_outcome(const struct spec *s, const struct row *r, char *cell)
{
    enum metric_id by = (enum metric_id)s->id;
    bool early = row_undecided(r, s->pane, by);

    snprintf(cell, TABLE_CELL, "%s",
             early ? "not yet" : outcome_words[row_ratio(r, s->pane, by).outcome]);
}

static void write_published(const struct spec *s, const struct row *r, char *cell)
{
    units_number(cell, TABLE_CELL, published_value(&r->params, r->panes[s->pane].model,
                                                   (enum metric_id)s->id));
}

static void write_published_ratio(const struct spec *s, const struct row *r, char *cell)
{
    units_number(cell, TABLE_CELL, published_ratio(&r->params, r->panes[0].model,
                                                   r->panes[s->pane].model, (enum metric_id)s->id));
}

/* "full" when all panes have it, else "A full, B behind"; nothing when all is well. */
static void write_verdict(const struct spec *s, const struct row *r, char *cell)
{
    bool same = true;

    (void)s;
    cell[0] = 0;
    for (int i = 1; i < r->pane_count; i++)
        same &= r->panes[i].verdict == r->panes[0].verdict;
    if (same && r->panes[0].verdict != VERDICT_OK)
        snprintf(cell, TABLE_CELL, "%s", verdict_words[r->panes[0].verdict]);
    for (int i = 0; i < r->pane_count && !same; i++) {
        enum verdict v = r->panes[i].verdict;
        size_t n = strlen(cell);

        if (v != VERDICT_OK && v != VERDICT_NONE)
            snprintf(cell + n, TABLE_CELL - n, "%s%c %s", n ? ", " : "", 'A' + i,
                     verdict_words[v]);
    }
}

static void write_waits(const struct spec *s, const struct row *r, char *cell)
{
    const char *waits = r->panes[s->pane].print.waits;

    snprintf(cell, TABLE_CELL, "%.*s", TABLE_CELL - 1, *waits ? waits : "-");
}

/* --- columns --------------------------------------------------------------------------------- */

static void add(struct making *m, struct spec s, const char *group, const char *title)
{
    if (m->t->columns == TABLE_COLUMNS)
        return;
    struct table_column *c = &m->t->column[m->t->columns];
    snprintf(c->head[0], TABLE_CELL, "%s", group);
    snprintf(c->head[1], TABLE_CELL, "%s", title);
    c->pane = s.pane;
    c->text = s.write == write_outcome || s.write == write_verdict ||
              s.write == write_range || s.write == write_waits;
    m->spec[m->t->columns++] = s;
}

static bool listed(enum metric_id id)
{
    for (size_t i = 0; i < SHOWN; i++)
        if (shown[i].metric == id)
            return true;
    return false;
}

static void pane_group(const struct row *r, int pane, char *group)
{
    snprintf(group, TABLE_CELL, "%c %s", 'A' + pane, r->panes[pane].model);
}

/* What only belongs to a main figure that never ranks is nowhere else. */
static bool stands(const struct shown *s, unsigned class, bool wide)
{
    return wide ? !(s->beside & class) && s->beside != BESIDE(STATE) : s->beside & class;
}

/* Nothing is due in a closed loop: both count from the send, and one says it. */
static bool says_twice(const struct making *m, enum metric_id id)
{
    if (id != METRIC_latency_p99_us || !workload_yields(m->like->workload, METRIC_response_p99_us))
        return false;
    for (int i = 0; i < m->t->rows; i++)
        if (isfinite(m->t->row[i].row->params.rate))
            return false;
    return true;
}

static void add_figures(struct making *m, bool wide)
{
    const struct workload *w = m->like->workload;
    unsigned class = 1u << metric_table[w->yields[0]].cls;
    char group[TABLE_CELL];

    for (int pane = 0; pane < m->like->pane_count; pane++) {
        pane_group(m->like, pane, group);
        if (!wide && !listed(w->yields[0]))
            add(m, (struct spec){write_figure, pane, w->yields[0]}, group,
                metric_table[w->yields[0]].title);
        for (size_t i = 0; i < SHOWN; i++)
            if (stands(&shown[i], class, wide) && workload_yields(w, shown[i].metric) &&
                !says_twice(m, shown[i].metric))
                add(m, (struct spec){write_figure, pane, shown[i].metric}, group, shown[i].head);
    }
}

/* Figures that never rank have no ratio. */
static bool ranks(const struct making *m)
{
    return metric_table[row_main(m->like)].cls != CLASS_STATE;
}

/* One figure for all rows: the main one, if any of them may be ranked by it. */
static enum metric_id compared(const struct making *m, int pane)
{
    enum metric_id main = row_main(m->like), by = main;

    for (int i = 0; i < m->t->rows; i++) {
        if (row_may_rank(m->t->row[i].row, pane, main))
            return main;
        by = by == main ? row_compared(m->t->row[i].row, pane) : by;
    }
    return by;
}

static void add_ratios(struct making *m)
{
    char group[TABLE_CELL];

    for (int pane = 1; ranks(m) && pane < m->like->pane_count; pane++) {
        enum metric_id by = compared(m, pane);
        snprintf(group, sizeof group, "A/%c %s", 'A' + pane, metric_table[by].title);
        add(m, (struct spec){write_ratio, pane, (int)by}, group, "ratio");
        add(m, (struct spec){write_range, pane, (int)by}, group, "99 %");
    }
}

static bool has_published(const struct making *m, int pane, enum metric_id metric)
{
    for (int i = 0; i < m->t->rows; i++) {
        const struct row *r = m->t->row[i].row;
        if (!isnan(published_value(&r->params, r->panes[pane].model, metric)))
            return true;
    }
    return false;
}

static const char *short_head(enum metric_id id)
{
    for (size_t i = 0; i < SHOWN; i++)
        if (shown[i].metric == id)
            return shown[i].head;
    return metric_table[id].title;
}

static bool has_published_ratio(const struct making *m, int pane, enum metric_id metric)
{
    for (int i = 0; i < m->t->rows; i++) {
        const struct row *r = m->t->row[i].row;
        if (!isnan(published_ratio(&r->params, r->panes[0].model, r->panes[pane].model, metric)))
            return true;
    }
    return false;
}

/* What limits the published figures, in their own words. */
static void say_published(struct making *m)
{
    struct text t = {m->t->published, sizeof m->t->published, 0};
    const char *model, *reason, *verdict;

    for (int i = 0; *(verdict = published_verdict(m->like->workload, i, &model, &reason)); i++) {
        say(&t, i ? "; " : "our verdict on the published figures: ");
        say(&t, *model ? "%s: %s" : "%s%s", model, verdict);
        if (*reason)
            say(&t, " (%s)", reason);
    }
}

static void add_published(struct making *m)
{
    int before = m->t->columns;
    enum metric_id id = published_metric(m->like->workload);
    const char *label = published_label(m->like->workload);
    char group[TABLE_CELL], head[TABLE_CELL];

    snprintf(group, sizeof group, label[0] ? "published (%.24s)" : "published", label);
    for (int i = 0; id != METRIC_COUNT && i < m->like->pane_count; i++) {
        snprintf(head, sizeof head, "%c %.30s", 'A' + i, short_head(id));
        if (has_published(m, i, id))
            add(m, (struct spec){write_published, i, id}, group, head);
    }
    for (int i = 1; id != METRIC_COUNT && i < m->like->pane_count; i++) {
        snprintf(head, sizeof head, "A/%c", 'A' + i);
        if (has_published_ratio(m, i, id))
            add(m, (struct spec){write_published_ratio, i, id}, group, head);
    }
    if (m->t->columns > before)
        say_published(m);
}

static void add_judgements(struct making *m)
{
    char group[TABLE_CELL];

    for (int pane = 1; ranks(m) && pane < m->like->pane_count; pane++) {
        pane_group(m->like, pane, group);
        add(m, (struct spec){write_outcome, pane, (int)compared(m, pane)}, group, "beside A");
    }
    add(m, (struct spec){write_verdict, -1, 0}, "", "verdict");
}

/* What was read of them, where anybody looked. */
static void add_waits(struct making *m)
{
    char group[TABLE_CELL];
    bool taken = false;

    for (int i = 0; i < m->t->rows; i++)
        for (int pane = 0; pane < m->like->pane_count; pane++)
            taken |= m->t->row[i].row->panes[pane].print.taken;
    for (int pane = 0; taken && pane < m->like->pane_count; pane++) {
        pane_group(m->like, pane, group);
        add(m, (struct spec){write_waits, pane, 0}, group, "waits with");
    }
}

/* --- all ------------------------------------------------------------------------------------- */

static const char *param_head(int id)
{
    return id == PARAM_connections ? "conns" : param_table[id].id;
}

void table_add_columns(struct making *m, const int *varying, int count)
{
    for (int i = 0; i < count; i++)
        add(m, (struct spec){write_param, -1, varying[i]}, "", param_head(varying[i]));
    m->varying = count;
    add_figures(m, false);
    add_ratios(m);
    add_published(m);
    add_judgements(m);
    add_figures(m, true);
    add_waits(m);
}
