/* SPDX-License-Identifier: MIT */
/* The bytes of replies that are checked: 0, 1 ... 255, 0 and so on, read from any position. One
 * constant table, so servers send straight out of it and clients compare with memcmp. */
#ifndef NET_PATTERN_H
#define NET_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_RUN 65536 /* bytes that may be read from pattern_at(), whatever the position */

extern const uint8_t pattern_bytes[PATTERN_RUN + 256];

static inline const uint8_t *pattern_at(uint64_t position)
{
    return pattern_bytes + (position & 255);
}

/* Are the n bytes those from that position on? */
bool pattern_is(uint64_t position, const uint8_t *bytes, size_t n);

#endif
