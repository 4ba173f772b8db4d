/* SPDX-License-Identifier: MIT */
/* The file is read whole or not at all: half of somebody's settings is a surprise. It is written by
 * changing lines, so what a person wrote there by hand stays; into a new file beside it, which then
 * takes its name (of the file itself, where it is a link). */
#include "session/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/home.h"
#include "base/ini_file.h"
#include "servers/io_models.h"

static const char *const option_keys[] = {"models", "charset", "theme", NULL};

bool settings_takes(enum option_id id)
{
    for (int i = 0; option_keys[i]; i++)
        if (strcmp(option_table[id].id, option_keys[i]) == 0)
            return true;
    return false;
}

static void clear(struct settings *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < PARAM_COUNT; i++)
        *params_at(&s->params, (enum param_id)i) = PARAM_UNSET;
}

static bool is_set(const struct settings *s, enum param_id id)
{
    return id != PARAM_COUNT && !isnan(params_get(&s->params, id));
}

/* --- reading --------------------------------------------------------------------------------- */

static int path_of(char *buf, size_t size, struct err *e)
{
    char folder[512];
    int rc = home_folder(HOME_CONFIG, folder, sizeof folder, e);
    if (rc == 0)
        snprintf(buf, size, "%s/iodash.ini", folder);
    return rc;
}

static const char *key_word(int i)
{
    return i < PARAM_COUNT ? param_table[i].id : option_keys[i - PARAM_COUNT];
}

static int unknown_key(const char *key, struct err *e)
{
    char echo[48];
    const char *near = params_nearest(key, key_word);
    return err_set(e, EINVAL, "%s: no such setting%s%s%s", params_echo(key, echo, sizeof echo),
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int take_param(struct settings *s, enum param_id id, const char *value, struct err *e)
{
    struct err why;
    double v;
    if (is_set(s, id))
        return err_set(e, EINVAL, "%s stands there twice", param_table[id].id);
    if (is_set(s, params_rival(id)))
        return err_set(e, EINVAL, "duration stands in place of samples; give one of them");
    if (params_parse(id, value, &v, &why) < 0) /* a key, not an option */
        return err_set(e, EINVAL, "%s", why.text + strspn(why.text, "-"));
    *params_at(&s->params, id) = v;
    return 0;
}

static int take_option(struct settings *s, enum option_id id, const char *value, struct err *e)
{
    const char *name = option_table[id].id;
    struct lineups l;
    struct err why;
    if (s->option[id][0])
        return err_set(e, EINVAL, "%s stands there twice", name);
    if (!*value || strlen(value) >= SETTING_TEXT)
        return err_set(e, EINVAL, "%s: a text of 1 to %d characters", name, SETTING_TEXT - 1);
    if (!args_allows(id, value))
        return err_set(e, EINVAL, "%s %s: must be one of %s", name, value,
                       option_table[id].argument);
    if (id == OPTION_models && lineups_parse(value, &l, &why) == -EINVAL)
        return err_set(e, EINVAL, "%s", why.text + strspn(why.text, "-"));
    snprintf(s->option[id], SETTING_TEXT, "%s", value);
    return 0;
}

static int take(void *ctx, const struct ini_key *key, struct err *e)
{
    int id = params_find(key->name);
    if (key->section[0])
        return err_set(e, EINVAL, "[%.40s]: settings have no sections", key->section);
    if (id >= PARAM_COUNT && settings_takes((enum option_id)(id - PARAM_COUNT)))
        return take_option(ctx, (enum option_id)(id - PARAM_COUNT), key->value, e);
    if (id < 0 || id >= PARAM_COUNT)
        return unknown_key(key->name, e);
    return take_param(ctx, (enum param_id)id, key->value, e);
}

int settings_load(struct settings *s, struct err *e)
{
    char path[600];
    clear(s);
    if (path_of(path, sizeof path, e) < 0 || (access(path, F_OK) < 0 && errno == ENOENT))
        return 0;
    int rc = ini_file_read(path, "settings", take, s, e);
    if (rc < 0)
        clear(s);
    return rc;
}

/* --- changing -------------------------------------------------------------------------------- */

void settings_set(struct settings *s, enum param_id id, double value)
{
    if (params_same(params_get(&s->params, id), value))
        return;
    *params_at(&s->params, id) = value;
    if (!isnan(value) && params_rival(id) != PARAM_COUNT)
        *params_at(&s->params, params_rival(id)) = PARAM_UNSET;
    s->changed = true;
}

void settings_set_option(struct settings *s, enum option_id id, const char *text)
{
    if (strcmp(s->option[id], text) == 0)
        return;
    snprintf(s->option[id], SETTING_TEXT, "%s", text);
    s->changed = true;
}

void settings_under(const struct settings *s, struct args *a)
{
    for (int i = 0; i < PARAM_COUNT; i++) {
        enum param_id id = (enum param_id)i, other = params_rival(id);
        if (is_set(s, id) && !a->given[id] && (other == PARAM_COUNT || !a->given[other]))
            *params_at(&a->params, id) = params_get(&s->params, id);
    }
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char **to = args_option(&a->options, (enum option_id)i);
        if (!*to && s->option[i][0])
            *to = s->option[i];
    }
}

/* --- writing --------------------------------------------------------------------------------- */

struct writing {
    const struct settings *s;
    FILE *out;
    bool param[PARAM_COUNT], option[OPTION_COUNT]; /* written */
};

static void write_key(struct writing *w, int id)
{
    char text[64];
    bool param = id < PARAM_COUNT;
    bool *done = param ? &w->param[id] : &w->option[id - PARAM_COUNT];
    const char *value = param ? params_print((enum param_id)id,
                                             params_get(&w->s->params, (enum param_id)id), text,
                                             sizeof text)
                              : w->s->option[id - PARAM_COUNT];
    if (!*done && *value)
        fprintf(w->out, "%s = %s\n", params_word(id), value);
    *done = true;
}

/* One line of the old file: a key of ours as it is now, a comment as it is. */
static void write_line(struct writing *w, const char *line)
{
    char key[40];
    size_t blank = strspn(line, " \t\r\n\xef\xbb\xbf"), n = strcspn(line + blank, " \t=\r\n");
    snprintf(key, sizeof key, "%.*s", (int)(n < 39 ? n : 39), line + blank);
    int id = params_find(key);
    if (!line[blank] || line[blank] == ';' || line[blank] == '#')
        fprintf(w->out, "%s\n", line);
    else if (id >= 0 && (id < PARAM_COUNT || settings_takes((enum option_id)(id - PARAM_COUNT))))
        write_key(w, id);
    else
        fprintf(w->out, "; not understood: %s\n", line);
}

static void write_all(struct writing *w, const char *path)
{
    struct err none;
    FILE *old = home_open(path, "read", &none);
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; old && (n = getline(&line, &room, old)) >= 0;) {
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
            line[--n] = '\0';
        write_line(w, line);
    }
    free(line);
    if (old)
        fclose(old);
    for (int i = 0; i < PARAM_COUNT + OPTION_COUNT; i++)
        if (i < PARAM_COUNT || settings_takes((enum option_id)(i - PARAM_COUNT)))
            write_key(w, i);
}

