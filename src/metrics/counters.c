/* SPDX-License-Identifier: MIT */
/* Sums and differences of counters, field by field from the tables. Readings of several workers are
 * not one moment, and a server that was started again begins at 0: a difference that would be
 * negative is 0, never a number near 2^64. */
#include "metrics/counters.h"

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

void server_counts_add(struct server_counts *into, const struct server_counters *c)
{
    uint64_t latest = into->last_accept_ns;
#define X(id, help) into->id += counter_get(&c->id);
    SERVER_COUNTERS(X)
#undef X
    uint64_t accepted = counter_get(&c->last_accept_ns);
    into->last_accept_ns = accepted > latest ? accepted : latest;
}

void load_counts_add(struct load_counts *into, const struct load_counters *c)
{
#define X(id, help) into->id += counter_get(&c->id);
    LOAD_COUNTERS(X)
#undef X
}

void server_counts_sum(struct server_counts *into, const struct server_counts *more)
{
#define X(id, help) into->id += more->id;
    SERVER_COUNTERS(X)
#undef X
    into->last_accept_ns = more->last_accept_ns;
}

void load_counts_sum(struct load_counts *into, const struct load_counts *more)
{
#define X(id, help) into->id += more->id;
    LOAD_COUNTERS(X)
#undef X
}

void server_counts_diff(const struct server_counts *now, const struct server_counts *before,
                        struct server_counts *out)
{
    uint64_t latest = now->last_accept_ns;
#define X(id, help) out->id = grown(now->id, before->id);
    SERVER_COUNTERS(X)
#undef X
    out->last_accept_ns = latest;
}

void load_counts_diff(const struct load_counts *now, const struct load_counts *before,
                      struct load_counts *out)
{
#define X(id, help) out->id = grown(now->id, before->id);
    LOAD_COUNTERS(X)
#undef X
}
