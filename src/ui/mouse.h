/* SPDX-License-Identifier: MIT */
/* The mouse does what keys do: while the screen is drawn, places note which command or which step
 * belongs to them. Thread: the screen's. */
#ifndef UI_MOUSE_H
#define UI_MOUSE_H

#include "ui/canvas.h"
#include "ui/term.h"

struct app;
typedef void (*hot_fn)(struct app *a, int arg);

struct hot {
    struct rect r;
    hot_fn run;
    int arg;
};

enum { HOTS = 160 };

struct hots { /* of the picture on the screen */
    int count;
    struct hot at[HOTS];
};

/* While drawing: a click into r runs this. A key: app_key and its code. Drawn later lies above. */
void mouse_hot(struct app *a, struct rect r, hot_fn run, int arg);

/* The words of a line that begin with their key ("s save  q quit"), parted by two blanks. */
void mouse_words(struct app *a, int y, const char *text);

void mouse_event(struct app *a, struct term_mouse m);

#endif
