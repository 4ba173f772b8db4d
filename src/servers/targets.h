/* SPDX-License-Identifier: MIT */
/* The servers that are not ours, as models: one a recipe (assets/targets/NAME.ini, or a file of
 * one's own), one an --attach. They are made once and never go away, so that rows may point at
 * them. Thread: the one of the command line and the screen. */
#ifndef SERVERS_TARGETS_H
#define SERVERS_TARGETS_H

#include <stdbool.h>

#include "servers/target.h"

#define TARGETS_RECIPE "target:" /* before the name, or the path of a file */
#define TARGETS_ATTACH "attach"  /* the first one attached to; "attach2" the second ... */

/* Is it a word for one? */
bool targets_word(const char *word);

/* The model of it. NULL, and e says what there is. A recipe that is no good is one all the same:
 * its probe says what is wrong. */
const struct io_model *targets_find(const char *word, struct err *e);

/* Those that came with the program, sorted by name, then those attached to: the i-th, NULL past the
 * last. */
const struct target *targets_at(int i);

/* One more that runs already, at this address (target.h), behind this pid (NULL: not known);
 * by_size: it is asked for a number of bytes, as ours are, in place of a path. What of
 * its process cannot be read is no failure: `doubt` says it. The same again is the same one.
 * -EINVAL, -ENOENT: no such address; -ESRCH: no such process; -E2BIG: too many. */
int targets_attach(const char *url, const char *pid, bool by_size, const struct target **out,
                   struct err *e);

/* The protocol in which the targets of a lineup can all be asked: `wanted` (below 0: none is) if
 * they speak it, else the first that they do; -1: there are none. 0, or -EINVAL: no such one. */
int targets_protocol(const struct lineup *l, int wanted, int *protocol, struct err *e);

/* The ids of all that it speaks, "http, echo". Returns buf. */
char *targets_speak(const struct target *t, char *buf, size_t size);

#endif
