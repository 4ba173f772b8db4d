/* SPDX-License-Identifier: MIT */
/* One plan file, for plan_shipped.c, which finds it. */
#ifndef SESSION_PLAN_FILE_H
#define SESSION_PLAN_FILE_H

#include "session/plan.h"

/* The plan in this file, with what was given in `a` laid over it. Errors as plan_from_file(). */
int plan_from_path(const char *path, const struct args *a, struct plan *out, struct err *e);

/* The keys of a section beside the rows, for who keeps more than a plan in a file. */
struct plan_section {
    const char *name; /* "claim"; the rows then stand under [rows] */
    /* One key, or one more line of it: 0, or -EINVAL and what is wrong with it. */
    int (*take)(void *ctx, int line, const char *key, const char *value, struct err *e);
    void *ctx;
};

/* The rows of such a file, none where it has none. Errors of the file name it and the line. */
int plan_from_section(const char *path, const struct plan_section *more, struct plan *out,
                      struct err *e);

#endif
