/* SPDX-License-Identifier: MIT */
/* The plans that come with the program: the files of a folder, listed once and kept. */
#include "session/plan_file.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assets.h"

#include "base/ini_file.h"

static struct ini_names shipped; /* frozen once read */

static void read_shipped(void)
{
    char folder[PATH_MAX + 16];

    snprintf(folder, sizeof folder, "%s/plans", assets_folder());
    ini_names(folder, &shipped);
}

static const char *shipped_word(int i)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_shipped);
    return i >= 0 && i < shipped.count ? shipped.name[i] : NULL;
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
        snprintf(path, sizeof path, "%s/plans/%s.ini", assets_folder(), name);
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

const char *plan_looked(void)
{
    return shipped_word(0) ? NULL : assets_looked();
}
