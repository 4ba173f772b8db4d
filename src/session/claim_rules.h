/* SPDX-License-Identifier: MIT */
/* The rules in a claim's file, for claim_file.c. Thread: the owner's. */
#ifndef SESSION_CLAIM_RULES_H
#define SESSION_CLAIM_RULES_H

#include "session/claims.h"

/* Adds a rule to a claim whose rows and probe are there. Cuts up the text. -EINVAL and what is
 * wrong with it. */
int claim_rule_parse(struct claim *claim, enum claim_verdict v, int line, char *text,
                     struct err *e);

/* The same of the figures in its brief. */
int claim_brief_parse(struct claim *claim, struct err *e);

/* -EINVAL: "idel: no such parameter; did you mean idle?"; near may be NULL. */
int claim_no_such(const char *what, const char *word, const char *near, struct err *e);

#endif
