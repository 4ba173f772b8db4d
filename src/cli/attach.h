/* SPDX-License-Identifier: MIT */
/* The plan that the arguments of `run` and of the dashboard ask for. Thread: main. */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "session/plan.h"

/* With the servers of --attach as models: each --pid belongs to the --attach before it, and where
 * no models are named they stand beside epoll-lt. 0 or -errno with one line. */
int attach_plan(const struct args *a, struct plan *out, struct err *e);

#endif
