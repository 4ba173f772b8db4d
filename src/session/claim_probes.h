/* SPDX-License-Identifier: MIT */
/* What a claim says that no row of a workload measures: a small trial of its own, by name. Each
 * makes what it looks at and takes it away again. Thread: any. */
#ifndef SESSION_CLAIM_PROBES_H
#define SESSION_CLAIM_PROBES_H

#include <stdbool.h>

#include "base/err.h"

#define PROBE_FIGURES 4

struct probe_figure {
    const char *name, *says; /* in the rules; in words, for people */
    bool yes_no;             /* 1 or 0; else a count */
};

struct claim_probe {
    const char *name;
    struct probe_figure figures[PROBE_FIGURES + 1]; /* the last one has no name */
    /* One value a figure, NaN where it has none; -errno and why it cannot be tried here. */
    int (*run)(double out[PROBE_FIGURES], struct err *e);
};

extern const struct claim_probe claim_probes[];
extern const int claim_probe_count;

#endif
