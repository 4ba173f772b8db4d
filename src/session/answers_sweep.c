/* SPDX-License-Identifier: MIT */
/* The answer of a sweep: all rows of a table, whether they differ in one parameter or in
 * several. It ranks row by row and says how often and how far; its reason and its trust cover
 * all of them. What speaks of one row of several says which. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/ramp.h"
#include "session/say.h"
#include "session/slopes.h"
#include "session/table.h"

/* The rows of the table that were measured, in its order. */
struct walk {
    const struct rows *rows;
    const struct row *like;
    struct table table;
    int varying[TABLE_VARYING], varies;
    enum param_id axis; /* PARAM_COUNT: they differ in none or several */
};

static void walk_init(struct walk *w, const struct rows *rows, const struct row *like)
{
    *w = (struct walk){.rows = rows, .like = like};
    w->varies = table_rows(rows, like, &w->table, w->varying);
    int n = 0;
    for (int i = 0; i < w->table.rows; i++)
        if (w->table.row[i].row == like || row_kept(w->table.row[i].row) > 0)
            w->table.row[n++].row = w->table.row[i].row;
    w->table.rows = n;
    w->axis = PARAM_COUNT;
    if (w->varies == 1 && n > 1)
        w->axis = (enum param_id)w->varying[0];
}

