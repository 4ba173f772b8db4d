/* SPDX-License-Identifier: MIT */
/* What is measured becomes a file when the person says so; and when they leave, so that nothing is
 * lost by forgetting. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "session/autosave.h"
#include "session/csv.h"
#include "ui/actions.h"
#include "ui/app.h"
#include "ui/text.h"

bool app_measured(struct app *a)
{
    bool any = false;
    session_lock(a->session);
    for (const struct row *r = session_rows(a->session)->first; r && !any; r = r->next)
        for (int i = 0; i < r->pane_count && r->state != ROW_DROPPED; i++)
            any = any || pane_kept(&r->panes[i]) > 0;
    session_unlock(a->session);
    return any;
}

/* Samples measured so far. */
static unsigned long measured(struct app *a)
{
    session_lock(a->session);
    unsigned long n = session_samples(a->session);
    session_unlock(a->session);
    return n;
}

/* name "": one that says when, in the current folder; it is written there. The disk is waited for
 * without the lock, which the runner needs. */
static int save_as(struct app *a, char *name, size_t size, struct err *e)
{
    struct csv_image image;
    session_lock(a->session);
    struct csv_session s = {session_rows(a->session), session_environment(a->session),
                            session_id(a->session)};
    unsigned long samples = session_samples(a->session);
    csv_image_make(&s, &image);
    session_unlock(a->session);
    int rc = *name ? csv_image_save(&image, name, e) : csv_image_save_new(&image, name, size, e);
    csv_image_free(&image);
    if (rc < 0)
        return rc;
    memcpy(a->saved, name, sizeof a->saved);
    a->saved_mark = samples;
    session_saved(a->session, samples);
    state_recent_add(name);
    return 0;
}

/* A saved session is a file already; only one that was recovered wants another place. */
static bool is_file(struct app *a)
{
    char when[24];
    const char *file = session_file(a->session);
    return file && !autosave_when(file, when, sizeof when);
}

int app_save(struct app *a)
{
    struct err e = {""};
    char name[sizeof a->saved] = "";
    if (is_file(a)) {
        app_say(a, "this session is a file: %s", session_file(a->session));
        return 0;
    }
    if (!app_measured(a)) {
        app_warn(a, "nothing is measured yet; nothing was saved");
        return -ENODATA;
    }
    int rc = save_as(a, name, sizeof name, &e);
    if (rc < 0)
        app_warn(a, "not saved: %s", e.text);
    else
        app_say(a, "saved as %s and its -tables.csv", a->saved);
    return rc;
}

/* --- settings --------------------------------------------------------------------------------- */

bool settings_kept(struct app *a)
{
    struct err e;
    if (settings_save(a->config, &e) == 0)
        return true;
    app_warn(a, "not kept: %s", e.text);
    return false;
}

void act_setting_keep(struct app *a, int arg)
{
    enum param_id id = a->settings.at;
    double v = params_get(&a->want.params, id);
    char text[48];
    (void)arg;
    if (!a->config || isnan(v)) {
        app_warn(a, "%s cannot be kept", param_table[id].id);
        return;
    }
    bool kept = params_same(params_get(&a->config->params, id), v);
    settings_set(a->config, id, kept ? PARAM_UNSET : v);
    if (!settings_kept(a))
        return;
    app_say(a, kept ? "%s %s is kept no longer" : "%s %s is kept for the next start",
            param_table[id].id, params_show(id, v, text, sizeof text));
}

/* --- leaving ---------------------------------------------------------------------------------- */

/* What was measured since the last save, into the state folder. */
static int keep(struct app *a, struct err *e)
{
    char folder[160], stamp[24], name[sizeof a->saved];
    if (!state_folder(folder, sizeof folder))
        return err_set(e, ENOENT, "there is no folder for it");
    clock_stamp(stamp, sizeof stamp);
    int rc = -EEXIST;
    for (int i = 1; i < 100 && rc == -EEXIST; i++) {
        char more[8] = "";
        if (i > 1)
            snprintf(more, sizeof more, "-%d", i);
        snprintf(name, sizeof name, "%s/iodash-%s%s.csv", folder, stamp, more);
        rc = save_as(a, name, sizeof name, e);
    }
    return rc;
}

/* What leaves the screen for the terminal is plain where the screen was. */
static void make_plain(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        if (*at == '\n')
            *to++ = *at++;
        else
            *to++ = (char)text_ascii(text_next(&at));
    }
    *to = '\0';
}

enum { PARTING_INDENT = 8 };

/* Broken between words: the terminal would break within one. */
static size_t write_broken(const char *head, const char *text, int w, char *to, size_t size)
{
    size_t used = 0;
    do {
        const char *next;
        int n = (int)text_break(text, w - PARTING_INDENT, &next);
        int wrote = snprintf(to + used, size - used, "%-*s%.*s\n", PARTING_INDENT, head, n, text);
        used += wrote < 0 ? 0 : (size_t)wrote;
        text = next;
        head = "";
    } while (*text && used < size);
    return used < size ? used : size - 1;
}

static size_t write_answer(const struct answer *n, int w, char *parting, size_t size)
{
    size_t used = 0;
    if (!n->answer[0])
        return 0;
    used += write_broken("ANSWER", n->answer, w, parting, size);
    used += write_broken("WHY", n->why, w, parting + used, size - used);
    return used + write_broken("TRUST", n->trust, w, parting + used, size - used);
}

void app_part(struct app *a, char *parting, size_t size)
{
    struct err e = {""};
    parting[0] = '\0';
    sessions_back(a); /* what measures is what may be lost */
    if (!app_measured(a)) {
        session_saved(a->session, SESSION_ALL);
        return;
    }
    a->frozen = false;
    a->changed = true;
    app_take(a);
    bool is_saved = session_file(a->session) || (a->saved[0] && a->saved_mark == measured(a));
    int rc = is_saved ? 0 : keep(a, &e);
    if (rc == 0) /* what is measured until the servers have stopped is nobody's */
        session_saved(a->session, SESSION_ALL);
    int w = a->canvas->w > 40 ? a->canvas->w : 40;
    size_t used = write_answer(&a->scene->answer, w, parting, size);
    if (!session_file(a->session))
        snprintf(parting + used, size - used, "%s%s%s%s\n", rc < 0 ? "not saved: " : "saved as ",
                 rc < 0 ? e.text : a->saved, rc < 0 && a->saved[0] ? "; before that: " : "",
                 rc < 0 ? a->saved : "");
    if (a->charset == CHARSET_ASCII)
        make_plain(parting);
}
