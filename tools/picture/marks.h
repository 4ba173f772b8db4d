/* SPDX-License-Identifier: MIT */
/* Characters that are pictures: fonts draw them at any size and leave gaps between them, so they
 * are drawn as shapes here. Lengths are pixels of a cell of CELL_W x CELL_H. */
#ifndef PICTURE_MARKS_H
#define PICTURE_MARKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CELL_W 9
#define CELL_H 18
#define DOTS_X 2 /* dots of a braille cell */
#define DOTS_Y 4

/* Dots of a braille character as bits, column x and row y at bit y * DOTS_X + x; 0 for others. */
unsigned marks_dots(uint32_t ch);

/* Appends what it draws of the cell at x, y to one of the two path texts. False: it is no mark. */
bool marks_draw(uint32_t ch, int x, int y, FILE *lines, FILE *fills);

#endif
