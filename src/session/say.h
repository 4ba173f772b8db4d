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

/* Three significant digits. */
struct num num(double v);

/* What was asked of a row: "at 11.5k/s", "flat out", "for 400". */
struct num say_load(const struct row *r);

#endif
