/* SPDX-License-Identifier: MIT */
/* Prints the bill of every row and pane of a saved session, and how much of it is not explained:
 *   iodash run -m select,poll,epoll-lt,uring -c 10,100,400 -o b.csv && bench_bill b.csv
 * The prices are those that the session measured. */
#include <stdio.h>

#include "net/protocol.h"
#include "session/bill.h"
#include "session/csv.h"

static void print_pane(const struct row *r, int pane, const struct prices *prices)
{
    struct bill b;
    bill_of(r, pane, prices, &b);
    printf("%6.0f  %-12s", r->params.connections, r->panes[pane].model);
    for (int i = 0; i < BILL_ITEMS; i++)
        printf(" %7.2f", b.line[i].us);
    printf("  %5.1f %%  %.3f waits %.3f sleeps %s\n", b.rest_pct, b.line[BILL_WAIT].calls,
           b.line[BILL_SLEEP].calls, verdict_words[r->panes[pane].verdict]);
}

int main(int argc, char **argv)
{
    struct rows rows = {0};
    struct environment env;
    struct err e = {""};
    char note[200];
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    if (argc != 2 || csv_open(argv[1], &rows, &env, note, &e) < 0) {
        fprintf(stderr, "bench_bill FILE.csv: %s\n", e.text);
        return 1;
    }
    for (int i = 0; i < PRICE_COUNT; i++)
        printf("%-24s %8.0f  %s\n", price_columns[i], env.prices.ns[i], price_helps[i]);
    printf("\n conns  model       ");
    for (int i = 0; i < BILL_ITEMS; i++)
        printf(" %7.7s", bill_words[i].label);
    printf("  not explained\n");
    for (const struct row *r = rows.first; r; r = r->next)
        for (int i = 0; i < r->pane_count; i++)
            print_pane(r, i, &env.prices);
    rows_free(&rows);
    return 0;
}
