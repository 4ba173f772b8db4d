/* SPDX-License-Identifier: MIT */
/* Which session: the last ones, or one whose path is typed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/autosave.h"
#include "ui/actions.h"
#include "ui/app.h"

enum { VALUE_TYPE = -2, VALUE_COMPARE = -3, VALUE_BACK = -4 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* When it was written, and in which folder. */
static void describe(const struct recent *r, char *buf, size_t size)
{
    char when[32];
    struct tm tm;
    int folder = (int)(base_name(r->path) - r->path);
    localtime_r(&r->changed, &tm);
    strftime(when, sizeof when, "%d %b %Y %H:%M", &tm);
    snprintf(buf, size, "%s, in %.*s", when, folder > 1 ? folder - 1 : folder, r->path);
}

/* The file of the session on the screen: opened from there, or all of it saved there. */
static bool on_screen(const struct app *a, const char *path)
{
    const char *file = session_file(a->session);
    char *real = file || a->saved[0] ? realpath(file ? file : a->saved, NULL) : NULL;
    bool same = real && strcmp(real, path) == 0;
    free(real);
    return same;
}

static void list_recent(struct app *a, const char *group)
{
    bool compare = a->picker.kind == PICK_COMPARE;
    struct sessions *s = &a->sessions;
    char when[24];
    s->recents = state_recent(s->recent);
    for (int i = 0; i < s->recents; i++) {
        const struct recent *r = &s->recent[i];
        if (compare && on_screen(a, r->path))
            continue; /* beside itself it says nothing */
        struct picker_item *item = picker_add(&a->picker);
        if (autosave_when(r->path, when, sizeof when))
            snprintf(item->name, sizeof item->name, "recovered, of %s", when);
        else
            snprintf(item->name, sizeof item->name, "%.47s", base_name(r->path));
        if (r->why_not[0])
            snprintf(item->why_not, sizeof item->why_not, "%.79s", r->why_not);
        else
            describe(r, item->text, sizeof item->text);
        item->group = group;
        item->value = i;
    }
}

/* With nothing above it "more" would be more of what? */
static void add(struct app *a, const char *name, const char *text, int value)
{
    struct picker_item *item = picker_add(&a->picker);
    snprintf(item->name, sizeof item->name, "%s", name);
    snprintf(item->text, sizeof item->text, "%s", text);
    item->group = a->sessions.recents ? "more" : "none was saved or opened yet";
    item->value = value;
}

void sessions_list(struct app *a)
{
    picker_open(&a->picker, PICK_SESSION, "open a saved session");
    list_recent(a, "saved or opened last");
    add(a, "other file", "type its path", VALUE_TYPE);
    add(a, "compare", "a saved session, before, with the one on the screen, after", VALUE_COMPARE);
    if (a->sessions.live && a->session != a->sessions.live)
        add(a, "back", "to the session that measures", VALUE_BACK);
    picker_start(&a->picker, a->sessions.recents ? 0 : VALUE_TYPE);
}

void sessions_compare_list(struct app *a)
{
    picker_open(&a->picker, PICK_COMPARE, "which session was before this one?");
    list_recent(a, "saved or opened last");
    add(a, "other file", "type its path", VALUE_TYPE);
    picker_start(&a->picker, a->sessions.recents ? 0 : VALUE_TYPE);
}

void sessions_take(struct app *a, int value)
{
    bool compare = a->picker.kind == PICK_COMPARE;
    if (value == VALUE_TYPE) {
        memset(&a->sessions.path, 0, sizeof a->sessions.path);
        a->sessions.path.what = compare ? PATH_COMPARE : PATH_OPEN;
        a->dialog = DIALOG_PATH;
    } else if (value == VALUE_COMPARE) {
        sessions_compare_list(a);
        a->dialog = DIALOG_PICKER;
    } else if (value == VALUE_BACK) {
        sessions_back(a);
    } else if (compare) {
        sessions_compare(a, a->sessions.recent[value].path);
    } else {
        sessions_open(a, a->sessions.recent[value].path);
    }
}
