/* SPDX-License-Identifier: MIT */
/* Lists of whole numbers as the kernel writes them: "0-3,8,10-11". Thread: any. */
#ifndef BASE_RANGES_H
#define BASE_RANGES_H

#include <stdbool.h>

/* Takes the next range from *list (a single number is a range of one) and moves past it. False at
 * the end and at anything that is no range. */
bool ranges_next(const char **list, long *low, long *high);

#endif
