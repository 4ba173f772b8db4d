/* SPDX-License-Identifier: MIT */
/* The workload `connect`: one pass. See struct workload. */
#ifndef LOAD_CONNECT_H
#define LOAD_CONNECT_H

#include "load/load.h"

int connect_repeat(const struct load_spec *spec, struct load_watch *watch,
                   struct repeat_result *out, struct err *e);

#endif
