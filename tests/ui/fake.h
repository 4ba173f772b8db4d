/* SPDX-License-Identifier: MIT */
/* A session that measures nothing: it stands in for session.c when the tests link, keeps the orders
 * it got, and shows figures that a test put there. Its clock is a number. */
#ifndef TESTS_UI_FAKE_H
#define TESTS_UI_FAKE_H

#include "session/session.h"

#define FAKE_TEXT 400

struct fake_orders {
    int live, plans, stops, loads, more, restarts;
    unsigned long saved; /* samples that are said to stand in a file */
    int plan_rows, restarted; /* rows of the last plan, pane of the last restart */
    bool load_on;
    struct plan_row want;
    char plan_title[80];
};

struct session *fake_new(void);
struct fake_orders *fake_orders(struct session *s);
struct session_now *fake_now(struct session *s); /* what session_read() hands out */
struct row *fake_row(struct session *s, const struct plan_row *of); /* a new one, running */

struct rows *session_rows_edit(struct session *s);
struct prices *fake_prices(struct session *s);

/* The default order: select beside epoll-lt, transfer. */
struct plan_row fake_want(const char *workload, const char *models);

/* Rounds of transfer at the row's number of connections: select pays for each, the others do not.
 * The first `warm` samples are warm-up. Each also goes to the trace. */
void fake_rounds(struct session *s, struct row *r, int warm, int rounds);

/* Repeats of connect, and a watch of the last. */
void fake_repeats(struct session *s, struct row *r, int repeats);

/* Answers in place of the fixed ones; "" thrice: the fixed ones again. */
void fake_answer(const char *answer, const char *why, const char *trust);

/* One second of nothing. */
void fake_pass(struct session *s, double seconds);

#endif
