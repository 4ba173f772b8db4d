/* SPDX-License-Identifier: MIT */
/* Given by the environment, installed beside the binary, or in the source tree around the build: a
 * folder that holds plans is the right one. */
#include "base/assets.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char assets[PATH_MAX], looked[PATH_MAX + 128]; /* frozen once found */

static bool assets_at(const char *folder, int folder_length, const char *tail)
{
    char probe[PATH_MAX + 16];

    snprintf(assets, sizeof assets, "%.*s/%s", folder_length, folder, tail);
    snprintf(probe, sizeof probe, "%s/plans", assets);
    return access(probe, R_OK) == 0;
}

/* PREFIX/bin/iodash: PREFIX/share/iodash. SOURCE/build/PRESET/...: SOURCE/assets. */
static void find_assets(void)
{
    char exe[PATH_MAX];
    const char *env = getenv("IODASH_ASSETS");
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);

    if (env && *env) {
        snprintf(assets, sizeof assets, "%s", env);
        snprintf(looked, sizeof looked, "looked in %s/plans (IODASH_ASSETS)", env);
        return;
    }
    snprintf(looked, sizeof looked,
             "looked for share/iodash/plans and assets/plans beside and above %.*s, and for "
             "./assets/plans; IODASH_ASSETS may name another folder",
             n > 0 ? (int)n : 0, exe);
    for (int up = 0; up < 6 && n > 0; up++) {
        while (n > 0 && exe[--n] != '/')
            ;
        if (assets_at(exe, (int)n, "share/iodash") || assets_at(exe, (int)n, "assets"))
            return;
    }
    snprintf(assets, sizeof assets, "assets");
}

static void find_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_assets);
}

const char *assets_folder(void)
{
    find_once();
    return assets;
}

const char *assets_looked(void)
{
    find_once();
    return looked;
}
