/* SPDX-License-Identifier: MIT */
/* inih reads the lines; it numbers only the first one that it cannot take, and goes on after a key
 * that was refused, so the reader here counts along and keeps the first mistake. */
#include "base/ini_file.h"

#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/home.h"

struct ini_file {
    FILE *f;
    int line, bad_line; /* bad_line: of `bad`; 0: none */
    struct err bad;
    ini_take_fn take;
    void *ctx;
};

static void refuse_line(struct ini_file *f, const char *why)
{
    if (f->bad_line)
        return;
    f->bad_line = f->line;
    err_set(&f->bad, EINVAL, "%s", why);
}

/* As fgets(3), which would let a NUL byte hide the rest of its line. */
static char *next_line(char *s, int size, void *stream)
{
    struct ini_file *f = stream;
    int n = 0, ch = 0;
    char why[64];

    f->line++;
    while (ch != '\n' && n < size - 1 && (ch = getc(f->f)) != EOF) {
        if (ch == 0)
            refuse_line(f, "there is a NUL byte: this is no text");
        s[n++] = ch ? (char)ch : '?';
    }
    s[n] = '\0';
    snprintf(why, sizeof why, "the line is longer than %d characters", size - 2);
    if (n == size - 1 && ch != '\n')
        refuse_line(f, why);
    return n > 0 ? s : NULL;
}

/* To inih 0 is an error. */
static int on_key(void *ctx, const char *section, const char *name, const char *value)
{
    struct ini_file *f = ctx;
    struct ini_key key = {f->line, section, name, value};

    if (!f->bad_line && f->take(f->ctx, &key, &f->bad) < 0)
        f->bad_line = f->line;
    return !f->bad_line;
}

int ini_file_read(const char *path, const char *what, ini_take_fn take, void *ctx, struct err *e)
{
    struct ini_file f = {.take = take, .ctx = ctx};
    char verb[64];

    snprintf(verb, sizeof verb, "cannot read the %s", what);
    f.f = home_open(path, verb, e);
    if (!f.f)
        return -errno;
    int bad = ini_parse_stream(next_line, &f, on_key, &f);
    int io = ferror(f.f) ? err_set(e, EIO, "cannot read the %s %s", what, path) : 0;
    fclose(f.f);
    if (io < 0)
        return io;
    if (bad > 0 && (f.bad_line == 0 || bad < f.bad_line)) {
        f.bad_line = bad;
        err_set(&f.bad, EINVAL, "neither KEY = VALUE nor a comment (;)");
    }
    return f.bad_line ? err_set(e, EINVAL, "%s, line %d: %s", path, f.bad_line, f.bad.text) : 0;
}

static int is_ini(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 4 && n - 4 < INI_NAME && strcmp(d->d_name + n - 4, ".ini") == 0;
}

/* "light.ini" before "light-blue.ini": without what all end with. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    const char *x = (*a)->d_name, *y = (*b)->d_name;
    size_t n = strlen(x) - 4, m = strlen(y) - 4;
    int order = memcmp(x, y, n < m ? n : m);

    return order ? order : n < m ? -1 : n > m;
}

void ini_names(const char *folder, struct ini_names *out)
{
    struct dirent **all;
    int n = scandir(folder, &all, is_ini, by_name);

    out->count = 0;
    for (int i = 0; i < n; i++) {
        if (out->count < INI_NAMES)
            snprintf(out->name[out->count++], INI_NAME, "%.*s", (int)strlen(all[i]->d_name) - 4,
                     all[i]->d_name);
        free(all[i]);
    }
    if (n >= 0)
        free(all);
}
