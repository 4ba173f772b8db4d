/* SPDX-License-Identifier: MIT */
/* The event loop without its terminal: key, frame, key, frame. */
#include "ui/show.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/keys.h"
#include "ui/text.h"

void show_init(struct app *a, const struct plan_row *want, int w, int h, enum term_charset charset)
{
    setlocale(LC_ALL, "C.UTF-8");
    app_init(a, fake_new(), want, charset);
    canvas_resize(a->canvas, w, h);
    app_take(a);
}

void show_fini(struct app *a)
{
    struct session *s = a->session;
    app_fini(a);
    session_free(s);
}

static int next_key(const char **keys)
{
    char name[16];
    const char *close = **keys == '<' ? strchr(*keys, '>') : NULL;
    if (!close)
        return (int)text_next(keys);
    snprintf(name, sizeof name, "%.*s", (int)(close - *keys - 1), *keys + 1);
    *keys = close + 1;
    return strcmp(name, "back") ? keys_code(name) : TERM_BACKSPACE;
}

void show_keys(struct app *a, const char *keys)
{
    while (*keys) {
        app_key(a, next_key(&keys));
        app_take(a);
    }
}

char *show_screen(struct app *a)
{
    app_take(a);
    app_draw(a);
    int size = a->canvas->w * 12 + 8;
    char *all = xcalloc((size_t)a->canvas->h, (size_t)size), *at = all;
    for (int y = 0; y < a->canvas->h; y++) {
        canvas_line(a->canvas, y, at, size - 2);
        at += strlen(at);
        *at++ = '\n';
    }
    *at = '\0';
    return all;
}

bool show_has(struct app *a, const char *text)
{
    char *screen = show_screen(a);
    bool has = strstr(screen, text) != NULL;
    free(screen);
    return has;
}
