/* SPDX-License-Identifier: MIT */
/* The answer of a sweep: all rows that differ from the given one in one parameter only. It ranks row by
 * row and says how often and how far; its reason and its trust cover all of them. */
#include <math.h>
#include <string.h>

#include "session/ramp.h"
#include "session/say.h"
#include "session/slopes.h"

/* The one parameter in which two rows differ; PARAM_COUNT when it is none or several. */
static enum param_id only_difference(const struct row *a, const struct row *b)
{
    enum param_id found = PARAM_COUNT;
    for (int id = 0; id < PARAM_COUNT; id++) {
        if (params_same(params_get(&a->params, id), params_get(&b->params, id)))
            continue;
        if (found != PARAM_COUNT)
            return PARAM_COUNT;
        found = id;
    }
    return found;
}

static bool counts(const struct row *x, const struct row *r)
{
    return x != r && row_in_table(x, r) && row_kept(x) >= 3;
}

/* The parameter along which most rows stand beside r. */
static enum param_id sweep_axis(const struct rows *rows, const struct row *r)
{
    int votes[PARAM_COUNT + 1] = {0};
    enum param_id best = PARAM_COUNT;
    for (const struct row *x = rows->first; x; x = x->next) {
        enum param_id id = counts(x, r) ? only_difference(x, r) : PARAM_COUNT;
        if (id != PARAM_COUNT && (best == PARAM_COUNT || ++votes[id] > votes[best]))
            best = id;
    }
    return best;
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

static void say_sweep(struct text *t, const struct sweep *s, const struct row *r, int pane,
                      enum param_id axis)
{
    static const char *const words[] = {"dearer", "cheaper", "the same", "not told apart",
                                        "withheld"};
    bool cost = metric_table[s->by].cls == CLASS_COST;
    const char *name = r->panes[pane].model, *axis_id = param_table[axis].id;
    if (axis != PARAM_rate && !r->workload->repeat)
        say(t, "%s ", say_load(r).s);
    say(t, "%s is", name);
    if (s->outcomes[OUTCOME_CHEAPER] == s->rows || s->outcomes[OUTCOME_DEARER] == s->rows) {
        bool less = s->outcomes[OUTCOME_CHEAPER] == s->rows;
        say(t, " %s at every %s, %s to %s times",
            cost ? (less ? "cheaper" : "dearer") : (less ? "faster" : "slower"),
            axis == PARAM_connections ? "count" : axis_id,
            num(s->least).s, num(s->most).s);
        return;
    }
    if (s->outcomes[OUTCOME_WITHHELD] == s->rows) {
        t->used = 0;
        say(t, "withheld at every %s: TRUST says why", axis == PARAM_connections ? "count" : axis_id);
        return;
    }
    bool first = true;
    for (int o = 0; o <= OUTCOME_WITHHELD; o++) {
        if (!s->outcomes[o])
            continue;
        say(t, "%s %s at %d", first ? "" : ",", words[o], s->outcomes[o]);
        first = false;
    }
    say(t, " of %d values of %s", s->rows, axis_id);
    if (s->most > 0)
        say(t, "; differences %s to %s times", num(s->least).s, num(s->most).s);
}

/* The rows of the sweep one after the other, in the order of the axis; NULL past the last. */
static const struct row *next_row(const struct rows *rows, const struct row *r, enum param_id axis,
                                  double after)
{
    const struct row *best = NULL;
    for (const struct row *x = rows->first; x; x = x->next) {
        if (x != r && (!counts(x, r) || only_difference(x, r) != axis))
            continue;
        double v = params_get(&x->params, axis);
        if (v > after && (!best || v < params_get(&best->params, axis)))
            best = x;
    }
    return best;
}

struct walk {
    const struct rows *rows;
    const struct row *like;
    enum param_id axis;
};

#define EACH(x, w)                                                                                 \
    const struct row *x = next_row((w)->rows, (w)->like, (w)->axis, -INFINITY);                     \
    x;                                                                                             \
    x = next_row((w)->rows, (w)->like, (w)->axis, params_get(&x->params, (w)->axis))

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

/* "96 to 396", or one number when it does not change. */
static void say_span(struct text *t, const struct walk *w, int pane, enum metric_id m)
{
    double low = INFINITY, high = -INFINITY;
    for (EACH(x, w)) {
        double v = row_summary(x, pane, m).mean;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    if (low > high)
        say(t, "(not measured)");
    else if (high - low < 0.05 * high)
        say(t, "%s", num(high).s);
    else
        say(t, "%s to %s", num(low).s, num(high).s);
}

/* The counter that explains a sweep, by what the workload yields; else its second figure. */
static const struct reason {
    enum metric_id yields;
    const char *verb, *what, *again;
} reasons[] = {
    {METRIC_looks_per_request, "looks at", "sockets for a request", "at "},
    {METRIC_syn_retransmits, "lost", "SYNs, a timer of 1 s each", ""},
};

/* What an idle connection costs each of the two. */
static bool why_slopes(struct text *t, const struct walk *w, int pane)
{
    struct slopes a, b;
    if (w->axis != PARAM_idle || !slopes_of(w->rows, w->like, 0, &a) ||
        !slopes_of(w->rows, w->like, pane, &b))
        return false;
    say(t, "an idle connection costs ");
    slopes_say(t, w->like->panes[0].model, &a);
    say(t, "; ");
    slopes_say(t, w->like->panes[pane].model, &b);
    return true;
}

static void why_sweep(struct text *t, const struct walk *w, int pane)
{
    const struct row *r = w->like;
    if (why_slopes(t, w, pane))
        return;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const struct reason *x = &reasons[i];
        if (!workload_yields(r->workload, x->yields))
            continue;
        say(t, "%s %s ", r->panes[0].model, x->verb);
        say_span(t, w, 0, x->yields);
        say(t, " %s; %s %s", x->what, r->panes[pane].model, x->again);
        say_span(t, w, pane, x->yields);
        return;
    }
    enum metric_id m = r->workload->yields[1];
    say(t, "%s %s ", metric_table[m].title, r->panes[0].model);
    say_span(t, w, 0, m);
    say(t, "; %s ", r->panes[pane].model);
    say_span(t, w, pane, m);
}

/* "A behind at 600, 700, 800" */
static bool say_verdict(struct text *t, const struct walk *w, int pane, enum verdict v, bool first)
{
    bool said = false;
    char value[24];
    for (EACH(x, w)) {
        if (x->panes[pane].verdict != v)
            continue;
        params_show(w->axis, params_get(&x->params, w->axis), value, sizeof value);
        if (said)
            say(t, ", %s", value);
        else
            say(t, "%s%c %s at %s", first ? "" : "; ", 'A' + pane, verdict_words[v], value);
        said = true;
    }
    return said;
}

static void trust_sweep(struct text *t, const struct walk *w, int pane)
{
    bool said = false;
    double worst = 0;
    for (int v = VERDICT_NONE + 1; v < VERDICT_OK; v++) {
        said |= say_verdict(t, w, 0, v, !said);
        said |= say_verdict(t, w, pane, v, !said);
    }
    for (EACH(x, w))
        worst = fmax(worst, row_ratio(x, pane, row_compared(x, pane)).resolution_pct);
    if (!said)
        say(t, "ok at every value");
    if (worst > 0 && worst <= 50)
        say(t, "; can tell %.0f %% apart or better", ceil(worst));
    say(t, "; %s", w->like->path);
}

void answer_sweep(const struct rows *rows, const struct row *r, int pane, struct answer *out)
{
    struct walk w = {rows, r, sweep_axis(rows, r)};
    answer_row(r, pane, out);
    bool ranks = metric_table[row_main(r)].cls != CLASS_STATE;
    if (!ranks || w.axis == PARAM_COUNT || pane <= 0 || pane >= r->pane_count || row_kept(r) < 3) {
        if (r->workload->next_step)
            ramp_answer(rows, r, pane, out);
        return;
    }
    struct sweep s = {.by = compared(&w, pane)};
    for (EACH(x, &w))
        sweep_add(&s, x, pane);
    memset(out, 0, sizeof *out);
    struct text answer = {out->answer, sizeof out->answer, 0};
    struct text why = {out->why, sizeof out->why, 0}, trust = {out->trust, sizeof out->trust, 0};
    say_sweep(&answer, &s, r, pane, w.axis);
    why_sweep(&why, &w, pane);
    if (r->workload->next_step)
        ramp_answer(rows, r, pane, out);
    trust_sweep(&trust, &w, pane);
}
