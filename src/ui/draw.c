/* SPDX-License-Identifier: MIT */
/* One frame: the view, then the dialog over it; or what a screen that is too small needs. */
#include <stdio.h>

#include "ui/actions.h"
#include "ui/layout.h"
#include "ui/views.h"

static void draw_small_screen(struct app *a)
{
    struct canvas *c = a->canvas;
    char text[80];
    snprintf(text, sizeof text, "iodash needs %dx%d; this is %dx%d", LAYOUT_MIN_W, LAYOUT_MIN_H,
             c->w, c->h);
    canvas_text(c, 0, 0, c->w, ROLE_TEXT, false, text);
    if (c->h > 1)
        canvas_text(c, 0, 1, c->w, ROLE_DIM, false, "q quits");
}

static void draw_view(struct app *a)
{
    switch (a->view) {
    case VIEW_LIVE:
        view_live_draw(a);
        break;
    case VIEW_TABLE:
        view_table_draw(a);
        break;
    case VIEW_HELP:
        view_help_draw(a);
        break;
    }
}

void app_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    canvas_clear(c);
    if (c->w < LAYOUT_MIN_W || c->h < LAYOUT_MIN_H) {
        draw_small_screen(a);
        return;
    }
    draw_view(a);
    if (a->dialog == DIALOG_PICKER)
        picker_draw(c, &a->picker);
    else if (a->dialog == DIALOG_ENTRY)
        entry_draw(a);
}
