/* SPDX-License-Identifier: MIT */
/* The kernel's list format, met in cpulist, node/online and ip_local_reserved_ports. It is read in
 * one place so that an empty list, a line end and a reversed range mean the same everywhere. */
#include "base/ranges.h"

#include <stdlib.h>

bool ranges_next(const char **list, long *low, long *high)
{
    const char *s = *list;
    char *end;
    while (*s == ',' || *s == ' ')
        s++;
    if (*s < '0' || *s > '9')
        return false;
    *low = *high = strtol(s, &end, 10);
    if (*end == '-') {
        s = end + 1;
        *high = strtol(s, &end, 10);
        if (end == s || *high < *low)
            return false;
    }
    *list = end;
    return true;
}
