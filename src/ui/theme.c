/* SPDX-License-Identifier: MIT */
/* Pane colours are the four of a palette made for colour-blind readers (blue, orange, purple,
 * green) in shades that stand out on black and on white; with 8 and 16 colours the nearest of
 * those. */
#include "ui/theme.h"

struct look {
    short by8, by16, by256;
    bool bold, dim, reverse;
};

static const struct look looks[ROLE_COUNT] = {
    [ROLE_TEXT] = {-1, -1, -1, false, false, false},
    [ROLE_DIM] = {-1, -1, 244, false, true, false},
    [ROLE_TITLE] = {-1, -1, -1, true, false, false},
    [ROLE_FRAME] = {-1, -1, 244, false, true, false},
    [ROLE_FOCUS] = {-1, -1, -1, true, false, false},
    [ROLE_SELECTED] = {-1, -1, -1, false, false, true},
    [ROLE_GOOD] = {2, 2, 35, false, false, false},
    [ROLE_WARN] = {3, 3, 172, false, false, false},
    [ROLE_BAD] = {1, 9, 167, true, false, false},
    [ROLE_PANE_A] = {6, 12, 32, false, false, false},
    [ROLE_PANE_B] = {3, 3, 172, false, false, false},
    [ROLE_PANE_C] = {5, 13, 133, false, false, false},
    [ROLE_PANE_D] = {2, 2, 35, false, false, false},
};

struct style theme_style(enum role role, int colors)
{
    const struct look *l = &looks[role < ROLE_COUNT ? role : ROLE_TEXT];
    struct style s = {.color = -1, .bold = l->bold, .dim = l->dim, .reverse = l->reverse};
    if (colors >= 256)
        s.color = l->by256;
    else if (colors >= 16)
        s.color = l->by16;
    else if (colors >= 8)
        s.color = l->by8;
    if (s.color >= 0)
        s.dim = false;
    return s;
}
