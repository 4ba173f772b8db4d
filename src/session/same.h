/* SPDX-License-Identifier: MIT */
/* What two panes of a row have in common, and in which way they are not treated alike: policies
 * that a model cannot honour, work of the program beside its calls. Pure; the caller holds the
 * rows' lock. */
#ifndef SESSION_SAME_H
#define SESSION_SAME_H

#include <stddef.h>

#include "base/cpus.h"
#include "session/rows.h"

struct same {
    char same[240];   /* "CPU 0, 1 worker, backlog 1024, ..." */
    char differs[240]; /* "uring takes no ...; ...", "" when nothing does */
    char waits[320];   /* "A select, 1 thread, ...; B ...": their fingerprints, "" without */
};

/* Pane A beside pane `pane` (0: A alone, then nothing differs). cpus NULL: not known, as of a saved
 * session. */
void same_of(const struct row *r, int pane, const struct cpu_plan *cpus, struct same *out);

#endif
