/* SPDX-License-Identifier: MIT */
/* ANSWER, WHY, TRUST. The answer ranks only what may be ranked; before three kept rounds it is called
 * a first guess; the reason is the counter that explains the main figure; the trust line says what
 * limited the figures and how small a difference could have been told. */
#include "session/answers.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define GUESS_ROUNDS 15

struct text { /* appends to a line, never past its end */
    char *buf;
    size_t size, used;
};

static void say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *t, const char *fmt, ...)
{
    va_list ap;
    if (t->used >= t->size)
        return;
    va_start(ap, fmt);
    int n = vsnprintf(t->buf + t->used, t->size - t->used, fmt, ap);
    va_end(ap);
    t->used += n > 0 ? (size_t)n : 0;
}

struct num {
    char s[24];
};

static struct num num(double v)
{
    struct num n;
    units_number(n.s, sizeof n.s, v);
    return n;
}

static double mean_of(const struct row *r, int pane, enum metric_id m)
{
    return row_summary(r, pane, m).mean;
}

/* "at 11.5k/s", "flat out", "for 400 connections" */
static struct num at_load(const struct row *r)
{
    struct num n;
    char v[16];
    if (r->workload->repeat)
        snprintf(n.s, sizeof n.s, "for %s", units_si(v, sizeof v, r->params.connections));
    else if (r->params.rate == PARAM_MAX)
        snprintf(n.s, sizeof n.s, "flat out");
    else
        snprintf(n.s, sizeof n.s, "at %s/s", units_si(v, sizeof v, r->params.rate));
    return n;
}

/* The ratio over warm-up rounds, while there is nothing better. */
static struct paired guess(const struct row *r, int pane)
{
    double a[GUESS_ROUNDS], b[GUESS_ROUNDS];
    int n = 0;
    const struct pane *pa = &r->panes[0], *pb = &r->panes[pane];
    for (int i = 0; i < pa->count && i < pb->count && n < GUESS_ROUNDS; i++, n++) {
        a[n] = pane_at(pa, i)->values.v[row_main(r)];
        b[n] = pane_at(pb, i)->values.v[row_main(r)];
    }
    return stats_paired(a, b, n, 0);
}

static void say_ratio(struct text *t, const struct row *r, int pane, const struct paired *p)
{
    bool a_dearer = p->ratio >= 1;
    const char *dear = r->panes[a_dearer ? 0 : pane].model;
    const char *cheap = r->panes[a_dearer ? pane : 0].model;
    double ratio = a_dearer ? p->ratio : 1 / p->ratio;
    double low = a_dearer ? p->low : 1 / p->high, high = a_dearer ? p->high : 1 / p->low;
    say(t, "%s ", dear);
    if (metric_table[row_main(r)].cls == CLASS_COST)
        say(t, "costs %s times the CPU of %s", num(ratio).s, cheap);
    else
        say(t, "takes %s times as long as %s", num(ratio).s, cheap);
    if (!isnan(low))
        say(t, " (%s to %s)", num(low).s, num(high).s);
    say(t, " %s", at_load(r).s);
}

static double round_seconds(const struct row *r)
{
    if (r->workload->repeat)
        return mean_of(r, 0, row_main(r)) * r->pane_count;
    return 2 * r->pane_count * r->params.turn;
}

