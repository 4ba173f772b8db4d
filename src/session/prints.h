/* SPDX-License-Identifier: MIT */
/* The fingerprints of a row's servers, taken when their connections are there and before the first
 * turn: nobody's turn pays for it. Thread: the runner's. */
#ifndef SESSION_PRINTS_H
#define SESSION_PRINTS_H

#include "session/inner.h"

/* Of all panes that have another server or other connections than when they were looked at last;
 * 0.1 s. An order ends it early. */
void prints_take(struct session *s, struct row *row, unsigned seen);

#endif
