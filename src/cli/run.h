/* SPDX-License-Identifier: MIT */
/* What `run` and `load` share: from a plan to what is measured, printed, saved and returned. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdio.h>

#include "params/args.h"
#include "session/session.h"

struct run_kind {
    const char *command;
    int (*plan)(const struct args *a, struct plan *out, struct err *e);
    int (*ready)(struct err *e); /* the last look before any load: 0 or -errno; NULL: none */
    bool prices;
    /* Below the table, as text; NULL: nothing. The caller holds the rows' lock. */
    void (*details)(FILE *out, const struct rows *rows);
    /* 0, or -errno and why it was in vain all the same (exit 1); NULL: never. Likewise. */
    int (*judge)(const struct rows *rows, struct err *e);
};

/* Returns the exit status. */
int run_command(const struct args *a, const struct run_kind *kind);

#endif
