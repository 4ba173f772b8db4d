/* SPDX-License-Identifier: MIT */
/* Appending, and numbers in the words of the parameter table. */
#include "session/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

void say(struct text *t, const char *fmt, ...)
{
    va_list ap;
    if (t->used >= t->size)
        return;
    va_start(ap, fmt);
    int n = vsnprintf(t->buf + t->used, t->size - t->used, fmt, ap);
    va_end(ap);
    t->used += n > 0 ? (size_t)n : 0;
}

struct num num(double v)
{
    struct num n;
    units_number(n.s, sizeof n.s, v);
    return n;
}

struct num num_whole(double v)
{
    struct num n;
    if (!(fabs(v) < 1e6 && fabs(v - round(v)) < 0.005))
        return num(v);
    snprintf(n.s, sizeof n.s, "%.0f", round(v));
    return n;
}

struct num num_si(double v)
{
    struct num n;
    units_si(n.s, sizeof n.s, v);
    return n;
}

struct name pane_name(const struct row *r, int pane)
{
    struct name n;
    const char *model = r->panes[pane].model;
    int same = 0;
    for (int i = 0; i < r->pane_count; i++)
        same += !strcmp(r->panes[i].model, model);
    if (same > 1)
        snprintf(n.s, sizeof n.s, "%c %s", 'A' + pane, model);
    else
        snprintf(n.s, sizeof n.s, "%s", model);
    return n;
}

bool say_too_wide(double low, double high)
{
    return high > 1000 * low;
}

void say_range(struct text *t, double low, double high)
{
    if (say_too_wide(low, high))
        say(t, " (interval too wide to say)");
    else if (!isnan(low))
        say(t, " (%s to %s)", num(low).s, num(high).s);
}

struct num num_metric(enum metric_id m, double v)
{
    struct num n;
    if (!strcmp(metric_table[m].unit, "B"))
        units_bytes(n.s, sizeof n.s, v);
    else if (!strcmp(metric_table[m].unit, "ns"))
        units_us(n.s, sizeof n.s, v / 1e3, 0);
    else if (!strcmp(metric_table[m].unit, "/s"))
        units_si(n.s, sizeof n.s, v);
    else
        n = num_whole(v);
    return n;
}

/* One word that stood between braces; `one`: the last number said was 1. */
static bool say_field(struct text *t, const char *word, bool *one, double v)
{
    int m = metrics_find(word);
    if (!strcmp(word, "s")) {
        say(t, "%s", *one ? "" : "s");
        return true;
    }
    if (m < 0 || isnan(v))
        return false;
    struct num n = num_metric((enum metric_id)m, v);
    *one = !strcmp(n.s, "1");
    say(t, "%s", n.s);
    return true;
}

bool say_sentence(struct text *t, const char *sentence, say_figure_fn figure, const void *ctx)
{
    struct text made = *t;
    bool one = false, whole = sentence != NULL;
    char word[48];
    while (whole) {
        int plain = (int)strcspn(sentence, "{");
        say(&made, "%.*s", plain, sentence);
        sentence += plain;
        if (sscanf(sentence, "{%47[^}]}", word) != 1)
            break;
        sentence += strlen(word) + 2;
        int m = metrics_find(word);
        whole = say_field(&made, word, &one, m < 0 ? METRIC_NONE : figure(ctx, (enum metric_id)m));
    }
    if (whole)
        *t = made;
    else if (t->used < t->size)
        t->buf[t->used] = '\0';
    return whole;
}

struct num say_load(const struct row *r)
{
    struct num n;
    char v[20];
    enum param_id axis = r->workload->sweep;
    if (r->workload->repeat && axis == PARAM_connections && r->params.connections == 1)
        snprintf(n.s, sizeof n.s, "for 1 connection");
    else if (r->workload->repeat)
        snprintf(n.s, sizeof n.s, axis == PARAM_idle ? "beside %s idle" : "for %s",
                 params_print(axis, params_get(&r->params, axis), v, sizeof v));
    else if (r->params.rate == PARAM_MAX)
        snprintf(n.s, sizeof n.s, "flat out");
    else
        snprintf(n.s, sizeof n.s, "at %s", params_show(PARAM_rate, r->params.rate, v, sizeof v));
    return n;
}
