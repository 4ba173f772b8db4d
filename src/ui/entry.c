/* SPDX-License-Identifier: MIT */
/* Typing the number in brackets: the parameter table parses it and says what is wrong with it.
 * Bytes of a paste are taken like typed ones, without their newlines. */
#include "ui/actions.h"

#include <stdio.h>
#include <string.h>

#include "ui/views.h"

void entry_open(struct app *a)
{
    memset(&a->entry, 0, sizeof a->entry);
    a->dialog = DIALOG_ENTRY;
}

static void take(struct app *a)
{
    struct plan_row want = a->want;
    struct err e = {""};
    double v;
    if (!a->entry.text[0]) {
        a->dialog = DIALOG_NONE;
        return;
    }
    if (params_parse(a->field, a->entry.text, &v, &e) < 0) {
        snprintf(a->entry.problem, sizeof a->entry.problem, "%s", e.text);
        return;
    }
    *params_at(&want.params, a->field) = v;
    workload_resize(&want.params, a->want.params.size);
    a->dialog = DIALOG_NONE;
    app_order(a, &want);
}

void entry_key(struct app *a, int key)
{
    struct entry *n = &a->entry;
    size_t used = strlen(n->text);
    if (key == TERM_ESC) {
        a->dialog = DIALOG_NONE;
    } else if (key == TERM_ENTER) {
        take(a);
    } else if (key == TERM_BACKSPACE || key == TERM_DELETE) {
        n->text[used ? used - 1 : 0] = '\0';
        n->problem[0] = '\0';
    } else if (key > 0x20 && key < 0x7f && used + 1 < sizeof n->text) {
        n->text[used] = (char)key;
        n->text[used + 1] = '\0';
        n->problem[0] = '\0';
    }
}

void entry_draw(const struct app *a)
{
    struct canvas *c = a->canvas;
    const struct param_info *p = &param_table[a->field];
    char now[48], title[64];
    params_show(a->field, params_get(&a->want.params, a->field), now, sizeof now);
    int w = c->w > 72 ? 72 : c->w, h = 6;
    struct rect r = {(c->w - w) / 2, (c->h - h) / 2, w, h};
    snprintf(title, sizeof title, "%s, now %s", p->id, now);
    canvas_fill(c, r, ROLE_TEXT, L' ');
    canvas_frame(c, r, ROLE_FRAME, title, "");
    canvas_printf(c, r.x + 2, r.y + 1, w - 4, ROLE_FOCUS, true, "%s_", a->entry.text);
    bool bad = a->entry.problem[0];
    chrome_text(c, (struct rect){r.x + 2, r.y + 2, w - 4, 2}, bad ? ROLE_BAD : ROLE_DIM, false,
                bad ? a->entry.problem : p->help);
    canvas_text(c, r.x + 2, r.y + 4, w - 4, ROLE_DIM, false, "Enter take  Esc back");
}
