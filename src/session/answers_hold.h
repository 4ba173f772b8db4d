/* SPDX-License-Identifier: MIT */
/* What to say of connections that are only held. For answers.c alone. */
#ifndef SESSION_ANSWERS_HOLD_H
#define SESSION_ANSWERS_HOLD_H

#include "session/say.h"

/* How many each holds and how fast they came; what one costs. pane as in answer_row(). */
void answer_hold(const struct row *r, int pane, struct text *answer, struct text *why);

#endif
