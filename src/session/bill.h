/* SPDX-License-Identifier: MIT */
/* The bill of one request: what a model's calls cost, counted calls times their prices on this
 * machine, beside the CPU time measured. What is left over is shown, not hidden. Pure: from a row's
 * samples and a list of prices. The caller holds the rows' lock. */
#ifndef SESSION_BILL_H
#define SESSION_BILL_H

#include "metrics/prices.h"
#include "session/loopback.h"
#include "session/rows.h"

enum bill_item {
    BILL_WAIT, BILL_SLEEP, BILL_READ, BILL_EMPTY, BILL_WRITE, BILL_CONTROL, BILL_ACCEPT, BILL_WORK,
    BILL_REST, BILL_MEASURED, BILL_ITEMS
};

struct bill_line {
    double calls;    /* for one request; NaN: not counted */
    double us;       /* NaN: its price or its count is not known */
    char price[80];  /* in µs, as words: "0.97+400x0.147", with the sign of multiplication; "" */
};

struct bill {
    struct bill_line line[BILL_ITEMS]; /* BILL_REST: measured less all that is explained */
    double rest_pct;                   /* of what was measured; NaN: not known */
};

void bill_of(const struct row *r, int pane, const struct prices *p, struct bill *out);

/* The same for all bills: what each line is called, and what it holds. */
struct bill_word {
    const char *label;
    bool always;             /* shown also where nothing of it was counted */
    enum loopback point;     /* what loopback does to it */
    const char *text;        /* one or two sentences */
};
extern const struct bill_word bill_words[BILL_ITEMS];

#endif
