/* SPDX-License-Identifier: MIT */
/* One io_uring_enter(2) submits what was made and waits, so it is what the other models' waits are
 * compared with; one that only submits is no wait. */
#include "servers/uring.h"

#include "base/clock.h"

int uring_wait(struct worker *w, struct uring *r, unsigned wanted, int timeout_ms, struct err *e)
{
    counter_add(&w->count->submissions, r->queued);
    r->queued = 0;
    int rc = uring_enter(r, wanted,
                         timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * NS_PER_MS, e);
    if (wanted > 0)
        counter_add(&w->count->waits, 1);
    return rc;
}

unsigned uring_take(struct worker *w, struct uring *r, struct io_uring_cqe **cqes)
{
    unsigned most = w->events < URING_BATCH ? (unsigned)w->events : URING_BATCH;
    unsigned n = uring_collect(r, cqes, most);
    counter_add(&w->count->events, n);
    counter_add(&w->count->looks, n);
    counter_add(&w->count->completions, n);
    return n;
}

int uring_pause_ms(const struct worker *w)
{
    if (!w->accept_paused)
        return -1;
    uint64_t now = clock_ns();
    return now >= w->accept_again_ns ? 0 : (int)((w->accept_again_ns - now) / NS_PER_MS) + 1;
}
