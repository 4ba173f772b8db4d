/* SPDX-License-Identifier: MIT */
/* One session is on the screen at a time, so changing it is: put the load of the one that measures
 * aside, take a scene of the other from nothing, and start with what it last asked for. */
#include "ui/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/reach.h"
#include "ui/actions.h"
#include "ui/app.h"

enum { BEGUN, OPENED }; /* of struct sessions.own */

void sessions_init(struct app *a, struct session *s)
{
    a->session = s;
    a->sessions.live = session_file(s) ? NULL : s;
    a->sessions.comparison.spread = NAN;
}

void sessions_fini(struct app *a)
{
    sessions_forget(&a->sessions);
    for (int i = 0; i < 2; i++)
        session_free(a->sessions.own[i]);
}

/* --- which one is shown ----------------------------------------------------------------------- */

static void show(struct app *a, struct session *s)
{
    struct session *opened = a->sessions.own[OPENED];
    if (!a->sessions.live)
        claims_drop(a); /* they were of a session that may end */
    a->session = s;
    scene_free(a->scene);
    a->scene = scene_new();
    session_read(s, a->scene->now);
    a->want = a->scene->now->want;
    a->view = VIEW_LIVE;
    a->pane = a->cursor = a->table_row = a->table_column = a->why_row = 0;
    a->frozen = false;
    a->log_number = a->scene->now->log_number;
    a->note[0] = '\0';
    a->changed = true;
    if (opened && opened != s) {
        session_free(opened);
        a->sessions.own[OPENED] = NULL;
    }
    app_take(a);
}

static void put_aside(struct app *a)
{
    if (a->session != a->sessions.live)
        return;
    a->sessions.was_on = a->scene->now->load_on;
    session_load(a->session, false);
}

int sessions_open(struct app *a, const char *path)
{
    struct err e = {""};
    char note[200];
    struct session *s = session_open(path, note, &e);
    if (!s) {
        app_warn(a, "%s", e.text);
        return -EINVAL;
    }
    put_aside(a);
    struct session *before = a->sessions.own[OPENED];
    a->sessions.own[OPENED] = NULL;
    show(a, s);
    session_free(before);
    a->sessions.own[OPENED] = s;
    state_recent_add(path);
    if (*note)
        app_warn(a, "%s", note);
    else
        app_say(a, "%s", a->sessions.live ? "q goes back to the live one"
                                          : "nothing is measured here; ? help");
    return 0;
}

bool sessions_back(struct app *a)
{
    if (!a->sessions.live || a->session == a->sessions.live)
        return false;
    show(a, a->sessions.live);
    session_load(a->session, a->sessions.was_on);
    a->changed = true;
    return true;
}

/* --- measuring a row anew --------------------------------------------------------------------- */

static int row_wanted(struct app *a, int number, struct plan_row *out, struct err *e)
{
    int rc = err_set(e, ENOENT, "that row is not there any more");
    session_lock(a->session);
    for (const struct row *r = session_rows(a->session)->first; r; r = r->next) {
        if (r->number != number)
            continue;
        rc = 0;
        out->params = r->params;
        out->lineup.count = r->pane_count;
        for (int i = 0; i < r->pane_count; i++) {
            out->lineup.models[i] = r->panes[i].io;
            if (!r->panes[i].io && rc == 0)
                rc = err_set(e, ENOENT, "%s is no model of this iodash: the row cannot be measured",
                             r->panes[i].model);
        }
    }
    session_unlock(a->session);
    return rc;
}

/* With limits asked for first: a refused order would leave an empty screen. */
static int can_measure(struct plan_row *want, struct err *e)
{
    struct plan one = {.count = 1, .rows = want, .axis = {PARAM_COUNT, PARAM_COUNT}};
    for (int i = 0; i < want->lineup.count; i++) {
        if (io_model_probe(want->lineup.models[i], e) < 0)
            return -ENOSYS;
    }
    return reach_check_here(&one, e);
}

static int begin(struct app *a, const struct params *p, struct err *e)
{
    struct session_options o = a->sessions.start;
    o.pin = p->pin != PIN_OFF;
    o.forever = o.prices = true;
    struct session *s = session_new(&o, e);
    if (!s)
        return -EAGAIN;
    session_ui_thread(s);
    claims_drop(a);
    a->sessions.own[BEGUN] = a->sessions.live = s;
    a->sessions.was_on = true;
    return 0;
}

void sessions_measure(struct app *a, int number)
{
    struct plan_row want = {0};
    struct err e = {""};
    int rc = row_wanted(a, number, &want, &e);
    if (rc == 0)
        rc = can_measure(&want, &e);
    bool begins = !a->sessions.live;
    if (rc == 0 && begins)
        rc = begin(a, &want.params, &e);
    if (rc < 0) {
        app_warn(a, "%s", e.text);
        return;
    }
    a->sessions.was_on = true;
    sessions_back(a);
    if (!begins)
        want.params.pin = a->want.params.pin; /* chosen when that session began */
    app_order(a, &want);
    app_say(a, "measured anew, in a session of its own; o opens the saved one again");
}

/* --- walking its rows ------------------------------------------------------------------------- */

/* The next row of the small table, as it stands there; 0: this is the last one. */
static int next_in_table(const struct small_table *t, int row, int step)
{
    int at = 0;
    while (at < t->count && t->row[at].number != row)
        at++;
    if (at == t->count)
        return 0;
    for (at += step; at >= 0 && at < t->count; at += step)
        if (t->row[at].number)
            return t->row[at].number;
    return 0;
}

/* The nearest row of another workload or lineup, measured after or before this one; 0: none. */
static int next_table(struct app *a, int step)
{
    const struct row *here = NULL;
    int best = 0;
    session_lock(a->session);
    const struct rows *rows = session_rows(a->session);
    for (const struct row *r = rows->first; r; r = r->next)
        if (r->number == a->scene->row)
            here = r;
    for (const struct row *r = rows->first; r && here; r = r->next) {
        bool after = r->number > here->number;
        if (row_in_table(r, here) || row_last_index(r) == 0 || after != (step > 0))
            continue;
        best = step < 0 || !best ? r->number : best;
    }
    session_unlock(a->session);
    return best;
}

void act_show_row(struct app *a, int step)
{
    int to = next_in_table(&a->scene->small, a->scene->row, step);
    to = to ? to : next_table(a, step);
    if (!to || !session_show(a->session, to)) {
        app_say(a, "that is the %s row of this session", step > 0 ? "last" : "first");
        return;
    }
    session_read(a->session, a->scene->now);
    a->want = a->scene->now->want;
    a->cursor = a->pane = 0;
    a->frozen = false;
    a->note[0] = '\0';
    a->changed = true;
}
