/* SPDX-License-Identifier: MIT */
/* Everything on the screen passes through here, so clipping, broken bytes, wide and combining
 * characters and the fall back to ASCII are dealt with once. A wide character takes two cells, the
 * right one empty (ch[0] == 0); writing into either half blanks the other, so that no half of a
 * character is ever left over. */
#include "ui/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "ui/text.h"

static const struct cell blank = {.ch = {L' '}, .role = ROLE_TEXT};

struct canvas *canvas_new(int w, int h)
{
    struct canvas *c = xcalloc(1, sizeof *c);
    canvas_resize(c, w, h);
    return c;
}

void canvas_free(struct canvas *c)
{
    if (!c)
        return;
    free(c->cells);
    free(c);
}

void canvas_resize(struct canvas *c, int w, int h)
{
    c->w = w > 0 ? w : 1;
    c->h = h > 0 ? h : 1;
    c->cells = xrealloc(c->cells, (size_t)c->w * (size_t)c->h, sizeof *c->cells);
    canvas_clear(c);
}

void canvas_clear(struct canvas *c)
{
    for (int i = 0; i < c->w * c->h; i++)
        c->cells[i] = blank;
}

static struct cell *cell_at(struct canvas *c, int x, int y)
{
    return x < 0 || y < 0 || x >= c->w || y >= c->h ? NULL : &c->cells[y * c->w + x];
}

/* Blanks the other half of a wide character that is about to lose one. */
static void part_halves(struct canvas *c, int x, int y)
{
    struct cell *here = cell_at(c, x, y);
    if (here->ch[0] == 0 && x > 0)
        here[-1].ch[0] = L' ', here[-1].ch[1] = 0;
    else if (x + 1 < c->w && here[1].ch[0] == 0)
        here[1].ch[0] = L' ';
}

static void set_cell(struct canvas *c, int x, int y, struct cell style, wchar_t ch)
{
    struct cell *at = cell_at(c, x, y);
    if (!at)
        return;
    part_halves(c, x, y);
    *at = style;
    at->ch[0] = ch;
    at->ch[1] = at->ch[2] = 0;
}

/* Adds a combining character to the cell left of x. */
static void combine(struct canvas *c, int x, int y, wchar_t ch)
{
    struct cell *at = cell_at(c, x - 1, y);
    if (at && at->ch[0] == 0)
        at = cell_at(c, x - 2, y);
    if (!at || c->ascii)
        return;
    if (!at->ch[1])
        at->ch[1] = ch;
    else if (!at->ch[2])
        at->ch[2] = ch;
}

/* A character of width 1 or 2 at x; what sticks out on either side is drawn as blanks. */
static void put_wide(struct canvas *c, int x, int y, struct cell style, wchar_t ch)
{
    int w = text_cell_width(ch);
    if (c->ascii && ch > 0x7f) { /* as many columns as before, so that what follows lines up */
        for (int i = 0; i < w; i++)
            set_cell(c, x + i, y, style, text_ascii(ch));
    } else if (w < 2) {
        set_cell(c, x, y, style, ch);
    } else if (x < 0 || x + 1 >= c->w) {
        set_cell(c, x, y, style, L' ');
        set_cell(c, x + 1, y, style, L' ');
    } else {
        set_cell(c, x + 1, y, style, L' ');
        set_cell(c, x, y, style, ch);
        cell_at(c, x + 1, y)->ch[0] = 0;
    }
}

int canvas_text(struct canvas *c, struct strip to, enum role role, bool bold, const char *text)
{
    struct cell style = {.role = (uint8_t)role, .bold = bold};
    int used = 0;
    while (*text) {
        wchar_t ch = text_next(&text);
        int w = text_cell_width(ch);
        if (w == 0) {
            if (used)
                combine(c, to.x + used, to.y, ch);
            continue;
        }
        if (used + w > to.w)
            break;
        put_wide(c, to.x + used, to.y, style, ch);
        used += w;
    }
    return used;
}

