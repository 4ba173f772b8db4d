/* SPDX-License-Identifier: MIT */
/* The map of a plan over connections and rate, as text. Thread: main. */
#ifndef CLI_MAP_H
#define CLI_MAP_H

#include <stdio.h>

#include "session/map.h"

/* Of each lineup that the plan has, every model beside A. axes: what --at says. The caller holds
 * the rows' lock. */
void map_print(FILE *out, const struct plan *plan, const struct map_axes *axes,
               const struct rows *rows, bool markdown);

#endif
