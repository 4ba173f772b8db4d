/* SPDX-License-Identifier: MIT */
/* The two files as text. A column is a name in the header and a cell in every line, written by
 * two functions that stand side by side: docs/files.md lists them. */
#include "session/csv_write.h"

#include <errno.h>

#include "session/answers.h"
#include "session/table.h"

static void put_text(struct sink *o, const char *text)
{
    o->text(o, text);
}

static void put_number(struct sink *o, double v)
{
    o->number(o, v);
}

static void put_end(struct sink *o)
{
    o->end(o);
}

static void put_param_names(struct sink *o)
{
    for (int i = 0; i < PARAM_COUNT; i++)
        put_text(o, param_table[i].id);
}

static void put_params(struct sink *o, const struct row *r, const struct pane *p)
{
    for (int i = 0; i < PARAM_COUNT; i++) {
        double v = params_get(&r->params, i);
        bool asked = pane_honours(p, (enum param_id)i) && (i != PARAM_size || v > 0);
        sink_param(o, (enum param_id)i, asked ? v : PARAM_UNSET);
    }
}

static void put_env_names(struct sink *o)
{
    put_text(o, "period");
    put_text(o, "claim");
    put_text(o, "path");
#define X(id, help) put_text(o, "env_" #id);
    ENVIRONMENT(X)
#undef X
    for (int i = 0; i < PRICE_COUNT; i++)
        put_text(o, price_columns[i]);
}

static void put_env(struct sink *o, const struct csv_session *s, const struct row *r)
{
    put_number(o, r->period + 1);
    put_text(o, r->claim);
    put_text(o, r->path);
#define X(id, help) put_text(o, s->env->id);
    ENVIRONMENT(X)
#undef X
    for (int i = 0; i < PRICE_COUNT; i++)
        put_number(o, s->env->prices.ns[i]);
}

static void put_print_names(struct sink *o)
{
#define X(id, help) put_text(o, "seen_" #id);
    FINGERPRINT_WORDS(X)
    FINGERPRINT_COUNTS(X)
#undef X
}

static void put_print(struct sink *o, const struct fingerprint *f)
{
#define X(id, help) put_text(o, f->id);
    FINGERPRINT_WORDS(X)
#undef X
#define X(id, help) put_number(o, f->taken && f->id >= 0 ? f->id : METRIC_NONE);
    FINGERPRINT_COUNTS(X)
#undef X
}

static void put_pane_names(struct sink *o)
{
    put_text(o, "session");
    put_text(o, "row");
    put_text(o, "pane");
    put_text(o, "model");
    put_param_names(o);
}

static void put_pane(struct sink *o, const struct csv_session *s, const struct row *r, int pane)
{
    put_text(o, s->session);
    put_number(o, r->number);
    put_text(o, (char[]){(char)('A' + pane), 0});
    put_text(o, r->panes[pane].model);
    put_params(o, r, &r->panes[pane]);
}

/* --- samples --------------------------------------------------------------------------------- */

void csv_sample_header(struct sink *o)
{
    put_text(o, "time");
    put_text(o, "elapsed_s");
    put_text(o, "interval_s");
    put_pane_names(o);
    put_text(o, "kind");
    put_text(o, "index");
    put_text(o, "kept");
    for (int i = 0; i < METRIC_COUNT; i++)
        put_text(o, metric_table[i].id);
    put_text(o, "verdict");
    put_text(o, "reason");
    put_text(o, "workers_split");
    put_print_names(o);
    put_env_names(o);
    put_end(o);
}

/* x NULL: a pane that has no sample says so in one line (skipped, died before the first). */
void csv_sample_line(struct sink *o, const struct csv_session *s, const struct row *r, int pane,
                     const struct sample *x)
{
    const struct pane *p = &r->panes[pane];

    put_text(o, x ? x->time : "");
    put_number(o, x ? x->elapsed_s : NAN);
    put_number(o, x ? x->interval_s : NAN);
    put_pane(o, s, r, pane);
    put_text(o, r->workload->repeat ? "repeat" : "sample");
    put_number(o, x ? x->index : NAN);
    put_text(o, x ? kept_words[x->kept] : "");
    for (int i = 0; i < METRIC_COUNT; i++)
        put_number(o, x ? x->values.v[i] : METRIC_NONE);
    put_text(o, verdict_words[p->verdict]);
    put_text(o, p->reason);
    put_text(o, p->workers);
    put_print(o, &p->print);
    put_env(o, s, r);
    put_end(o);
}

