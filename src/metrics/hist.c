/* SPDX-License-Identifier: MIT */
/* Bucket i below 2048 holds the value i. Above, a value is shifted right until 11 bits are left;
 * the number of shifts picks the block of 1024 buckets, the low 10 bits the bucket in it: a step is
 * at most 1/1024 of the value, its middle is off by 1/2048. The writer raises `top` after the
 * bucket, so a reader copies what is in use, some ten thousand buckets, instead of all; the number
 * of values is the sum of the buckets it saw, which makes every copy whole in itself. */
#include "metrics/hist.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

struct hist *hist_new(void)
{
    return xcalloc(1, sizeof(struct hist));
}

void hist_free(struct hist *h)
{
    free(h);
}

uint32_t hist_bucket(uint64_t ns)
{
    if (ns < 2048)
        return (uint32_t)ns;
    uint32_t shift = 53u - (uint32_t)__builtin_clzll(ns);
    uint32_t bucket = 2048 + (shift - 1) * 1024 + (uint32_t)((ns >> shift) - 1024);
    return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

static uint32_t shift_of(uint32_t bucket)
{
    return bucket < 2048 ? 0 : (bucket - 2048) / 1024 + 1;
}

uint64_t hist_low(uint32_t bucket)
{
    if (bucket < 2048)
        return bucket;
    return (uint64_t)(1024 + (bucket - 2048) % 1024) << shift_of(bucket);
}

static double width_less_one(uint32_t bucket)
{
    return (double)((1ull << shift_of(bucket)) - 1);
}

void hist_add(struct hist *h, uint64_t ns)
{
    uint32_t i = hist_bucket(ns);
    _Atomic uint64_t *bucket = &h->bucket[i];
    atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&h->sum_ns, atomic_load_explicit(&h->sum_ns, memory_order_relaxed) + ns,
                          memory_order_relaxed);
    if (i > atomic_load_explicit(&h->top, memory_order_relaxed))
        atomic_store_explicit(&h->top, i, memory_order_release);
}

void hist_add_shared(struct hist *h, uint64_t ns)
{
    uint32_t i = hist_bucket(ns);
    atomic_fetch_add_explicit(&h->bucket[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum_ns, ns, memory_order_relaxed);
    uint32_t top = atomic_load_explicit(&h->top, memory_order_relaxed);
    while (i > top && !atomic_compare_exchange_weak_explicit(&h->top, &top, i, memory_order_release,
                                                             memory_order_relaxed))
        ;
}

void hist_clear(struct hist_copy *h)
{
    h->count = h->sum_ns = h->bucket[0] = 0;
    h->top = 0;
}

/* Buckets above top hold leftovers of an earlier use. */
static void grow(struct hist_copy *h, uint32_t top)
{
    while (h->top < top)
        h->bucket[++h->top] = 0;
}

void hist_read(const struct hist *h, struct hist_copy *into)
{
    uint32_t top = atomic_load_explicit(&h->top, memory_order_acquire);
    uint64_t count = 0;
    grow(into, top);
    for (uint32_t i = 0; i <= top; i++) {
        uint64_t n = atomic_load_explicit(&h->bucket[i], memory_order_relaxed);
        into->bucket[i] += n;
        count += n;
    }
    into->count += count;
    into->sum_ns += atomic_load_explicit(&h->sum_ns, memory_order_relaxed);
}

void hist_merge(struct hist_copy *into, const struct hist_copy *other)
{
    grow(into, other->top);
    for (uint32_t i = 0; i <= other->top; i++)
        into->bucket[i] += other->bucket[i];
    into->count += other->count;
    into->sum_ns += other->sum_ns;
}

void hist_diff(const struct hist_copy *now, const struct hist_copy *before, struct hist_copy *out)
{
    uint32_t used = 0, common = now->top < before->top ? now->top : before->top;
    for (uint32_t i = 0; i <= now->top; i++) {
        out->bucket[i] = now->bucket[i] - (i <= common ? before->bucket[i] : 0);
        used = out->bucket[i] ? i : used;
    }
    out->count = now->count - before->count;
    out->sum_ns = now->sum_ns - before->sum_ns;
    out->top = used;
}

double hist_percentile(const struct hist_copy *h, double pct)
{
    if (!h->count)
        return NAN;
    /* 99.9 % of 1000 is 999.0000000000001 in binary: that is rank 999, not 1000. */
    double exact = pct / 100 * (double)h->count;
    double rank = fmax(1, fmin(ceil(exact - 1e-9 * exact), (double)h->count));
    uint64_t seen = 0;
    uint32_t i = 0;
    for (;; i++) {
        seen += h->bucket[i];
        if ((double)seen >= rank || i == h->top)
            break;
    }
    return (double)hist_low(i) + width_less_one(i) / 2;
}

double hist_mean(const struct hist_copy *h)
{
    return h->count ? (double)h->sum_ns / (double)h->count : NAN;
}

double hist_max(const struct hist_copy *h)
{
    return h->count ? (double)hist_low(h->top) + width_less_one(h->top) : NAN;
}
