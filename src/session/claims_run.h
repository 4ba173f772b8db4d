/* SPDX-License-Identifier: MIT */
/* Trying claims in a session, for the command and the dashboard alike. A thread of its own runs the
 * probes of those asked for, then has the session measure all their rows as one plan, and judges
 * each claim as soon as its rows are there. The session and the claims outlive it. Thread: any; one
 * owner starts, stops and frees. */
#ifndef SESSION_CLAIMS_RUN_H
#define SESSION_CLAIMS_RUN_H

#include <stdio.h>

#include "session/claims.h"
#include "session/session.h"

enum try_state {
    TRY_RESTS, /* nothing is done for it */
    TRY_WAITS, /* for those before it */
    TRY_RUNS
};

struct claim_try {
    enum try_state state;
    bool tried; /* there is a result; of the last time, while it is tried again */
    struct claim_result result;
};

struct claims_run;

struct claims_run *claims_run_new(struct session *s, const struct claims *c);
void claims_run_free(struct claims_run *r); /* stops it first */

/* About how long those with wanted[i] take, in seconds; NULL: all. */
double claims_seconds(const struct claims *c, const bool *wanted);

/* Tries those with wanted[i]; NULL: all. False, and nothing happens, while others are being tried,
 * or where no thread can be started. */
bool claims_run_start(struct claims_run *r, const bool *wanted);
/* Ends it at once; what was tried stays, half a claim is none. */
void claims_run_stop(struct claims_run *r);
/* Waits until nothing is being tried, or timeout_ns passed; true when nothing is. */
bool claims_run_wait(struct claims_run *r, uint64_t timeout_ns);

/* A copy of the state of all, into an array of as many as there are claims. */
void claims_run_read(struct claims_run *r, struct claim_try *out);

/* As Markdown: a table of those tried, with the words of the verdicts. */
void claims_markdown(const struct claims *c, const struct claim_try *tries, FILE *out);
/* Why there is no verdict, before the figures there are. Returns buf. */
char *claim_figures(const struct claim_result *r, char *buf, size_t size);
#define CLAIM_FIGURES 840

#endif
