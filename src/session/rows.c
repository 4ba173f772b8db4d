/* SPDX-License-Identifier: MIT */
/* Rows keep what was measured in chunks that never move, so a reader may hold a pointer while the
 * runner appends. Figures are formed on demand from the kept samples: nothing derived is stored, so
 * the screen, the CSV and the answers cannot disagree. Which figures may rank two models stands in
 * the table of verdicts. */
#include "session/rows.h"

#include <stdlib.h>
#include <string.h>

#include "servers/target.h"

const char *const row_paths[] = {"loopback", "netns", "network", NULL};

const char *const kept_words[] = {"yes", "warmup", "broken", "extra"};

#define VERDICT(id, word, test, ends, holds, meaning) word,
const char *const verdict_words[] = {"",
#include "session/verdicts.def"
};
#undef VERDICT

#define VERDICT(id, word, test, ends, holds, meaning) meaning,
const char *const verdict_meanings[] = {"",
#include "session/verdicts.def"
};
#undef VERDICT

#define HOLDS(class) (1u << CLASS_##class)
#define VERDICT(id, word, test, ends, holds, meaning) holds,
static const unsigned holds[VERDICT_COUNT] = {0,
#include "session/verdicts.def"
};
#undef VERDICT

#define VERDICT(id, word, test, ends, holds, meaning) ends,
static const unsigned ends[VERDICT_COUNT] = {0,
#include "session/verdicts.def"
};
#undef VERDICT

bool verdict_ends(enum verdict v, unsigned what)
{
    return ends[v] & what;
}

bool verdict_holds(enum verdict v, enum metric_class class)
{
    return holds[v] & 1u << class;
}

/* Without a pace the models do unequal work, so neither share nor latency compares like with
 * like. */
static const unsigned needs_pace = HOLDS(SHARE) | HOLDS(LATENCY);

struct row *rows_add(struct rows *r, const struct params *p, int pane_count)
{
    struct row *row = xcalloc(1, sizeof *row);

    row->number = ++r->count;
    row->workload = workload_of(p);
    row->params = *p;
    row->path = row_paths[0];
    row->pane_count = pane_count;
    row->period = r->period;
    if (r->last)
        r->last->next = row;
    else
        r->first = row;
    r->last = row;
    return row;
}

static void pane_free(struct pane *p)
{
    for (struct sample_chunk *c = p->first, *next; c; c = next) {
        next = c->next;
        free(c);
    }
}

void rows_free(struct rows *r)
{
    for (struct row *row = r->first, *next; row; row = next) {
        next = row->next;
        for (int i = 0; i < LINEUP_MAX; i++)
            pane_free(&row->panes[i]);
        free(row);
    }
    *r = (struct rows){0};
}

const struct row *rows_numbered(const struct rows *rows, int number)
{
    const struct row *r = rows->first;
    while (r && r->number != number)
        r = r->next;
    return r;
}

struct sample *pane_add(struct pane *p)
{
    if (!p->last || p->last->count == SAMPLE_CHUNK) {
        struct sample_chunk *c = xcalloc(1, sizeof *c);

        if (p->last)
            p->last->next = c;
        else
            p->first = c;
        p->last = c;
    }
    p->count++;

    struct sample *s = &p->last->samples[p->last->count++];
    values_clear(&s->values);
    return s;
}

