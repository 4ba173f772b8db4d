/* SPDX-License-Identifier: MIT */
/* A verdict from rows. Every term becomes a range: the interval of a mean (95 %), of a ratio by
 * rounds (99 %), of the slope of a straight line (95 %); an exact count has no width. A comparison
 * holds when the whole range lies on its side and fails when the whole range lies on the other;
 * between the two nothing is said. Whether a figure may be used at all is for the row's verdict. */
#include "session/claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/say.h"

enum holds { HOLDS_NO, HOLDS_YES, HOLDS_UNSURE, HOLDS_MISSING };

struct range {
    double low, value, high; /* NaN: not measured */
};
static const struct range no_range = {NAN, NAN, NAN};

struct judge {
    const struct claim *claim;
    const struct row *first;
    const double *probe;
    struct text figures;
    char missing[200]; /* the first figure that is not there, and why */
};

/* --- rows ------------------------------------------------------------------------------------- */

/* Measured for this claim, and not once more since. */
static bool is_its(const struct judge *j, const struct row *r)
{
    if (strcmp(r->claim, j->claim->name) != 0)
        return false;
    for (const struct row *x = r->next; x; x = x->next)
        if (!strcmp(x->claim, r->claim) && row_same_lineup(x, r) &&
            params_same_but(&x->params, &r->params, PARAM_COUNT))
            return false;
    return true;
}

/* Its first row from r on. */
static const struct row *its_row(const struct judge *j, const struct row *r)
{
    while (r && !is_its(j, r))
        r = r->next;
    return r;
}

/* --- ranges ----------------------------------------------------------------------------------- */

static int pane_of(const struct row *r, const char *model)
{
    for (int i = 0; i < r->pane_count; i++)
        if (!strcmp(r->panes[i].model, model))
            return i;
    return -1;
}

static void note_missing(struct judge *j, const struct row *r, int pane, const char *term)
{
    const struct pane *p = &r->panes[pane];
    struct text t = {j->missing, sizeof j->missing, 0};
    if (j->missing[0])
        return;
    say(&t, "%s%s%s", p->model, p->verdict ? " " : "", verdict_words[p->verdict]);
    if (p->reason[0])
        say(&t, ", %s", p->reason);
    else if (p->note[0])
        say(&t, ", %s", p->note);
    say(&t, " (%s)", term);
}

/* States and counts are what they are; so is the rate of one model, which ranks it beside nobody.
 * Too few values have no interval of their own, but a smallest and a largest. */
static bool usable(const struct row *r, int pane, enum metric_id m)
{
    enum metric_class class = metric_table[m].cls;
    return class == CLASS_STATE || class == CLASS_COUNT || class == CLASS_RATE ||
           r->panes[pane].verdict == VERDICT_TOO_FEW || pane_may_rank(r, pane, m);
}

/* Of all that were kept: a trim of few may leave one, which looks exact. */
static struct range extent_of(const struct row *r, int pane, enum metric_id m, double value)
{
    struct row whole = *r;
    whole.params.trim = 0;
    struct summary s = row_summary(&whole, pane, m);
    return (struct range){s.min, value, s.max};
}

static struct range figure_of(struct judge *j, const struct claim_condition *c, const struct row *r)
{
    int pane = pane_of(r, c->of.model);
    if (pane < 0)
        return no_range;
    struct summary s = row_summary(r, pane, c->of.metric);
    if (isnan(s.mean) || !usable(r, pane, c->of.metric)) {
        note_missing(j, r, pane, c->text);
        return no_range;
    }
    if (metric_table[c->of.metric].fold == FOLD_SUM) /* over all samples: it has no spread */
        return (struct range){s.mean, s.mean, s.mean};
    if (isnan(s.low))
        return extent_of(r, pane, c->of.metric, s.mean);
    return (struct range){s.low, s.mean, s.high};
}

static struct range ratio_of(struct judge *j, const struct claim_condition *c, const struct row *r)
{
    int upper = pane_of(r, c->of.model), under = pane_of(r, c->under);
    int other = upper == 0 ? under : upper;
    if (upper < 0 || under < 0)
        return no_range;
    if (!row_may_rank(r, other, c->of.metric)) {
        note_missing(j, r, pane_may_rank(r, 0, c->of.metric) ? other : 0, c->text);
        return no_range;
    }
    struct paired p = row_ratio(r, other, c->of.metric);
    if (isnan(p.ratio) || isnan(p.low)) {
        note_missing(j, r, other, c->text);
        return no_range;
    }
    if (upper == 0)
        return (struct range){p.low, p.ratio, p.high};
    return (struct range){1 / p.high, 1 / p.ratio, 1 / p.low};
}

