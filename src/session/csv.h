/* SPDX-License-Identifier: MIT */
/* A session as CSV: NAME.csv has one line a sample or repeat, NAME-tables.csv one a table row
 * (columns: docs/files.md). RFC 4180, UTF-8, '.' decimals in every locale, empty = not measured.
 * Written whole to a temporary file, flushed, then linked to its name: an existing file is never
 * overwritten. Reading goes by header name. Thread: the owner's; the caller holds the rows' lock. */
#ifndef SESSION_CSV_H
#define SESSION_CSV_H

#include <stdio.h>

#include "session/environ.h"
#include "session/rows.h"

struct csv_session {
    const struct rows *rows;
    const struct environment *env;
    const char *session; /* id */
    const char *path;    /* "loopback", "netns", "network" */
};

/* Saves both files. `name` ends in .csv, or gets it; -EEXIST when either exists. On failure nothing
 * is left behind. */
int csv_save(const struct csv_session *s, const char *name, struct err *e);

/* Picks iodash-YYYYMMDD-HHMMSS[-N].csv in the current folder, saves, and writes the name chosen. */
int csv_save_new(const struct csv_session *s, char *name, size_t size, struct err *e);

/* May this file be made? 0, or -errno at once: exists, no such folder, read-only. */
int csv_check(const char *name, struct err *e);

/* Reads a samples file into rows (empty before). Unknown columns are ignored, missing ones are not
 * measured, a cut last line is left out and said in note[]. Returns samples read or -errno. */
int csv_open(const char *name, struct rows *rows, struct environment *env, char note[200],
             struct err *e);

/* The table CSV alone, to a stream (for `run --format csv`). */
int csv_tables(const struct csv_session *s, FILE *out);

#endif
