/* SPDX-License-Identifier: MIT */
/* What is listed are the recipes that came with the program and what was attached to since; taking
 * one goes through the order as any model does. */
#include "ui/yours.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "servers/targets.h"
#include "session/plan.h"
#include "ui/actions.h"

/* --- the picker ------------------------------------------------------------------------------- */

/* In this pane, beside the others. */
static int fits(const struct app *a, const struct target *t, struct err *e)
{
    const struct lineup *l = &a->want.lineup;
    int rc = target_probe(t, e);
    for (int i = 0; i < l->count && rc == 0; i++) {
        const struct target *other = i == a->pane ? NULL : l->models[i]->target;
        char mine[64], theirs[64];
        if (other && other->speaks && !(other->speaks & t->speaks))
            rc = err_set(e, EINVAL, "speaks %s; pane %c %s, and all are asked the same",
                         targets_speak(t, mine, sizeof mine), 'A' + i,
                         targets_speak(other, theirs, sizeof theirs));
    }
    return rc;
}

static const char *name_of(const struct target *t)
{
    return t->recipe ? t->id + strlen(TARGETS_RECIPE) : t->id;
}

int yours_list(struct app *a, int now)
{
    const struct target *t;
    const char *group = io_group_words[GROUP_YOURS];
    struct picker_item *item = picker_add(&a->picker);
    snprintf(item->name, sizeof item->name, "attach ...");
    snprintf(item->text, sizeof item->text, "a server that runs already, by its address and pid");
    item->group = group;
    item->value = YOURS_VALUE;
    for (int i = 0; (t = targets_at(i)); i++) {
        struct err why = {""};
        char speaks[64];
        item = picker_add(&a->picker);
        snprintf(item->name, sizeof item->name, "%s", name_of(t));
        snprintf(item->text, sizeof item->text, "%.120s%s%s", t->model.summary,
                 t->speaks ? "; speaks " : "", targets_speak(t, speaks, sizeof speaks));
        if (fits(a, t, &why) < 0)
            snprintf(item->why_not, sizeof item->why_not, "%.110s", why.text);
        item->group = group;
        item->value = YOURS_VALUE + 1 + i;
        if (&t->model == a->want.lineup.models[a->pane])
            now = item->value;
    }
    return now;
}

const struct io_model *yours_model(struct app *a, int value)
{
    (void)a;
    const struct target *t = targets_at(value - YOURS_VALUE - 1);
    return value == YOURS_VALUE || !t ? NULL : &t->model;
}

bool yours_attached(const struct app *a, int pane)
{
    const struct lineup *l = &a->scene->shown.lineup;
    const struct io_model *m = pane < l->count ? l->models[pane] : NULL;
    return m && m->target && !m->target->recipe;
}

/* --- the order -------------------------------------------------------------------------------- */

bool yours_speak(struct app *a, struct plan_row *want)
{
    struct err e = {""};
    bool can = plan_speak_after(want, &a->want, &a->given, &e) == 0;
    if (!can)
        app_warn(a, "%s", e.text);
    return can;
}

/* --- attaching -------------------------------------------------------------------------------- */

void yours_ask(struct app *a)
{
    a->sessions.path = (struct path_entry){.what = PATH_ATTACH};
    a->dialog = DIALOG_PATH;
}

static int attach(struct app *a, const char *typed, const struct target **out, struct err *e)
{
    char address[256], pid[16];
    int n = sscanf(typed, "%255s %15s", address, pid);
    if (n < 1)
        return err_set(e, EINVAL, "an address is needed, as 127.0.0.1:8080");
    int rc = targets_attach(address, n > 1 ? pid : NULL, a->given.size > 0, out, e);
    return rc < 0 ? rc : fits(a, *out, e);
}

/* What cannot be stays in the field, with the reason. */
void yours_take(struct app *a)
{
    struct path_entry *p = &a->sessions.path;
    const struct target *t;
    struct err e = {""};
    if (attach(a, p->text, &t, &e) < 0) {
        snprintf(p->problem, sizeof p->problem, "%s", e.text);
        a->dialog = DIALOG_PATH;
        return;
    }
    struct plan_row want = a->want;
    want.lineup.models[a->pane] = &t->model;
    app_order(a, &want);
    if (t->doubt[0] && !a->note[0])
        app_warn(a, "%s: its CPU is not measured", t->doubt);
}