int canvas_cut(struct canvas *c, struct strip to, enum role role, bool bold, const char *text)
{
    if (to.w < 1 || canvas_width(text) <= to.w)
        return canvas_text(c, to, role, bold, text);
    const char *rest, *mark = c->ascii ? ".." : "…";
    int room = to.w - canvas_width(mark), used = 0;
    size_t n = text_break(text, room - 1, &rest);
    char words[512];
    snprintf(words, sizeof words, "%.*s ", (int)n, text);
    if (room < 1)
        mark = "…";
    else if (rest > text + n && canvas_width(words) > to.w / 2)
        used = canvas_text(c, canvas_at(to.x, to.y, room), role, bold, words);
    else
        used = canvas_text(c, canvas_at(to.x, to.y, room), role, bold, text);
    return used + canvas_text(c, canvas_at(to.x + used, to.y, to.w - used), role, bold, mark);
}

void canvas_right(struct canvas *c, struct strip to, enum role role, bool bold, const char *text)
{
    int used = canvas_width(text);
    to.x += used < to.w ? to.w - used : 0;
    canvas_text(c, to, role, bold, text);
}

int canvas_printf(struct canvas *c, struct strip to, enum role role, bool bold, const char *fmt,
                  ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return canvas_text(c, to, role, bold, text);
}

void canvas_put(struct canvas *c, int x, int y, enum role role, wchar_t ch)
{
    struct cell style = {.role = (uint8_t)role};
    if (cell_at(c, x, y) && text_cell_width(ch) > 0)
        put_wide(c, x, y, style, ch);
}

void canvas_fill(struct canvas *c, struct rect r, enum role role, wchar_t ch)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            canvas_put(c, x, y, role, ch);
}

static void frame_edges(struct canvas *c, struct rect r, enum role role)
{
    int right = r.x + r.w - 1, bottom = r.y + r.h - 1;
    canvas_fill(c, (struct rect){r.x + 1, r.y, r.w - 2, 1}, role, L'─');
    canvas_fill(c, (struct rect){r.x + 1, bottom, r.w - 2, 1}, role, L'─');
    canvas_fill(c, (struct rect){r.x, r.y + 1, 1, r.h - 2}, role, L'│');
    canvas_fill(c, (struct rect){right, r.y + 1, 1, r.h - 2}, role, L'│');
    canvas_put(c, r.x, r.y, role, L'┌');
    canvas_put(c, right, r.y, role, L'┐');
    canvas_put(c, r.x, bottom, role, L'└');
    canvas_put(c, right, bottom, role, L'┘');
}

void canvas_frame(struct canvas *c, struct rect r, enum role role, const char *title,
                  const char *right)
{
    if (r.w < 2 || r.h < 2)
        return;
    frame_edges(c, r, role);
    int room = r.w - 4, used = 0;
    if (*title && room > 2) {
        used = canvas_text(c, canvas_at(r.x + 2, r.y, room - 1), role, true, title);
        canvas_put(c, r.x + 1, r.y, role, L' ');
        canvas_put(c, r.x + 2 + used, r.y, role, L' ');
    }
    int need = canvas_width(right);
    if (need && need + used + 4 <= room) {
        int x = r.x + r.w - 2 - need;
        canvas_text(c, canvas_at(x, r.y, need), role, false, right);
        canvas_put(c, x - 1, r.y, role, L' ');
        canvas_put(c, x + need, r.y, role, L' ');
    }
}

int canvas_width(const char *text)
{
    int used = 0;
    while (*text)
        used += text_cell_width(text_next(&text));
    return used;
}

void canvas_line(const struct canvas *c, int y, char *buf, int size)
{
    int n = 0, end = 0;
    for (int x = 0; x < c->w && y >= 0 && y < c->h; x++) {
        const struct cell *at = &c->cells[y * c->w + x];
        for (int i = 0; i < 3 && at->ch[i] && n + 5 < size; i++)
            n += text_utf8(at->ch[i], buf + n);
        if (at->ch[0] != L' ')
            end = n;
    }
    if (size > 0)
        buf[end] = '\0';
}
