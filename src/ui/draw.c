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
    canvas_text(c, canvas_at(0, 0, c->w), ROLE_TEXT, false, text);
    if (c->h > 1)
        canvas_text(c, canvas_at(0, 1, c->w), ROLE_DIM, false, "q quits");
}

static void draw_picker(struct app *a)
{
    struct picker_place p;
    picker_draw(a->canvas, &a->picker, &p);
    for (int i = 0; i < p.lines; i++)
        if (p.item[i] >= 0)
            mouse_hot(a, (struct rect){p.r.x, p.r.y + i, p.r.w, 1}, act_item, p.item[i]);
}

const struct view_row view_table[] = {
    {VIEW_LIVE, "live", "1 live", view_live_draw},
    {VIEW_TABLE, "table", "2 table", view_table_draw},
    {VIEW_CURVES, "curves", "3 curves", view_curves_draw},
    {VIEW_MAP, "map", "4 map", view_map_draw},
    {VIEW_WHY, "why", "5 why", view_why_draw},
    {VIEW_CLAIMS, "claims", "6 claims", view_claims_draw},
    {VIEW_HELP, "help", "", view_help_draw},
    {VIEW_SETTINGS, "settings", "", view_settings_draw},
    {VIEW_COMPARE, "compare", "", view_compare_draw},
};
const int view_count = sizeof view_table / sizeof *view_table;

const struct view_row *view_find(enum view view)
{
    const struct view_row *v = view_table;
    while (v->view != view)
        v++;
    return v;
}

void app_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    canvas_clear(c);
    a->hots.count = 0;
    if (c->w < LAYOUT_MIN_W || c->h < LAYOUT_MIN_H) {
        draw_small_screen(a);
        return;
    }
    view_find(a->view)->draw(a);
    if (a->dialog != DIALOG_NONE)
        a->hots.count = 0; /* what lies below is out of reach */
    if (a->dialog == DIALOG_PICKER)
        draw_picker(a);
    else if (a->dialog == DIALOG_ENTRY)
        entry_draw(a);
    else if (a->dialog == DIALOG_PATH)
        path_draw(a);
    else if (a->dialog == DIALOG_PROMPT)
        prompt_draw(a);
}
