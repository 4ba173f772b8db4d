/* SPDX-License-Identifier: MIT */
/* Where a table goes, cell by cell: what writes one does not know whether it becomes CSV or JSON.
 * The first line holds the ids of the columns. Thread: the owner's. */
#ifndef SESSION_SINK_H
#define SESSION_SINK_H

#include <stdbool.h>
#include <stdio.h>

#include "params/params.h"

struct sink {
    void (*text)(struct sink *to, const char *text); /* "": nothing to say */
    void (*number)(struct sink *to, double v);       /* NaN, infinite: not measured */
    void (*end)(struct sink *to);                    /* of the line */
};

/* A parameter: a number, or one of the words that stand for its values; unset: nothing. */
void sink_param(struct sink *to, enum param_id id, double v);

/* Lines of CSV to a stream. Its first member is the sink. */
struct csv_sink {
    struct sink sink;
    FILE *f;
    bool begun; /* this line has a cell */
};
struct sink *csv_sink_init(struct csv_sink *s, FILE *f);

#endif
