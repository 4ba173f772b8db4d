/* SPDX-License-Identifier: MIT */
/* Keys go to the dialog that is open, else to the command that has them in this view. Orders pass
 * one gate, app_order(), where the limits of this machine are asked first. */
#include "ui/app.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/csv.h"
#include "session/reach.h"
#include "ui/actions.h"
#include "ui/commands.h"
#include "ui/text.h"

void app_init(struct app *a, struct session *s, const struct plan_row *want,
              enum term_charset charset)
{
    memset(a, 0, sizeof *a);
    a->session = s;
    a->want = *want;
    for (int id = 0; id < PARAM_COUNT; id++)
        *params_at(&a->given, (enum param_id)id) = PARAM_UNSET;
    a->charset = charset;
    a->scene = scene_new();
    a->canvas = canvas_new(80, 24);
    a->canvas->ascii = charset == CHARSET_ASCII;
    a->view = a->help_of = VIEW_LIVE;
    a->field = PARAM_connections;
    a->figure = METRIC_COUNT;
    a->changed = true;
}

void app_fini(struct app *a)
{
    scene_free(a->scene);
    canvas_free(a->canvas);
}

static void say(struct app *a, bool bad, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

static void say(struct app *a, bool bad, const char *fmt, va_list ap)
{
    vsnprintf(a->note, sizeof a->note, fmt, ap);
    a->note_bad = bad;
    a->note_at_s = a->scene->now->elapsed_s;
    a->note_number = a->scene->now->log_number;
}

void app_say(struct app *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(a, false, fmt, ap);
    va_end(ap);
}

void app_warn(struct app *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(a, true, fmt, ap);
    va_end(ap);
}

/* --- orders ----------------------------------------------------------------------------------- */

/* The brackets stand on a parameter that the workload has a use for. */
static void keep_field(struct app *a)
{
    if (!act_matters(a, a->field))
        a->field = workload_of(&a->want.params)->matters[0];
    if (a->field >= PARAM_COUNT)
        a->field = PARAM_connections;
}

void app_order(struct app *a, const struct plan_row *want)
{
    struct plan_row row = *want;
    struct plan one = {.count = 1, .rows = &row, .axis = {PARAM_COUNT, PARAM_COUNT}};
    struct err e = {""};
    if (reach_check_here(&one, &e) < 0) {
        app_warn(a, "%s", e.text);
        return;
    }
    a->want = row;
    a->note[0] = '\0';
    a->changed = true;
    keep_field(a);
    session_live(a->session, &a->want);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void picker_got(struct app *a, int key)
{
    enum picker_result r = picker_key(&a->picker, key);
    if (r != PICKER_STAY)
        a->dialog = DIALOG_NONE;
    if (r == PICKER_TAKE)
        pickers_take(a);
}

/* Too small to draw a dialog: only leaving makes sense. */
static bool key_of_small_screen(struct app *a, int key)
{
    if (a->canvas->w >= 60 && a->canvas->h >= 15)
        return false;
    a->quit = a->quit || key == 'q' || key == TERM_F10;
    return true;
}

void app_key(struct app *a, int key)
{
    if (key == TERM_NONE || key_of_small_screen(a, key))
        return;
    enum dialog to = key == TERM_F10 ? DIALOG_NONE : a->dialog; /* which leaves from anywhere */
    if (to == DIALOG_PICKER) {
        picker_got(a, key);
    } else if (to == DIALOG_ENTRY) {
        entry_key(a, key);
    } else {
        const struct command *c = command_find(a->view, key);
        if (c)
            c->run(a, c->arg);
    }
    if (a->pane >= a->want.lineup.count && !scene_planning(a->scene))
        a->pane = a->want.lineup.count - 1;
}

void app_take(struct app *a)
{
    if (a->frozen && a->scene->session) {
        a->changed = false;
        return;
    }
    struct scene_wish w = {&a->want, a->pane, a->view == VIEW_TABLE, a->table_row,
                           a->view == VIEW_WHY, a->why_row, a->changed};
    scene_take(a->scene, a->session, &w);
    a->changed = false;
    if (a->scene->now->log_number != a->log_number) {
        a->log_number = a->scene->now->log_number;
        a->log_at_s = a->scene->now->elapsed_s;
    }
    if (a->pane >= a->scene->pane_count)
        a->pane = a->scene->pane_count - 1;
}

/* --- saving ----------------------------------------------------------------------------------- */

/* The newest thing measured, as a number that grows. */
static double measured_mark(struct app *a)
{
    double mark = 0;
    session_lock(a->session);
    for (const struct row *r = session_rows(a->session)->first; r; r = r->next)
        for (int i = 0; i < r->pane_count; i++)
            mark += r->panes[i].count;
    session_unlock(a->session);
    return mark;
}

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

static struct csv_session csv_of(struct app *a)
{
    return (struct csv_session){session_rows(a->session), session_environment(a->session),
                                session_id(a->session)};
}

int app_save(struct app *a)
{
    struct err e = {""};
    char name[sizeof a->saved];
    if (!app_measured(a)) {
        app_warn(a, "nothing is measured yet; nothing was saved");
        return -ENODATA;
    }
    double mark = measured_mark(a);
    session_lock(a->session);
    struct csv_session s = csv_of(a);
    int rc = csv_save_new(&s, name, sizeof name, &e);
    session_unlock(a->session);
    if (rc < 0) {
        app_warn(a, "not saved: %s", e.text);
        return rc;
    }
    memcpy(a->saved, name, sizeof name);
    a->saved_mark = mark;
    app_say(a, "saved as %s and its -tables.csv", a->saved);
    return 0;
}

/* $XDG_STATE_HOME/iodash or ~/.local/state/iodash, made when it is not there. */
static bool state_folder(char *buf, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state == '/')
        snprintf(buf, size, "%s/iodash", state);
    else if (home && *home == '/')
        snprintf(buf, size, "%s/.local/state/iodash", home);
    else
        return false;
    for (char *at = strchr(buf + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(buf, 0700);
        *at = '/';
    }
    return mkdir(buf, 0700) == 0 || errno == EEXIST;
}

/* What was measured since the last save, into the state folder. */
static int autosave(struct app *a, struct err *e)
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
        session_lock(a->session);
        struct csv_session s = csv_of(a);
        rc = csv_save(&s, name, e);
        session_unlock(a->session);
    }
    if (rc >= 0)
        memcpy(a->saved, name, sizeof name);
    return rc < 0 ? rc : 0;
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

void app_part(struct app *a, char *parting, size_t size)
{
    struct err e = {""};
    parting[0] = '\0';
    if (!app_measured(a))
        return;
    a->frozen = false;
    a->changed = true;
    app_take(a);
    int rc = a->saved[0] && a->saved_mark == measured_mark(a) ? 0 : autosave(a, &e);
    const struct answer *n = &a->scene->answer;
    int used = 0;
    if (n->answer[0])
        used = snprintf(parting, size, "ANSWER  %s\nWHY     %s\nTRUST   %s\n", n->answer, n->why,
                        n->trust);
    if (used >= 0 && (size_t)used < size)
        snprintf(parting + used, size - (size_t)used, "%s%s%s%s\n",
                 rc < 0 ? "not saved: " : "saved as ", rc < 0 ? e.text : a->saved,
                 rc < 0 && a->saved[0] ? "; before that: " : "", rc < 0 ? a->saved : "");
    if (a->charset == CHARSET_ASCII)
        make_plain(parting);
}
