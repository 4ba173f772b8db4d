/* SPDX-License-Identifier: MIT */
/* A terminal's screen as an SVG that needs nothing from outside: no font, no script, no picture.
 * Dark, and light where the reader prefers that. */
#ifndef PICTURE_SVG_H
#define PICTURE_SVG_H

#include <stdbool.h>

#include "terminal/harness.h"

/* Writes the whole screen of t. False, and errno says why, when the file cannot be written. */
bool svg_write(struct tty *t, const char *title, const char *path);

#endif
