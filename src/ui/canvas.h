/* SPDX-License-Identifier: MIT */
/* A canvas of cells: what widgets draw into, with no terminal. term.c shows it. A cell holds one
 * character (a base and up to two combining ones), its width and an attribute. Thread: the
 * screen's. */
#ifndef UI_CANVAS_H
#define UI_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

struct rect {
    int x, y, w, h;
};

/* Part of a line, w columns: where text goes. */
struct strip {
    int x, y, w;
};

static inline struct strip canvas_at(int x, int y, int w)
{
    return (struct strip){x, y, w};
}

/* Roles of colour; theme.c gives them colours and attributes. */
enum role {
    ROLE_TEXT,
    ROLE_DIM,
    ROLE_TITLE,
    ROLE_FRAME,
    ROLE_FOCUS,
    ROLE_SELECTED,
    ROLE_GOOD,
    ROLE_WARN,
    ROLE_BAD,
    ROLE_PANE_A,
    ROLE_PANE_B,
    ROLE_PANE_C,
    ROLE_PANE_D,
    ROLE_COUNT
};

struct cell {
    wchar_t ch[3]; /* 0-terminated unless full; ch[0] == 0: right half of a wide character */
    uint8_t role;
    bool bold;
};

struct canvas {
    int w, h;
    struct cell *cells;
    bool ascii; /* nothing above 0x7f may be drawn: text is transliterated */
};

struct canvas *canvas_new(int w, int h); /* heap, blank */
void canvas_free(struct canvas *c);
void canvas_resize(struct canvas *c, int w, int h);
void canvas_clear(struct canvas *c);

/* Writes UTF-8 text, clipped to the canvas and to the strip; control characters and broken bytes
 * become '?'. Returns the columns used. */
int canvas_text(struct canvas *c, struct strip to, enum role role, bool bold, const char *text);
int canvas_printf(struct canvas *c, struct strip to, enum role role, bool bold, const char *fmt,
                  ...) __attribute__((format(printf, 5, 6)));
/* The same; a longer text is cut with an ellipsis, between two words where that leaves more than
 * half of it: half a number reads as another one. */
int canvas_cut(struct canvas *c, struct strip to, enum role role, bool bold, const char *text);
/* As canvas_text(), at the strip's right end. */
void canvas_right(struct canvas *c, struct strip to, enum role role, bool bold, const char *text);
void canvas_put(struct canvas *c, int x, int y, enum role role, wchar_t ch);
void canvas_fill(struct canvas *c, struct rect r, enum role role, wchar_t ch);
/* A frame with a title on its upper edge (may be ""), and one at its right end (may be ""). */
void canvas_frame(struct canvas *c, struct rect r, enum role role, const char *title,
                  const char *right);

/* Columns that UTF-8 text takes. */
int canvas_width(const char *text);

/* A line of the canvas as UTF-8 without trailing blanks (tests, saved screens). */
void canvas_line(const struct canvas *c, int y, char *buf, int size);

#endif
