/* SPDX-License-Identifier: MIT */
/* Figures of the source documents (assets/published/WORKLOAD.csv), shown beside ours as a reference,
 * never mixed in. Their columns carry our ids plus `label`, `verdict`, `reason`; the model `epoll`
 * stands beside every epoll-*. Read once; read-only afterwards. */
#ifndef SESSION_PUBLISHED_H
#define SESSION_PUBLISHED_H

#include "load/workloads.h"
#include "metrics/metrics.h"

/* The published figure of a metric for this workload, model and number of connections; NaN when
 * there is none. */
double published_value(const struct workload *w, const char *model, double connections,
                       enum metric_id m);

/* The metrics that the published table of this workload has, main one first (METRIC_COUNT: none),
 * and its label and machine ("2.6.16", "server Pentium 4 ..."), "" when there is none. */
enum metric_id published_metric(const struct workload *w);
const char *published_label(const struct workload *w);
const char *published_verdict(const struct workload *w, const char **reason);

#endif
