/* SPDX-License-Identifier: MIT */
/* What a ramp found, a clause a model: how it ended, its best throughput, and the knee; and what
 * was full at the best. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "session/published.h"
#include "session/ramp.h"
#include "session/say.h"

static void say_end(struct text *t, const struct ramp *m, int pane)
{
    double at = m->row ? m->row->params.connections : m->last;
    if (m->end == RAMP_HALF)
        say(t, "collapsed at %.0f clients, under half of its best", at);
    else if (m->end == RAMP_SILENT)
        say(t, "collapsed at %.0f clients, %d s without a reply", at, RAMP_SILENCE_S);
    else if (m->end == RAMP_LIMIT)
        say(t, "ended at %.0f clients (%s)", at, verdict_words[m->row->panes[pane].verdict]);
    else
        say(t, "no collapse up to %.0f clients", at);
}

static void say_ramp(struct text *t, const char *model, const struct ramp *m, int pane)
{
    char rate[16];
    say(t, "%s: ", model);
    say_end(t, m, pane);
    if (m->best > 0)
        say(t, ", best %s/s at %.0f", units_si(rate, sizeof rate, m->best), m->best_at);
    if (m->knee < m->best_at)
        say(t, " (knee %.0f)", m->knee);
}

/* Where a document has this server collapse. */
static void say_published(struct text *t, const struct row *r, int pane)
{
    double at = published_value(&r->params, r->panes[pane].model, METRIC_collapse_connections);
    if (!isnan(at))
        say(t, " (published: collapsed at %s)", num_whole(at).s);
}

static void say_why(struct text *t, const char *model, const struct ramp *m, int pane)
{
    if (m->end == RAMP_LIMIT) {
        say(t, "%.*s", 90, m->row->panes[pane].reason);
        return;
    }
    double server = row_summary(m->top, pane, METRIC_server_cpu_pct).mean;
    double spare = row_summary(m->top, pane, METRIC_load_spare_pct).mean;
    if (isnan(server))
        say(t, "%s: its CPU is not measured", model);
    else
        say(t, "%s at its best used %s %% of a CPU", model, num(server).s);
    if (spare < 5)
        say(t, ", and the load had none to spare");
}

void ramp_answer(const struct rows *rows, const struct row *r, int pane, struct answer *out)
{
    struct answer made = *out;
    struct text answer = {made.answer, sizeof made.answer, 0};
    struct text why = {made.why, sizeof made.why, 0};
    bool told = false;
    for (int i = 0; i <= pane && i < r->pane_count; i += pane > 0 ? pane : 1) {
        struct ramp ramp;
        ramp_read(rows, r, i, INFINITY, &ramp);
        bool whole = ramp.steps > 0 && ramp.best > 0 && ramp.last >= r->params.until;
        told |= ramp.steps > 1 || ramp.end != RAMP_GOES_ON || whole;
        say(&answer, i ? "; " : "");
        say_ramp(&answer, pane_name(r, i).s, &ramp, i);
        say_published(&answer, r, i);
        say(&why, i && why.used ? "; " : "");
        if (ramp.top || ramp.end == RAMP_LIMIT)
            say_why(&why, pane_name(r, i).s, &ramp, i);
    }
    if (told)
        *out = made;
}
