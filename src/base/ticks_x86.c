/* SPDX-License-Identifier: MIT */
/* The TSC of an x86. Whether it is invariant is bit 8 of EDX in CPUID leaf 0x80000007 (Intel SDM,
 * volume 3, "Invariant TSC"; AMD APM, volume 3, appendix E.4.6). A hypervisor that may move the
 * machine to another processor hides the bit. */
#include "base/ticks.h"

#include <cpuid.h>

#define LEAF 0x80000007u
#define INVARIANT (1u << 8)

bool ticks_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(LEAF, &a, &b, &c, &d) && (d & INVARIANT);
}

uint64_t ticks_read(void)
{
    return __builtin_ia32_rdtsc();
}
