/* SPDX-License-Identifier: MIT */
/* The workload `burst`: one pass. See struct workload. */
#ifndef LOAD_BURST_H
#define LOAD_BURST_H

#include "load/load.h"

double burst_seconds(const struct params *p, bool walks);
int burst_repeat(const struct load_spec *spec, struct load_watch *watch, struct repeat_result *out,
                 struct err *e);

#endif
