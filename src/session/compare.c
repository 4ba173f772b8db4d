/* SPDX-License-Identifier: MIT */
/* A figure of a row is one value a session (its trimmed mean), and two sides are compared by the
 * logarithms of these with Welch's t. Many figures are judged at once, so each is judged at a
 * confidence that leaves 95 % for all of them together (Bonferroni): otherwise comparing a build with
 * itself would name some difference in most of all tries. */
#include "session/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/csv_cells.h"

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

/* A call that was never made, and one that is made in each twentieth request: no spread explains. */
#define NEVER 0.005
#define OFTEN 0.05

/* --- opening --------------------------------------------------------------------------------- */

struct peek {
    int column;
    char *id;
    size_t size;
};

static int peek_line(void *ctx, const struct cells *c, struct err *e)
{
    struct peek *p = ctx;

    (void)e;
    if (p->column == -2) {
        p->column = cells_find(c, "session");
        return 0;
    }
    cells_unguard(cells_text(c, p->column), p->id, p->size);
    return -ECANCELED; /* one is enough */
}

static const struct compare_session *same_session(const struct comparison *c, int side,
                                                  const char *id)
{
    for (int i = 0; *id && i < c->sessions[side]; i++)
        if (strcmp(c->session[side][i].id, id) == 0)
            return &c->session[side][i];
    return NULL;
}

int compare_open(struct comparison *c, int side, const char *name, char note[200], struct err *e)
{
    struct compare_session s = {.name = name};
    struct peek p = {-2, s.id, sizeof s.id};
    struct err ignored;

    note[0] = 0;
    cells_read(name, peek_line, &p, &ignored);
    const struct compare_session *twin = same_session(c, side, s.id);
    if (twin) {
        snprintf(note, 200, "the same session as %.150s: counted once", twin->name);
        return 0;
    }
    int n = csv_open(name, &s.rows, &s.env, note, e);
    if (n < 0)
        return n;
    size_t count = (size_t)c->sessions[side] + 1;
    c->session[side] = xrealloc(c->session[side], count, sizeof s);
    c->session[side][c->sessions[side]++] = s;
    return n;
}

void compare_free(struct comparison *c)
{
    for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < c->sessions[side]; i++)
            rows_free(&c->session[side][i].rows);
        free(c->session[side]);
    }
    free(c->row);
    free(c->figure);
    *c = (struct comparison){0};
}

/* --- rows ------------------------------------------------------------------------------------ */

/* What a file does not know (it has no such column) is no difference. */
static bool same_value(double v, double w)
{
    return v == w || isnan(v) || isnan(w);
}

static bool same_row(const struct row *a, int pa, const struct row *b, int pb)
{
    if (a->workload != b->workload || a->path != b->path ||
        strcmp(a->panes[pa].model, b->panes[pb].model) != 0)
        return false;
    for (int i = 0; i < PARAM_COUNT; i++)
        if (pane_honours(&a->panes[pa], (enum param_id)i) &&
            !same_value(params_get(&a->params, (enum param_id)i),
                        params_get(&b->params, (enum param_id)i)))
            return false;
    return true;
}

/* Calls fn for each pane of each row of a session that is this row. */
typedef void (*each_fn)(void *ctx, const struct row *r, int pane);

static int each(const struct compare_session *s, const struct compare_row *like, each_fn fn,
                void *ctx)
{
    int found = 0;

    for (const struct row *r = s->rows.first; r; r = r->next)
        for (int i = 0; i < r->pane_count; i++)
            if (r->panes[i].model[0] && same_row(like->row, like->pane, r, i)) {
                fn(ctx, r, i);
                found++;
            }
    return found;
}

static void add_row(struct comparison *c, const struct row *r, int pane)
{
    for (int i = 0; i < c->rows; i++)
        if (same_row(c->row[i].row, c->row[i].pane, r, pane))
            return;
    c->row = xrealloc(c->row, (size_t)c->rows + 1, sizeof *c->row);
    c->row[c->rows++] = (struct compare_row){.row = r, .pane = pane};
}

