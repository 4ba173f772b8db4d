/* SPDX-License-Identifier: MIT */
/* Text as columns of a terminal: UTF-8 in, characters and widths out; and the plain letters that
 * stand in for what an ASCII terminal cannot show. Pure. */
#ifndef UI_TEXT_H
#define UI_TEXT_H

#include <stddef.h>
#include <wchar.h>

/* The next character of UTF-8 text, and moves *s past it; 0 at the end. A broken byte or a control
 * character is '?'. */
wchar_t text_next(const char **s);

/* Columns of one character: 0 (combining), 1 or 2. */
int text_cell_width(wchar_t ch);

/* One ASCII character of the same width for it; '?' when there is none that fits. */
wchar_t text_ascii(wchar_t ch);

/* Writes one character as UTF-8 into buf (at least 5 bytes, NUL-terminated). Returns its bytes. */
int text_utf8(wchar_t ch, char *buf);

/* Where a line of at most `width` columns ends when text is broken at blanks: its bytes. *next is
 * set to where the following line starts. */
size_t text_break(const char *text, int width, const char **next);

/* Lines that text takes at this width; at least 1. */
int text_lines(const char *text, int width);

#endif
