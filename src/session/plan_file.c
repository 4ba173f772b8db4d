/* SPDX-License-Identifier: MIT */
/* A plan file is the command line written down: its keys are parameter ids, its values what one
 * would type after the option, lists and ranges too. So it is read into struct args, what was
 * really typed is laid over it, and plan_from_args() does the rest. */
#include "session/plan_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini_file.h"

struct plan_file {
    char title[80], models[160];
    const struct plan_section *more; /* NULL: a plan alone */
    int keys;                      /* in the order of the file, */
    struct axis axis[PARAM_COUNT]; /* those with one value too */
};

/* --- keys ------------------------------------------------------------------------------------ */

static const char *key_word(int i)
{
    static const char *const more[] = {"models", "title", NULL};

    return i < PARAM_COUNT ? param_table[i].id : more[i - PARAM_COUNT];
}

static int unknown_key(const char *key, struct err *e)
{
    char echo[48];
    const char *near = params_nearest(key, key_word);

    params_echo(key, echo, sizeof echo);
    if (near)
        return err_set(e, EINVAL, "%s: no such key; did you mean %s?", echo, near);
    return err_set(e, EINVAL, "%s: no such key; keys are models, title and the ids of parameters",
                   echo);
}

static const struct axis *find_axis(const struct axis *axes, int count, int id)
{
    for (int i = 0; i < count; i++)
        if ((int)axes[i].id == id)
            return &axes[i];
    return NULL;
}

static int take_param(struct plan_file *f, int id, const char *value, struct err *e)
{
    struct err why;

    if (find_axis(f->axis, f->keys, params_rival((enum param_id)id)))
        return err_set(e, EINVAL, "duration stands in place of samples; give one of them");
    if (find_axis(f->axis, f->keys, id))
        return err_set(e, EINVAL, "%s stands there twice", param_table[id].id);
    if (axis_parse(id, value, &f->axis[f->keys], &why) < 0) /* a key, not an option */
        return err_set(e, EINVAL, "%s", why.text + strspn(why.text, "-"));
    f->keys++;
    return 0;
}

static int take_text(const struct ini_key *key, char *to, size_t size, struct err *e)
{
    if (to[0])
        return err_set(e, EINVAL, "%s stands there twice", key->name);
    if (!key->value[0] || strlen(key->value) >= size)
        return err_set(e, EINVAL, "%s: a text of 1 to %zu characters", key->name, size - 1);
    memcpy(to, key->value, strlen(key->value) + 1);
    return 0;
}

/* A name that this machine cannot run is no mistake of the file: plan_from_args() says so. */
static int take_models(struct plan_file *f, const struct ini_key *key, struct err *e)
{
    struct lineups l;
    struct err why;
    int rc = take_text(key, f->models, sizeof f->models, e);

    if (rc < 0)
        return rc;
    char *to = f->models;
    for (const char *from = f->models; *from; from++)
        if (*from != ' ' && *from != '\t')
            *to++ = *from;
    *to = 0;
    if (lineups_parse(f->models, &l, &why) == -EINVAL)
        return err_set(e, EINVAL, "%s", why.text + strspn(why.text, "-"));
    return 0;
}

static int on_key(void *ctx, const struct ini_key *key, struct err *e)
{
    struct plan_file *f = ctx;
    int id = params_find(key->name);

    if (f->more && strcmp(key->section, f->more->name) == 0)
        return f->more->take(f->more->ctx, key->line, key->name, key->value, e);
    if (f->more && strcmp(key->section, "rows") != 0)
        return err_set(e, EINVAL, "[%.40s]: sections are [%s] and [rows]", key->section,
                       f->more->name);
    if (!f->more && key->section[0])
        return err_set(e, EINVAL, "[%.40s]: a plan has no sections", key->section);
    if (strcmp(key->name, "title") == 0)
        return take_text(key, f->title, sizeof f->title, e);
    if (strcmp(key->name, "models") == 0)
        return take_models(f, key, e);
    if (id < 0 || id >= PARAM_COUNT)
        return unknown_key(key->name, e);
    return take_param(f, id, key->value, e);
}

/* --- the command line over it ---------------------------------------------------------------- */

static bool given(const struct args *a, enum param_id id)
{
    enum param_id other = params_rival(id);
    return a->given[id] || (other != PARAM_COUNT && a->given[other]);
}

static int merge(const struct plan_file *f, const struct args *a, struct args *out, struct err *e)
{
    *out = *a;
    if (!out->options.models && f->models[0])
        out->options.models = f->models;
    for (int i = 0; i < f->keys; i++) {
        const struct axis *axis = &f->axis[i];

        if (given(a, axis->id))
            continue;
        if (axis->count > 1 && out->axis_count == ARGS_AXES)
            return err_set(e, EINVAL, "%s: a third list beside %s and %s", param_table[axis->id].id,
                           param_table[out->axes[0].id].id, param_table[out->axes[1].id].id);
        if (axis->count > 1)
            out->axes[out->axis_count++] = *axis;
        *params_at(&out->params, axis->id) = axis->values[0];
    }
    return 0;
}

static int plan_read(const char *path, const struct plan_section *more, const struct args *a,
                     struct plan *out, struct err *e)
{
    struct plan_file *f = xcalloc(1, sizeof *f);
    struct args merged;

    f->more = more;
    int status = ini_file_read(path, more ? more->name : "plan", on_key, f, e);
    bool rows = !more || f->keys > 0 || f->models[0];
    if (status == 0)
        status = merge(f, a, &merged, e);
    if (status == 0 && rows)
        status = plan_from_args(&merged, out, e);
    if (status == 0 && f->title[0])
        snprintf(out->title, sizeof out->title, "%s", f->title);
    free(f);
    return status;
}

int plan_from_path(const char *path, const struct args *a, struct plan *out, struct err *e)
{
    return plan_read(path, NULL, a, out, e);
}

int plan_from_section(const char *path, const struct plan_section *more, struct plan *out,
                      struct err *e)
{
    struct args none = {0};

    *out = (struct plan){.axis = {PARAM_COUNT, PARAM_COUNT}};
    params_init(&none.params);
    return plan_read(path, more, &none, out, e);
}
