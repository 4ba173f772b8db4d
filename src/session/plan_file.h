/* SPDX-License-Identifier: MIT */
/* One plan file, for plan_shipped.c, which finds it. */
#ifndef SESSION_PLAN_FILE_H
#define SESSION_PLAN_FILE_H

#include "session/plan.h"

/* The plan in this file, with what was given in `a` laid over it. Errors as plan_from_file(). */
int plan_from_path(const char *path, const struct args *a, struct plan *out, struct err *e);

#endif
