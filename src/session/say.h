/* SPDX-License-Identifier: MIT */
/* How the answer lines are put together: text that is appended to and never runs past its end, and
 * numbers as words. Thread: any. */
#ifndef SESSION_SAY_H
#define SESSION_SAY_H

#include <stddef.h>

#include "session/rows.h"

struct text {
    char *buf;
    size_t size, used;
};
void say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct num {
    char s[24];
};

/* Three significant digits; whole numbers below a million without a point. */
struct num num(double v);
struct num num_whole(double v);
struct num num_si(double v); /* 61.2k */
/* In the figures of its unit: bytes, times and rates with theirs. */
struct num num_metric(enum metric_id m, double v);

/* A pane by its model; by its letter too where another pane has the same one. */
struct name {
    char s[40];
};
struct name pane_name(const struct row *r, int pane);

/* " (4.8 to 5.2)"; in words where it says nothing, and nothing where there is none. */
void say_range(struct text *t, double low, double high);
bool say_too_wide(double low, double high);

/* A workload's sentence with its figures in it (struct workload_picture). False, and nothing said,
 * when one of them is not measured. */
typedef double (*say_figure_fn)(const void *ctx, enum metric_id m);
bool say_sentence(struct text *t, const char *sentence, say_figure_fn figure, const void *ctx);

/* What was asked of a row: "at 11.5k/s", "flat out", "for 400". */
struct num say_load(const struct row *r);

#endif
