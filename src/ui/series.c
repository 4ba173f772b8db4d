/* SPDX-License-Identifier: MIT */
/* A graph shows one sample a slot, so it moves by whole slots and old samples keep their shape.
 * Time in which nothing was measured (load off, a server dead, connections being made) becomes
 * empty slots: as many as samples would have fitted. Repeats last as long as they last: no gaps
 * there. */
#include "ui/views.h"

#include <math.h>

enum { LOOK_BACK = 16 };

/* The usual distance of two samples: the median of the last few, so that neither a gap nor a hasty
 * round counts; never less than half of what the order asks for. */
static double usual_gap(const struct scene *s)
{
    const struct params *want = &s->shown.params;
    double gaps[LINEUP_MAX * LOOK_BACK];
    int n = 0;
    for (int p = 0; p < s->pane_count; p++) {
        const struct pane_now *pane = &s->now->panes[p];
        int from = pane->trace_count > LOOK_BACK ? pane->trace_count - LOOK_BACK : 1;
        for (int i = from; i < pane->trace_count; i++)
            gaps[n++] = pane->trace_t_s[i] - pane->trace_t_s[i - 1];
    }
    double asked = row_round_s(want, s->pane_count);
    double usual = n ? stats_median(gaps, n) : asked;
    return fmax(usual, asked / 2);
}

static int missing(double gap_s, double usual_s)
{
    if (gap_s < 2.5 * usual_s)
        return 0;
    double n = round(gap_s / usual_s) - 1;
    return n > TRACE_POINTS ? TRACE_POINTS : (int)n;
}

/* Where the right edge stands: at the newest sample of any pane, or, when none comes, at now. */
static double right_edge(const struct scene *s, double usual_s)
{
    double newest = s->now->elapsed_s - 2 * usual_s;
    for (int p = 0; p < s->pane_count; p++) {
        const struct pane_now *pane = &s->now->panes[p];
        if (pane->trace_count)
            newest = fmax(newest, pane->trace_t_s[pane->trace_count - 1]);
    }
    return newest;
}

double series_build(const struct scene *s, int pane, enum metric_id m, int slots, double *out)
{
    const struct pane_now *p = &s->now->panes[pane];
    bool repeated = workload_of(&s->shown.params)->repeat;
    double usual = usual_gap(s), edge = right_edge(s, usual);
    double last = repeated && p->trace_count ? p->trace_t_s[p->trace_count - 1] : edge;
    int at = slots;
    for (int i = p->trace_count - 1; i >= 0 && at > 0; i--) {
        int empty = repeated ? 0 : missing(last - p->trace_t_s[i], usual);
        while (empty-- > 0 && at > 0)
            out[--at] = NAN;
        if (at > 0)
            out[--at] = p->trace[i].v[m];
        last = p->trace_t_s[i];
    }
    while (at > 0)
        out[--at] = NAN;
    return repeated ? NAN : round(slots * usual);
}
