/* SPDX-License-Identifier: MIT */
/* The table of a workload as cells of text: the rows of one workload and lineup, sorted by what
 * varies, each pane's figures, the ratios, the published figures. `run` prints it, the table
 * view draws it. Columns stand by importance: what does not fit is left off on the right. Pure;
 * the caller holds the rows' lock. */
#ifndef SESSION_TABLE_H
#define SESSION_TABLE_H

#include "session/rows.h"

#define TABLE_COLUMNS 64
#define TABLE_CELL 40

struct table_column {
    char head[2][TABLE_CELL]; /* group ("A select"), title ("cpu%"). Neighbours with the same group
                                 share one heading, no wider than they are together (gap of 2) */
    int width;                /* of title and cells, the widest, in columns of the terminal */
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
    char foot[240];        /* what all rows say together, "" mostly */
    char published[400];   /* beside published figures: our verdict on them; else "" */
    char title[160];       /* "transfer · 1024 B · 11.5k/s asked · 12 samples, ..." */
};

/* All rows like `like` (same workload, same models in the same panes) that were not dropped. The
 * first column is the parameter with most different values (connections when nothing differs), then
 * any other that differs; rows ascend by them. */
void table_make(const struct rows *rows, const struct row *like, struct table *out);
void table_free(struct table *t);

/* The same rows in the same order, with no cells yet, and by which parameters they stand so.
 * Returns how many parameters that are; table_free. */
#define TABLE_VARYING 3
int table_rows(const struct rows *rows, const struct row *like, struct table *out,
               int varying[TABLE_VARYING]);

#endif
