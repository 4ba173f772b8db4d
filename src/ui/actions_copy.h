/* SPDX-License-Identifier: MIT */
/* Taking along what the screen says: as a Markdown file in the current folder, and to the clipboard
 * where the terminal has one. */
#ifndef UI_ACTIONS_COPY_H
#define UI_ACTIONS_COPY_H

#include "ui/app.h"

/* Writes the text to iodash-NAME-YYYYMMDD-HHMMSS[-N].md, never over a file, asks the terminal to
 * copy it, and says in the log which of the two was done. 0, or -errno of the file. */
int copy_markdown(struct app *a, const char *name, const char *text);

/* The command: ANSWER, WHY and TRUST of what is in focus; in the table view the table with them. */
void act_copy(struct app *a, int arg);

#endif
