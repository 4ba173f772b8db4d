/* SPDX-License-Identifier: MIT */
/* Constant data, not filled at start: its pages are shared by all processes that run this program,
 * and only those in use are in memory. */
#include "net/pattern.h"

#include <string.h>

#define ROW(h)                                                                                     \
    h, h + 1, h + 2, h + 3, h + 4, h + 5, h + 6, h + 7, h + 8, h + 9, h + 10, h + 11, h + 12,      \
        h + 13, h + 14, h + 15
#define ALL                                                                                        \
    ROW(0), ROW(16), ROW(32), ROW(48), ROW(64), ROW(80), ROW(96), ROW(112), ROW(128), ROW(144),    \
        ROW(160), ROW(176), ROW(192), ROW(208), ROW(224), ROW(240)
#define TIMES4(...) __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__

const uint8_t pattern_bytes[PATTERN_RUN + 256] = {TIMES4(TIMES4(TIMES4(TIMES4(ALL)))), ALL};

bool pattern_is(uint64_t position, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        size_t run = n < PATTERN_RUN ? n : PATTERN_RUN;
        if (memcmp(bytes, pattern_at(position), run) != 0)
            return false;
        position += run;
        bytes += run;
        n -= run;
    }
    return true;
}