static void answer_pair(const struct row *r, int pane, struct text *t)
{
    struct paired p = row_ratio(r, pane, row_main(r));
    const char *a = r->panes[0].model, *b = r->panes[pane].model;
    bool early = r->panes[0].verdict == VERDICT_NONE || r->panes[pane].verdict == VERDICT_NONE;
    if (p.pairs < 3 || early) {
        struct paired g = guess(r, pane);
        if (isnan(g.ratio) || p.pairs + g.pairs == 0) {
            say(t, "not yet: nothing was measured of both");
            return;
        }
        say(t, "first guess: ");
        g.low = g.high = NAN;
        say_ratio(t, r, pane, &g);
        return;
    }
    if (!row_may_rank(r, pane, row_main(r))) {
        const struct pane *bad = r->panes[pane].verdict < r->panes[0].verdict ? &r->panes[pane]
                                                                              : &r->panes[0];
        say(t, "withheld: %s %s", bad->model, verdict_words[bad->verdict]);
        return;
    }
    switch (p.outcome) {
    case OUTCOME_SAME:
        say(t, "no difference: %s / %s is %s (%s to %s) %s", a, b, num(p.ratio).s, num(p.low90).s,
            num(p.high90).s, at_load(r).s);
        return;
    case OUTCOME_CANNOT_TELL: {
        char span[24];
        say(t, "cannot tell: %s / %s is %s (%s to %s) %s", a, b, num(p.ratio).s, num(p.low).s,
            num(p.high).s, at_load(r).s);
        if (p.pairs_needed > p.pairs)
            say(t, "; about %s more would",
                units_span(span, sizeof span, (p.pairs_needed - p.pairs) * round_seconds(r)));
        return;
    }
    default:
        say_ratio(t, r, pane, &p);
    }
}

static void answer_alone(const struct row *r, struct text *t)
{
    struct summary main = row_summary(r, 0, row_main(r));
    char p99[24];
    if (main.used < 1) {
        say(t, "not yet: nothing was kept so far");
    } else if (r->workload->repeat) {
        say(t, "%s: %s s %s", r->panes[0].model, num(main.mean).s, at_load(r).s);
    } else {
        say(t, "%s: %s µs CPU a request %s, p99 %s", r->panes[0].model, num(main.mean).s,
            at_load(r).s, units_us(p99, sizeof p99, mean_of(r, 0, row_p99(r)), 0));
    }
}

static void why_calls(const struct row *r, int pane, struct text *t)
{
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        double looks = mean_of(r, i, METRIC_looks_per_request);
        if (isnan(looks)) {
            say(t, "%s%s: looks not measured", i ? "; " : "", r->panes[i].model);
            continue;
        }
        say(t, i ? "; %s at %s" : "%s looks at %s", r->panes[i].model, num(looks).s);
        if (i == 0)
            say(t, " socket%s for a request", looks < 1.5 ? "" : "s");
        say(t, ", %s ready a wait", num(mean_of(r, i, METRIC_events_per_wait)).s);
    }
}

static void why_connect(const struct row *r, int pane, struct text *t)
{
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        double lost = mean_of(r, i, METRIC_syn_retransmits);
        say(t, "%s%s", i ? "; " : "", r->panes[i].model);
        if (isnan(lost))
            say(t, ": lost SYNs not measured");
        else if (lost < 0.5)
            say(t, " lost no SYN");
        else
            say(t, " lost %s SYNs: %s of its %s s are the kernel's timer", num(lost).s,
                num(mean_of(r, i, METRIC_timer_s)).s, num(mean_of(r, i, METRIC_connect_s)).s);
    }
}

static void trust(const struct row *r, int pane, struct text *t)
{
    bool said = row_kept(r) < 3 && r->state == ROW_RUNNING;
    if (said)
        say(t, "not yet: %d of %.0f rounds kept", row_kept(r),
            r->workload->repeat ? r->params.repeats : r->params.samples);
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        const struct pane *p = &r->panes[i];
        if (p->verdict == VERDICT_OK || p->verdict == VERDICT_NONE)
            continue;
        say(t, "%s%c %s%s%s", said ? "; " : "", 'A' + i, verdict_words[p->verdict],
            p->reason[0] ? ": " : "", p->reason);
        said = true;
    }
    if (!said && r->params.rate != PARAM_MAX && !r->workload->repeat)
        say(t, "ok: %s served what was asked", pane ? "both" : "it");
    else if (!said)
        say(t, "ok");
    if (pane) {
        struct paired p = row_ratio(r, pane, row_main(r));
        if (p.resolution_pct > 900)
            say(t, "; its scatter hides even great differences");
        else if (p.resolution_pct > 50)
            say(t, "; can tell %s times apart", num(1 + p.resolution_pct / 100).s);
        else if (!isnan(p.resolution_pct))
            say(t, "; can tell %s %% apart", num(p.resolution_pct).s);
    }
    say(t, "; loopback");
}

