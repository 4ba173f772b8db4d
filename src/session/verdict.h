/* SPDX-License-Identifier: MIT */
/* What limited a row. Pure but for the rig, which is asked for what it knows of its panes. */
#ifndef SESSION_VERDICT_H
#define SESSION_VERDICT_H

#include "session/rig.h"
#include "session/rows.h"

/* Sets verdict and reason of every pane; the caller holds the rows' lock. */
void verdict_row(struct row *row, const struct rig *rig);

/* What limited a pane as far as so few samples tell: full, load-full or ok. */
enum verdict verdict_past_few(const struct row *row, int pane, char *reason, size_t size);

/* Did it serve less than was asked? Whatever its verdict; then the reason is said. */
bool verdict_behind(const struct row *row, int pane, char *reason, size_t size);

#endif
