/* SPDX-License-Identifier: MIT */
/* Cells of a CSV file, whatever made it: reading by libcsv (commas, semicolons or tabs; CRLF, CR or
 * LF; a byte order mark), and one cell's text both ways. Thread: the caller's. */
#ifndef SESSION_CSV_CELLS_H
#define SESSION_CSV_CELLS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

#define CELLS_LINE_MAX (16 << 20) /* a longer line is no CSV */

struct cells {
    long line;               /* of the records, from 1: the header */
    int count;
    const char *const *cell; /* NUL-terminated; valid during the call */
    bool unended;            /* the last line, and no line end behind it: it may be cut */
    bool comma;              /* the file is split by ';', so decimals may have a comma */
    bool nul;                /* NUL bytes were replaced by '?' */
};

/* Called for each line that is not empty; a value < 0 ends the reading and is returned. */
typedef int (*cells_fn)(void *ctx, const struct cells *c, struct err *e);

/* Returns 0, the -errno of the file system, -EBADMSG for what is no CSV, or what fn returned. */
int cells_read(const char *path, cells_fn fn, void *ctx, struct err *e);

/* The i-th cell, "" past the last. */
const char *cells_text(const struct cells *c, int i);

/* The number in it; NaN for an empty cell, for nan, inf and for anything that is no number. */
double cells_number(const struct cells *c, int i);

/* The same cell with '.' decimals into buf; returns buf. */
char *cells_decimal(const struct cells *c, int i, char *buf, size_t size);

/* The column of that name in a header, -1 when there is none. */
int cells_find(const struct cells *header, const char *id);

/* Writes one cell of text, quoted where it must be. Text that a spreadsheet would run as a
 * formula gets a ' in front; cells_unguard() takes it off again. A separator comes before all
 * but the first. */
void cells_put(FILE *f, bool first, const char *text);

/* Copies text into buf without that '. */
char *cells_unguard(const char *text, char *buf, size_t size);

#endif
