/* SPDX-License-Identifier: MIT */
/* An --attach comes before the models are looked at, because they may name it. The order of the
 * options counts: a --pid is that of the --attach before it. */
#include "cli/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "servers/targets.h"

#define BESIDE "epoll-lt"
#define MODELS 128

/* Does the list of models hold this word? */
static bool names(const char *models, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = models; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, word, n) && (!at[n] || at[n] == ','))
            return true;
    }
    return false;
}

static int attach_one(const struct args *a, int i, int number, char *models, struct err *e)
{
    const struct option_text *next = i + 1 < a->text_count ? &a->texts[i + 1] : NULL;
    const char *pid = next && next->id == OPTION_pid ? next->text : NULL;
    char word[24] = TARGETS_ATTACH;
    const struct target *t;
    int rc = targets_attach(a->texts[i].text, pid, a->given[PARAM_size], &t, e);
    if (rc < 0)
        return rc;
    if (number > 1)
        snprintf(word, sizeof word, TARGETS_ATTACH "%d", number);
    size_t n = strlen(models);
    snprintf(models + n, MODELS - n, ",%s", word);
    if (a->options.models && !names(a->options.models, word) && !names(a->options.models, t->id))
        return err_set(e, EINVAL, "--attach %.80s: stands in no pane; --models %.80s,%s shows it",
                       a->texts[i].text, a->options.models, word);
    return 0;
}

static int attach_all(const struct args *a, char *models, struct err *e)
{
    int number = 0;
    for (int i = 0; i < a->text_count; i++) {
        if (a->texts[i].id == OPTION_pid && (i == 0 || a->texts[i - 1].id != OPTION_attach))
            return err_set(e, EINVAL, "--pid %.40s: belongs behind the --attach of its process",
                           a->texts[i].text);
        if (a->texts[i].id != OPTION_attach)
            continue;
        if (++number == LINEUP_MAX)
            return err_set(e, EINVAL, "--attach: at most %d, beside one of ours", LINEUP_MAX - 1);
        int rc = attach_one(a, i, number, models, e);
        if (rc < 0)
            return rc;
    }
    return number;
}

int attach_plan(const struct args *a, struct plan *out, struct err *e)
{
    char models[MODELS] = BESIDE;
    struct args *all = xcalloc(1, sizeof *all);
    *all = *a;
    int rc = attach_all(a, models, e);
    if (rc > 0 && !a->options.models && !a->options.plan)
        all->options.models = models;
    if (rc >= 0)
        rc = a->options.plan ? plan_from_file(a->options.plan, all, out, e)
                             : plan_from_args(all, out, e);
    free(all);
    return rc;
}
