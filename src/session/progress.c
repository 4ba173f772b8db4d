/* SPDX-License-Identifier: MIT */
/* What a row will still take. Before it has two kept samples that is what the plan says, less what
 * has passed; then the usual distance of its own samples times those that are missing. Between two
 * samples it is counted down. And the traces: a graph never joins figures of two models. */
#include "session/inner.h"

#define LOOK_BACK 9

/* The usual distance of the last kept samples of a pane since then; NaN below two. */
static double usual_gap(const struct pane *p, double since_s)
{
    double gaps[LOOK_BACK], after = NAN;
    int n = 0;
    for (int i = p->count - 1; i >= 0 && n < LOOK_BACK; i--) {
        const struct sample *x = pane_at(p, i);
        if (x->elapsed_s < since_s) /* the row goes on after something else */
            break;
        if (x->kept != KEPT_YES)
            continue;
        if (!isnan(after))
            gaps[n++] = after - x->elapsed_s;
        after = x->elapsed_s;
    }
    return n ? stats_median(gaps, n) : NAN;
}

static double row_left(const struct session *s, const struct row *row)
{
    int kept = row_kept(row), asked = session_asked(s, row), missing = asked - kept;
    struct plan_row plan = {.params = row->params, .lineup = row_lineup(row)};
    double gap = NAN, whole = plan_row_seconds(&plan);
    if (missing <= 0)
        return 0;
    for (int i = 0; i < row->pane_count && isnan(gap); i++)
        gap = usual_gap(&row->panes[i], s->row_began_s);
    if (!isnan(gap))
        return gap * missing;
    double passed = session_elapsed(s) - s->row_began_s;
    return fmax(whole - passed, whole / asked * missing / 2);
}

void session_left(struct session *s, const struct row *row)
{
    s->now.row_left_s = row_left(s, row);
    s->left_at_s = session_elapsed(s);
}

void session_count_down(const struct session *s, struct session_now *out)
{
    double passed = session_elapsed(s) - s->left_at_s;
    out->row_left_s = out->row_number ? fmax(0, s->now.row_left_s - passed) : 0;
    out->plan_left_s = out->plan_count ? s->rest_s + out->row_left_s : 0;
}

void session_traces(struct session *s, const struct row *row)
{
    for (int i = 0; i < row->pane_count; i++) {
        struct trace *t = &s->traces[i];
        if (t->io == row->panes[i].io && t->workload == row->workload)
            continue;
        t->io = row->panes[i].io;
        t->workload = row->workload;
        t->first = ++t->pushed; /* a number that no sample has: readers see that it changed */
    }
}
