/* SPDX-License-Identifier: MIT */
/* Opening many connections. They begin in batches, each no larger than what half of the accept
 * queue still takes: what the server has accepted is read from its counters, so a queue does not
 * overflow however slow a model is at that moment (a lost SYN costs a second). A server whose
 * counters are not ours gets batches as they come. The order of opening decides about the numbers
 * of the descriptors at the server, which select and poll walk in that order. */
#include "load/mux_conn.h"

#include <limits.h>

#define OPEN_AT_ONCE 64             /* connects begun in one pass */
#define STALL_NS (250 * NS_PER_MS)  /* a server that takes none meanwhile is given one batch more */

/* The connection at the kth place in the order of opening. */
static int in_order(const struct mux *m, int k)
{
    int64_t asking = m->asking, n = m->conn_count;
    if (m->load->spec.params.active_at == ACTIVE_LAST)
        return (int)((k + asking) % n);
    if (m->load->spec.params.active_at != ACTIVE_SPREAD)
        return k;
    int64_t before = (k * asking + n - 1) / n; /* of those that ask, spaced evenly */
    bool asks = before < asking && before * n / asking == k;
    return (int)(asks ? before : asking + k - before);
}

static long begun(const struct mux *m)
{
    return atomic_load_explicit(&m->load->begun, memory_order_relaxed);
}

/* How many connects may have been begun in all. */
static long limit(struct mux *m)
{
    uint64_t taken = load_taken(m->load);
    if (taken == UINT64_MAX)
        return LONG_MAX;
    if (taken != m->taken || !m->taken_ns) {
        m->taken = taken;
        m->taken_ns = m->now_ns;
    }
    long most = (long)taken + m->load->queue_most, now = begun(m);
    if (now < most || m->now_ns < m->taken_ns + STALL_NS)
        return most;
    m->taken_ns = m->now_ns;
    return now + OPEN_AT_ONCE;
}

void mux_open_some(struct mux *m)
{
    long most = limit(m);
    for (int i = 0; m->absent && i < OPEN_AT_ONCE && m->connecting < MUX_CONNECTING; i++) {
        m->held_back = begun(m) >= most; /* other threads open too */
        if (m->held_back)
            return;
        while (m->conns[in_order(m, m->next_absent)].state != CONN_ABSENT)
            m->next_absent = (m->next_absent + 1) % m->conn_count;
        conn_open(m, &m->conns[in_order(m, m->next_absent)]);
    }
}
