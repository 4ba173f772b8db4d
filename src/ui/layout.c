/* SPDX-License-Identifier: MIT */
/* The screen is a stack of lines; panes take what the rest leaves. The rest comes in order of
 * worth: the answer, the CPU line, the table. Where each stands depends on the screen alone, so
 * that a longer answer moves nothing; only on low screens the table gives way to it. Panes stand
 * side by side where each keeps 38 columns, else in two rows, below 80 columns in one column;
 * all are equally wide, so that a column of a graph is as long in each. */
#include "ui/layout.h"

enum { PANE_MIN_W = 38, PANE_GAP = 2, ANSWER_LINES = 3, BLOCK_MORE = 5 };

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static void add(struct layout *l, enum part part, int index, struct rect r)
{
    if (r.w < 1 || r.h < 1 || l->count == LAYOUT_PARTS)
        return;
    l->item[l->count].part = part;
    l->item[l->count].index = index;
    l->item[l->count++].r = r;
}

/* Panes beside each other. */
static int columns_of(int w, int panes)
{
    if (w < 80)
        return 1;
    int most = (w + PANE_GAP) / (PANE_MIN_W + PANE_GAP);
    if (panes <= most)
        return panes;
    return most >= 2 ? 2 : 1;
}

static void add_panes(struct layout *l, struct rect area, int panes)
{
    int columns = columns_of(area.w, panes), lines = (panes + columns - 1) / columns;
    for (int i = 0; i < panes; i++) {
        int line = i / columns, column = i % columns;
        int top = area.h * line / lines, bottom = area.h * (line + 1) / lines;
        int w = (area.w - PANE_GAP * (columns - 1)) / columns;
        add(l, PART_PANE, i,
            (struct rect){area.x + (w + PANE_GAP) * column, area.y + top, w, bottom - top});
    }
}

/* Lines of the block that answer and table share. */
static int block_lines(int h, int body, int pane_lines)
{
    int least_panes = pane_lines * (h < 24 ? 3 : pane_lines > 1 ? 7 : 8);
    int block = ANSWER_LINES;
    int spare = body - block - least_panes;
    if (spare >= 2)
        block += min_int(spare, pane_lines > 1 ? BLOCK_MORE - 1 : BLOCK_MORE);
    if (h > 24)
        block += min_int((h - 24) / 3, 8);
    return min_int(block, body - pane_lines > 0 ? body - pane_lines : 0);
}

/* The answer's share of it, as far as the screen tells: on a low one the answer takes what it
 * needs, on a narrow one it has more lines. */
static int answer_share(int w, int h, int block, int needs)
{
    if (h < 20)
        return min_int(needs > ANSWER_LINES ? needs : ANSWER_LINES, block);
    if (block < ANSWER_LINES + 2)
        return block;
    if (block < 8)
        return 3 + (block - 5 + 1) / 2;
    return w < 80 ? 5 + (block - 8) / 2 : 5;
}

void layout_live(int w, int h, int panes, int answer_lines, struct layout *out)
{
    *out = (struct layout){.fits = w >= LAYOUT_MIN_W && h >= LAYOUT_MIN_H};
    if (!out->fits || panes < 1)
        return;
    int columns = columns_of(w, panes), pane_lines = (panes + columns - 1) / columns;
    int cpu = h >= 18 ? 1 : 0;
    int body = h - 4 - cpu;
    int block = block_lines(h, body, pane_lines);
    int panes_h = body - block;
    int answer = answer_share(w, h, block, answer_lines);
    int table = block - answer;
    if (table == 1) /* a head without a row */
        answer += table, table = 0;
    int y = 0;
    add(out, PART_HEADER, 0, (struct rect){0, y++, w, 1});
    add(out, PART_ASKED, 0, (struct rect){0, y++, w, 1});
    add_panes(out, (struct rect){0, y, w, panes_h}, panes);
    y += panes_h;
    add(out, PART_ANSWER, 0, (struct rect){0, y, w, answer});
    y += answer;
    add(out, PART_TABLE, 0, (struct rect){0, y, w, table});
    y += table;
    add(out, PART_CPU, 0, (struct rect){0, y, w, cpu});
    y += cpu;
    add(out, PART_LOG, 0, (struct rect){0, y++, w, 1});
    add(out, PART_FOOTER, 0, (struct rect){0, y, w, 1});
}

struct rect layout_find(const struct layout *l, enum part part, int index)
{
    for (int i = 0; i < l->count; i++)
        if (l->item[i].part == part && l->item[i].index == index)
            return l->item[i].r;
    return (struct rect){0, 0, 0, 0};
}
