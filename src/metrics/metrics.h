/* SPDX-License-Identifier: MIT */
/* The metric table (metrics.def) as C. A set of figures is struct values: one double a metric,
 * METRIC_NONE where it was not measured, which is never written as 0. Thread: any. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include <math.h>
#include <stdbool.h>

#define METRIC_NONE NAN

enum metric_fold { FOLD_MEAN, FOLD_SUM };
enum metric_class {
    CLASS_COST, CLASS_RATE, CLASS_SHARE, CLASS_LATENCY, CLASS_TIME, CLASS_COUNT, CLASS_STATE
};
enum metric_better { BETTER_LESS, BETTER_MORE, BETTER_NONE };

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "metrics/metrics.def"
#undef METRIC
    METRIC_COUNT
};

struct metric {
    const char *id;    /* CSV header, never renamed */
    const char *title; /* for the screen */
    const char *unit;
    enum metric_fold fold;
    enum metric_class cls;
    enum metric_better better;
    const char *help; /* one sentence */
};

extern const struct metric metric_table[METRIC_COUNT];

struct values {
    double v[METRIC_COUNT];
};

/* All METRIC_NONE. */
void values_clear(struct values *v);

/* The metric of that id, -1 when there is none. */
int metrics_find(const char *id);

/* The i-th id, NULL past the last: a word function for params_nearest(). */
const char *metrics_word(int i);

#endif
