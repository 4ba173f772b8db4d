/* SPDX-License-Identifier: MIT */
/* A list to choose from: one sentence a row, in groups, narrowed by typing. It knows nothing of
 * what is chosen. Pure but for its own fields. */
#ifndef UI_PICKER_H
#define UI_PICKER_H

#include <stdbool.h>

#include "ui/canvas.h"

#define PICKER_ITEMS 96

struct picker_item {
    char name[48], text[200];
    char why_not[120]; /* greyed with this reason; "" when it can be taken */
    const char *group; /* heading before the first of it; NULL: none */
    int value;         /* the owner's */
};

struct picker {
    char title[60];
    int kind; /* the owner's */
    int count;
    struct picker_item items[PICKER_ITEMS];
    char filter[32];   /* UTF-8 */
    int at;            /* item under the cursor, -1 when the filter leaves none */
    char message[180]; /* why Enter did nothing */
};

enum picker_result { PICKER_STAY, PICKER_TAKE, PICKER_CLOSE };

void picker_open(struct picker *p, int kind, const char *title);
struct picker_item *picker_add(struct picker *p); /* zeroed; the last one again when it is full */

/* After the items are in: the cursor on the item of this value (-1: the first). */
void picker_start(struct picker *p, int value);

/* One key. PICKER_TAKE: items[at] was chosen. */
enum picker_result picker_key(struct picker *p, int key);

/* True when the filter lets the item through. */
bool picker_matches(const struct picker *p, int i);

/* Which item stands on which line of r, -1: none. */
struct picker_place {
    struct rect r;
    int lines, item[2 * PICKER_ITEMS];
};

/* Draws it in the middle of the canvas, as large as it needs. */
void picker_draw(struct canvas *c, const struct picker *p, struct picker_place *out);

#endif
