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
#include "ui/yours.h"

void app_init(struct app *a, struct session *s, const struct plan_row *want,
              enum term_charset charset)
{
    struct map_axes usual;
    memset(a, 0, sizeof *a);
    sessions_init(a, s);
    a->want = *want;
    for (int id = 0; id < PARAM_COUNT; id++)
        *params_at(&a->given, (enum param_id)id) = PARAM_UNSET;
    a->charset = charset;
    a->theme = theme_builtin;
    a->scene = scene_new();
    a->canvas = canvas_new(80, 24);
    a->canvas->ascii = charset == CHARSET_ASCII;
    a->view = a->help_of = a->settings.of = VIEW_LIVE;
    a->settings.at = PARAM_connections;
    a->field = PARAM_connections;
    a->figure = a->curves.figure = METRIC_COUNT;
    a->curves.axis = PARAM_COUNT;
    a->curves.at = NAN;
    a->map_figure = METRIC_COUNT;
    map_axes_of(NULL, &usual);
    act_map_axes(a, &usual);
    reach_limits_read(&a->limits);
    a->changed = true;
}

void app_fini(struct app *a)
{
    claims_drop(a);
    picture_drop(a);
    sessions_fini(a);
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
    if (session_file(a->session)) {
        app_warn(a, SAVED_SESSION);
        return;
    }
    if (!yours_speak(a, &row))
        return;
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
    if (a->picker.kind == PICK_THEME)
        theme_try(a, r == PICKER_CLOSE);
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
    } else if (to == DIALOG_PATH) {
        path_key(a, key);
    } else if (to == DIALOG_PROMPT) {
        prompt_key(a, key);
    } else if (to == DIALOG_FIND) {
        find_key(a, key);
    } else {
        const struct command *c = command_find(a->view, key);
        if (c)
            command_run(a, c);
    }
    if (a->pane >= a->want.lineup.count && !scene_planning(a->scene))
        a->pane = a->want.lineup.count - 1;
}

void app_take(struct app *a)
{
    claims_take(a);
    picture_poll(a);
    if (a->frozen && a->scene->session) {
        a->changed = false;
        return;
    }
    struct map_ask map = {&a->want, &a->map_axes, a->pane, act_map_metric(a), &a->limits};
    struct scene_wish w = {.want = &a->want,
                           .against = a->pane,
                           .table = a->view == VIEW_TABLE,
                           .table_row = a->table_row,
                           .explain = a->view == VIEW_WHY,
                           .why = a->why_row,
                           .anew = a->changed,
                           .curves = a->view == VIEW_CURVES,
                           .axis = a->curves.axis,
                           .figure = a->curves.figure,
                           .curves_row = a->curves.row,
                           .map = a->view == VIEW_MAP ? &map : NULL};
    scene_take(a->scene, a->session, &w);
    a->changed = false;
    if (a->scene->now->log_number != a->log_number) {
        a->log_number = a->scene->now->log_number;
        a->log_at_s = a->scene->now->elapsed_s;
    }
    if (a->pane >= a->scene->pane_count) /* none yet in a session that begins */
        a->pane = a->scene->pane_count > 0 ? a->scene->pane_count - 1 : 0;
}
