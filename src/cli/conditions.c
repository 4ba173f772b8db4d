/* SPDX-License-Identifier: MIT */
/* What a row of --find-rate needs beside its rate: few samples, since there are many rows. */
#include "cli/conditions.h"

#include <errno.h>
#include <stdio.h>

#include "cli/cli.h"

#define FIND "--find-rate"
#define FAIL "--fail-if"
#define FIND_SAMPLES 5
#define FIND_WARMUP_S 2

static int check_rate(const struct args *a, const struct plan *p, struct err *e)
{
    const struct workload *w = workload_of(&p->rows[0].params);
    const enum param_id *m = w->matters;
    while (*m != PARAM_COUNT && *m != PARAM_rate)
        m++;
    if (w->repeat || *m == PARAM_COUNT || !workload_yields(w, METRIC_requests_per_s))
        return err_set(e, EINVAL, FIND ": %s has no rate to look for", w->id);
    if (a->given[PARAM_rate] || p->axis[0] == PARAM_rate || p->axis[1] == PARAM_rate)
        return err_set(e, EINVAL, FIND ": it chooses the rates itself; no --rate beside it");
    return 0;
}

static void open_rate(const struct args *a, struct plan *plan)
{
    plan->seconds = 0;
    for (int i = 0; i < plan->count; i++) {
        struct params *p = &plan->rows[i].params;
        p->rate = PARAM_MAX;
        if (!a->given[PARAM_samples] && !a->given[PARAM_duration]) {
            p->samples = FIND_SAMPLES;
            p->duration = PARAM_AUTO;
        }
        if (!a->given[PARAM_warmup])
            p->warmup = FIND_WARMUP_S;
        plan->seconds += plan_row_seconds(&plan->rows[i]);
    }
}

static int take_find(const struct args *a, struct plan *plan, struct conditions *out, struct err *e)
{
    int r = expr_parse(FIND, a->options.find_rate, &out->limit, e);
    if (r == 0)
        r = check_rate(a, plan, e);
    if (r == 0)
        r = expr_check(FIND, &out->limit, plan, e);
    if (r < 0)
        return r;
    out->finds = true;
    open_rate(a, plan);
    return 0;
}

int conditions_take(const struct args *a, struct plan *plan, struct conditions *out, struct err *e)
{
    int r = 0;
    *out = (struct conditions){0};
    for (int i = 0; i < a->text_count && r == 0; i++) {
        struct expr *x = &out->fail_if[out->fail_count];
        if (a->texts[i].id != OPTION_fail_if)
            continue;
        out->fail_count++;
        r = expr_parse(FAIL, a->texts[i].text, x, e);
        if (r == 0)
            r = expr_check_rows(FAIL, x, plan, e);
    }
    if (r == 0 && a->options.find_rate)
        r = take_find(a, plan, out, e);
    return r;
}

bool conditions_failed(const struct conditions *c, const struct rows *rows)
{
    bool any = false;
    char said[300], text[440];
    for (int i = 0; i < c->fail_count; i++) {
        if (!expr_found(&c->fail_if[i], rows, said, sizeof said))
            continue;
        any = true;
        snprintf(text, sizeof text, FAIL " %s: %s", c->fail_if[i].text, said);
        cli_fail(3, text);
    }
    return any;
}

int conditions_find_most(const struct conditions *c, const struct plan *p, double *seconds)
{
    int rows = 0;
    *seconds = 0;
    for (int i = 0; i < p->count; i++) {
        struct find f;
        find_init(&f, &c->limit, &p->rows[i].lineup);
        rows += find_most(&f);
        *seconds += find_most(&f) * plan_row_seconds(&p->rows[i]);
    }
    return rows;
}
