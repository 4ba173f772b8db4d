/* SPDX-License-Identifier: MIT */
/* A figure of a row is one value a session (its trimmed mean), and two sides are compared by the
 * logarithms of these with Welch's t. Many figures are judged at once, so each is judged at a
 * confidence that leaves 95 % for all of them together (Bonferroni): otherwise comparing a build
 * with itself would name some difference in most of all tries. */
#include "session/compare_inner.h"

#include <stdlib.h>

/* In this order; a count is exact, so it is looked at first. */
static const enum metric_id shown[] = {
    METRIC_waits_per_request,  METRIC_looks_per_request,       METRIC_sleeps_per_request,
    METRIC_reads_per_request,  METRIC_empty_reads_per_request, METRIC_writes_per_request,
    METRIC_controls_per_request, METRIC_syn_retransmits,       METRIC_cpu_us_per_request,
    METRIC_drain_cpu_ns,       METRIC_exchange_s,              METRIC_connect_s,
    METRIC_accepted_s,         METRIC_drain_ns,                METRIC_send_ns,
    METRIC_requests_per_s,     METRIC_messages_per_s,          METRIC_connections_per_s,
    METRIC_accept_drain_per_s, METRIC_response_p99_us,
};
#define SHOWN ((int)(sizeof shown / sizeof *shown))

/* A call that was never made, and one that is made in each twentieth request: no spread
 * explains. */
#define NEVER 0.005
#define OFTEN 0.05

/* The values of a figure on one side: one a session. */
struct values_of {
    double *v;
    int n;
    int free;   /* sessions in which it may be judged: v holds these, where there is any */
    int barred; /* sessions in which it was measured, but may not be judged */
    enum verdict by;
};

struct gather { /* of one session: its row may have been measured more than once */
    enum metric_id m;
    double sum[2]; /* barred, free */
    int n[2];
    enum verdict by;
};

static void gather_row(void *ctx, const struct row *r, int pane)
{
    struct gather *g = ctx;
    double v = row_summary(r, pane, g->m).mean;
    bool may = pane_may_rank(r, pane, g->m);

    if (isnan(v))
        return;
    g->sum[may] += v;
    g->n[may]++;
    if (!may)
        g->by = r->panes[pane].verdict;
}

static void gather_side(const struct comparison *c, int side, const struct compare_row *r,
                        enum metric_id m, struct values_of *out)
{
    *out = (struct values_of){.v = xcalloc((size_t)c->sessions[side] + 1, sizeof *out->v)};
    for (int may = 1; may >= 0 && out->n == 0; may--)
        for (int i = 0; i < c->sessions[side]; i++) {
            struct gather g = {.m = m};

            compare_each(&c->session[side][i], r, gather_row, &g);
            if (g.n[may])
                out->v[out->n++] = g.sum[may] / g.n[may];
            out->free += may && g.n[1];
            out->barred += may && g.n[0] && !g.n[1];
            out->by = g.n[0] ? g.by : out->by;
        }
}

/* Is too little left of a side without the sessions whose verdict does not allow it to rank? */
static bool withheld(const struct comparison *c, const struct compare_row *r, enum metric_id m,
                     const struct values_of v[SIDES], char reason[96])
{
    int least = c->known ? COMPARE_LEAST : 1;

    for (int side = 0; side < SIDES; side++) {
        if (v[side].barred == 0 || v[side].free >= least)
            continue;
        bool no_pace = verdict_holds(v[side].by, metric_table[m].cls);
        if (no_pace)
            snprintf(reason, 96, "without a pace the work is not equal");
        else
            snprintf(reason, 96, "%c %s in %d of %d", 'A' + side,
                     v[side].by ? verdict_words[v[side].by] : "without a verdict", v[side].barred,
                     r->sessions[side]);
        return true;
    }
    return false;
}

static void describe(struct compare_figure *f, int side, const struct values_of *v)
{
    f->n[side] = v->n;
    f->mean[side] = f->least[side] = f->most[side] = NAN;
    for (int i = 0; i < v->n; i++) {
        f->mean[side] = (i ? f->mean[side] : 0) + v->v[i] / v->n;
        f->least[side] = fmin(f->least[side], v->v[i]);
        f->most[side] = fmax(f->most[side], v->v[i]);
    }
}

/* More of it is B's: worse or better? */
static enum outcome more(enum metric_id m)
{
    return metric_table[m].better == BETTER_MORE ? OUTCOME_CHEAPER : OUTCOME_DEARER;
}

