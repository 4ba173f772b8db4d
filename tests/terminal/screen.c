/* SPDX-License-Identifier: MIT */
/* The idea: libvterm's cells as text. Everything a test sees of the screen comes from here, so it
 * sees what a person sees, not what was written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal/tty.h"

static int on_property(VTermProp property, VTermValue *value, void *user)
{
    struct tty *t = user;
    if (property == VTERM_PROP_CURSORVISIBLE)
        t->cursor = value->boolean;
    if (property == VTERM_PROP_ALTSCREEN)
        t->alternate = value->boolean;
    return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

void emulator_open(struct tty *t)
{
    t->vt = vterm_new(t->rows, t->cols);
    vterm_set_utf8(t->vt, 1);
    t->screen = vterm_obtain_screen(t->vt);
    vterm_screen_enable_altscreen(t->screen, 1);
    vterm_screen_set_callbacks(t->screen, &callbacks, t);
    vterm_screen_reset(t->screen, 1);
    t->cursor = true;
}

void emulator_feed(struct tty *t, const char *bytes, size_t n)
{
    char answer[256];
    if (!t->vt)
        return;
    vterm_input_write(t->vt, bytes, n);
    size_t length = vterm_output_read(t->vt, answer, sizeof answer);
    if (length > 0 && write(t->master, answer, length) < 0)
        return;
}

static int utf8(uint32_t c, char *out)
{
    if (c < 0x80)
        return out[0] = (char)c, 1;
    if (c < 0x800)
        return out[0] = (char)(0xc0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* One cell at out, at most 4 * VTERM_MAX_CHARS_PER_CELL bytes. */
static int cell_text(struct tty *t, int x, int y, char *out)
{
    VTermScreenCell cell;
    int n = 0;
    if (!vterm_screen_get_cell(t->screen, (VTermPos){.row = y, .col = x}, &cell) || !cell.chars[0])
        return out[0] = ' ', 1;
    if (cell.chars[0] == (uint32_t)-1) /* right half of a wide character */
        return 0;
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; i++)
        n += utf8(cell.chars[i], out + n);
    return n;
}

char *tty_part(struct tty *t, int x, int y, int w, int h)
{
    int most = 4 * VTERM_MAX_CHARS_PER_CELL;
    char *text = malloc((size_t)(w * most + 1) * (size_t)h + 1), *p = text;
    if (!text)
        abort();
    for (int row = y; t->vt && row < y + h && row < t->rows; row++) {
        char *line = p;
        for (int col = x; col < x + w && col < t->cols; col++)
            p += cell_text(t, col, row, p);
        while (p > line && p[-1] == ' ')
            p--;
        *p++ = '\n';
    }
    *p = 0;
    return text;
}

char *tty_screen(struct tty *t)
{
    return tty_part(t, 0, 0, t->cols, t->rows);
}

bool tty_shows(struct tty *t, const char *text)
{
    char *screen = tty_screen(t);
    bool found = strstr(screen, text) != NULL;
    free(screen);
    return found;
}

static int number_of(const VTermColor *c)
{
    return VTERM_COLOR_IS_INDEXED(c) ? c->indexed.idx : 256;
}

int tty_coloured(struct tty *t, int *highest)
{
    int n = 0;
    *highest = -1;
    for (int y = 0; y < t->rows; y++)
        for (int x = 0; x < t->cols; x++) {
            VTermScreenCell cell;
            if (!vterm_screen_get_cell(t->screen, (VTermPos){.row = y, .col = x}, &cell))
                continue;
            bool fg = !VTERM_COLOR_IS_DEFAULT_FG(&cell.fg),
                 bg = !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg);
            n += fg || bg;
            if (fg && number_of(&cell.fg) > *highest)
                *highest = number_of(&cell.fg);
            if (bg && number_of(&cell.bg) > *highest)
                *highest = number_of(&cell.bg);
        }
    return n;
}

/* Columns are counted as characters: all are one wide here. */
bool tty_find(struct tty *t, const char *text, int *x, int *y)
{
    char *screen = tty_screen(t), *at = strstr(screen, text);
    *x = *y = 0;
    for (const char *p = screen; at && p < at; p++) {
        *x = *p == '\n' ? 0 : *x + ((*p & 0xc0) != 0x80);
        *y += *p == '\n';
    }
    free(screen);
    return at;
}

bool tty_cursor_visible(const struct tty *t)
{
    return t->cursor;
}

bool tty_alternate(const struct tty *t)
{
    return t->alternate;
}

void tty_dump(struct tty *t, const char *why)
{
    char *screen = tty_screen(t);
    fprintf(stderr, "--- %s; status %d, the screen:\n%s---\n", why, t->status, screen);
    free(screen);
}
