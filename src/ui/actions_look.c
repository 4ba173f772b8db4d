/* SPDX-License-Identifier: MIT */
/* What the mouse takes into focus, and themes. */
#include <stdio.h>
#include <string.h>

#include "ui/actions.h"

void act_focus(struct app *a, int pane)
{
    a->pane = pane;
    a->changed = true;
}

void act_table_focus(struct app *a, int number)
{
    a->table_row = number;
    a->changed = true;
}

void act_why_focus(struct app *a, int line)
{
    a->why_line = line;
}

/* The one under the cursor already is taken, another one comes under it. */
void act_item(struct app *a, int item)
{
    if (a->picker.at == item)
        app_key(a, TERM_ENTER);
    else
        a->picker.at = item;
    if (a->dialog == DIALOG_PICKER && a->picker.kind == PICK_THEME)
        theme_try(a, false);
}

/* --- themes ----------------------------------------------------------------------------------- */

void theme_list(struct app *a)
{
    struct theme t;
    struct err why;
    picker_open(&a->picker, PICK_THEME, "colours");
    a->theme_before = a->theme;
    int now = -1;
    for (int i = 0; theme_shipped(i, &t, &why); i++) {
        struct picker_item *item = picker_add(&a->picker);
        snprintf(item->name, sizeof item->name, "%s", t.name);
        snprintf(item->text, sizeof item->text, "%s", t.title);
        snprintf(item->why_not, sizeof item->why_not, "%.110s", why.text);
        item->value = i;
        if (!strcmp(t.name, a->theme.name))
            now = i;
    }
    picker_start(&a->picker, now);
}

void theme_try(struct app *a, bool back)
{
    struct err why;
    a->theme = a->theme_before;
    if (!back && a->picker.at >= 0)
        theme_shipped(a->picker.items[a->picker.at].value, &a->theme, &why);
    a->theme_new = true;
}

void theme_take(struct app *a, int value)
{
    struct theme t;
    struct err why;
    if (!theme_shipped(value, &t, &why))
        return;
    a->theme = t;
    a->theme_new = true;
    if (a->config)
        settings_set_option(a->config, OPTION_theme, t.name);
    if (!a->config || settings_kept(a))
        app_say(a, "theme %s: %s", t.name, t.title);
}
