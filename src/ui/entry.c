/* SPDX-License-Identifier: MIT */
/* Typing a number: the parameter table parses it and says what is wrong with it.
 * Bytes of a paste are taken like typed ones, without their newlines. */
#include "ui/actions.h"

#include <stdio.h>
#include <string.h>

#include "ui/views.h"

void entry_open(struct app *a, enum param_id id)
{
    a->entry = (struct entry){.id = id};
    a->dialog = DIALOG_ENTRY;
}

static void take(struct app *a)
{
    struct entry *n = &a->entry;
    struct err e = {""};
    if (n->text[0] && act_change(a, n->id, n->text, &e) < 0)
        snprintf(n->problem, sizeof n->problem, "%s", e.text);
    else
        a->dialog = DIALOG_NONE;
}

void entry_edit(char *text, size_t size, int key)
{
    size_t used = strlen(text);
    if (key == TERM_BACKSPACE || key == TERM_DELETE)
        text[used ? used - 1 : 0] = '\0';
    else if (key >= 0x20 && key < 0x7f && used + 1 < size) {
        text[used] = (char)key;
        text[used + 1] = '\0';
    }
}

void entry_key(struct app *a, int key)
{
    struct entry *n = &a->entry;
    if (key == TERM_ESC) {
        a->dialog = DIALOG_NONE;
    } else if (key == TERM_ENTER) {
        take(a);
    } else if (key != ' ') {
        entry_edit(n->text, sizeof n->text, key);
        n->problem[0] = '\0';
    }
}

void entry_draw(const struct app *a)
{
    struct canvas *c = a->canvas;
    const struct param_info *p = &param_table[a->entry.id];
    char now[48], title[80], allowed[200];
    params_show(a->entry.id, params_get(&a->want.params, a->entry.id), now, sizeof now);
    int w = c->w > 72 ? 72 : c->w, h = 6;
    struct rect r = {(c->w - w) / 2, (c->h - h) / 2, w, h};
    snprintf(title, sizeof title, "%s, now %s", p->id, now);
    canvas_fill(c, r, ROLE_TEXT, L' ');
    canvas_frame(c, r, ROLE_FRAME, title, "");
    canvas_printf(c, canvas_at(r.x + 2, r.y + 1, w - 4), ROLE_FOCUS, true, "%s_", a->entry.text);
    bool bad = a->entry.problem[0];
    int y = chrome_text(c, (struct rect){r.x + 2, r.y + 2, w - 4, 2}, bad ? ROLE_BAD : ROLE_DIM,
                        false, bad ? a->entry.problem : p->help);
    if (y < 2 && !bad)
        canvas_cut(c, canvas_at(r.x + 2, r.y + 3, w - 4), ROLE_DIM, false,
                   params_allowed(a->entry.id, allowed, sizeof allowed));
    canvas_text(c, canvas_at(r.x + 2, r.y + 4, w - 4), ROLE_DIM, false, "Enter take  Esc back");
}
