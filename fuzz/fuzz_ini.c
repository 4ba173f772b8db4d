/* SPDX-License-Identifier: MIT */
/* Plans, claims, themes, recipes and settings: INI files with values in grammars of their own; the
 * first byte picks which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/input.h"
#include "load/workloads.h"
#include "net/protocol.h"
#include "servers/recipe.h"
#include "session/claims.h"
#include "session/plan.h"
#include "session/settings.h"
#include "ui/theme.h"

static void a_plan(const char *path)
{
    struct args none = {0};
    struct plan plan;
    struct err e;
    params_init(&none.params);
    if (plan_from_path(path, &none, &plan, &e) == 0)
        plan_free(&plan);
}

static void a_claim(const char *path)
{
    struct claims claims;
    struct err e;
    if (claims_read(&path, 1, &claims, &e) == 0)
        claims_free(&claims);
}

static void a_theme(const char *path)
{
    struct theme theme;
    struct err e;
    theme_load(path, &theme, &e);
    for (enum role role = 0; role < ROLE_COUNT; role++)
        theme_style(&theme, role, 256);
}

static void a_recipe(const char *path)
{
    static struct recipe r;
    char text[sizeof r.command], *words[KEEPER_WORDS];
    recipe_read(path, &r);
    recipe_words(r.command, text, sizeof text, words);
}

/* They are found by the environment: a link to the file stands where they are looked for. */
static void some_settings(const char *path)
{
    static char folder[] = "/tmp/iodash-fuzz-XXXXXX", at[128];
    static struct settings settings;
    struct err e;
    if (!at[0]) {
        if (!mkdtemp(folder) || setenv("XDG_CONFIG_HOME", folder, 1))
            abort();
        snprintf(at, sizeof at, "%s/iodash", folder);
        mkdir(at, 0700);
        snprintf(at, sizeof at, "%s/iodash/iodash.ini", folder);
        if (symlink(path, at))
            abort();
    }
    settings_load(&settings, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const char *path) = {a_plan, a_claim, a_theme,
                                                      a_recipe, some_settings};
    if (size == 0)
        return 0;
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    readers[data[0] % (sizeof readers / sizeof *readers)](input_file(data + 1, size - 1));
    return 0;
}
