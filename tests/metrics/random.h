/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same in every run: xorshift64*, normal by Box and Muller. */
#ifndef TESTS_METRICS_RANDOM_H
#define TESTS_METRICS_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 2685821657736338717u;
}

/* In (0, 1]. */
static inline double random_unit(uint64_t *seed)
{
    return (double)((random_bits(seed) >> 11) + 1) / 9007199254740992.0;
}

static inline double random_normal(uint64_t *seed)
{
    double radius = sqrt(-2 * log(random_unit(seed)));
    return radius * cos(2 * 3.14159265358979323846 * random_unit(seed));
}

#endif
