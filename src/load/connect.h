/* SPDX-License-Identifier: MIT */
/* The workload `connect`: one pass. See struct workload. */
#ifndef LOAD_CONNECT_H
#define LOAD_CONNECT_H

#include "load/load.h"

int connect_repeat(const struct load_spec *spec, struct load_watch *watch,
                   struct repeat_result *out, struct err *e);

/* About how long a pass takes. */
double connect_seconds(const struct params *p, bool walks);

#endif
