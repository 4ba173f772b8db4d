/* SPDX-License-Identifier: MIT */
/* Where everything of the live view stands, as a pure function of sizes: every part it names is a
 * rectangle with room in it, inside the screen, overlapping no other. A part that is not named has
 * no room. */
#ifndef UI_LAYOUT_H
#define UI_LAYOUT_H

#include "servers/io_models.h"
#include "ui/canvas.h"

#define LAYOUT_MIN_W 60
#define LAYOUT_MIN_H 15

enum part {
    PART_HEADER,
    PART_ASKED,
    PART_PANE,
    PART_ANSWER,
    PART_TABLE,
    PART_CPU,
    PART_LOG,
    PART_FOOTER
};

#define LAYOUT_PARTS (LINEUP_MAX + 8)

struct layout {
    bool fits; /* false: the screen is smaller than LAYOUT_MIN_W x LAYOUT_MIN_H, no parts */
    int count;
    struct {
        enum part part;
        int index; /* of a pane */
        struct rect r;
    } item[LAYOUT_PARTS];
};

/* answer_lines: lines that the answer would take at this width (3 at least). */
void layout_live(int w, int h, int panes, int answer_lines, struct layout *out);

/* The rectangle of a part (index 0 but for panes); w == 0 when it is not there. */
struct rect layout_find(const struct layout *l, enum part part, int index);

#endif
