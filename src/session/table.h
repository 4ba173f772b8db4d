/* SPDX-License-Identifier: MIT */
/* The table of a workload as cells of text: the rows of one workload and lineup, sorted by their
 * axis, each pane's figures, the ratios, the published figures. `run` prints it, the table view
 * draws it. Pure; the caller holds the rows' lock. */
#ifndef SESSION_TABLE_H
#define SESSION_TABLE_H

#include "session/rows.h"

#define TABLE_COLUMNS 48
#define TABLE_CELL 24

struct table_column {
    char head[2][TABLE_CELL]; /* group ("A select"), title ("cpu%") */
    int width;                /* widest cell, in columns of the terminal */
    bool text;                /* left-aligned words; figures are right-aligned */
    int pane;                 /* 0.. or -1 */
};

struct table_row {
    const struct row *row;
    char cell[TABLE_COLUMNS][TABLE_CELL];
};

struct table {
    int columns, rows;
    struct table_column column[TABLE_COLUMNS];
    struct table_row *row; /* heap; table_free */
    char title[160];       /* "transfer · 1024 B · 11.5k/s asked · 12 samples, ..." */
};

/* All rows like `like` (same workload, same models in the same panes), whatever else differs; the
 * first column is the parameter that differs most (connections when nothing does). */
void table_make(const struct rows *rows, const struct row *like, struct table *out);
void table_free(struct table *t);

#endif
