/* SPDX-License-Identifier: MIT */
/* Measuring a plan from the command line: waits for its end, tells how far it is on stderr when
 * that is a terminal, and stops at a signal. Thread: main. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "session/session.h"

/* From now on SIGINT, SIGTERM and SIGHUP end what is measured, and nothing else. */
void follow_signals(void);
bool follow_interrupted(void);

/* Measures the plan; returns when it is done, or interrupted and stopped. */
void follow_plan(struct session *s, const struct plan *plan, bool quiet);

/* The same for what was begun already: until done(ctx), which waits for it a fifth of a second at
 * most, or a signal; then the session is stopped. */
void follow_until(struct session *s, bool (*done)(void *ctx), void *ctx, bool quiet);

#endif
