/* SPDX-License-Identifier: MIT */
/* What the roles look like for a given number of colours. Colours only add to glyphs: with 0
 * colours every screen reads the same. The background is always the terminal's own. Pure. */
#ifndef UI_THEME_H
#define UI_THEME_H

#include "ui/canvas.h"

struct style {
    short color; /* -1: the terminal's own */
    bool bold, dim, reverse, underline;
};

/* colors: 0, 8, 16, 88 or 256 (anything between counts as the smaller). */
struct style theme_style(enum role role, int colors);

#endif
