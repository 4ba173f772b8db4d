/* SPDX-License-Identifier: MIT */
/* The text of /proc/PID/stat, whose name field holds whatever a process likes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/input.h"
#include "metrics/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[4096];
    struct proc_stat stat;
    size = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    if (proc_stat_parse(text, &stat) == 0)
        for (const char *c = stat.name; *c; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                abort();
    return 0;
}
