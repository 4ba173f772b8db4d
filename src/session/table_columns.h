/* SPDX-License-Identifier: MIT */
/* The columns of a table, for table.c. */
#ifndef SESSION_TABLE_COLUMNS_H
#define SESSION_TABLE_COLUMNS_H

#include "session/table.h"

struct spec { /* how the cells of a column are written */
    void (*write)(const struct spec *s, const struct row *r, char *cell);
    int pane;
    int id; /* a metric or a parameter */
};

struct making {
    const struct rows *rows;
    const struct row *like;
    struct table *t;
    int varying; /* the first so many columns are parameters */
    struct spec spec[TABLE_COLUMNS];
};

/* Adds heads and specs of all columns; the rows stand in the table already. */
void table_add_columns(struct making *m, const int *varying, int count);

#endif
