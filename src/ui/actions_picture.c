/* SPDX-License-Identifier: MIT */
/* Pictures by gnuplot, from what is on the screen. gnuplot takes its time, so it is started and
 * looked after at each frame; the session goes on meanwhile. */
#include "ui/actions.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "session/plot.h"

/* The row whose figures are shown; under the lock. */
static const struct row *row_shown(const struct app *a, const struct rows *rows)
{
    const struct scene *s = a->scene;
    int number = a->view == VIEW_CURVES && s->curves.has ? s->curves.row
                 : a->view == VIEW_TABLE && s->has_table ? s->table_row
                                                         : s->row;
    return rows_numbered(rows, number);
}

static bool shows_curves(const struct app *a)
{
    return a->view == VIEW_CURVES;
}

static int make(struct app *a, enum plot_kind kind, struct plot_text *out, struct err *e)
{
    struct plot_wish w = {.kind = kind,
                          .curves = {PARAM_COUNT, METRIC_COUNT, a->scene->against, false}};
    if (shows_curves(a)) {
        w.curves.axis = a->curves.axis;
        w.axes = a->curves.axes;
    }
    w.curves.figure = shows_curves(a) ? a->curves.figure : a->figure;
    session_lock(a->session);
    const struct rows *rows = session_rows(a->session);
    w.row = row_shown(a, rows);
    if (w.row && kind == PLOT_CURVES)
        w.row = curves_row(rows, w.row);
    int status = w.row ? plot_make(rows, &w, out, e)
                       : err_set(e, ENODATA, "nothing is measured of this yet");
    session_unlock(a->session);
    return status;
}

void pictures_list(struct app *a)
{
    struct err e;
    struct plot_text t;
    picker_open(&a->picker, PICK_PICTURE, "picture, as SVG in the current folder");
    for (int i = 0; i < PLOT_KINDS; i++) {
        struct picker_item *item = picker_add(&a->picker);
        snprintf(item->name, sizeof item->name, "%s", plot_words[i].id);
        snprintf(item->text, sizeof item->text, "%s", plot_words[i].text);
        item->value = i;
        if (make(a, (enum plot_kind)i, &t, &e) < 0)
            snprintf(item->why_not, sizeof item->why_not, "%.110s", e.text);
        else
            plot_text_free(&t);
    }
    picker_start(&a->picker, shows_curves(a)           ? PLOT_CURVES
                             : a->view == VIEW_TABLE ? PLOT_CURVES
                                                     : PLOT_TIME);
}

/* A new name each time: what is there stays. */
static void start(struct app *a, const struct plot_text *t, enum plot_kind kind)
{
    char stamp[24], name[80], more[16] = "";
    struct err e;
    int status = -EEXIST;
    clock_stamp(stamp, sizeof stamp);
    for (int i = 0; i < 100 && status == -EEXIST; i++) {
        if (i)
            snprintf(more, sizeof more, "-%d", i);
        snprintf(name, sizeof name, "iodash-%s-%s%s.svg", stamp, plot_words[kind].id, more);
        a->picture = plot_start(t, name, &status, &e);
    }
    if (a->picture)
        app_say(a, "gnuplot draws %s", name);
    else
        app_warn(a, "%s", e.text);
}

void pictures_draw(struct app *a, int kind)
{
    struct plot_text t;
    struct err e;
    if (a->picture) {
        app_warn(a, "gnuplot still draws the one before");
        return;
    }
    if (make(a, (enum plot_kind)kind, &t, &e) < 0) {
        app_warn(a, "%s", e.text);
        return;
    }
    start(a, &t, (enum plot_kind)kind);
    plot_text_free(&t);
}

void picture_poll(struct app *a)
{
    struct err e;
    char name[96];
    if (!a->picture)
        return;
    snprintf(name, sizeof name, "%s", plot_name(a->picture));
    int status = plot_end(a->picture, false, &e);
    if (status == 1)
        return;
    a->picture = NULL;
    if (status == 0)
        app_say(a, "picture saved as %s", name);
    else
        app_warn(a, "%s", e.text);
}

void picture_drop(struct app *a)
{
    if (a->picture)
        plot_drop(a->picture);
    a->picture = NULL;
}
