/* SPDX-License-Identifier: MIT */
/* From a recipe to what a keeper starts: a fresh folder with the templates filled in and, where the
 * recipe has one, a file of the bytes that a reply is to hold, so that a server of files answers as
 * ours do. Programs are found here, so that one mistake is said before anything is started. */
#include "servers/recipe.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/home.h"
#include "base/limits.h"
#include "net/protocol.h"
#include "servers/shared.h"

#define BACKLOG 1024
#define SIZE 1024
#define TEMPLATE_MOST 65536

static int make_folder(const struct recipe *r, char *out, size_t size, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(out, size, "%s/iodash-%s-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp", r->name);
    if (!mkdtemp(out))
        return err_sys(e, "cannot make the folder %s", out);
    chmod(out, 0755); /* a server may give up being this user */
    return 0;
}

static int write_whole(const char *path, const void *bytes, size_t n, struct err *e)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return err_sys(e, "cannot write %s", path);
    size_t written = fwrite(bytes, 1, n, f);
    return fclose(f) != 0 || written != n ? err_sys(e, "cannot write %s", path) : 0;
}

static int fill_template(const struct recipe_values *v, const char *name, struct err *e)
{
    char from[2 * PATH_MAX], to[2 * PATH_MAX];
    char *text = xcalloc(2, TEMPLATE_MOST), *filled = text + TEMPLATE_MOST;
    snprintf(from, sizeof from, "%s/%s", v->recipe, name);
    snprintf(to, sizeof to, "%s/%s", v->dir, name);
    int rc = limits_read_file(from, text, TEMPLATE_MOST);
    if (rc < 0)
        err_set(e, -rc, "cannot read %s: %s", from, strerror(-rc));
    else if (rc == TEMPLATE_MOST - 1 || recipe_expand(text, v, false, filled, TEMPLATE_MOST) < 0)
        rc = err_set(e, EFBIG, "%s: longer than %d bytes", from, TEMPLATE_MOST - 1);
    else
        rc = write_whole(to, filled, strlen(filled), e);
    free(text);
    return rc < 0 ? rc : 0;
}

static int fill_templates(const struct recipe *r, const struct recipe_values *v, struct err *e)
{
    char buf[2048], *words[KEEPER_WORDS];
    int n = recipe_words(r->files, buf, sizeof buf, words), rc = 0;
    for (int i = 0; i < n && rc == 0; i++)
        rc = strchr(words[i], '/') ? err_set(e, EINVAL, "files: '%.60s' must stand in %s", words[i],
                                             r->folder)
                                   : fill_template(v, words[i], e);
    return rc;
}

/* The bytes of a reply of ours. */
static int write_data(const struct recipe *r, const struct recipe_values *v, struct err *e)
{
    char path[2 * PATH_MAX];
    if (!r->data[0])
        return 0;
    uint8_t *bytes = xcalloc((size_t)v->size + 1, 1);
    for (long long i = 0; i < v->size; i++)
        bytes[i] = (uint8_t)i;
    snprintf(path, sizeof path, "%s/%s", v->dir, r->data);
    int rc = write_whole(path, bytes, (size_t)v->size, e);
    free(bytes);
    return rc;
}

static int add_words(const char *line, const struct recipe_values *v, struct keeper *k, bool build,
                     struct err *e)
{
    char buf[2048], *words[KEEPER_WORDS], word[2 * PATH_MAX], path[PATH_MAX];
    int n = recipe_words(line, buf, sizeof buf, words);
    for (int i = 0; i < n; i++) {
        int rc = recipe_expand(words[i], v, true, word, sizeof word);
        if (rc == 0 && i == 0 && recipe_program(word, path, sizeof path))
            snprintf(word, sizeof word, "%s", path);
        if (rc < 0 || !keeper_add_word(k, word, build))
            return err_set(e, E2BIG, "the command is too long: %.60s ...", line);
    }
    return 0;
}

/* --- what is built ---------------------------------------------------------------------------- */

static bool newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec > b->st_mtim.tv_sec ||
           (a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec > b->st_mtim.tv_nsec);
}

/* Is anything beside the recipe newer than what was built of it? */
static bool must_build(const struct recipe *r, const char *built)
{
    struct stat then, now;
    char file[PATH_MAX], folder[PATH_MAX], *roots[] = {folder, file, NULL};
    snprintf(file, sizeof file, "%s", r->file);
    snprintf(folder, sizeof folder, "%s", r->folder);
    bool must = stat(built, &then) < 0 || (stat(r->file, &now) == 0 && newer(&now, &then));
    FTS *walk = must ? NULL : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (const FTSENT *f; walk && (f = fts_read(walk));)
        must |= f->fts_info == FTS_F && newer(f->fts_statp, &then);
    if (walk)
        fts_close(walk);
    return must;
}

static int prepare_build(const struct recipe *r, const struct recipe_values *v, struct keeper *k,
                         struct err *e)
{
    if (!r->build[0])
        return 0;
    int rc = home_make(v->cache, e);
    if (rc < 0)
        return rc;
    int n = snprintf(k->built, sizeof k->built, "%s/built", v->cache);
    if (n >= (int)sizeof k->built)
        return err_set(e, ENAMETOOLONG, "cannot make the folder %.100s", v->cache);
    return must_build(r, k->built) ? add_words(r->build, v, k, true, e) : 0;
}

/* The one that is asked, if it can be. */
static int protocol_of(const struct recipe *r, const struct params *p)
{
    int asked = shared_count(p->protocol, r->protocol);
    return asked < protocol_count && r->speaks & 1u << asked ? asked : r->protocol;
}

int recipe_fill(const struct recipe *r, const struct params *p, int port, struct keeper *k,
                struct err *e)
{
    char home[PATH_MAX] = "", cache[PATH_MAX + 32], targets[PATH_MAX];
    const char *slash = strrchr(r->folder, '/');
    int rc = home_folder(HOME_CACHE, home, sizeof home, e);
    if (rc < 0 && strstr(r->command, "{cache}"))
        return rc;
    snprintf(cache, sizeof cache, "%s/%s", home, r->name);
    rc = make_folder(r, k->folder, sizeof k->folder, e);
    if (rc < 0) {
        k->folder[0] = '\0';
        return rc;
    }
    struct recipe_values v = {.port = port,
                              .workers = shared_count(p->workers, 1),
                              .backlog = shared_count(p->backlog, BACKLOG),
                              .size = shared_count(p->size, SIZE),
                              .dir = k->folder,
                              .recipe = r->folder,
                              .targets = targets,
                              .protocol = protocol_table[protocol_of(r, p)]->id,
                              .cache = cache};
    snprintf(targets, sizeof targets, "%.*s", slash ? (int)(slash - r->folder) : 0, r->folder);
    rc = fill_templates(r, &v, e);
    if (rc == 0)
        rc = write_data(r, &v, e);
    if (rc == 0)
        rc = prepare_build(r, &v, k, e);
    return rc < 0 ? rc : add_words(r->command, &v, k, false, e);
}
