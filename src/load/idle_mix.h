/* SPDX-License-Identifier: MIT */
/* The pass of `idle-mix`. For workloads.c alone. */
#ifndef LOAD_IDLE_MIX_H
#define LOAD_IDLE_MIX_H

#include "load/load.h"

/* Opens connections and idle ones, waits until the server has them, times exactly params.requests
 * exchanges and closes all again. 0, or -errno with one line when there is no load. */
int idle_mix_repeat(const struct load_spec *spec, struct load_watch *watch,
                    struct repeat_result *out, struct err *e);

/* About how long a pass takes. */
double idle_mix_seconds(const struct params *p, bool walks);

#endif
