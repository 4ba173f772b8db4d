/* SPDX-License-Identifier: MIT */
/* The processor's time stamp counter (TSC), where it is one that ticks at the same rate whatever
 * the clock of the core and its sleep. Built as ticks_x86.c, elsewhere as ticks_none.c. Thread:
 * any. */
#ifndef BASE_TICKS_H
#define BASE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* False: ticks are not to be used, and ticks_read() gives nothing of worth. */
bool ticks_invariant(void);

uint64_t ticks_read(void);

#endif
