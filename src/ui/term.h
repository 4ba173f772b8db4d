/* SPDX-License-Identifier: MIT */
/* The terminal: its two files (term.c shows, term_keys.c reads) are the only ones that include
 * curses. One thread calls them, except term_restore. */
#ifndef UI_TERM_H
#define UI_TERM_H

#include <stdbool.h>

#include "base/err.h"
#include "ui/theme.h"

enum term_charset { CHARSET_AUTO, CHARSET_BRAILLE, CHARSET_BLOCK, CHARSET_ASCII };

struct term_options {
    enum term_charset charset; /* AUTO: by the locale */
    bool no_color;             /* also NO_COLOR set and not empty */
    const struct theme *theme; /* NULL: the built-in one */
};

/* Keys that are no character; characters are themselves (Unicode). */
enum term_key {
    TERM_NONE = 0,
    TERM_KEY_BASE = 0x200000,
    TERM_UP,
    TERM_DOWN,
    TERM_LEFT,
    TERM_RIGHT,
    TERM_ENTER,
    TERM_ESC,
    TERM_TAB,
    TERM_BACKTAB,
    TERM_BACKSPACE,
    TERM_DELETE,
    TERM_HOME,
    TERM_END,
    TERM_PGUP,
    TERM_PGDN,
    TERM_F1,
    TERM_F10,
    TERM_RESIZE,
    TERM_MOUSE, /* term_mouse() says what */
    TERM_GONE
};

/* Opens the screen. -ENOTTY stdin or stdout is no terminal; -EINVAL TERM is unset, unknown or
 * cannot move the cursor: one line each. Registers term_restore with die_on() and for fatal
 * signals, and catches the others (ui/signals.h). The locale is the caller's to set. */
int term_open(const struct term_options *o, struct err *e);
void term_close(void);

/* Gives the terminal back from a signal handler or a dying thread: async-signal-safe. */
void term_restore(void);

void term_size(int *w, int *h);
enum term_charset term_charset(void); /* never AUTO */
int term_colors(void);                /* 0 when none are used */

/* Other looks from the next term_show() on. */
void term_theme(const struct theme *t);

/* Shows the canvas; only what changed is written. */
void term_show(const struct canvas *c);

/* Waits at most timeout_ms for a key, a resize, or the wake descriptor becoming readable (-1:
 * none). TERM_NONE when there was none. TERM_GONE: the terminal is gone. A lone Esc is told from a
 * slow arrow key within 50 ms. */
int term_key(int timeout_ms, int wake_fd);

/* The mouse at the last TERM_MOUSE. */
enum mouse_what { MOUSE_CLICK, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };
struct term_mouse {
    enum mouse_what what;
    int x, y;
};
struct term_mouse term_mouse(void);

/* Pasted text is dropped, except while an entry field takes its characters (never its newlines). */
void term_take_paste(bool take);

/* Ctrl-Z: gives the terminal back, stops this process, takes it again after SIGCONT. */
void term_suspend(void);

/* After SIGWINCH: takes the terminal's size. After a SIGCONT that term_suspend() did not wait for:
 * takes the terminal's modes and draws all of it with the next term_show(). */
void term_resized(void);
void term_continued(void);

#endif
