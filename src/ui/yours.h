/* SPDX-License-Identifier: MIT */
/* Servers that are not ours, in the picker of models and in an order. */
#ifndef UI_YOURS_H
#define UI_YOURS_H

#include "ui/app.h"

#define YOURS_VALUE 1000 /* of the first of them, in the picker of models */

/* Adds them to the picker; those that cannot run here, or beside the other panes, with the reason.
 * Returns the value of the pane's own model when it is one of them, else `now`. */
int yours_list(struct app *a, int now);

/* The model of such a value; NULL: it asks for an address first. */
const struct io_model *yours_model(struct app *a, int value);

/* An order in the protocol that its servers speak: in theirs, or back in the usual one when none of
 * them is left. False, and said: this cannot be asked of them. */
bool yours_speak(struct app *a, struct plan_row *want);

/* Ran before iodash and is not ended by it: it can be looked for again, not started. */
bool yours_attached(const struct app *a, int pane);

/* Asks for the address (path_entry.c), and takes what was typed: "ADDRESS [PID]", into the pane in
 * focus. */
#define YOURS_HINT                                                                                 \
    "its address and, for its CPU, its pid: 127.0.0.1:8080 4711. Other than http: echo://HOST:PORT"
void yours_ask(struct app *a);
void yours_take(struct app *a);

#endif
