/* SPDX-License-Identifier: MIT */
/* The command table: every key of the dashboard, its word in the footer and its sentence in the
 * help. The footer, the help view, `iodash list keys` and the dispatch are walks over it. */
#ifndef UI_COMMANDS_H
#define UI_COMMANDS_H

#include "ui/app.h"

struct command {
    const char *name;  /* one word, for docs and tests */
    const char *keys;  /* "up +": names of ui/keys.h, split by blanks */
    const char *label; /* footer, with its key ("s save"); "" : not there. {field} is the parameter
                        * in brackets, {model} what the arrows change */
    const char *help;  /* one sentence */
    unsigned views;    /* bits of enum view, and MEASURES */
    void (*run)(struct app *a, int arg);
    int arg;
};

/* It starts or changes a measurement: not while a saved session is on the screen. */
#define MEASURES 0x10000u

extern const struct command command_table[];
extern const int command_count;

/* The command that has this key in this view, NULL when there is none. */
const struct command *command_find(enum view view, int key);

/* Does what it says; what measures is refused, and said, while a saved session is looked at. */
void command_run(struct app *a, const struct command *c);

/* The footer of a view into buf: as many labels as fit, help and quit always. */
void command_footer(const struct app *a, enum view view, int width, char *buf, size_t size);

#endif
