/* SPDX-License-Identifier: MIT */
/* A plan file is the command line written down: its keys are parameter ids, its values what one
 * would type after the option, lists and ranges too. So it is read into struct args, what was
 * really typed is laid over it, and plan_from_args() does the rest. inih reads the lines; it
 * numbers only the first bad one, so the reader here counts along. */
#include "session/plan_file.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan_file {
    FILE *f;
    int line, bad_line; /* bad_line: of `text`, or of one that inih cannot take; 0: none */
    char text[256];     /* what is wrong there */
    char title[80], models[160];
    const struct plan_section *more; /* NULL: a plan alone */
    int keys;                      /* in the order of the file, */
    struct axis axis[PARAM_COUNT]; /* those with one value too */
};

/* --- lines ----------------------------------------------------------------------------------- */

static int refuse(struct plan_file *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Keeps the first. Returns 0: to inih, an error. */
static int refuse(struct plan_file *f, const char *fmt, ...)
{
    va_list ap;

    if (f->bad_line)
        return 0;
    f->bad_line = f->line;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
    return 0;
}

static char *next_line(char *s, int size, void *stream)
{
    struct plan_file *f = stream;
    char *got = fgets(s, size, f->f);

    f->line++;
    if (got && !strchr(s, '\n') && (int)strlen(s) == size - 1)
        refuse(f, "the line is longer than %d characters", size - 2);
    return got;
}

static const char *key_word(int i)
{
    static const char *const more[] = {"models", "title", NULL};

    return i < PARAM_COUNT ? param_table[i].id : more[i - PARAM_COUNT];
}

static int unknown_key(struct plan_file *f, const char *key)
{
    char echo[48];
    const char *near = params_nearest(key, key_word);

    params_echo(key, echo, sizeof echo);
    if (near)
        return refuse(f, "%s: no such key; did you mean %s?", echo, near);
    return refuse(f, "%s: no such key; keys are models, title and the ids of parameters", echo);
}

static const struct axis *find_axis(const struct axis *axes, int count, int id)
{
    for (int i = 0; i < count; i++)
        if ((int)axes[i].id == id)
            return &axes[i];
    return NULL;
}

static int take_param(struct plan_file *f, int id, const char *value)
{
    struct err e;

    if (find_axis(f->axis, f->keys, id))
        return refuse(f, "%s stands there twice", param_table[id].id);
    if (axis_parse(id, value, &f->axis[f->keys], &e) < 0)
        return refuse(f, "%s", e.text + strspn(e.text, "-")); /* a key, not an option */
    f->keys++;
    return 1;
}

static int take_text(struct plan_file *f, const char *key, const char *value, char *to, size_t size)
{
    if (to[0])
        return refuse(f, "%s stands there twice", key);
    if (!value[0] || strlen(value) >= size)
        return refuse(f, "%s: a text of 1 to %zu characters", key, size - 1);
    memcpy(to, value, strlen(value) + 1);
    return 1;
}

/* A name that this machine cannot run is no mistake of the file: plan_from_args() says so. */
static int take_models(struct plan_file *f, const char *value)
{
    struct lineups l;
    struct err e;

    if (!take_text(f, "models", value, f->models, sizeof f->models))
        return 0;
    char *to = f->models;
    for (const char *from = f->models; *from; from++)
        if (*from != ' ' && *from != '\t')
            *to++ = *from;
    *to = 0;
    if (lineups_parse(f->models, &l, &e) == -EINVAL)
        return refuse(f, "%s", e.text + strspn(e.text, "-"));
    return 1;
}

static int take_more(struct plan_file *f, const char *key, const char *value)
{
    struct err e;

    return f->more->take(f->more->ctx, f->line, key, value, &e) < 0 ? refuse(f, "%s", e.text) : 1;
}

static int on_key(void *ctx, const char *section, const char *key, const char *value)
{
    struct plan_file *f = ctx;
    int id = params_find(key);

    if (f->more && strcmp(section, f->more->name) == 0)
        return take_more(f, key, value);
    if (f->more && strcmp(section, "rows") != 0)
        return refuse(f, "[%.40s]: sections are [%s] and [rows]", section, f->more->name);
    if (!f->more && section[0])
        return refuse(f, "[%.40s]: a plan has no sections", section);
    if (strcmp(key, "title") == 0)
        return take_text(f, key, value, f->title, sizeof f->title);
    if (strcmp(key, "models") == 0)
        return take_models(f, value);
    return id >= 0 && id < PARAM_COUNT ? take_param(f, id, value) : unknown_key(f, key);
}

static int check_together(struct plan_file *f)
{
    if (find_axis(f->axis, f->keys, PARAM_duration) && find_axis(f->axis, f->keys, PARAM_samples))
        return refuse(f, "duration stands in place of samples; give one of them");
    return 1;
}

static int read_file(const char *path, struct plan_file *f, struct err *e)
{
    const char *what = f->more ? f->more->name : "plan";

    f->f = fopen(path, "re");
    if (!f->f)
        return err_sys(e, "cannot read the %s %s", what, path);
    int bad = ini_parse_stream(next_line, f, on_key, f);
    int io = ferror(f->f) ? err_set(e, EIO, "cannot read the %s %s", what, path) : 0;
    fclose(f->f);
    if (io < 0)
        return io;
    if (bad > 0 && (f->bad_line == 0 || bad < f->bad_line)) {
        f->bad_line = bad;
        snprintf(f->text, sizeof f->text, "neither KEY = VALUE nor a comment (;)");
    }
    check_together(f);
    if (f->bad_line)
        return err_set(e, EINVAL, "%s, line %d: %s", path, f->bad_line, f->text);
    return 0;
}

/* --- the command line over it ---------------------------------------------------------------- */

static bool given(const struct args *a, int id)
{
    if (a->given[id])
        return true;
    return (id == PARAM_samples && a->given[PARAM_duration]) ||
           (id == PARAM_duration && a->given[PARAM_samples]);
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
    int status = read_file(path, f, e);
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