struct points {
    int n, least; /* least: the one with the smallest x */
    double *x, *y;
};

/* What grew above the smallest, as logarithms: a power of x is a line there. */
static void above_least(struct points *p)
{
    int n = 0;
    double x0 = p->x[p->least], y0 = p->y[p->least];
    for (int i = 0; i < p->n; i++)
        if (p->x[i] > x0 && p->y[i] > y0) {
            p->y[n] = log(p->y[i] - y0);
            p->x[n++] = log(p->x[i] - x0);
        }
    p->n = n;
}

static void take_points(struct judge *j, const struct claim_condition *c, struct points *p)
{
    for (const struct row *r = its_row(j, j->first); r; r = its_row(j, r->next)) {
        double x = params_get(&r->params, c->along);
        struct range y = figure_of(j, c, r);
        if (isnan(y.value) || !isfinite(x))
            continue;
        p->least = p->n == 0 || x < p->x[p->least] ? p->n : p->least;
        p->x[p->n] = x;
        p->y[p->n++] = y.value;
    }
}

static struct range line_of(struct judge *j, const struct claim_condition *c)
{
    double half = NAN;
    size_t most = 1;
    for (const struct row *r = its_row(j, j->first); r; r = its_row(j, r->next))
        most++;
    struct points p = {0, 0, xcalloc(most, sizeof(double)), xcalloc(most, sizeof(double))};
    take_points(j, c, &p);
    if (c->term == TERM_EXPONENT && p.n > 0)
        above_least(&p);
    double slope = stats_slope(p.x, p.y, p.n, &half);
    free(p.x);
    free(p.y);
    if (isnan(slope) && !j->missing[0])
        snprintf(j->missing, sizeof j->missing, "%s: fewer than three rows that grow", c->text);
    return (struct range){slope - half, slope, slope + half};
}

static const struct probe_figure *probe_figure(const struct judge *j,
                                               const struct claim_condition *c)
{
    return &j->claim->probe->figures[c->figure];
}

static struct range probe_of(struct judge *j, const struct claim_condition *c)
{
    double v = j->probe ? j->probe[c->figure] : NAN;
    if (isnan(v) && !j->missing[0])
        snprintf(j->missing, sizeof j->missing, "%s: not measured", probe_figure(j, c)->says);
    return (struct range){v, v, v};
}

static struct num probe_value(const struct judge *j, const struct claim_condition *c, double v)
{
    struct num n = num_whole(v);
    if (probe_figure(j, c)->yes_no)
        snprintf(n.s, sizeof n.s, "%s", v > 0 ? "yes" : "no");
    return n;
}

/* --- conditions ------------------------------------------------------------------------------- */

static enum holds compare(const struct expr *x, struct range v)
{
    if (isnan(v.value) || isnan(v.low) || isnan(v.high))
        return HOLDS_MISSING;
    bool low = expr_holds(x, v.low), high = expr_holds(x, v.high);
    return low && high ? HOLDS_YES : low || high ? HOLDS_UNSURE : HOLDS_NO;
}

/* False: it stands there already. */
static bool say_label(struct judge *j, const char *label)
{
    char key[192];
    snprintf(key, sizeof key, "%s: ", label);
    const char *there = strstr(j->figures.buf, key);
    if (there && (there == j->figures.buf || there[-1] == ' '))
        return false;
    say(&j->figures, "%s%s", j->figures.used ? "; " : "", key);
    return true;
}

static void say_figure(struct judge *j, const char *label, struct range v)
{
    if (!say_label(j, label))
        return;
    if (isnan(v.value)) {
        say(&j->figures, "not measured");
        return;
    }
    bool exact =
        !(v.low < v.high); /* a count is written whole, a small slope is not rounded to 0 */
    say(&j->figures, "%s", exact ? num_whole(v.value).s : num(v.value).s);
    if (!exact)
        say(&j->figures, " (%s to %s)", num(v.low).s, num(v.high).s);
}

static void say_probed(struct judge *j, const struct claim_condition *c, double v)
{
    if (say_label(j, probe_figure(j, c)->says))
        say(&j->figures, "%s", isnan(v) ? "not measured" : probe_value(j, c, v).s);
}

static void label_of(const struct judge *j, const struct claim_condition *c, const struct row *r,
                     char *out, size_t size)
{
    struct text t = {out, size, 0};
    const struct plan *p = &j->claim->plan;
    char value[32];
    say(&t, "%s", c->text);
    for (int i = 0; i < 2 && p->axis[i] != PARAM_COUNT; i++)
        say(&t, " at %s=%s", param_table[p->axis[i]].id,
            params_print(p->axis[i], params_get(&r->params, p->axis[i]), value, sizeof value));
}

