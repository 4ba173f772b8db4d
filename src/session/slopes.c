/* SPDX-License-Identifier: MIT */
/* Two fits over the same rows, of the CPU a request: against the idle connections, and against the
 * idle connections times the waits a request. The second is what the kernel takes for one of them
 * in one wait: a busy server finds several requests in a wait, so a request pays a part of it. */
#include "session/slopes.h"

#include <stdlib.h>

static bool alike(const struct row *r, const struct row *like)
{
    return row_in_table(r, like) && params_same_but(&r->params, &like->params, PARAM_idle);
}

static double mean(const struct row *r, int pane, enum metric_id m)
{
    return row_summary(r, pane, m).mean;
}

struct points {
    int n;
    double *idle, *waited, *cost_ns;
};

static void add(struct points *p, const struct row *r, int pane)
{
    double cost = mean(r, pane, METRIC_cpu_us_per_request);
    double waits = mean(r, pane, METRIC_waits_per_request);
    if (isnan(cost) || isnan(waits) || !row_may_rank(r, pane, METRIC_cpu_us_per_request))
        return;
    p->idle[p->n] = r->params.idle;
    p->waited[p->n] = r->params.idle * waits;
    p->cost_ns[p->n++] = cost * 1e3;
}

bool slopes_of(const struct rows *rows, const struct row *like, int pane, struct slopes *out)
{
    size_t most = (size_t)rows->count + 1;
    struct points p = {0, xcalloc(most, sizeof(double)), xcalloc(most, sizeof(double)),
                       xcalloc(most, sizeof(double))};
    for (const struct row *r = rows->first; r; r = r->next)
        if (alike(r, like))
            add(&p, r, pane);
    out->rows = p.n;
    out->wait_ns = stats_slope(p.waited, p.cost_ns, p.n, &out->wait_half);
    out->request_ns = stats_slope(p.idle, p.cost_ns, p.n, &out->request_half);
    free(p.idle);
    free(p.waited);
    free(p.cost_ns);
    return !isnan(out->wait_ns) && !isnan(out->request_ns);
}

/* A slope that its interval does not tell from none is said as what it may be at most. */
static void say_ns(struct text *t, double ns, double half, const char *what)
{
    if (ns - half > 0)
        say(t, "%s ns %s", num(ns).s, what);
    else
        say(t, "under %s ns %s", num(fmax(ns + half, 0.001)).s, what);
}

void slopes_say(struct text *t, const char *model, const struct slopes *s)
{
    say(t, "%s ", model);
    say_ns(t, s->wait_ns, s->wait_half, "a wait");
    say(t, ", ");
    say_ns(t, s->request_ns, s->request_half, "a request");
}