#define EACH(x, w)                                                                                 \
    int at_ = 0; at_ < (w)->table.rows; at_++)                                                     \
        for (const struct row *x = (w)->table.row[at_].row; x; x = NULL

/* "at 20": in what this row differs from the others. */
static struct name value_of(const struct walk *w, const struct row *x)
{
    struct name n = {""};
    char value[24];
    struct text t = {n.s, sizeof n.s, 0};
    for (int i = 0; i < w->varies; i++)
        say(&t, "%s%s", i ? "/" : "",
            params_show(w->varying[i], params_get(&x->params, w->varying[i]), value, sizeof value));
    return n;
}

/* "at every count", "at every value of workers", "in all 4 rows" */
static struct name everywhere(const struct walk *w)
{
    struct name n;
    const char *id = w->axis == PARAM_COUNT ? "" : param_table[w->axis].id;
    bool plural = *id && id[strlen(id) - 1] == 's';
    if (w->axis == PARAM_COUNT)
        snprintf(n.s, sizeof n.s, "in all %d rows", w->table.rows);
    else if (w->axis == PARAM_connections)
        snprintf(n.s, sizeof n.s, "at every count");
    else
        snprintf(n.s, sizeof n.s, "at every %s%.20s", plural ? "value of " : "", id);
    return n;
}

/* "4 values of size", "4 rows" */
static struct name how_many(const struct walk *w)
{
    struct name n;
    if (w->axis == PARAM_COUNT)
        snprintf(n.s, sizeof n.s, "%d rows", w->table.rows);
    else
        snprintf(n.s, sizeof n.s, "%d values of %.20s", w->table.rows, param_table[w->axis].id);
    return n;
}

struct sweep {
    enum metric_id by;
    int rows, outcomes[OUTCOME_WITHHELD + 1];
    double least, most; /* how many times dearer the dearer one is, over rows with a difference */
};

static void sweep_add(struct sweep *s, const struct row *r, int pane)
{
    struct paired p = row_ratio(r, pane, s->by);
    bool ranks = row_may_rank(r, pane, s->by);
    enum outcome o = ranks ? p.outcome : OUTCOME_WITHHELD;
    double times = p.ratio < 1 ? 1 / p.ratio : p.ratio;
    s->rows++;
    s->outcomes[o]++;
    if (o == OUTCOME_CHEAPER || o == OUTCOME_DEARER) {
        s->least = s->outcomes[OUTCOME_CHEAPER] + s->outcomes[OUTCOME_DEARER] == 1
                       ? times : fmin(s->least, times);
        s->most = fmax(s->most, times);
    }
}

static void say_sweep(struct text *t, const struct sweep *s, const struct walk *w, int pane)
{
    static const char *const words[] = {"dearer", "cheaper", "the same", "not told apart",
                                        "withheld"};
    const struct row *r = w->like;
    bool cost = metric_table[s->by].cls == CLASS_COST;
    if (s->outcomes[OUTCOME_WITHHELD] == s->rows) {
        say(t, "withheld %s: TRUST says why", everywhere(w).s);
        return;
    }
    if (w->axis != PARAM_rate && w->axis != PARAM_COUNT && !r->workload->repeat)
        say(t, "%s ", say_load(r).s);
    say(t, "%s is", pane_name(r, pane).s);
    if (s->outcomes[OUTCOME_CHEAPER] == s->rows || s->outcomes[OUTCOME_DEARER] == s->rows) {
        bool less = s->outcomes[OUTCOME_CHEAPER] == s->rows;
        say(t, " %s %s, %s to %s times",
            cost ? (less ? "cheaper" : "dearer") : (less ? "faster" : "slower"), everywhere(w).s,
            num(s->least).s, num(s->most).s);
        return;
    }
    bool first = true;
    for (int o = 0; o <= OUTCOME_WITHHELD; o++) {
        if (!s->outcomes[o])
            continue;
        say(t, "%s %s at %d", first ? "" : ",", words[o], s->outcomes[o]);
        first = false;
    }
    say(t, " of %s", how_many(w).s);
    if (s->most > 0)
        say(t, "; differences %s to %s times", num(s->least).s, num(s->most).s);
}

/* One figure for all rows: the main one, if any of them may be ranked by it. */
static enum metric_id compared(const struct walk *w, int pane)
{
    enum metric_id main = row_main(w->like), by = main;
    for (EACH(x, w)) {
        if (row_may_rank(x, pane, main))
            return main;
        by = by == main ? row_compared(x, pane) : by;
    }
    return by;
}

/* The least and the most of all rows; false where none has it. */
static bool span_of(const struct walk *w, int pane, enum metric_id m, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (EACH(x, w)) {
        double v = row_summary(x, pane, m).mean;
        *low = v < *low ? v : *low;
        *high = v > *high ? v : *high;
    }
    return *low <= *high;
}

/* "96 to 396", or one number when it does not change. */
static void say_span(struct text *t, const struct walk *w, int pane, enum metric_id m)
{
    double low, high;
    if (!span_of(w, pane, m, &low, &high))
        say(t, "(not measured)");
    else if (high - low <= 0.05 * high)
        say(t, "%s", num_metric(m, high).s);
    else
        say(t, "%s to %s", num_metric(m, low).s, num_metric(m, high).s);
}

/* One model has nothing beside it but itself. */
static void say_alone(struct text *t, const struct walk *w)
{
    enum metric_id m = row_main(w->like);
    const char *unit = metric_table[m].unit;
    say(t, "%s: ", w->like->panes[0].model);
    say_span(t, w, 0, m);
    if (*unit && *unit != '/' && strcmp(unit, "ns") && strcmp(unit, "B"))
        say(t, " %s", !strcmp(unit, "us") ? "µs" : unit);
    if (metric_table[m].cls != CLASS_TIME)
        say(t, " %s", metric_table[m].title);
    say(t, " over %s", how_many(w).s);
}

/* The counter that explains a sweep, by what the workload yields; else its second figure. */
static const struct reason {
    enum metric_id yields;
    const char *verb, *what, *more, *none;
} reasons[] = {
    {METRIC_looks_per_request, "looks at", "socket", " for a request", NULL},
    {METRIC_syn_retransmits, "lost", "SYN", ", a timer of 1 s each", "lost no SYN"},
};

/* What an idle connection costs each of the two. */
static bool why_slopes(struct text *t, const struct walk *w, int pane)
{
    struct slopes a, b;
    if (pane < 1 || w->axis != PARAM_idle || !slopes_of(w->rows, w->like, 0, &a) ||
        !slopes_of(w->rows, w->like, pane, &b))
        return false;
    say(t, "an idle connection costs ");
    slopes_say(t, pane_name(w->like, 0).s, &a);
    say(t, "; ");
    slopes_say(t, pane_name(w->like, pane).s, &b);
    return true;
}

static void why_sweep(struct text *t, const struct walk *w, int pane)
{
    const struct row *r = w->like;
    enum metric_id m = r->workload->yields[1];
    const struct reason *x = NULL;
    if (why_slopes(t, w, pane))
        return;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && !x; i++)
        x = workload_yields(r->workload, reasons[i].yields) ? &reasons[i] : NULL;
    if (!x)
        say(t, "%s ", metric_table[m].title);
    for (int i = 0; i <= pane; i += pane > 0 ? pane : 1) {
        double low, high;
        bool any = span_of(w, i, x ? x->yields : m, &low, &high);
        say(t, "%s%s ", i ? "; " : "", pane_name(r, i).s);
        if (x && x->none && any && high < 0.5) {
            say(t, "%s", x->none);
            continue;
        }
        if (x && !any && r->panes[i].io && r->panes[i].io->target) {
            say(t, "is not ours: its counts are not known");
            continue;
        }
        if (x)
            say(t, "%s ", x->verb);
        say_span(t, w, i, x ? x->yields : m);
        if (x && any)
            say(t, " %s%s%s", x->what, fabs(high - 1) < 0.005 ? "" : "s", x->more);
    }
}

