/* SPDX-License-Identifier: MIT */
/* The clipboard of the person's own machine, through the terminal (OSC 52), also over ssh. Thread:
 * the screen's, between two frames. */
#ifndef UI_CLIPBOARD_H
#define UI_CLIPBOARD_H

#include <stdbool.h>

#define CLIPBOARD_MOST 32768 /* bytes of text; terminals drop a longer sequence */

/* Asks the terminal to keep this text. False: it was not asked, because the output is no terminal,
 * this kind has no clipboard, or the text is too long. Whether it does so nobody can know. */
bool clipboard_ask(const char *text);

#endif
