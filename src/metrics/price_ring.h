/* SPDX-License-Identifier: MIT */
/* What a ring of io_uring(7) makes of a request, priced on the bench: for prices.c. */
#ifndef METRICS_PRICE_RING_H
#define METRICS_PRICE_RING_H

#include "metrics/price_bench.h"

/* Sets PRICE_ring_wait, and where the client is awake PRICE_ring_recv and PRICE_ring_send; none
 * where there is no ring. The server's thread. */
void price_ring(struct bench *b, bool alone, struct prices *out);

#endif