/* "A behind at 600, 700, 800" */
static bool say_verdict(struct text *t, const struct walk *w, int pane, enum verdict v, bool first)
{
    int with = 0, said = 0;
    for (EACH(x, w))
        with += x->panes[pane].verdict == v;
    if (with == 0)
        return false;
    say(t, "%s%c %s ", first ? "" : "; ", 'A' + pane, verdict_words[v]);
    if (with == w->table.rows) {
        say(t, "%s", everywhere(w).s);
        return true;
    }
    for (EACH(x, w))
        if (x->panes[pane].verdict == v)
            say(t, "%s%s", said++ ? ", " : "at ", value_of(w, x).s);
    return true;
}

static void trust_sweep(struct text *t, const struct walk *w, int pane)
{
    bool said = false;
    double worst = 0;
    for (int v = VERDICT_NONE + 1; v < VERDICT_OK; v++) {
        said |= say_verdict(t, w, 0, v, !said);
        said |= pane > 0 && say_verdict(t, w, pane, v, !said);
    }
    for (EACH(x, w))
        if (pane > 0)
            worst = fmax(worst, row_ratio(x, pane, row_compared(x, pane)).resolution_pct);
    if (!said)
        say(t, w->axis == PARAM_COUNT ? "ok in all rows" : "ok at every value");
    if (worst > 0 && worst <= 50)
        say(t, "; can tell %.0f %% apart or better", ceil(worst));
    say(t, "; %s", w->like->path);
}

/* One row of several: its lines say which. */
static void say_which(char *line, size_t size, const char *value)
{
    char *was = strdup(line);
    if (was && strcmp(was, "-") != 0)
        snprintf(line, size, "at %s: %s", value, was);
    free(was);
}

static void answer_one(const struct walk *w, int pane, struct answer *out)
{
    struct name value = value_of(w, w->like);
    answer_row(w->like, pane, out);
    if (w->table.rows < 2 || w->like->workload->next_step || !value.s[0])
        return;
    say_which(out->answer, sizeof out->answer, value.s);
    say_which(out->why, sizeof out->why, value.s);
    say_which(out->trust, sizeof out->trust, value.s);
}

static void answer_all(const struct walk *w, int pane, struct answer *out)
{
    struct text answer = {out->answer, sizeof out->answer, 0};
    struct text why = {out->why, sizeof out->why, 0}, trust = {out->trust, sizeof out->trust, 0};
    memset(out, 0, sizeof *out);
    if (pane > 0) {
        struct sweep s = {.by = compared(w, pane)};
        for (EACH(x, w))
            sweep_add(&s, x, pane);
        say_sweep(&answer, &s, w, pane);
    } else {
        say_alone(&answer, w);
    }
    why_sweep(&why, w, pane);
    trust_sweep(&trust, w, pane);
}

void answer_sweep(const struct rows *rows, const struct row *r, int pane, struct answer *out)
{
    struct walk w;
    walk_init(&w, rows, r);
    bool ranks = metric_table[row_main(r)].cls != CLASS_STATE;
    bool early = r->state == ROW_RUNNING && row_kept(r) < 3;
    pane = pane >= r->pane_count ? r->pane_count - 1 : pane < 0 ? 0 : pane;
    if (!ranks || w.table.rows < 2 || early)
        answer_one(&w, pane, out);
    else
        answer_all(&w, pane, out);
    if (r->workload->next_step)
        ramp_answer(rows, r, pane, out);
    table_free(&w.table);
}