/* Models stand side by side as they did; sweeps ascend. */
static int by_params(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;

    if (x->row->workload != y->row->workload)
        return x->row->workload < y->row->workload ? -1 : 1;
    for (int i = 0; i < PARAM_COUNT; i++) {
        double v = params_get(&x->row->params, (enum param_id)i);
        double w = params_get(&y->row->params, (enum param_id)i);

        if (!same_value(v, w))
            return v < w ? -1 : 1;
    }
    return x->pane != y->pane ? x->pane - y->pane
                              : strcmp(x->row->panes[x->pane].model, y->row->panes[y->pane].model);
}

struct tally {
    int count[VERDICT_COUNT], all;
};

static void count_verdict(void *ctx, const struct row *r, int pane)
{
    struct tally *t = ctx;

    t->count[r->panes[pane].verdict]++;
    t->all++;
}

static void say_verdicts(const struct tally *t, char *buf, size_t size)
{
    size_t n = 0;

    buf[0] = 0;
    for (int v = 0; v < VERDICT_COUNT && n < size; v++) {
        const char *word = v ? verdict_words[v] : "no verdict";
        if (t->count[v] == t->all && t->all)
            n += (size_t)snprintf(buf + n, size - n, "%s", word);
        else if (t->count[v])
            n += (size_t)snprintf(buf + n, size - n, "%s%s in %d of %d", n ? ", " : "", word,
                                  t->count[v], t->all);
    }
}

static void find_rows(struct comparison *c)
{
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < c->sessions[side]; i++)
            for (const struct row *r = c->session[side][i].rows.first; r; r = r->next)
                for (int p = 0; p < r->pane_count; p++)
                    if (r->panes[p].model[0])
                        add_row(c, r, p);
    if (c->rows)
        qsort(c->row, (size_t)c->rows, sizeof *c->row, by_params);
    for (int k = 0; k < c->rows; k++)
        for (int side = 0; side < SIDES; side++) {
            struct tally t = {{0}, 0};
            for (int i = 0; i < c->sessions[side]; i++)
                c->row[k].sessions[side] +=
                    each(&c->session[side][i], &c->row[k], count_verdict, &t) > 0;
            say_verdicts(&t, c->row[k].verdicts[side], sizeof c->row[k].verdicts[side]);
        }
}

/* --- figures --------------------------------------------------------------------------------- */

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

            each(&c->session[side][i], r, gather_row, &g);
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

/* Where there are zeros there are no ratios. */
static void judge_zeros(const struct comparison *c, struct compare_figure *f)
{
    enum outcome o = more(f->metric);

    if (f->most[SIDE_A] == 0 && f->most[SIDE_B] == 0)
        f->outcome = OUTCOME_SAME;
    else if (c->known && f->most[SIDE_A] < NEVER && f->least[SIDE_B] >= OFTEN)
        f->outcome = o;
    else if (c->known && f->most[SIDE_B] < NEVER && f->least[SIDE_A] >= OFTEN)
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
    struct paired p = stats_groups(v[SIDE_A].v, v[SIDE_A].n, v[SIDE_B].v, v[SIDE_B].n, c->confidence);

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

void compare_make(struct comparison *c)
{
    c->known = c->sessions[SIDE_A] >= COMPARE_LEAST && c->sessions[SIDE_B] >= COMPARE_LEAST;
    c->confidence = COMPARE_CONFIDENCE;
    find_rows(c);
    find_figures(c);
    if (c->judged < 2)
        return;
    c->confidence = 1 - (1 - COMPARE_CONFIDENCE) / c->judged;
    for (int i = 0; i < c->figures; i++)
        make_figure(c, c->figure[i].at, c->figure[i].metric, &c->figure[i]);
}

int compare_common(const struct comparison *c)
{
    int n = 0;

    for (int i = 0; i < c->rows; i++)
        n += c->row[i].sessions[SIDE_A] && c->row[i].sessions[SIDE_B];
    return n;
}
