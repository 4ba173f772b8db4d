/* SPDX-License-Identifier: MIT */
/* A theme file: ROLE = words, where a word is an attribute or a colour. A role may have a colour
 * for each kind of terminal: a name (8 colours), bright-NAME (16) and a number (256); the richest
 * one that the terminal has is taken. Roles that are not there look as in the built-in theme. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assets.h"
#include "base/ini_file.h"
#include "params/params.h"
#include "ui/theme.h"

/* Colours by number, then attributes; also what is looked for when a word is misspelt. */
static const char *const words[] = {
    "black",      "red",          "green",        "yellow",         "blue",        "magenta",
    "cyan",       "white",        "bright-black", "bright-red",     "bright-green", "bright-yellow",
    "bright-blue", "bright-magenta", "bright-cyan", "bright-white", "bold",        "dim",
    "reverse",    "underline",    "plain",        NULL,
};
enum { WORD_BOLD = 16, WORD_DIM, WORD_REVERSE, WORD_UNDERLINE, WORD_PLAIN, WORDS };

static const char *word_at(int i)
{
    return words[i];
}

static const char *role_at(int i)
{
    return i < ROLE_COUNT ? theme_roles[i] : NULL;
}

/* --- one line --------------------------------------------------------------------------------- */

/* The number of a word; -1: none, or a number that is no colour. */
static int word_number(const char *word)
{
    char *end;
    for (int i = 0; i < WORDS; i++)
        if (!strcmp(words[i], word))
            return i;
    long n = strtol(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && n < 256 ? (int)(n + 256) : -1;
}

static int take_color(struct look *l, int color, struct err *e)
{
    short *at = color < 8 ? &l->by8 : color < 16 ? &l->by16 : &l->by256;
    if (*at >= 0)
        return err_set(e, EINVAL, "two colours for terminals of %d",
                       color < 8 ? 8 : color < 16 ? 16 : 256);
    *at = (short)color;
    return 0;
}

static int take_word(struct look *l, const char *word, struct err *e)
{
    char echo[40];
    int n = word_number(word);
    l->bold |= n == WORD_BOLD;
    l->dim |= n == WORD_DIM;
    l->reverse |= n == WORD_REVERSE;
    l->underline |= n == WORD_UNDERLINE;
    if (n >= 256 || (n >= 0 && n < WORD_BOLD))
        return take_color(l, n & 255, e);
    if (n >= 0)
        return 0;
    const char *near = params_nearest(word, word_at);
    params_echo(word, echo, sizeof echo);
    if (near)
        return err_set(e, EINVAL, "%s: no such colour; did you mean %s?", echo, near);
    return err_set(e, EINVAL, "%s: neither a colour (red, bright-red, 0 to 255) nor bold, dim, "
                   "reverse, underline or plain", echo);
}

static int take_look(struct look *l, const char *value, struct err *e)
{
    char text[200], *rest = text;
    struct look look = {-1, -1, -1, .bold = false};
    int n = snprintf(text, sizeof text, "%s", value), rc = 0;
    if (n == 0 || n >= (int)sizeof text)
        return err_set(e, EINVAL, "a look has 1 to %zu characters", sizeof text - 1);
    for (char *w; rc == 0 && (w = strsep(&rest, " \t,"));)
        rc = *w ? take_word(&look, w, e) : 0;
    if (rc == 0)
        *l = look;
    return rc;
}

static int take(void *ctx, const struct ini_key *key, struct err *e)
{
    struct theme *t = ctx;
    char echo[40];
    if (key->section[0])
        return err_set(e, EINVAL, "[%.40s]: a theme has no sections", key->section);
    if (!strcmp(key->name, "title")) {
        snprintf(t->title, sizeof t->title, "%s", key->value);
        return 0;
    }
    for (int r = 0; r < ROLE_COUNT; r++)
        if (!strcmp(key->name, theme_roles[r]))
            return take_look(&t->look[r], key->value, e);
    const char *near = params_nearest(key->name, role_at);
    params_echo(key->name, echo, sizeof echo);
    return err_set(e, EINVAL, "%s: no such role%s%s%s", echo, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
}

/* --- which file ------------------------------------------------------------------------------- */

static struct ini_names shipped; /* as of the last look */

static void look_for_shipped(void)
{
    char folder[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s/themes", assets_folder());
    ini_names(folder, &shipped);
}

static const char *shipped_at(int i)
{
    return i < shipped.count ? shipped.name[i] : NULL;
}

static bool is_shipped(const char *name)
{
    for (int i = 0; i < shipped.count; i++)
        if (!strcmp(shipped.name[i], name))
            return true;
    return false;
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".ini")) || access(name, F_OK) == 0;
}

/* A broken file is said in e and the built-in one taken. */
static int read_theme(const char *path, const char *name, struct theme *out, struct err *e)
{
    int rc = ini_file_read(path, "theme", take, out, e);
    if (rc < 0)
        *out = theme_builtin;
    else
        snprintf(out->name, sizeof out->name, "%s", name);
    return rc == -EINVAL ? 0 : rc;
}

static int unknown(const char *name, struct err *e)
{
    char echo[64], list[200] = "";
    const char *near = params_nearest(name, shipped_at);
    params_echo(name, echo, sizeof echo);
    if (near)
        return err_set(e, EINVAL, "--theme %s: no such theme; did you mean %s?", echo, near);
    for (int i = 0; i < shipped.count; i++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", shipped.name[i]);
    }
    return err_set(e, EINVAL, "--theme %s: no such theme; there are %s", echo,
                   *list ? list : theme_builtin.name);
}

/* rxvt and others set "FOREGROUND;BACKGROUND", with numbers of the 16 colours. */
static const char *usual(void)
{
    const char *both = getenv("COLORFGBG"), *back = both ? strrchr(both, ';') : NULL;
    bool light = back && (!strcmp(back + 1, "7") || !strcmp(back + 1, "15"));
    return light && is_shipped("default-light") ? "default-light" : theme_builtin.name;
}

int theme_load(const char *name, struct theme *out, struct err *e)
{
    char path[PATH_MAX + 64];
    *out = theme_builtin;
    e->text[0] = '\0';
    look_for_shipped();
    if (!name || !*name)
        name = usual();
    if (is_shipped(name)) {
        snprintf(path, sizeof path, "%s/themes/%s.ini", assets_folder(), name);
        return read_theme(path, name, out, e);
    }
    if (is_path(name)) {
        const char *slash = strrchr(name, '/');
        return read_theme(name, slash ? slash + 1 : name, out, e);
    }
    return strcmp(name, theme_builtin.name) ? unknown(name, e) : 0;
}

bool theme_shipped(int i, struct theme *out, struct err *e)
{
    char name[INI_NAME];
    look_for_shipped();
    const char *at = shipped.count || i > 0 ? shipped_at(i) : theme_builtin.name;
    if (!at)
        return false;
    snprintf(name, sizeof name, "%s", at);
    theme_load(name, out, e);
    snprintf(out->name, sizeof out->name, "%s", name);
    return true;
}
