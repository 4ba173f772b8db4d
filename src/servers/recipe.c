/* SPDX-License-Identifier: MIT */
/* A recipe is read once and checked whole: whatever is wrong with it is known before it is started,
 * and named with file and line. Whether it can run here is asked each time, because people install
 * what is missing. A program is looked for as a shell would; what a script needs beside its
 * interpreter is a list of files. Sources: glob(7), environ(7). */
#include "servers/recipe.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ini_file.h"
#include "base/limits.h"
#include "base/units.h"
#include "net/protocol.h"

#define TIMEOUT_S 10
#define TIMEOUT_MOST_S 120

/* --- words ------------------------------------------------------------------------------------ */

/* One word, unquoted, to *to; returns where the line goes on, NULL: a quote has no end. */
static const char *one_word(const char *at, char **to)
{
    for (char quote = 0; *at && (quote || !strchr(" \t\n", *at)); at++) {
        if (!quote && (*at == '"' || *at == '\'')) {
            quote = *at;
            if (!strchr(at + 1, quote))
                return NULL;
        } else if (*at == quote) {
            quote = 0;
        } else {
            if (quote == '"' && *at == '\\' && (at[1] == '"' || at[1] == '\\'))
                at++;
            *(*to)++ = *at;
        }
        if (quote && !at[1])
            return NULL;
    }
    *(*to)++ = '\0';
    return at;
}

int recipe_words(const char *line, char *buf, size_t size, char **words)
{
    char *to = buf;
    int n = 0;
    if (strlen(line) + KEEPER_WORDS >= size)
        return -EINVAL;
    for (const char *at = line + strspn(line, " \t\n"); *at; at += strspn(at, " \t\n")) {
        if (n == KEEPER_WORDS)
            return -EINVAL;
        words[n++] = to;
        if (!(at = one_word(at, &to)))
            return -EINVAL;
    }
    return n;
}

/* --- placeholders ----------------------------------------------------------------------------- */

/* Writes what stands for NAME of {NAME}; false: it is none. */
static bool value_of(const char *name, size_t n, const struct recipe_values *v, char *buf,
                     size_t size)
{
    const struct {
        const char *name, *text;
        long long number;
    } all[] = {{"port", NULL, v->port},       {"size", NULL, v->size},
               {"workers", NULL, v->workers}, {"backlog", NULL, v->backlog},
               {"dir", v->dir, 0},            {"recipe", v->recipe, 0},
               {"targets", v->targets, 0},    {"cache", v->cache, 0},
               {"protocol", v->protocol, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strlen(all[i].name) != n || memcmp(all[i].name, name, n) != 0)
            continue;
        if (all[i].text)
            snprintf(buf, size, "%s", all[i].text);
        else
            snprintf(buf, size, "%lld", all[i].number);
        return true;
    }
    if (*name != '$' || n < 2 || n >= 64)
        return false;
    char variable[64];
    snprintf(variable, sizeof variable, "%.*s", (int)n - 1, name + 1);
    const char *value = getenv(variable);
    snprintf(buf, size, "%s", value ? value : "");
    return true;
}

