/* SPDX-License-Identifier: MIT */
/* Two readings of a load's histograms and one of its counters; a load that was kept from the row
 * before says how much was that row's. */
#include "session/totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/measure.h"

void totals_begin(struct totals *t, const struct load *l)
{
    for (int h = 0; h < LOAD_HISTS; h++) {
        if (!t->from[h])
            t->from[h] = xcalloc(1, sizeof *t->from[h]);
        load_read_hist(l, h, t->from[h]);
    }
}

void totals_fini(struct totals *t)
{
    for (int h = 0; h < LOAD_HISTS; h++)
        free(t->from[h]);
    *t = (struct totals){0};
}

void totals_end(const struct totals *t, struct rig_pane *p, struct pane *out)
{
    struct hist_copy *now = xcalloc(LOAD_HISTS, sizeof *now);
    struct load_counts counts;
    load_read(p->load, &counts);
    load_counts_diff(&counts, &p->before, &out->total);
    p->before = counts;
    snprintf(out->wrong, sizeof out->wrong, "%.79s", load_wrong(p->load));
    for (int h = 0; h < LOAD_HISTS && t->from[h]; h++) {
        load_read_hist(p->load, h, &now[h]);
        hist_diff(&now[h], t->from[h], &now[h]);
    }
    bool paced = p->params.rate != PARAM_MAX;
    struct span_hists hists = {.latency = &now[LOAD_LATENCY],
                               .response = paced ? &now[LOAD_RESPONSE] : NULL,
                               .late = paced ? &now[LOAD_LATE] : NULL};
    values_clear(&out->whole);
    if (t->from[0])
        span_latency(&hists, &out->whole);
    free(now);
}
