/* SPDX-License-Identifier: MIT */
/* Conditions. The comparison is looked for first, since no name contains one; what stands before it
 * is a metric, or a model and a metric with a point between them. A condition that could not be
 * tried counts as found: whoever gates on a figure wants to know that there is none. */
#include "session/expr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "params/number.h"
#include "session/say.h"

const char *const expr_op_words[] = {"<", "<=", ">", ">="};

struct parts { /* of the text, without blanks at their ends */
    char model[48], metric[48], number[32];
};

static void cut(const char *from, size_t n, char *out, size_t size)
{
    while (n && strchr(" \t", *from))
        from++, n--;
    while (n && strchr(" \t", from[n - 1]))
        n--;
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), from);
}

static int split(const char *text, struct parts *out, enum expr_op *op)
{
    size_t left = strcspn(text, "<>");
    const char *at = text + left, *point = memrchr(text, '.', left); /* an address has points */
    if (!*at)
        return -EINVAL;
    *op = (*at == '<' ? EXPR_LESS : EXPR_MORE) + (at[1] == '=');
    const char *number = at + strlen(expr_op_words[*op]);
    const char *metric = point ? point + 1 : text;
    cut(text, point ? (size_t)(point - text) : 0, out->model, sizeof out->model);
    cut(metric, (size_t)(at - metric), out->metric, sizeof out->metric);
    cut(number, strlen(number), out->number, sizeof out->number);
    return point && !out->model[0] ? -EINVAL : 0;
}

static int unknown(const char *who, const char *text, const char *what, const char *near,
                   struct err *e)
{
    char echo[96];
    params_echo(text, echo, sizeof echo);
    return err_set(e, EINVAL, "%s %s: no such %s%s%s%s", who, echo, what,
                   near ? "; did you mean " : "; iodash list names them", near ? near : "",
                   near ? "?" : "");
}

int expr_parse_limit(const char *text, enum expr_op *op, double *number)
{
    struct parts p;
    if (split(text, &p, op) < 0 || p.metric[0])
        return -EINVAL;
    return number_parse(KIND_COUNT, p.number, number);
}

int expr_parse(const char *who, const char *text, struct expr *out, struct err *e)
{
    struct parts p;
    char echo[96];
    params_echo(text, echo, sizeof echo);
    if (split(text, &p, &out->op) < 0 || strlen(text) >= sizeof out->text)
        return err_set(e, EINVAL, "%s %s: must be [MODEL.]METRIC, one of < <= > >=, and a number",
                       who, echo);
    const struct io_model *model = p.model[0] ? io_model_of(p.model, NULL) : NULL;
    if (p.model[0] && !model)
        return unknown(who, text, "model", params_nearest(p.model, io_model_word), e);
    int metric = metrics_find(p.metric);
    if (metric < 0)
        return unknown(who, text, "metric", params_nearest(p.metric, metrics_word), e);
    if (number_parse(KIND_COUNT, p.number, &out->number) < 0)
        return err_set(e, EINVAL, "%s %s: %s is no number (2000, 1.5, 20k)", who, echo,
                       p.number[0] ? p.number : "nothing");
    snprintf(out->text, sizeof out->text, "%s", text);
    snprintf(out->model, sizeof out->model, "%s", model ? model->id : "");
    out->metric = (enum metric_id)metric;
    return 0;
}

static bool has_model(const struct plan_row *r, const char *id)
{
    for (int i = 0; i < r->lineup.count; i++)
        if (!*id || strcmp(r->lineup.models[i]->id, id) == 0)
            return true;
    return false;
}

/* Only at a pace there is a moment at which a request is due. */
static bool has_due(const struct params *p, enum metric_id m)
{
    static const enum metric_id from_due[] = {
        METRIC_response_p50_us, METRIC_response_p90_us, METRIC_response_p99_us,
        METRIC_response_p999_us, METRIC_response_max_us, METRIC_send_late_p99_us};
    bool any = false;
    for (size_t i = 0; i < sizeof from_due / sizeof *from_due; i++)
        any |= from_due[i] == m;
    return !any || isfinite(p->rate);
}

static int check_pace(const char *who, const struct expr *x, const struct plan *p, struct err *e)
{
    for (int i = 0; i < p->count; i++)
        if (has_due(&p->rows[i].params, x->metric))
            return 0;
    return err_set(e, EINVAL,
                   "%s %s: counted from when a request was due, which takes a pace (--rate); flat "
                   "out there is latency_p99_us, from the send", who, x->text);
}

int expr_check(const char *who, const struct expr *x, const struct plan *p, struct err *e)
{
    bool model = false, metric = false;
    for (int i = 0; i < p->count; i++) {
        model |= has_model(&p->rows[i], x->model);
        metric |= workload_yields(workload_of(&p->rows[i].params), x->metric);
    }
    if (!model)
        return err_set(e, EINVAL, "%s %s: %s is not among the models measured", who, x->text,
                       x->model);
    if (!metric)
        return err_set(e, EINVAL, "%s %s: %s does not yield %s", who, x->text,
                       workload_of(&p->rows[0].params)->id, metric_table[x->metric].id);
    return 0;
}

int expr_check_rows(const char *who, const struct expr *x, const struct plan *p, struct err *e)
{
    int r = expr_check(who, x, p, e);
    return r < 0 ? r : check_pace(who, x, p, e);
}

bool expr_holds(const struct expr *x, double v)
{
    switch (x->op) {
    case EXPR_LESS: return v < x->number;
    case EXPR_LESS_EQUAL: return v <= x->number;
    case EXPR_MORE: return v > x->number;
    case EXPR_MORE_EQUAL: return v >= x->number;
    }
    return false;
}

bool expr_means(const struct expr *x, const struct row *r, int pane)
{
    bool model = !x->model[0] || strcmp(x->model, r->panes[pane].model) == 0;
    return model && workload_yields(r->workload, x->metric) && has_due(&r->params, x->metric);
}

/* Adds who it is to the list, as far as there is room. */
static void name_pane(struct text *t, const struct row *r, int pane, double v, int nth)
{
    if (t->used + 60 > t->size)
        return;
    say(t, "%s%s %s: %s", nth ? "; " : "", r->panes[pane].model, say_load(r).s,
        isnan(v) ? "not measured" : num(v).s);
}

/* All panes of which it holds, or all of which there is no figure. */
static int name_all(const struct expr *x, const struct rows *rows, bool missing, struct text *t)
{
    int n = 0;
    for (const struct row *r = rows->first; r; r = r->next)
        for (int i = 0; i < r->pane_count; i++) {
            if (r->state == ROW_DROPPED || !expr_means(x, r, i))
                continue;
            double v = row_summary(r, i, x->metric).mean;
            if (missing ? isnan(v) : expr_holds(x, v))
                name_pane(t, r, i, v, n++);
        }
    return n;
}

bool expr_found(const struct expr *x, const struct rows *rows, char *said, size_t size)
{
    struct text t = {said, size, 0};
    int n = name_all(x, rows, false, &t);
    if (n == 0)
        n = name_all(x, rows, true, &t);
    if (n > 1)
        say(&t, " (%d in all)", n);
    return n > 0;
}
