/* SPDX-License-Identifier: MIT */
/* What term.c needs of term_keys.c: the two files that know curses. */
#ifndef UI_TERM_KEYS_H
#define UI_TERM_KEYS_H

/* After newterm(): which bytes are which key; asks for the mouse where the terminal has one. */
void term_keys_open(void);

#endif
