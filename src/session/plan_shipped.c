/* SPDX-License-Identifier: MIT */
/* The plans that come with the program, and where its assets are: given, installed beside the
 * binary or in the source tree around the build. Both are found once and kept. */
#include "session/plan_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHIPPED_MOST 64

static char shipped[SHIPPED_MOST][32]; /* frozen once read */
static int shipped_count;

static int is_ini(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 4 && n - 4 < sizeof *shipped && strcmp(d->d_name + n - 4, ".ini") == 0;
}

static void read_shipped(void)
{
    struct dirent **all;
    char folder[PATH_MAX + 16];

    snprintf(folder, sizeof folder, "%s/plans", plan_assets());
    int n = scandir(folder, &all, is_ini, alphasort);
    for (int i = 0; i < n; i++) {
        if (shipped_count < SHIPPED_MOST)
            snprintf(shipped[shipped_count++], sizeof *shipped, "%.*s",
                     (int)strlen(all[i]->d_name) - 4, all[i]->d_name);
        free(all[i]);
    }
    if (n >= 0)
        free(all);
}

static const char *shipped_word(int i)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_shipped);
    return i >= 0 && i < shipped_count ? shipped[i] : NULL;
}

static int unknown_plan(const char *name, struct err *e)
{
    char list[200] = "", echo[64];
    const char *near = params_nearest(name, shipped_word);

    params_echo(name, echo, sizeof echo);
    if (near)
        return err_set(e, EINVAL, "--plan %s: no such plan; did you mean %s?", echo, near);
    if (plan_looked())
        return err_set(e, EINVAL,
                       "--plan %s: no such file, and no plans came with this program: %s", echo,
                       plan_looked());
    for (int i = 0; shipped_word(i); i++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%.31s", i ? ", " : "", shipped_word(i));
    }
    return err_set(e, EINVAL, "--plan %s: no such plan; shipped are %s", echo, list);
}

static bool is_shipped(const char *name)
{
    for (int i = 0; shipped_word(i); i++)
        if (strcmp(shipped_word(i), name) == 0)
            return true;
    return false;
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".ini") == 0) ||
           access(name, F_OK) == 0;
}

int plan_from_file(const char *name, const struct args *a, struct plan *out, struct err *e)
{
    char path[PATH_MAX + 64];
    struct args none = {0};

    *out = (struct plan){.axis = {PARAM_COUNT, PARAM_COUNT}};
    if (!a) {
        params_init(&none.params);
        a = &none;
    }
    if (is_shipped(name))
        snprintf(path, sizeof path, "%s/plans/%s.ini", plan_assets(), name);
    else if (is_path(name))
        snprintf(path, sizeof path, "%s", name);
    else
        return unknown_plan(name, e);
    return plan_from_path(path, a, out, e);
}

bool plan_shipped(int i, struct plan_info *out)
{
    struct plan p;
    struct err e;

    if (!shipped_word(i))
        return false;
    snprintf(out->name, sizeof out->name, "%s", shipped_word(i));
    if (plan_from_file(out->name, NULL, &p, &e) < 0) {
        snprintf(out->title, sizeof out->title, "%.79s", e.text);
        out->seconds = NAN;
        return true;
    }
    memcpy(out->title, p.title, sizeof out->title);
    out->seconds = p.seconds;
    plan_free(&p);
    return true;
}

/* --- where the assets are -------------------------------------------------------------------- */

static char assets[PATH_MAX], looked[PATH_MAX + 128];

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

const char *plan_assets(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_assets);
    return assets;
}

const char *plan_looked(void)
{
    return shipped_word(0) ? NULL : looked;
}
