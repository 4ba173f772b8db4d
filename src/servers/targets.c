/* SPDX-License-Identifier: MIT */
/* A target is made when somebody names it or lists them, and stays: rows, panes and threads hold on
 * to its model, so nothing here is ever changed or freed once it is handed out. */
#include "servers/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assets.h"
#include "base/ini_file.h"
#include "params/params.h"
#include "servers/recipe.h"

#define SHIPPED_MOST INI_NAMES
#define TARGETS_MOST 32 /* of one's own, and of those attached to */

static struct target *shipped[SHIPPED_MOST], *own[TARGETS_MOST], *attached[TARGETS_MOST];
static struct ini_names names; /* of the shipped ones */
static int own_count, attached_count;
static bool listed;

/* --- recipes ---------------------------------------------------------------------------------- */

static const char summary_of_broken[] = "a recipe that cannot be read";

static void make_model(struct target *t, const struct recipe *r)
{
    bool workers = recipe_says(r, "{workers}"), backlog = recipe_says(r, "{backlog}");
    t->model = (struct io_model){
        .id = t->id, .label = t->id, .target = t, .group = GROUP_YOURS,
        .summary = r->title[0] ? r->title : summary_of_broken,
        .caps = workers ? 0 : CAP_OWN_WORKERS,
        .policies = backlog ? POLICY_BACKLOG : 0};
    t->sized = recipe_says(r, "{size}");
}

static struct target *target_of_recipe(const char *path)
{
    struct recipe *r = xcalloc(1, sizeof *r);
    struct target *t = xcalloc(1, sizeof *t);
    recipe_read(path, r);
    t->recipe = r;
    t->path = "loopback";
    t->protocol = r->protocol;
    t->speaks = r->speaks;
    snprintf(t->id, sizeof t->id, TARGETS_RECIPE "%s", r->name);
    make_model(t, r);
    return t;
}

static void list_shipped(void)
{
    char folder[PATH_MAX + 16];
    if (listed)
        return;
    snprintf(folder, sizeof folder, "%s/targets", assets_folder());
    ini_names(folder, &names);
    listed = true;
}

static struct target *shipped_at(int i)
{
    char path[PATH_MAX + 64];
    list_shipped();
    if (i < 0 || i >= names.count)
        return NULL;
    if (!shipped[i]) {
        snprintf(path, sizeof path, "%s/targets/%s.ini", assets_folder(), names.name[i]);
        shipped[i] = target_of_recipe(path);
    }
    return shipped[i];
}

static const char *shipped_word(int i)
{
    list_shipped();
    return i < names.count ? names.name[i] : NULL;
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".ini"));
}

static int unknown_recipe(const char *name, struct err *e)
{
    char all[200] = "", echo[64];
    const char *near = params_nearest(name, shipped_word);
    for (int i = 0; shipped_word(i); i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", shipped_word(i));
    }
    params_echo(name, echo, sizeof echo);
    return err_set(e, EINVAL, "--models: no target '%s'%s%s%s; there are %s, and target:FILE.ini",
                   echo, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "", all);
}

static const struct target *find_own(const char *path, struct err *e)
{
    for (int i = 0; i < own_count; i++)
        if (!strcmp(own[i]->recipe->file, path))
            return own[i];
    if (access(path, F_OK) < 0) {
        err_sys(e, "--models: target:%.100s", path);
        return NULL;
    }
    if (own_count == TARGETS_MOST) {
        err_set(e, E2BIG, "--models: more than %d recipes", TARGETS_MOST);
        return NULL;
    }
    return own[own_count++] = target_of_recipe(path);
}

static const struct target *find_recipe(const char *name, struct err *e)
{
    if (is_path(name))
        return find_own(name, e);
    for (int i = 0; shipped_word(i); i++)
        if (!strcmp(shipped_word(i), name))
            return shipped_at(i);
    unknown_recipe(name, e);
    return NULL;
}

/* --- those that run already ------------------------------------------------------------------- */

/* The number behind "attach", from 1; 0: it is no such word. */
static int attach_number(const char *word)
{
    size_t n = strlen(TARGETS_ATTACH);
    if (strncmp(word, TARGETS_ATTACH, n) != 0)
        return 0;
    if (!word[n])
        return 1;
    return word[n] >= '2' && word[n] <= '9' && !word[n + 1] ? word[n] - '0' : 0;
}

