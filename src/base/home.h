/* SPDX-License-Identifier: MIT */
/* Where this program keeps what is the person's: the folders of the XDG base directories, and files
 * that somebody names. Thread: any. */
#ifndef BASE_HOME_H
#define BASE_HOME_H

#include <stdio.h>

#include "base/err.h"

enum home { HOME_STATE, HOME_CONFIG, HOME_CACHE };

/* $XDG_STATE_HOME/iodash or ~/.local/state/iodash; $XDG_CONFIG_HOME/iodash or ~/.config/iodash;
 * $XDG_CACHE_HOME/iodash or ~/.cache/iodash. It need not be there. 0, or -ENOENT: no variable says
 * where. */
int home_folder(enum home which, char *buf, size_t size, struct err *e);

/* Makes a folder and those above it. 0 or -errno. */
int home_make(const char *folder, struct err *e);

/* Opens a regular file for reading: never waits for a writer, as opening a pipe would. NULL with
 * "VERB PATH: why", and errno. */
FILE *home_open(const char *path, const char *verb, struct err *e);

#endif