/* Of two rows: what failed in one failed; what is doubtful or missing in one is so in both. */
static enum holds both(enum holds a, enum holds b)
{
    return a == HOLDS_NO || b == HOLDS_NO ? HOLDS_NO : a > b ? a : b;
}

static enum holds in_rows(struct judge *j, const struct claim_condition *c)
{
    enum holds all = HOLDS_YES;
    bool any = false;
    char label[160];
    for (const struct row *r = its_row(j, j->first); r; r = its_row(j, r->next)) {
        if (c->at != PARAM_COUNT && params_get(&r->params, c->at) != c->at_value)
            continue;
        struct range v = c->term == TERM_RATIO ? ratio_of(j, c, r) : figure_of(j, c, r);
        label_of(j, c, r, label, sizeof label);
        say_figure(j, label, v);
        all = both(all, compare(&c->of, v));
        any = true;
    }
    if (!any && !j->missing[0])
        snprintf(j->missing, sizeof j->missing, "%s: no such row was measured", c->text);
    return any ? all : HOLDS_MISSING;
}

static enum holds condition_holds(struct judge *j, const struct claim_condition *c)
{
    if (c->term == TERM_FIGURE || c->term == TERM_RATIO)
        return in_rows(j, c);
    struct range v = c->term == TERM_PROBE ? probe_of(j, c) : line_of(j, c);
    if (c->term == TERM_PROBE)
        say_probed(j, c, v.value);
    else
        say_figure(j, c->text, v);
    return compare(&c->of, v);
}

static enum holds rule_holds(struct judge *j, const struct claim_rule *rule)
{
    enum holds all = HOLDS_YES;
    for (int i = 0; i < rule->count; i++)
        all = both(all, condition_holds(j, &rule->conditions[i]));
    return all;
}

/* --- in brief --------------------------------------------------------------------------------- */

/* A figure of one row is that of the first it speaks of. */
static struct range blank_of(struct judge *j, const struct claim_condition *c)
{
    if (c->term == TERM_PROBE)
        return probe_of(j, c);
    if (c->term != TERM_FIGURE && c->term != TERM_RATIO)
        return line_of(j, c);
    for (const struct row *r = its_row(j, j->first); r; r = its_row(j, r->next))
        if (c->at == PARAM_COUNT || params_get(&r->params, c->at) == c->at_value)
            return c->term == TERM_RATIO ? ratio_of(j, c, r) : figure_of(j, c, r);
    return no_range;
}

static void say_blank(const struct judge *j, struct text *t, const struct claim_condition *c,
                      struct range v)
{
    bool us = c->term == TERM_SLOPE && !strcmp(metric_table[c->of.metric].unit, "us");
    if (us)
        say(t, "%s ns", num(v.value * 1e3).s);
    else if (c->term == TERM_FIGURE)
        say(t, "%s", num_metric(c->of.metric, v.value).s);
    else
        say(t, "%s", c->term == TERM_PROBE ? probe_value(j, c, v.value).s : num(v.value).s);
    if (c->range)
        say_range(t, v.low, v.high);
}

static void say_brief(struct judge *j, char *out, size_t size)
{
    struct text t = {out, size, 0};
    const char *at = j->claim->brief;
    for (int i = 0; i < j->claim->brief_count; i++) {
        struct range v = blank_of(j, &j->claim->briefs[i]);
        if (isnan(v.value)) {
            *out = '\0';
            return;
        }
        const char *open = strchr(at, '{');
        say(&t, "%.*s", (int)(open - at), at);
        say_blank(j, &t, &j->claim->briefs[i], v);
        at = strchr(open, '}') + 1;
    }
    say(&t, "%s", at);
}

void claim_judge(const struct claim *c, const struct row *first, const double *probe,
                 struct claim_result *out)
{
    struct judge j = {.claim = c, .first = first, .probe = probe};
    *out = (struct claim_result){.verdict = CLAIM_NOT_MEASURED};
    j.figures = (struct text){out->figures, sizeof out->figures, 0};
    for (int i = 0; i < c->rule_count; i++) /* all of them: each says its figures */
        if (rule_holds(&j, &c->rules[i]) == HOLDS_YES && out->verdict == CLAIM_NOT_MEASURED)
            out->verdict = c->rules[i].verdict;
    struct judge brief = {.claim = c, .first = first, .probe = probe};
    say_brief(&brief, out->brief, sizeof out->brief);
    if (out->verdict != CLAIM_NOT_MEASURED)
        return;
    if (j.missing[0])
        snprintf(out->reason, sizeof out->reason, "%s", j.missing);
    else
        snprintf(out->reason, sizeof out->reason,
                 "cannot tell: the figures lie between what would make it true and false");
}
