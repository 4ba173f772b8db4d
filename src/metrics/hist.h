/* SPDX-License-Identifier: MIT */
/* A log-linear histogram of durations in ns with 3 significant digits (the layout of HdrHistogram:
 * values below 2048 exactly, then 1024 steps for each doubling). It only ever grows: who reads
 * takes a copy and subtracts the copy before, so a reader never stops a writer and nothing is lost.
 * Values past the last bucket (73 minutes) count in it. Thread: one writer (hist_add) or many
 * (hist_add_shared), any number of readers at any time. */
#ifndef METRICS_HIST_H
#define METRICS_HIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HIST_BUCKETS (2048 + 31 * 1024)
#define HIST_BLOCK 64 /* buckets that are read or left out together */
#define HIST_BLOCKS (HIST_BUCKETS / HIST_BLOCK)
#define HIST_WORDS ((HIST_BLOCKS + 63) / 64)

struct hist {
    _Atomic uint64_t sum_ns;
    _Atomic uint64_t used[HIST_WORDS]; /* a bit for each block that has values */
    _Atomic uint64_t bucket[HIST_BUCKETS];
};

/* A copy at one moment, owned by its reader. Blocks that are not in use mean nothing; of the others
 * the sum of their buckets is kept, so that a percentile looks into one block only. */
struct hist_copy {
    uint64_t count, sum_ns;
    uint64_t used[HIST_WORDS];
    uint64_t sum[HIST_BLOCKS];
    uint64_t bucket[HIST_BUCKETS];
};

/* Heap, zeroed; hist_free takes NULL. */
struct hist *hist_new(void);
void hist_free(struct hist *h);

/* One value. The single writer's form uses plain loads and stores; the shared form atomic adds. */
void hist_add(struct hist *h, uint64_t ns);
void hist_add_shared(struct hist *h, uint64_t ns);

/* Makes a copy empty in a few stores; needed before its first use unless it came zeroed. */
void hist_clear(struct hist_copy *h);

/* Adds what h holds now into `into`. */
void hist_read(const struct hist *h, struct hist_copy *into);

/* out = now - before: two readings of the same histograms, `now` the later. out may be `now`. */
void hist_diff(const struct hist_copy *now, const struct hist_copy *before, struct hist_copy *out);
void hist_merge(struct hist_copy *into, const struct hist_copy *other);

/* Smallest value with at least pct % of the values at or below it (nearest rank), in ns, as the
 * middle of its bucket; NaN when empty. Mean likewise. hist_max is the top of the highest used
 * bucket. Always min <= p50 <= p90 <= p99 <= p99.9 <= max. */
double hist_percentile(const struct hist_copy *h, double pct);
/* The same for n percentages in ascending order, in one pass. */
void hist_percentiles(const struct hist_copy *h, const double *pct, int n, double *out);
/* How many lie between, by the buckets that begin there. */
uint64_t hist_between(const struct hist_copy *h, uint64_t low_ns, uint64_t high_ns);
double hist_mean(const struct hist_copy *h);
double hist_max(const struct hist_copy *h);

/* Bucket of a value, and the lowest value of a bucket (for tests). */
uint32_t hist_bucket(uint64_t ns);
uint64_t hist_low(uint32_t bucket);

#endif
