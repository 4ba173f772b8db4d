/* SPDX-License-Identifier: MIT */
/* What starting the dashboard and opening a saved session in it have in common. */
#ifndef CLI_DASH_H
#define CLI_DASH_H

#include "params/args.h"
#include "session/settings.h"
#include "ui/ui.h"

/* Charset, colours and theme from the options. A broken theme file ends nothing: `wrong` says what
 * is wrong. 0 or -errno. */
int dash_look(const struct args *a, struct ui_options *o, struct err *wrong, struct err *e);

/* Adds one more thing that the first line of the log says. */
void dash_say(char *line, size_t size, const char *before, const char *text);

/* After the screen: saves settings that keys changed. Returns status, or 1 when that failed. */
int dash_keep(struct settings *config, int status);

#endif
