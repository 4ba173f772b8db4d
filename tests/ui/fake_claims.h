/* SPDX-License-Identifier: MIT */
/* Claims that nobody tries: it stands in for claims_run.c when the tests link, keeps what it was
 * told to try, and hands out the results that a test put there. */
#ifndef TESTS_UI_FAKE_CLAIMS_H
#define TESTS_UI_FAKE_CLAIMS_H

#include "session/claims_run.h"

struct claims_run {
    const struct claims *claims;
    struct claim_try *tries;
    bool *wanted;
    bool running;
    int starts, stops;
};

/* The one made last. */
struct claims_run *fake_claims(void);

/* Puts a result; figures and brief as one would see them. */
void fake_claim(const char *name, enum claim_verdict v, const char *brief, const char *figures);
/* That one is being measured, or waits. */
void fake_claim_state(const char *name, enum try_state state);

#endif