bool targets_word(const char *word)
{
    if (!strncmp(word, TARGETS_RECIPE, strlen(TARGETS_RECIPE)) || attach_number(word))
        return true;
    for (int i = 0; i < attached_count; i++)
        if (!strcmp(attached[i]->id, word))
            return true;
    return false;
}

static const struct target *find_attached(const char *word, struct err *e)
{
    int number = attach_number(word);
    for (int i = 0; i < attached_count; i++)
        if (i + 1 == number || !strcmp(attached[i]->id, word))
            return attached[i];
    err_set(e, EINVAL, number > 1 ? "--models %s: there are fewer than that many --attach HOST:PORT"
                                  : "--models %s: needs --attach HOST:PORT (and --pid PID)",
            word);
    return NULL;
}

const struct io_model *targets_find(const char *word, struct err *e)
{
    size_t n = strlen(TARGETS_RECIPE);
    const struct target *t = strncmp(word, TARGETS_RECIPE, n) ? find_attached(word, e)
                                                              : find_recipe(word + n, e);
    return t ? &t->model : NULL;
}

static const struct target *same_attached(const struct target *t)
{
    for (int i = 0; i < attached_count; i++)
        if (!strcmp(attached[i]->id, t->id) && attached[i]->pid == t->pid &&
            attached[i]->start_ticks == t->start_ticks && !strcmp(attached[i]->doubt, t->doubt) &&
            !strcmp(attached[i]->request, t->request))
            return attached[i];
    return NULL;
}

int targets_attach(const char *url, const char *pid, bool by_size, const struct target **out,
                   struct err *e)
{
    struct target *t = xcalloc(1, sizeof *t);
    int rc = target_parse(url, t, e);
    if (rc == 0 && by_size)
        rc = target_by_size(t, e);
    if (rc == 0 && pid)
        rc = target_attach_process(t, pid, e);
    *out = rc == 0 ? same_attached(t) : NULL;
    if (rc == 0 && !*out && attached_count == TARGETS_MOST)
        rc = err_set(e, E2BIG, "--attach %.80s: more than %d of them", url, TARGETS_MOST);
    if (rc < 0 || *out) {
        free(t);
        return rc;
    }
    t->model.group = GROUP_YOURS;
    t->knock = true;
    *out = attached[attached_count++] = t;
    return 0;
}

const struct target *targets_at(int i)
{
    list_shipped();
    return i < names.count ? shipped_at(i)
           : i - names.count < attached_count ? attached[i - names.count] : NULL;
}

/* --- a lineup --------------------------------------------------------------------------------- */

char *targets_speak(const struct target *t, char *buf, size_t size)
{
    size_t n = 0;
    *buf = '\0';
    for (int i = -1; i < protocol_count && t->protocol >= 0; i++) {
        int p = i < 0 ? t->protocol : i; /* the usual one first */
        if (n < size && (i < 0 || (i != t->protocol && t->speaks & 1u << i)))
            n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", protocol_table[p]->id);
    }
    return buf;
}

static int no_common(const struct target *a, const struct target *b, struct err *e)
{
    char first[64], second[64];
    return err_set(e, EINVAL, "%s speaks %s and %s %s: all of a lineup are asked the same", a->id,
                   targets_speak(a, first, sizeof first), b->id,
                   targets_speak(b, second, sizeof second));
}

int targets_protocol(const struct lineup *l, int wanted, int *protocol, struct err *e)
{
    const struct target *first = NULL;
    unsigned common = ~0u;
    *protocol = -1;
    for (int i = 0; i < l->count; i++) {
        const struct target *t = l->models[i]->target;
        if (!t || !t->speaks)
            continue;
        if (!(common & t->speaks))
            return no_common(first, t, e);
        first = first ? first : t;
        common &= t->speaks;
    }
    if (!first)
        return 0;
    *protocol = wanted >= 0 && common & 1u << wanted ? wanted
                : common & 1u << first->protocol     ? first->protocol
                                                     : __builtin_ctz(common);
    return 0;
}
