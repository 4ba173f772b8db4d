/* SPDX-License-Identifier: MIT */
/* A dashboard over the fake session with a scripted list of keys, and its screen as text. */
#ifndef TESTS_UI_SHOW_H
#define TESTS_UI_SHOW_H

#include "ui/app.h"
#include "ui/fake.h"

/* app_init over a fake session; show_fini frees both. */
void show_init(struct app *a, const struct plan_row *want, int w, int h, enum term_charset charset);
void show_fini(struct app *a);

/* Keys as the terminal would hand them: characters, and <up> <down> <left> <right> <enter> <esc>
 * <tab> <back> <f1> <f10> <pgup> <pgdn>. A frame is taken after each. */
void show_keys(struct app *a, const char *keys);

/* Takes and draws a frame; all lines of the screen, each ended by a newline. The caller frees. */
char *show_screen(struct app *a);

/* True when the screen shows this text on one line. */
bool show_has(struct app *a, const char *text);

#endif