/* Length of {NAME} at text, without the braces; 0: it is none. */
static size_t placeholder(const char *text)
{
    size_t n = strspn(text + 1, "$_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    return *text == '{' && text[n + 1] == '}' ? n : 0;
}

int recipe_expand(const char *text, const struct recipe_values *v, bool strict, char *buf,
                  size_t size)
{
    size_t used = 0;
    while (*text) {
        char value[PATH_MAX];
        size_t name = placeholder(text);
        bool known = name && value_of(text + 1, name, v, value, sizeof value);
        if (name && !known && strict)
            return -EINVAL;
        if (!known)
            snprintf(value, sizeof value, "%c", *text);
        size_t n = strlen(value);
        if (used + n >= size)
            return -ENAMETOOLONG;
        memcpy(buf + used, value, n);
        used += n;
        text += known ? name + 2 : 1;
    }
    buf[used] = '\0';
    return 0;
}

/* --- the file --------------------------------------------------------------------------------- */

enum { TEXT, COMMAND, LIST, PROTOCOL, READY, PORT, TIMEOUT };

static const struct recipe_key {
    const char *name;
    int kind; /* a COMMAND or LIST goes on in further lines */
    size_t at, size;
} keys[] = {
#define KEY(id, kind) {#id, kind, offsetof(struct recipe, id), sizeof((struct recipe *)0)->id}
    KEY(title, TEXT),    KEY(command, COMMAND), KEY(build, COMMAND), KEY(install, TEXT),
    KEY(needs, LIST),    KEY(notes, LIST),      KEY(files, LIST),    KEY(data, TEXT),
    KEY(protocol, PROTOCOL), KEY(port, PORT),
#undef KEY
    {"ready", READY, 0, 0}, {"timeout", TIMEOUT, 0, 0},
};
#define KEYS ((int)(sizeof keys / sizeof *keys))

struct reading {
    struct recipe *r;
    bool given[KEYS];
};

static const char *key_word(int i)
{
    return i < KEYS ? keys[i].name : NULL;
}

static int unknown_key(const char *name, struct err *e)
{
    char all[160] = "", echo[48];
    const char *near = params_nearest(name, key_word);
    params_echo(name, echo, sizeof echo);
    if (near)
        return err_set(e, EINVAL, "%s: no such key; did you mean %s?", echo, near);
    for (int i = 0; i < KEYS; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", keys[i].name);
    }
    return err_set(e, EINVAL, "%s: no such key; keys are %s", echo, all);
}

static int take_text(const struct recipe_key *k, const char *value, struct recipe *r, struct err *e)
{
    char *to = (char *)r + k->at;
    size_t used = strlen(to);
    int n = snprintf(to + used, k->size - used, "%s%s", used ? " " : "", value);
    if (!*value || n >= (int)(k->size - used))
        return err_set(e, EINVAL, "%s: a text of 1 to %zu characters", k->name, k->size - 1);
    return 0;
}

static int check_command(const struct recipe_key *k, const struct recipe *r, struct err *e)
{
    static const struct recipe_values any = {
        .dir = "", .recipe = "", .targets = "", .cache = "", .protocol = ""};
    const char *line = (const char *)r + k->at;
    char buf[2048], *words[KEEPER_WORDS];
    int n = recipe_words(line, buf, sizeof buf, words);
    if (n < 1)
        return err_set(e, EINVAL, "%s: a quote has no end, or there are more than %d words",
                       k->name, KEEPER_WORDS);
    for (int i = 0; i < n; i++) {
        char word[2 * PATH_MAX];
        if (recipe_expand(words[i], &any, true, word, sizeof word) == -EINVAL)
            return err_set(e, EINVAL, "%s: '%.60s' has a placeholder that is none of {port} {size} "
                           "{workers} {backlog} {protocol} {dir} {recipe} {targets} {cache} "
                           "{$VARIABLE}", k->name,
                           words[i]);
    }
    return 0;
}

static int no_protocol(const char *word, struct err *e)
{
    char all[120] = "", echo[48];
    for (int i = 0; i < protocol_count; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", protocol_table[i]->id);
    }
    return err_set(e, EINVAL, "protocol %s: must be one or some of %s",
                   params_echo(word, echo, sizeof echo), all);
}

static int take_protocols(const char *value, struct recipe *r, struct err *e)
{
    char buf[256], *words[KEEPER_WORDS];
    int n = recipe_words(value, buf, sizeof buf, words);
    for (int i = 0; i < n; i++) {
        int protocol = protocol_find(words[i]);
        if (protocol < 0)
            return no_protocol(words[i], e);
        r->speaks |= 1u << protocol;
        r->protocol = i ? r->protocol : protocol;
    }
    return n > 0 ? 0 : no_protocol("", e);
}

static int take_number(const char *name, const char *value, double most, double *out,
                       struct err *e)
{
    char *end, echo[48];
    *out = units_strtod(value, &end);
    if (end == value || (*end && strcmp(end, "s") && strcmp(end, " s")) || !(*out > 0) ||
        *out > most)
        return err_set(e, EINVAL, "%s %s: must be a number above 0, at most %.0f", name,
                       params_echo(value, echo, sizeof echo), most);
    return 0;
}

static int take_value(const struct recipe_key *k, const char *value, struct recipe *r,
                      struct err *e)
{
    char echo[48];
    double number;
    int rc;
    switch (k->kind) {
    case PROTOCOL:
        return take_protocols(value, r, e);
    case READY:
        if (!strcmp(value, "connect"))
            return 0;
        return err_set(e, EINVAL, "ready %s: must be connect: it is ready when it accepts a "
                       "connection", params_echo(value, echo, sizeof echo));
    case PORT:
        rc = take_number(k->name, value, 65535, &number, e);
        r->port = rc == 0 ? (int)number : 0;
        return rc;
    case TIMEOUT:
        return take_number(k->name, value, TIMEOUT_MOST_S, &r->timeout_s, e);
    default:
        return take_text(k, value, r, e);
    }
}

static int take(void *ctx, const struct ini_key *key, struct err *e)
{
    struct reading *g = ctx;
    int i = 0;
    if (*key->section)
        return err_set(e, EINVAL, "[%.40s]: a recipe has no sections", key->section);
    while (i < KEYS && strcmp(keys[i].name, key->name) != 0)
        i++;
    if (i == KEYS)
        return unknown_key(key->name, e);
    bool goes_on = keys[i].kind == COMMAND || keys[i].kind == LIST;
    if (g->given[i] && !goes_on)
        return err_set(e, EINVAL, "%s stands there twice", key->name);
    g->given[i] = true;
    int rc = take_value(&keys[i], key->value, g->r, e);
    if (rc == 0 && keys[i].kind == COMMAND)
        rc = check_command(&keys[i], g->r, e);
    return rc;
}

static int check_whole(const struct reading *g, const char *path, struct err *e)
{
    static const char *const wanted[] = {"title", "command", "protocol"};
    for (int i = 0; i < KEYS; i++)
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            if (!strcmp(keys[i].name, wanted[k]) && !g->given[i])
                return err_set(e, EINVAL, "%s: %s is missing", path, wanted[k]);
    return 0;
}

void recipe_read(const char *path, struct recipe *out)
{
    struct reading g = {.r = out};
    struct err e = {""};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = strlen(base);
    n -= n > 4 && !strcmp(base + n - 4, ".ini") ? 4 : 0;
    *out = (struct recipe){.timeout_s = TIMEOUT_S, .protocol = -1};
    snprintf(out->name, sizeof out->name, "%.*s", (int)n, base);
    snprintf(out->file, sizeof out->file, "%s", path);
    /* The server runs elsewhere, so its sources must have a whole path. */
    if (!realpath(path, out->folder))
        snprintf(out->folder, sizeof out->folder, "%s", path);
    n = strlen(out->folder);
    if (n > 4 && !strcmp(out->folder + n - 4, ".ini"))
        out->folder[n - 4] = '\0';
    int rc = ini_file_read(path, "recipe", take, &g, &e);
    if (rc == 0)
        rc = check_whole(&g, path, &e);
    if (rc < 0)
        snprintf(out->problem, sizeof out->problem, "%s", e.text);
}

/* --- can it run ------------------------------------------------------------------------------- */

/* A folder may be "executed", too. */
static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool recipe_program(const char *word, char *path, size_t size)
{
    const char *dirs = getenv("PATH");
    char all[4096];
    if (strchr(word, '/')) {
        snprintf(path, size, "%s", word);
        return is_program(path);
    }
    snprintf(all, sizeof all, "%s:/usr/local/sbin:/usr/sbin:/sbin", dirs ? dirs : "/usr/bin:/bin");
    for (const char *at = all; *at; at += *at == ':') {
        size_t n = strcspn(at, ":");
        snprintf(path, size, "%.*s/%s", (int)n, at, word);
        if (n && is_program(path))
            return true;
        at += n;
    }
    return false;
}

/* One of the patterns "A|B" stands for a file that is there. */
static bool there(char *patterns)
{
    for (char *save, *one = strtok_r(patterns, "|", &save); one;
         one = strtok_r(NULL, "|", &save)) {
        glob_t found;
        int rc = glob(one, GLOB_TILDE, NULL, &found);
        if (rc == 0)
            globfree(&found);
        if (rc == 0)
            return true;
    }
    return false;
}

static int lacks(const struct recipe *r, const char *what, struct err *e)
{
    return err_set(e, ENOENT, "%.100s is not there%s%s", what,
                   r->install[0] ? "; to install: " : "", r->install);
}

static int check_needs(const struct recipe *r, struct err *e)
{
    struct recipe_values v = {
        .dir = "", .recipe = r->folder, .targets = "", .cache = "", .protocol = ""};
    char buf[2048], *words[KEEPER_WORDS];
    int n = recipe_words(r->needs, buf, sizeof buf, words);
    for (int i = 0; i < n; i++) {
        char one[2 * PATH_MAX], first[2 * PATH_MAX];
        int rc = recipe_expand(words[i], &v, false, one, sizeof one);
        snprintf(first, sizeof first, "%.*s", (int)strcspn(one, "|"), one);
        if (rc == 0 && !*one) /* {$VARIABLE} */
            return err_set(e, ENOENT, "%.*s is not set%s%s", (int)strcspn(words[i] + 2, "}"),
                           words[i] + 2, r->install[0] ? "; to install: " : "", r->install);
        if (rc < 0)
            return lacks(r, words[i], e);
        if (!there(one))
            return lacks(r, first, e);
    }
    return 0;
}

/* What stands there, but cannot be run; a name alone was looked for among programs only. */
static int no_program(const struct recipe *r, const char *word, struct err *e)
{
    if (!strchr(word, '/') || access(word, F_OK) != 0)
        return lacks(r, word, e);
    return err_set(e, EACCES, "%.100s is no program: it cannot be executed", word);
}

static int check_program(const struct recipe *r, const char *line, struct err *e)
{
    char buf[2048], path[PATH_MAX], *words[KEEPER_WORDS];
    if (recipe_words(line, buf, sizeof buf, words) < 1 || strchr(words[0], '{'))
        return 0; /* one that is built first */
    return recipe_program(words[0], path, sizeof path) ? 0 : no_program(r, words[0], e);
}

int recipe_probe(const struct recipe *r, struct err *e)
{
    if (r->problem[0])
        return err_set(e, EINVAL, "%s", r->problem);
    int rc = check_program(r, r->command, e);
    if (rc == 0 && r->build[0])
        rc = check_program(r, r->build, e);
    return rc < 0 ? rc : check_needs(r, e);
}

static bool says_file(const struct recipe *r, const char *name, const char *placeholder_text)
{
    char path[2 * PATH_MAX], text[32768];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    return limits_read_file(path, text, sizeof text) > 0 && strstr(text, placeholder_text);
}

bool recipe_says(const struct recipe *r, const char *text)
{
    char buf[2048], *words[KEEPER_WORDS];
    int n = recipe_words(r->files, buf, sizeof buf, words);
    bool found = strstr(r->command, text) || (r->data[0] && !strcmp(text, "{size}"));
    for (int i = 0; i < n && !found; i++)
        found = says_file(r, words[i], text);
    return found;
}