static int by_index(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

static bool in_order(const struct pane *p)
{
    int last = 0;

    for (const struct sample_chunk *c = p->first; c; c = c->next)
        for (int i = 0; i < c->count; i++) {
            if (c->samples[i].index < last)
                return false;
            last = c->samples[i].index;
        }
    return true;
}

void pane_sort(struct pane *p)
{
    if (in_order(p))
        return;
    struct sample *all = xcalloc((size_t)p->count + 1, sizeof *all);
    int n = 0;

    for (struct sample_chunk *c = p->first; c; c = c->next) {
        memcpy(all + n, c->samples, (size_t)c->count * sizeof *all);
        n += c->count;
    }
    qsort(all, (size_t)n, sizeof *all, by_index);
    n = 0;
    for (struct sample_chunk *c = p->first; c; c = c->next) {
        memcpy(c->samples, all + n, (size_t)c->count * sizeof *all);
        n += c->count;
    }
    free(all);
}

const struct sample *pane_at(const struct pane *p, int i)
{
    if (i < 0 || i >= p->count)
        return NULL;

    const struct sample_chunk *c = p->first;
    for (; i >= SAMPLE_CHUNK; i -= SAMPLE_CHUNK)
        c = c->next;
    return &c->samples[i];
}

bool pane_honours(const struct pane *p, enum param_id id)
{
    static const unsigned policy[PARAM_COUNT] = {
        [PARAM_accept] = POLICY_ACCEPT,
        [PARAM_buffer] = POLICY_BUFFER,
        [PARAM_events] = POLICY_EVENTS,
        [PARAM_backlog] = POLICY_BACKLOG,
        [PARAM_client_work] = POLICY_CLIENT_WORK,
    };
    if (id == PARAM_workers && p->io && p->io->caps & CAP_OWN_WORKERS)
        return false;
    if (id == PARAM_place && p->io && p->io->target)
        return false;
    if (id == PARAM_size && p->io && p->io->target && p->io->target->request_length)
        return false; /* its address says what comes */
    return !policy[id] || !p->io || p->io->policies & policy[id];
}

int pane_kept(const struct pane *p)
{
    int kept = 0;

    for (const struct sample_chunk *c = p->first; c; c = c->next)
        for (int i = 0; i < c->count; i++)
            kept += c->samples[i].kept == KEPT_YES;
    return kept;
}

/* A pane that died does not make the others' rounds worthless. */
int row_kept(const struct row *r)
{
    int most = 0;

    for (int i = 0; i < r->pane_count; i++) {
        int kept = pane_kept(&r->panes[i]);
        most = kept > most ? kept : most;
    }
    return most;
}

/* One model alone has no turns: its samples are as long as those of two. */
double row_round_s(const struct params *p, int panes)
{
    return 2 * fmax(panes, 2) * p->turn;
}

int row_asked(const struct row *r)
{
    double n = r->workload->repeat ? r->params.repeats : r->params.samples;

    if (!r->workload->repeat && r->params.duration != PARAM_AUTO)
        n = ceil(r->params.duration / row_round_s(&r->params, r->pane_count) - 1e-9);
    n = fmax(n, r->rounds);
    return n < 1 ? 1 : (int)n;
}

int row_last_index(const struct row *r)
{
    int last = 0;

    for (int i = 0; i < r->pane_count; i++) {
        const struct sample *end = pane_at(&r->panes[i], r->panes[i].count - 1);
        last = end && end->index > last ? end->index : last;
    }
    return last;
}

/* The measured values of a metric in the kept samples; the caller frees. */
static double *kept_values(const struct pane *p, enum metric_id m, int *count)
{
    double *v = xcalloc((size_t)p->count + 1, sizeof *v);

    *count = 0;
    for (const struct sample_chunk *c = p->first; c; c = c->next)
        for (int i = 0; i < c->count; i++)
            if (c->samples[i].kept == KEPT_YES && !isnan(c->samples[i].values.v[m]))
                v[(*count)++] = c->samples[i].values.v[m];
    return v;
}

/* A rule that would drop every value drops what leaves the middle one or two: a single repeat is
 * still shown, with no interval. */
static int trim_for(const struct row *r, int n)
{
    int trim = r->params.trim > 0 ? (int)fmin(r->params.trim, 1e6) : 0;

    return n > 2 * trim ? trim : n > 0 ? (n - 1) / 2 : 0;
}

static struct summary total(const double *v, int n)
{
    struct summary s = {n, n, METRIC_NONE, METRIC_NONE, METRIC_NONE, METRIC_NONE, METRIC_NONE};

    for (int i = 0; i < n; i++) {
        s.mean = i ? s.mean + v[i] : v[i];
        s.min = fmin(s.min, v[i]); /* fmin and fmax pass over NaN */
        s.max = fmax(s.max, v[i]);
    }
    return s;
}

struct summary row_summary(const struct row *r, int pane, enum metric_id m)
{
    int n;
    double *v = kept_values(&r->panes[pane], m, &n);
    struct summary s = metric_table[m].fold == FOLD_SUM ? total(v, n)
                                                        : stats_trimmed(v, n, trim_for(r, n), 0.95);

    free(v);
    return s;
}

struct cursor {
    const struct sample_chunk *chunk;
    int i;
};

static const struct sample *cursor_at(struct cursor *c)
{
    if (c->chunk && c->i == c->chunk->count)
        *c = (struct cursor){c->chunk->next, 0};
    return c->chunk ? &c->chunk->samples[c->i] : NULL;
}

/* Walks two panes as the merge of two lists: within a pane the index grows. */
static int pair_up(const struct row *r, int pane, enum metric_id m, double *a, double *b)
{
    struct cursor ca = {r->panes[0].first, 0}, cb = {r->panes[pane].first, 0};
    const struct sample *sa, *sb;
    int n = 0;

    while ((sa = cursor_at(&ca)) && (sb = cursor_at(&cb))) {
        if (sa->index == sb->index && sa->kept == KEPT_YES && sb->kept == KEPT_YES) {
            a[n] = sa->values.v[m];
            b[n] = sb->values.v[m];
            n += !isnan(a[n]) && !isnan(b[n]);
        }
        int step_a = sa->index <= sb->index, step_b = sb->index <= sa->index;
        ca.i += step_a;
        cb.i += step_b;
    }
    return n;
}

/* stats_paired() speaks of costs: of a rate, more is cheaper. */
static enum outcome outcome_of(const struct row *r, int pane, enum metric_id m, enum outcome o)
{
    if (!row_may_rank(r, pane, m))
        return OUTCOME_WITHHELD;
    if (metric_table[m].better == BETTER_MORE && o == OUTCOME_DEARER)
        return OUTCOME_CHEAPER;
    if (metric_table[m].better == BETTER_MORE && o == OUTCOME_CHEAPER)
        return OUTCOME_DEARER;
    return o;
}

struct paired row_ratio(const struct row *r, int pane, enum metric_id m)
{
    size_t most = (size_t)r->panes[0].count + 1;
    double *a = xcalloc(most, sizeof *a), *b = xcalloc(most, sizeof *b);
    int n = pair_up(r, pane, m, a, b);
    struct paired p = stats_paired(a, b, n, trim_for(r, n));

    if (p.pairs_needed > 0 && n <= 2 * r->params.trim) /* the trim of more pairs is the whole one */
        p.pairs_needed = (int)fmax(p.pairs_needed, 2 * fmin(r->params.trim, 1e6) + 3);
    p.outcome = outcome_of(r, pane, m, p.outcome);
    free(a);
    free(b);
    return p;
}

static bool paced(const struct row *r)
{
    return isfinite(r->params.rate) && r->params.rate > 0;
}

bool pane_may_rank(const struct row *r, int pane, enum metric_id m)
{
    enum metric_class class = metric_table[m].cls;

    if (1u << class & needs_pace && !paced(r))
        return false;
    return verdict_holds(r->panes[pane].verdict, class);
}

bool row_may_rank(const struct row *r, int pane, enum metric_id m)
{
    return pane_may_rank(r, 0, m) && pane_may_rank(r, pane, m);
}

static bool undecided(const struct row *r, int pane)
{
    return r->state == ROW_RUNNING && r->panes[pane].verdict == VERDICT_NONE;
}

bool row_undecided(const struct row *r, int pane, enum metric_id m)
{
    bool a = undecided(r, 0), b = undecided(r, pane);

    return (a || b) && (a || pane_may_rank(r, 0, m)) && (b || pane_may_rank(r, pane, m));
}

static bool measured(const struct row *r, enum metric_id m)
{
    for (int i = 0; i < r->pane_count; i++)
        for (const struct sample_chunk *c = r->panes[i].first; c; c = c->next)
            for (int k = 0; k < c->count; k++)
                if (!isnan(c->samples[k].values.v[m]))
                    return true;
    return false;
}

/* One that broke meanwhile was connected all the same. */
void row_reached(const struct row *r, int pane, struct reached *out)
{
    double wanted = r->params.connections + r->params.idle;
    out->made = fmin((double)r->panes[pane].total.connects, wanted);
    out->connected = fmax(row_summary(r, pane, METRIC_established).max, out->made);
    out->served = row_summary(r, pane, METRIC_served).max;
    out->never = row_summary(r, pane, METRIC_never_answered).min;
}

enum metric_id row_main(const struct row *r)
{
    const enum metric_id *y = r->workload->yields;

    if (measured(r, METRIC_accepted) || measured(r, *y)) /* a server of ours counts */
        return *y;
    while (*y != METRIC_COUNT && !measured(r, *y))
        y++;
    return *y != METRIC_COUNT ? *y : r->workload->yields[0];
}

enum metric_id row_compared(const struct row *r, int pane)
{
    enum metric_id main = row_main(r), cost = METRIC_cpu_us_per_request;
    bool falls_back = metric_table[main].cls == CLASS_RATE && !row_may_rank(r, pane, main);

    if (falls_back && workload_yields(r->workload, cost) && row_may_rank(r, pane, cost))
        return cost;
    return main;
}

enum metric_id row_p99(const struct row *r)
{
    return paced(r) ? METRIC_response_p99_us : METRIC_latency_p99_us;
}

struct lineup row_lineup(const struct row *r)
{
    struct lineup l = {.count = r->pane_count};
    for (int i = 0; i < l.count; i++)
        l.models[i] = r->panes[i].io;
    return l;
}

bool row_same_lineup(const struct row *a, const struct row *b)
{
    if (a->pane_count != b->pane_count)
        return false;
    for (int i = 0; i < a->pane_count; i++)
        if (strcmp(a->panes[i].model, b->panes[i].model) != 0)
            return false;
    return true;
}

bool row_asks_one(const struct params *p)
{
    return !workload_of(p)->repeat && p->samples == 1 && p->warmup == 0 &&
           p->duration == PARAM_AUTO;
}

bool row_in_table(const struct row *r, const struct row *like)
{
    return r->state != ROW_DROPPED && r->workload == like->workload && r->period == like->period &&
           strcmp(r->claim, like->claim) == 0 && row_same_lineup(r, like) &&
           row_asks_one(&r->params) == row_asks_one(&like->params);
}
