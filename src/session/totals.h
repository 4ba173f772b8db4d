/* SPDX-License-Identifier: MIT */
/* What a pane's whole row came to: percentiles over all of the kept part together (a mean of
 * samples trims a pause of one second away), and what its load did from the first connection on,
 * warm-up included, to be held against a server's own books. Thread: the runner's. */
#ifndef SESSION_TOTALS_H
#define SESSION_TOTALS_H

#include "session/rig.h"
#include "session/rows.h"

struct totals {
    struct hist_copy *from[LOAD_HISTS]; /* heap; NULL: the kept part did not begin */
};

void totals_begin(struct totals *t, const struct load *l); /* the kept part begins now */
/* All is answered: into the pane, under the session's lock. */
void totals_end(const struct totals *t, struct rig_pane *p, struct pane *out);
void totals_fini(struct totals *t);

#endif
