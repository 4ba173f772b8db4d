/* SPDX-License-Identifier: MIT */
/* Pane colours are the four of a palette made for colour-blind readers (blue, orange, purple,
 * green) in shades that stand out on black and on white; with 8 and 16 colours the nearest of
 * those. Theme files give the roles other looks (theme_file.c). */
#include "ui/theme.h"

const char *const theme_roles[ROLE_COUNT] = {
    [ROLE_TEXT] = "text",     [ROLE_DIM] = "dim",       [ROLE_TITLE] = "heading",
    [ROLE_FRAME] = "frame",   [ROLE_FOCUS] = "focus",   [ROLE_SELECTED] = "selected",
    [ROLE_GOOD] = "good",     [ROLE_WARN] = "warn",     [ROLE_BAD] = "bad",
    [ROLE_PANE_A] = "pane_a", [ROLE_PANE_B] = "pane_b", [ROLE_PANE_C] = "pane_c",
    [ROLE_PANE_D] = "pane_d",
};

const struct theme theme_builtin = {
    .name = "default",
    .title = "blue, orange, purple, green: apart for all eyes, on black and on white",
    .look = {
        [ROLE_TEXT] = {-1, -1, -1, .bold = false},
        [ROLE_DIM] = {-1, -1, 244, .dim = true},
        [ROLE_TITLE] = {-1, -1, -1, .bold = true},
        [ROLE_FRAME] = {-1, -1, 244, .dim = true},
        [ROLE_FOCUS] = {-1, -1, -1, .bold = true},
        [ROLE_SELECTED] = {-1, -1, -1, .reverse = true},
        [ROLE_GOOD] = {2, -1, 29, .bold = false},
        [ROLE_WARN] = {3, -1, 166, .bold = false},
        [ROLE_BAD] = {1, 9, 160, .bold = true},
        [ROLE_PANE_A] = {6, 12, 32, .bold = false},
        [ROLE_PANE_B] = {3, -1, 166, .bold = false},
        [ROLE_PANE_C] = {5, 13, 133, .bold = false},
        [ROLE_PANE_D] = {2, -1, 29, .bold = false},
    },
};

static short color_of(const struct look *l, int colors)
{
    if (colors >= 256 && l->by256 >= 0)
        return l->by256;
    if (colors >= 16 && l->by16 >= 0)
        return l->by16;
    return colors >= 8 ? l->by8 : -1;
}

struct style theme_style(const struct theme *t, enum role role, int colors)
{
    const struct look *l = &t->look[role < ROLE_COUNT ? role : ROLE_TEXT];
    struct style s = {.color = color_of(l, colors), .bold = l->bold, .dim = l->dim,
                      .reverse = l->reverse, .underline = l->underline};
    if (s.color >= 0)
        s.dim = false;
    return s;
}
