/* SPDX-License-Identifier: MIT */
/* What the roles look like for a given number of colours. Colours only add to glyphs: with 0
 * colours every screen reads the same. The background is always the terminal's own. Thread: the
 * screen's. */
#ifndef UI_THEME_H
#define UI_THEME_H

#include "base/err.h"
#include "ui/canvas.h"

struct style {
    short color; /* -1: the terminal's own */
    bool bold, dim, reverse, underline;
};

/* Of a role: a colour for each kind of terminal, -1: none of its own, then that of the smaller
 * kind. dim stands in for a colour where the terminal has none. */
struct look {
    short by8, by16, by256;
    bool bold, dim, reverse, underline;
};

struct theme {
    char name[32];
    char title[80];
    struct look look[ROLE_COUNT];
};

extern const struct theme theme_builtin;       /* where no assets are found */
extern const char *const theme_roles[ROLE_COUNT]; /* their words in a theme file */

/* colors: 0, 8, 16, 88 or 256 (anything between counts as the smaller). */
struct style theme_style(const struct theme *t, enum role role, int colors);

/* --- theme_file.c ----------------------------------------------------------------------------- */

/* A shipped theme by its name, or a file. NULL: "default", or "default-light" where COLORFGBG tells
 * of a light background. Fills *out whatever happens: with the built-in one when there is no such
 * theme (-EINVAL with the nearest name, -errno of reading) or the file is broken (0, and e names
 * the line). e is "" when all is well. */
int theme_load(const char *name, struct theme *out, struct err *e);

/* The i-th shipped theme, by name; false past the last. Errors of its file as theme_load(). */
bool theme_shipped(int i, struct theme *out, struct err *e);

#endif
