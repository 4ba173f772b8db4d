/* SPDX-License-Identifier: MIT */
/* mkdtemp(3) under $TMPDIR, and a walk that deletes it again. */
#include "base/fake_tree.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "scratch.h"

static char folder[SCRATCH_PATH];

const char *fake_tree_make(void)
{
    assert_non_null(mkdtemp(scratch_path(folder, "test-XXXXXX")));
    return folder;
}

static int delete_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path);
}

void fake_tree_remove(void)
{
    if (folder[0])
        nftw(folder, delete_one, 16, FTW_DEPTH | FTW_PHYS);
    folder[0] = '\0';
}

void fake_tree_write(const char *path, const char *text)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s", folder, path);
    for (char *slash = whole + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(whole, 0755);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}
