/* SPDX-License-Identifier: MIT */
/* What is said of curves says no more than the points know: a place between two of them in two
 * digits, one that is no number by its neighbours. */
#include "session/curves_say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two digits: more would claim what an interpolation does not know. */
static struct num about(const struct curves *c, double x)
{
    struct num n;
    double step = x > 0 ? pow(10, floor(log10(x)) - 1) : 1;
    bool whole = param_table[c->axis].kind == KIND_COUNT;
    double rounded = round(x / step) * step;
    params_show(c->axis, whole ? round(rounded) : rounded, n.s, sizeof n.s);
    return n;
}

static struct num exactly(const struct curves *c, int i)
{
    struct num n;
    params_show(c->axis, c->at[i].x, n.s, sizeof n.s);
    return n;
}

static bool no_difference_between(const struct curves *c, int from, int to)
{
    for (int i = from; i <= to; i++)
        if (curves_both(c, i) && c->at[i].ratio.outcome != OUTCOME_SAME)
            return false;
    return true;
}

static void say_apart(const struct curves *c, int from, int to, struct text *t)
{
    say(t, no_difference_between(c, from, to) ? "they are the same" : "they are not told apart");
}

static void say_one(const struct curves *c, const struct meeting *m, bool first, struct text *t)
{
    int end = m->kind == MEETS_JOIN ? m->to : m->from; /* of the stretch that is not told */
    if (m->kind != MEETS_CROSS && (end == c->count - 1 || end == 0)) {
        say(t, "%st %s ", first ? "A" : "; a", exactly(c, end).s);
        say_apart(c, end, end, t);
    } else if (m->kind == MEETS_JOIN) {
        say(t, "%srom %s on ", first ? "F" : "; f", exactly(c, m->to).s);
        say_apart(c, m->to, c->count - 1, t);
    } else if (m->kind == MEETS_PART) {
        say(t, "%sp to %s ", first ? "U" : "; u", exactly(c, m->from).s);
        say_apart(c, 0, m->from, t);
    } else if (isnan(m->x)) {
        say(t, "%s between %s and %s", first ? "They meet" : "; they meet", exactly(c, m->from).s,
            exactly(c, m->to).s);
    } else {
        say(t, "%s near %s", first ? "They meet" : "; they meet", about(c, m->x).s);
    }
}

static bool has_interval(const struct curves *c)
{
    for (int i = 0; i < c->count; i++)
        if (!isnan(c->at[i].ratio.low) || !isnan(c->at[i].line[0].s.low))
            return true;
    return false;
}

static void say_none(const struct curves *c, int first, int last, struct text *t)
{
    int above = curves_told(c, first);
    if (above)
        say(t, "No crossing between %s and %s: %s is above throughout", exactly(c, first).s,
            exactly(c, last).s, curves_line_name(c, above > 0 ? 0 : c->against).s);
    else if (has_interval(c))
        say(t, "No difference can be told between %s and %s", exactly(c, first).s,
            exactly(c, last).s);
    else
        say(t, "Too few samples a point to tell where they meet");
}

/* What limited those points stands where they are read off. */
static void say_withheld(const struct curves *c, struct text *t)
{
    int withheld = 0;
    for (int i = 0; i < c->count; i++)
        withheld += curves_both(c, i) && c->at[i].withheld;
    if (withheld)
        say(t, " (withheld at %d of %d points)", withheld, c->count);
}

void curves_say_meet(const struct curves *c, const struct meeting *m, int count, struct text *t)
{
    int first = 0, last = c->count - 1;
    while (first < last && !curves_both(c, first))
        first++;
    while (last > first && !curves_both(c, last))
        last--;
    if (c->against < 1 || first >= last || c->axis == PARAM_COUNT)
        return;
    for (int i = 0; i < count; i++)
        say_one(c, &m[i], i == 0, t);
    if (!count)
        say_none(c, first, last, t);
    say_withheld(c, t);
}

struct name curves_line_name(const struct curves *c, int line)
{
    struct name n;
    snprintf(n.s, sizeof n.s, "%c %s", 'A' + line, c->model[line]);
    return n;
}

struct name curves_axis_word(enum param_id axis)
{
    struct name n;
    const char *unit = param_table[axis].unit;
    if (axis == PARAM_rate)
        snprintf(n.s, sizeof n.s, "requests/s asked");
    else
        snprintf(n.s, sizeof n.s, "%s%s%s", param_table[axis].id, *unit ? ", " : "", unit);
    for (char *at = n.s; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return n;
}

struct num curves_tick(enum param_id axis, double x)
{
    struct num n;
    params_show(axis, x, n.s, sizeof n.s);
    if (axis == PARAM_rate)
        n.s[strcspn(n.s, "/")] = '\0';
    return n;
}

struct name curves_figure_word(enum metric_id m)
{
    struct name n;
    const char *unit = metric_table[m].unit;
    bool said = !*unit || *unit == '/' || !strcmp(unit, "MiB/s");
    snprintf(n.s, sizeof n.s, "%s%s%s", metric_table[m].title, said ? "" : ", ",
             said ? "" : !strcmp(unit, "us") ? "µs" : unit);
    return n;
}

void curves_say_common(const struct curves *c, struct text *t)
{
    static const enum param_id asked[] = {PARAM_connections, PARAM_idle, PARAM_rate, PARAM_size};
    char v[32];
    say(t, "%s", c->workload->label);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        double x = params_get(&c->params, asked[i]);
        if (asked[i] == c->axis || !workload_matters(c->workload, asked[i]) ||
            (asked[i] == PARAM_idle && !(x > 0)))
            continue;
        params_show(asked[i], x, v, sizeof v);
        if (asked[i] == PARAM_connections || asked[i] == PARAM_idle)
            say(t, ", %s %s", v, param_table[asked[i]].id);
        else if (asked[i] == PARAM_rate && isinf(x))
            say(t, ", flat out");
        else if (asked[i] == PARAM_rate)
            say(t, ", %s asked", v);
        else
            say(t, ", %s", v);
    }
    say(t, ", %s", c->path);
}
