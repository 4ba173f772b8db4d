/* SPDX-License-Identifier: MIT */
/* A table of text for stdout: aligned columns, Markdown, or CSV. Cells are copied. Thread: main. */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdio.h>

#include "base/err.h"
#include "session/sink.h"

#define GRID_COLUMNS 10

enum grid_format { GRID_TEXT, GRID_MARKDOWN, GRID_CSV, GRID_JSON };

struct grid {
    int columns, rows;
    const char *const *heads; /* NULL-ended */
    char **cells;             /* rows x columns, heap */
    int room;                 /* columns of a line of text; 0: the terminal's, in a file as many
                                 as there are */
};

/* Columns of the terminal that this is; 0: it is none. */
int grid_terminal(FILE *out);

void grid_init(struct grid *g, const char *const *heads);
void grid_fini(struct grid *g);

/* One row: as many cells as heads; NULL is "". */
void grid_add(struct grid *g, const char *const *cells);

/* "text", "markdown", "csv", "json"; NULL is text. Returns 0, or -EINVAL and why not. */
int grid_format(const char *word, enum grid_format *out, struct err *e);

/* Text is cut to what the locale can show: `ascii` writes plain letters for the rest. Not JSON. */
void grid_print(const struct grid *g, enum grid_format format, int ascii, FILE *out);

/* The same cells as text, wherever they go. */
void grid_to(const struct grid *g, struct sink *to);

#endif
