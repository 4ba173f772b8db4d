/* SPDX-License-Identifier: MIT */
/* Frames are strokes from the middle of a cell to some of its sides, bars are filled from below,
 * meters are small boxes. Neighbours meet exactly, so a frame has no gaps and a bar no seams. */
#include "marks.h"

#include <stddef.h>

enum side { UP = 1, RIGHT = 2, DOWN = 4, LEFT = 8 };

static const struct {
    uint32_t ch;
    unsigned sides;
} frames[] = {
    {0x2500, LEFT | RIGHT},        {0x2502, UP | DOWN},          {0x250c, RIGHT | DOWN},
    {0x2510, LEFT | DOWN},         {0x2514, UP | RIGHT},         {0x2518, UP | LEFT},
    {0x251c, UP | RIGHT | DOWN},   {0x2524, UP | LEFT | DOWN},   {0x252c, LEFT | RIGHT | DOWN},
    {0x2534, UP | LEFT | RIGHT},   {0x253c, UP | LEFT | RIGHT | DOWN},
};

static bool frame(uint32_t ch, int x, int y, FILE *lines)
{
    static const struct {
        enum side side;
        const char *to;
    } strokes[] = {{UP, "v-9"}, {RIGHT, "h4.5"}, {DOWN, "v9"}, {LEFT, "h-4.5"}};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        if (frames[i].ch != ch)
            continue;
        for (size_t k = 0; k < sizeof strokes / sizeof *strokes; k++)
            if (frames[i].sides & strokes[k].side)
                fprintf(lines, "M%d.5 %d%s", x + CELL_W / 2, y + CELL_H / 2, strokes[k].to);
        return true;
    }
    return false;
}

/* One eighth of a cell up to the whole of it. */
static bool bar(uint32_t ch, int x, int y, FILE *fills)
{
    if (ch < 0x2581 || ch > 0x2588)
        return false;
    double h = CELL_H * (double)(ch - 0x2580) / 8;
    fprintf(fills, "M%d %gh%dv%gh-%dz", x, y + CELL_H - h, CELL_W, h, CELL_W);
    return true;
}

static bool meter(uint32_t ch, int x, int y, FILE *lines, FILE *fills)
{
    if (ch == 0x25ae)
        fprintf(fills, "M%d %dh6v11h-6z", x + 1, y + 4);
    else if (ch == 0x25af)
        fprintf(lines, "M%d.5 %d.5h5v10h-5z", x + 1, y + 4);
    return ch == 0x25ae || ch == 0x25af;
}

unsigned marks_dots(uint32_t ch)
{
    /* Unicode counts down the left column, down the right one, and puts the last row behind. */
    static const unsigned char place[] = {0, 2, 4, 1, 3, 5, 6, 7};
    unsigned dots = 0;
    if (ch < 0x2800 || ch > 0x28ff)
        return 0;
    for (size_t i = 0; i < sizeof place; i++)
        if (ch & 1u << i)
            dots |= 1u << place[i];
    return dots;
}

bool marks_draw(uint32_t ch, int x, int y, FILE *lines, FILE *fills)
{
    return frame(ch, x, y, lines) || bar(ch, x, y, fills) || meter(ch, x, y, lines, fills);
}
