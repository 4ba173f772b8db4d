/* SPDX-License-Identifier: MIT */
/* A session as CSV: NAME.csv has one line a sample or repeat, NAME-tables.csv one a table row
 * (columns: docs/files.md). RFC 4180, UTF-8, '.' decimals in every locale, empty = not measured.
 * Written whole to a temporary file, flushed, then moved to its name: an existing file is never
 * overwritten. Reading goes by header name. Thread: the owner's. */
#ifndef SESSION_CSV_H
#define SESSION_CSV_H

#include <stdio.h>

#include "session/environ.h"
#include "session/rows.h"
#include "session/sink.h"

struct csv_session {
    const struct rows *rows;
    const struct environment *env;
    const char *session; /* id */
};

/* Both files as text. Made under the rows' lock; saved without it, since a disk may take its
 * time. */
struct csv_image {
    char *samples, *tables;
    size_t samples_size, tables_size;
};
void csv_image_make(const struct csv_session *s, struct csv_image *out);
void csv_image_free(struct csv_image *i);

/* Saves both files, or none: on failure nothing is left behind. `name` ends in .csv, or gets it;
 * -EEXIST when either exists; -ENOSPC, -EROFS ... as the disk says. */
int csv_image_save(const struct csv_image *i, const char *name, struct err *e);

/* Picks iodash-YYYYMMDD-HHMMSS[-N].csv in the current folder, saves, and writes the name chosen,
 * also when that failed. */
int csv_image_save_new(const struct csv_image *i, char *name, size_t size, struct err *e);

/* The same in one step; the caller holds the rows' lock meanwhile. */
int csv_save(const struct csv_session *s, const char *name, struct err *e);
int csv_save_new(const struct csv_session *s, char *name, size_t size, struct err *e);

/* The samples as a file that has no name. Returns its descriptor or -errno. */
int csv_save_memory(const struct csv_session *s, struct err *e);

/* May these files be made? 0, or -errno at once: exists, no such folder, read-only. */
int csv_check(const char *name, struct err *e);

/* Reads a samples file into rows (empty before). Unknown columns are ignored, missing ones are not
 * measured; what was left out (a cut last line, a workload this build does not know) is said in
 * note[], "" when nothing was. env: of the file's first line. Returns samples read, the -errno of
 * the file system, or -EBADMSG when it is no session. */
int csv_open(const char *name, struct rows *rows, struct environment *env, char note[200],
             struct err *e);

/* The id of the session in its first line, "" where it has none or cannot be read. */
void csv_session_id(const char *name, char *id, size_t size);

/* The table CSV alone, to a stream (for `run --format csv`). Returns 0 or the stream's -errno. */
int csv_tables(const struct csv_session *s, FILE *out);
/* The same lines, wherever they go. */
void csv_tables_to(const struct csv_session *s, struct sink *to);

#endif
