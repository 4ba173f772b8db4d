/* SPDX-License-Identifier: MIT */
/* What a person set for good: $XDG_CONFIG_HOME/iodash/iodash.ini, KEY = VALUE, keys are the ids of
 * parameters and of a few options. The dashboard alone reads it: what `run` measures is what its
 * arguments say. Whoever types a value wins over it. Thread: the screen's. */
#ifndef SESSION_SETTINGS_H
#define SESSION_SETTINGS_H

#include "params/args.h"

#define SETTING_TEXT 160

struct settings {
    struct params params;                    /* PARAM_UNSET: not set */
    char option[OPTION_COUNT][SETTING_TEXT]; /* "": not set */
    bool changed;                            /* since it was read or saved */
};

/* Can this option be set for good? */
bool settings_takes(enum option_id id);

/* Reads the file; none is no mistake. 0, or -errno with one line that names file and line; then
 * nothing is set. */
int settings_load(struct settings *s, struct err *e);

/* Sets a value (PARAM_UNSET: no more), or the text of an option ("": no more). Whether it is
 * allowed was asked before (params_parse, args_allows). */
void settings_set(struct settings *s, enum param_id id, double value);
void settings_set_option(struct settings *s, enum option_id id, const char *text);

/* Writes the file when something changed: the lines of these keys alone, the person's own comments
 * stay. A line that could not be read becomes a comment. 0 or -errno. */
int settings_save(struct settings *s, struct err *e);

/* Lays the settings under what was typed. Their texts must outlive a. */
void settings_under(const struct settings *s, struct args *a);

#endif
