/* SPDX-License-Identifier: MIT */
/* Figures of the source documents (assets/published/WORKLOAD.csv), shown beside ours as a
 * reference, never mixed in. Their columns carry our ids plus `label`, `machine`, `verdict`,
 * `reason`; the model `epoll` stands beside every epoll-*. Read once; read-only afterwards.
 * Thread: any. */
#ifndef SESSION_PUBLISHED_H
#define SESSION_PUBLISHED_H

#include "load/workloads.h"
#include "metrics/metrics.h"

/* The published figure of a metric for this model, when every parameter that the file has a column
 * for is as asked, and what it is silent on as the workload has it: the mean of its runs; NaN when
 * there is none. */
double published_value(const struct params *asked, const char *model, enum metric_id m);

/* One model's over the other's; NaN where both have the same one, or one has none. */
double published_ratio(const struct params *asked, const char *a, const char *b, enum metric_id m);

/* The main metric of the published table of this workload: its first column that is one of ours.
 * METRIC_COUNT: there is no table. */
enum metric_id published_metric(const struct workload *w);

/* Its label ("2.6.16") and machine ("server Pentium 4 ..."), "" when there is none. */
const char *published_label(const struct workload *w);
const char *published_machine(const struct workload *w);

/* The i-th different verdict in the table that is not "ok", with the first figure's reason of it
 * and the model where it is one's alone; past the last "". With i 0: "ok" when all are. */
const char *published_verdict(const struct workload *w, int i, const char **model,
                              const char **reason);

#endif