static enum outcome turned(enum outcome o)
{
    if (o != OUTCOME_DEARER && o != OUTCOME_CHEAPER)
        return o;
    return o == OUTCOME_DEARER ? OUTCOME_CHEAPER : OUTCOME_DEARER;
}

/* Where there are zeros there are no ratios; a row may be missing in some sessions of a side. */
static void judge_zeros(const struct comparison *c, struct compare_figure *f)
{
    enum outcome o = more(f->metric);
    bool known = c->known && f->n[SIDE_A] >= COMPARE_LEAST && f->n[SIDE_B] >= COMPARE_LEAST;

    if (f->most[SIDE_A] == 0 && f->most[SIDE_B] == 0)
        f->outcome = OUTCOME_SAME;
    else if (known && f->most[SIDE_A] < NEVER && f->least[SIDE_B] >= OFTEN)
        f->outcome = o;
    else if (known && f->most[SIDE_B] < NEVER && f->least[SIDE_A] >= OFTEN)
        f->outcome = turned(o);
}

static void judge_spread(const struct comparison *c, struct compare_figure *f)
{
    f->low = f->ratio / (1 + c->spread);
    f->high = f->ratio * (1 + c->spread);
    if (f->low > 1)
        f->outcome = more(f->metric);
    else if (f->high < 1)
        f->outcome = turned(more(f->metric));
}

static void judge(const struct comparison *c, struct compare_figure *f,
                  const struct values_of v[SIDES])
{
    struct paired p =
        stats_groups(v[SIDE_A].v, v[SIDE_A].n, v[SIDE_B].v, v[SIDE_B].n, c->confidence);

    f->outcome = OUTCOME_CANNOT_TELL;
    if (f->least[SIDE_A] <= 0 || f->least[SIDE_B] <= 0) {
        judge_zeros(c, f);
        return;
    }
    f->ratio = 1 / p.ratio;
    f->low = 1 / p.high;
    f->high = 1 / p.low;
    if (c->known)
        f->outcome = metric_table[f->metric].better == BETTER_MORE ? turned(p.outcome) : p.outcome;
    else if (!isnan(c->spread))
        judge_spread(c, f);
}

static void make_figure(struct comparison *c, int at, enum metric_id m, struct compare_figure *f)
{
    const struct compare_row *r = &c->row[at];
    struct values_of v[SIDES];

    *f = (struct compare_figure){.at = at, .metric = m, .ratio = NAN, .low = NAN, .high = NAN};
    for (int side = 0; side < SIDES; side++) {
        gather_side(c, side, r, m, &v[side]);
        describe(f, side, &v[side]);
    }
    judge(c, f, v);
    if (withheld(c, r, m, v, f->reason)) {
        f->low = f->high = NAN;
        f->outcome = OUTCOME_WITHHELD;
    }
    free(v[SIDE_A].v);
    free(v[SIDE_B].v);
}

static bool could_be_named(const struct comparison *c, const struct compare_figure *f)
{
    return c->known && f->outcome != OUTCOME_WITHHELD && f->n[SIDE_A] >= COMPARE_LEAST &&
           f->n[SIDE_B] >= COMPARE_LEAST && (f->most[SIDE_A] > 0 || f->most[SIDE_B] > 0);
}

static void add_figure(struct comparison *c, int at, enum metric_id m)
{
    const struct row *r = c->row[at].row;
    struct compare_figure f;

    make_figure(c, at, m == METRIC_response_p99_us ? row_p99(r) : m, &f);
    if (isnan(f.mean[SIDE_A]) || isnan(f.mean[SIDE_B]))
        return;
    c->figure = xrealloc(c->figure, (size_t)c->figures + 1, sizeof f);
    c->figure[c->figures++] = f;
    c->judged += could_be_named(c, &f);
}

/* One class after the other: counts of all rows, then the rest of all rows. */
static void find_figures(struct comparison *c)
{
    for (int counts = 1; counts >= 0; counts--)
        for (int at = 0; at < c->rows; at++)
            for (int i = 0; i < SHOWN; i++)
                if ((metric_table[shown[i]].cls == CLASS_COUNT) == counts &&
                    c->row[at].sessions[SIDE_A] && c->row[at].sessions[SIDE_B])
                    add_figure(c, at, shown[i]);
}

void compare_judge(struct comparison *c)
{
    c->confidence = COMPARE_CONFIDENCE;
    find_figures(c);
    if (c->judged < 2)
        return;
    c->confidence = 1 - (1 - COMPARE_CONFIDENCE) / c->judged;
    for (int i = 0; i < c->figures; i++)
        make_figure(c, c->figure[i].at, c->figure[i].metric, &c->figure[i]);
}
