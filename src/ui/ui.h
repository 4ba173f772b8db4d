/* SPDX-License-Identifier: MIT */
/* The dashboard. Thread: main. */
#ifndef UI_UI_H
#define UI_UI_H

#include "params/args.h"
#include "session/map.h"
#include "session/session.h"
#include "ui/term.h"

struct ui_options {
    struct term_options term; /* its theme: the one below */
    struct theme theme;
    const char *theme_wrong; /* why another one than asked for is used; or NULL */
    struct plan_row want;    /* what is measured first */
    const bool *given; /* [PARAM_COUNT] what of it was asked for: it stays in other workloads */
    const struct plan *plan; /* a plan to run at once, or NULL */
    const struct map_axes *map; /* what the map is over; NULL: the usual places */
    bool on_map; /* begins with that view */
    struct settings *config; /* what the person set for good; changed by keys; or NULL */
    const char *autosave;    /* folder for the session that a saved one may begin; or NULL */
    const char
        *first_line; /* one line for the log: what this is, what was reduced to fit; or NULL */
};

/* Runs until the person leaves or a signal ends it. Returns 0, or 130 (interrupted by a signal), or
 * -errno when the terminal cannot be used. Afterwards the terminal is as before; `parting` holds
 * the lines that stay on it (the answer and the file's name), to be printed by the caller. */
int ui_run(struct session *s, const struct ui_options *o, char *parting, size_t size,
           struct err *e);

#endif
