/* SPDX-License-Identifier: MIT */
/* Where a test may write: below $TMPDIR, or /tmp where there is none. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>

#define SCRATCH_PATH 256

/* The template of mkdtemp(3) and mkstemp(3) for that name, "theme-XXXXXX". Returns path. */
static inline char *scratch_path(char path[SCRATCH_PATH], const char *name)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, SCRATCH_PATH, "%s/iodash-%s", tmp && *tmp ? tmp : "/tmp", name);
    return path;
}

#endif
