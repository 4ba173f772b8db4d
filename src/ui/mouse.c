/* SPDX-License-Identifier: MIT */
/* A click takes what is under it: a tab, a pane, a row, a word of the footer. The wheel is the
 * arrows up and down, but in the live view, where those change the load: there it must be on a
 * number of line 2, for a hand that rests on the wheel must not cost a row. */
#include "ui/mouse.h"

#include <stdio.h>
#include <string.h>

#include "ui/actions.h"
#include "ui/keys.h"
#include "ui/layout.h"

void mouse_hot(struct app *a, struct rect r, hot_fn run, int arg)
{
    struct hots *h = &a->hots;
    if (h->count < HOTS)
        h->at[h->count++] = (struct hot){r, run, arg};
}

void mouse_words(struct app *a, int y, const char *text)
{
    int x = 0;
    while (*text) {
        char key[16];
        int blanks = (int)strspn(text, " ");
        text += blanks;
        x += blanks;
        const char *end = strstr(text, "  ");
        size_t n = end ? (size_t)(end - text) : strlen(text);
        char word[80];
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        snprintf(key, sizeof key, "%.*s", (int)strcspn(word, " "), word);
        int w = canvas_width(word), code = keys_shown(key);
        if (code)
            mouse_hot(a, (struct rect){x, y, w, 1}, app_key, code);
        text += n;
        x += w;
    }
}

static const struct hot *under(const struct app *a, int x, int y)
{
    for (int i = a->hots.count - 1; i >= 0; i--) {
        const struct rect *r = &a->hots.at[i].r;
        if (x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h)
            return &a->hots.at[i];
    }
    return NULL;
}

static void wheel(struct app *a, const struct hot *h, int key)
{
    bool number = h && h->run == act_field;
    if (a->dialog == DIALOG_NONE && a->view == VIEW_LIVE && !number)
        return;
    if (a->dialog == DIALOG_NONE && number)
        act_field(a, h->arg);
    app_key(a, key);
}

void mouse_event(struct app *a, struct term_mouse m)
{
    const struct hot *h = under(a, m.x, m.y);
    if (a->canvas->w < LAYOUT_MIN_W || a->canvas->h < LAYOUT_MIN_H)
        return;
    if (m.what != MOUSE_CLICK)
        wheel(a, h, m.what == MOUSE_WHEEL_UP ? TERM_UP : TERM_DOWN);
    else if (h)
        h->run(a, h->arg);
}