static void sample_pane(struct sink *o, const struct csv_session *s, const struct row *r, int pane)
{
    const struct pane *p = &r->panes[pane];

    if (p->count == 0)
        csv_sample_line(o, s, r, pane, NULL);
    for (const struct sample_chunk *c = p->first; c; c = c->next)
        for (int i = 0; i < c->count; i++)
            csv_sample_line(o, s, r, pane, &c->samples[i]);
}

static int status(FILE *f)
{
    return fflush(f) != 0 || ferror(f) ? -(errno ? errno : EIO) : 0;
}

int csv_samples(const struct csv_session *s, FILE *f)
{
    struct csv_sink to;
    struct sink *o = csv_sink_init(&to, f);

    csv_sample_header(o);
    for (const struct row *r = s->rows->first; r; r = r->next)
        for (int i = 0; i < r->pane_count && r->state != ROW_DROPPED; i++)
            sample_pane(o, s, r, i);
    return status(f);
}

/* --- table rows ------------------------------------------------------------------------------ */

static void put_metric_names(struct sink *o, const char *id)
{
    static const char *const part[] = {"", "_n", "_min", "_max", "_low", "_high"};
    char name[64];

    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        snprintf(name, sizeof name, "%s%s", id, part[i]);
        put_text(o, name);
    }
}

static void table_header(struct sink *o)
{
    static const char *const ends[] = {"against",    "compared", "ratio",   "ratio_low",
                                       "ratio_high", "resolution_pct", "outcome", "verdict",
                                       "reason",     "workers_split",
                                       "answer",     "why",      "trust"};

    put_pane_names(o);
    put_text(o, "taken");
    put_text(o, "used");
    for (int i = 0; i < METRIC_COUNT; i++)
        put_metric_names(o, metric_table[i].id);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        put_text(o, ends[i]);
    put_print_names(o);
    put_env_names(o);
    put_end(o);
}

static void put_summary(struct sink *o, const struct summary *s)
{
    put_number(o, s->mean);
    put_number(o, s->taken ? s->used : NAN);
    put_number(o, s->min);
    put_number(o, s->max);
    put_number(o, s->low);
    put_number(o, s->high);
}

static void put_ratio(struct sink *o, const struct row *r, int pane)
{
    struct paired p = {.ratio = NAN, .low = NAN, .high = NAN, .resolution_pct = NAN};

    enum metric_id by = row_compared(r, pane);
    bool decided = pane > 0 && !row_undecided(r, pane, by);
    if (pane > 0)
        p = row_ratio(r, pane, by);
    put_text(o, pane > 0 ? r->panes[0].model : "");
    put_text(o, pane > 0 ? metric_table[by].id : "");
    put_number(o, p.ratio);
    put_number(o, p.low);
    put_number(o, p.high);
    put_number(o, p.resolution_pct);
    put_text(o, decided ? outcome_words[p.outcome] : "");
}

static void table_line(struct sink *o, const struct csv_session *s, const struct row *r, int pane)
{
    struct summary main = row_summary(r, pane, row_main(r));
    struct answer a = {0};

    put_pane(o, s, r, pane);
    put_number(o, pane_kept(&r->panes[pane]));
    put_number(o, main.used);
    for (int i = 0; i < METRIC_COUNT; i++) {
        struct summary m = row_summary(r, pane, i);
        put_summary(o, &m);
    }
    put_ratio(o, r, pane);
    put_text(o, verdict_words[r->panes[pane].verdict]);
    put_text(o, r->panes[pane].reason);
    put_text(o, r->panes[pane].workers);
    answer_row(r, pane, &a);
    put_text(o, a.answer);
    put_text(o, a.why);
    put_text(o, a.trust);
    put_print(o, &r->panes[pane].print);
    put_env(o, s, r);
    put_end(o);
}

/* The rows of one table, in its order. */
static void table_lines(struct sink *o, const struct csv_session *s, const struct row *like)
{
    int varying[TABLE_VARYING];
    struct table t;

    table_rows(s->rows, like, &t, varying);
    for (int k = 0; k < t.rows; k++)
        for (int i = 0; i < t.row[k].row->pane_count; i++)
            table_line(o, s, t.row[k].row, i);
    table_free(&t);
}

static bool begins_table(const struct rows *rows, const struct row *r)
{
    for (const struct row *x = rows->first; x != r; x = x->next)
        if (row_in_table(x, r))
            return false;
    return r->state != ROW_DROPPED;
}

void csv_tables_to(const struct csv_session *s, struct sink *o)
{
    table_header(o);
    for (const struct row *r = s->rows->first; r; r = r->next)
        if (begins_table(s->rows, r))
            table_lines(o, s, r);
}

int csv_tables(const struct csv_session *s, FILE *f)
{
    struct csv_sink to;

    csv_tables_to(s, csv_sink_init(&to, f));
    return status(f);
}