void answer_row(const struct row *r, int pane, struct answer *out)
{
    struct text a = {out->answer, sizeof out->answer, 0}, w = {out->why, sizeof out->why, 0},
                t = {out->trust, sizeof out->trust, 0};
    memset(out, 0, sizeof *out);
    if (pane >= r->pane_count)
        pane = r->pane_count - 1;
    if (pane > 0)
        answer_pair(r, pane, &a);
    else
        answer_alone(r, &a);
    if (row_kept(r) == 0)
        say(&w, "no kept round yet");
    else if (r->workload->repeat)
        why_connect(r, pane, &w);
    else
        why_calls(r, pane, &w);
    trust(r, pane, &t);
}

/* --- a sweep ---------------------------------------------------------------------------------- */

static bool same_lineup(const struct row *a, const struct row *b)
{
    if (a->workload != b->workload || a->pane_count != b->pane_count)
        return false;
    for (int i = 0; i < a->pane_count; i++)
        if (strcmp(a->panes[i].model, b->panes[i].model) != 0)
            return false;
    return true;
}

static bool equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The one parameter in which two rows differ; PARAM_COUNT when it is none or several. */
static enum param_id only_difference(const struct row *a, const struct row *b)
{
    enum param_id found = PARAM_COUNT;
    for (int id = 0; id < PARAM_COUNT; id++) {
        if (equal(params_get(&a->params, id), params_get(&b->params, id)))
            continue;
        if (found != PARAM_COUNT)
            return PARAM_COUNT;
        found = id;
    }
    return found;
}

static bool counts(const struct row *x, const struct row *r)
{
    return x != r && x->state != ROW_DROPPED && same_lineup(x, r) && row_kept(x) >= 3;
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
    int rows, outcomes[OUTCOME_WITHHELD + 1];
    double least, most; /* how many times dearer the dearer one is, over rows with a difference */
};

static void sweep_add(struct sweep *s, const struct row *r, int pane)
{
    struct paired p = row_ratio(r, pane, row_main(r));
    bool ranks = row_may_rank(r, pane, row_main(r));
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
    bool cost = metric_table[row_main(r)].cls == CLASS_COST;
    const char *name = r->panes[pane].model, *axis_id = param_table[axis].id;
    if (axis != PARAM_rate && !r->workload->repeat)
        say(t, "%s ", at_load(r).s);
    say(t, "%s is", name);
    if (s->outcomes[OUTCOME_CHEAPER] == s->rows || s->outcomes[OUTCOME_DEARER] == s->rows) {
        bool less = s->outcomes[OUTCOME_CHEAPER] == s->rows;
        say(t, " %s at every %s, %s to %s times",
            cost ? (less ? "cheaper" : "dearer") : (less ? "faster" : "slower"),
            axis == PARAM_connections ? "count" : axis_id,
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
    say(t, " of %d values of %s", s->rows, axis_id);
    if (s->most > 0)
        say(t, "; differences %s to %s times", num(s->least).s, num(s->most).s);
}

void answer_sweep(const struct rows *rows, const struct row *r, int pane, struct answer *out)
{
    enum param_id axis = sweep_axis(rows, r);
    answer_row(r, pane, out);
    if (axis == PARAM_COUNT || pane <= 0 || row_kept(r) < 3)
        return;
    struct sweep s = {0};
    sweep_add(&s, r, pane);
    for (const struct row *x = rows->first; x; x = x->next)
        if (counts(x, r) && only_difference(x, r) == axis)
            sweep_add(&s, x, pane);
    struct text t = {out->answer, sizeof out->answer, 0};
    say_sweep(&t, &s, r, pane, axis);
}