/* Only a file makes room for another: not a device that the name is a link to. */
static bool replaceable(const char *path)
{
    struct stat st;
    return lstat(path, &st) < 0 || S_ISREG(st.st_mode);
}

static int replace(const struct settings *s, const char *path, struct err *e)
{
    char temp[640];
    struct writing w = {.s = s};
    if (!replaceable(path))
        return err_set(e, EINVAL, "cannot save the settings as %s: it is no regular file", path);
    snprintf(temp, sizeof temp, "%s.%ld.tmp", path, (long)getpid());
    w.out = fopen(temp, "wxe");
    if (!w.out)
        return err_sys(e, "save the settings as %s", path);
    write_all(&w, path);
    bool bad = ferror(w.out) || fflush(w.out) != 0 || fsync(fileno(w.out)) < 0;
    bad = fclose(w.out) != 0 || bad;
    if (!bad && rename(temp, path) == 0)
        return 0;
    int rc = err_sys(e, "save the settings as %s", path);
    unlink(temp);
    return rc;
}

int settings_save(struct settings *s, struct err *e)
{
    char path[600], folder[512];
    if (!s->changed)
        return 0;
    int rc = home_folder(HOME_CONFIG, folder, sizeof folder, e);
    if (rc == 0)
        rc = home_make(folder, e);
    if (rc < 0 || (rc = path_of(path, sizeof path, e)) < 0)
        return rc;
    char *real = realpath(path, NULL);
    rc = replace(s, real ? real : path, e);
    free(real);
    s->changed = rc < 0;
    return rc;
}
