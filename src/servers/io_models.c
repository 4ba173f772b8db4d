/* SPDX-License-Identifier: MIT */
/* The table of models, in the order in which they are shown, and how a lineup is typed. A row here
 * and a file beside it make a model. */
#include "servers/io_models.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "params/params.h"
#include "servers/models.h"
#include "servers/targets.h"

#define WORD_ALL "all"

const char *const io_group_words[] = {"kernel calls", "threads", "libraries", "yours"};

const struct io_model *const io_model_table[] = {
    &model_select,
    &model_select_wide,
    &model_poll,
    &model_epoll_lt,
    &model_epoll_et,
    &model_epoll_oneshot,
    &model_epoll_rearm,
    &model_uring,
    &model_uring_poll,
    &model_blocking,
    &model_pool,
    &model_libevent,
    &model_libuv,
    &model_libev,
};
const int io_model_count = sizeof io_model_table / sizeof *io_model_table;

int model_always(struct err *e)
{
    (void)e;
    return 0;
}

int io_model_find(const char *id)
{
    for (int i = 0; i < io_model_count; i++)
        if (strcmp(io_model_table[i]->id, id) == 0)
            return i;
    return -1;
}

const char *io_model_word(int i)
{
    return i >= 0 && i < io_model_count ? io_model_table[i]->id : NULL;
}

static int unknown(const char *id, struct err *e)
{
    char all[256] = "";
    for (int i = 0; i < io_model_count; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", io_model_table[i]->id);
    }
    const char *near = params_nearest(id, io_model_word);
    return err_set(e, EINVAL, "--models: no model '%.40s'%s%s%s; there are %s, target:NAME, attach",
                   id, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "", all);
}

const struct io_model *io_model_of(const char *word, struct err *e)
{
    int i = io_model_find(word);
    if (i >= 0)
        return io_model_table[i];
    if (targets_word(word))
        return targets_find(word, e);
    unknown(word, e);
    return NULL;
}

int io_model_probe(const struct io_model *m, struct err *e)
{
    if (m->target)
        return target_probe(m->target, e);
    return m->probe ? m->probe(e) : 0;
}

static int add(struct lineup *out, const char *id, struct err *e)
{
    if (!*id)
        return err_set(e, EINVAL, "--models: a name is missing in the list");
    if (strcmp(id, WORD_ALL) == 0)
        return err_set(e, EINVAL, "--models: '%s' is for run and the dashboard, and stands alone",
                       WORD_ALL);
    if (out->count == LINEUP_MAX)
        return err_set(e, EINVAL, "--models: more than %d models", LINEUP_MAX);
    const struct io_model *m = io_model_of(id, e);
    if (!m)
        return -EINVAL;
    struct err why = {""};
    int rc = m->target ? 0 : io_model_probe(m, &why);
    if (rc < 0)
        return err_set(e, -rc, "%s cannot run here: %s", id, why.text);
    out->models[out->count++] = m;
    return 0;
}

int lineup_parse(const char *text, struct lineup *out, struct err *e)
{
    *out = (struct lineup){0};
    for (const char *at = text;; at++) {
        char id[256];
        size_t n = strcspn(at, ",");
        snprintf(id, sizeof id, "%.*s", (int)(n < sizeof id ? n : sizeof id - 1), at);
        int rc = add(out, id, e);
        if (rc < 0)
            return rc;
        at += n;
        if (!*at)
            return 0;
    }
}

static void append(struct lineup *l, const struct io_model *m)
{
    l->models[l->count++] = m;
}

static void all_kernel_calls(struct lineups *out)
{
    const struct io_model *first = NULL;
    *out = (struct lineups){0};
    for (int i = 0; i < io_model_count; i++) {
        const struct io_model *m = io_model_table[i];
        if (m->group != GROUP_KERNEL)
            continue;
        if (!first) {
            first = m;
            continue;
        }
        if (out->count == 0 || out->lineup[out->count - 1].count == LINEUP_MAX) {
            if (out->count == LINEUPS_MAX)
                die("more than %d lineups", LINEUPS_MAX);
            append(&out->lineup[out->count++], first);
        }
        append(&out->lineup[out->count - 1], m);
    }
}

int lineups_parse(const char *text, struct lineups *out, struct err *e)
{
    if (strcmp(text, WORD_ALL) == 0) {
        all_kernel_calls(out);
        return 0;
    }
    out->count = 1;
    return lineup_parse(text, &out->lineup[0], e);
}

bool lineup_same(const struct lineup *a, const struct lineup *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->models[i] != b->models[i])
            return false;
    return true;
}

int lineup_takes_workers(const struct lineup *l, struct err *e)
{
    for (int i = 0; i < l->count; i++)
        if (l->models[i]->caps & CAP_OWN_WORKERS)
            return err_set(e, EINVAL, "--workers: %s has its own workers", l->models[i]->id);
    return 0;
}
