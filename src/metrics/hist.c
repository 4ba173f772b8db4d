/* SPDX-License-Identifier: MIT */
/* Bucket i below 2048 holds the value i. Above, a value is shifted right until 11 bits are left;
 * the number of shifts picks the block of 1024 buckets, the low 10 bits the bucket in it: a step is
 * at most 1/1024 of the value, its middle is off by 1/2048. Latencies touch few of the blocks of 64
 * buckets: the writer marks a block after its bucket, and readers look at marked blocks only. The
 * number of values is the sum of the buckets seen, which makes every copy whole in itself. */
#include "metrics/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    uint32_t i = hist_bucket(ns), block = i / HIST_BLOCK;
    uint64_t bit = 1ull << block % 64;
    _Atomic uint64_t *bucket = &h->bucket[i], *word = &h->used[block / 64];
    atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&h->sum_ns, atomic_load_explicit(&h->sum_ns, memory_order_relaxed) + ns,
                          memory_order_relaxed);
    uint64_t used = atomic_load_explicit(word, memory_order_relaxed);
    if (!(used & bit))
        atomic_store_explicit(word, used | bit, memory_order_release);
}

void hist_add_shared(struct hist *h, uint64_t ns)
{
    uint32_t i = hist_bucket(ns), block = i / HIST_BLOCK;
    uint64_t bit = 1ull << block % 64;
    atomic_fetch_add_explicit(&h->bucket[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum_ns, ns, memory_order_relaxed);
    if (!(atomic_load_explicit(&h->used[block / 64], memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(&h->used[block / 64], bit, memory_order_release);
}

void hist_clear(struct hist_copy *h)
{
    h->count = h->sum_ns = 0;
    memset(h->used, 0, sizeof h->used);
}

/* The next block of the set from `block` on; -1 when there is none. */
static int next_used(const uint64_t *used, int block)
{
    for (int w = block / 64; w < HIST_WORDS; w++) {
        uint64_t left = used[w];
        if (w == block / 64)
            left &= ~0ull << block % 64;
        if (left)
            return w * 64 + __builtin_ctzll(left);
    }
    return -1;
}

static bool is_used(const struct hist_copy *h, int block)
{
    return h->used[block / 64] >> block % 64 & 1;
}

/* The buckets of a block, zeroed when it comes into use. */
static uint64_t *use(struct hist_copy *h, int block)
{
    uint64_t *b = &h->bucket[block * HIST_BLOCK];
    if (!is_used(h, block)) {
        memset(b, 0, HIST_BLOCK * sizeof *b);
        h->sum[block] = 0;
    }
    h->used[block / 64] |= 1ull << block % 64;
    return b;
}

void hist_read(const struct hist *h, struct hist_copy *into)
{
    uint64_t used[HIST_WORDS];
    for (int w = 0; w < HIST_WORDS; w++)
        used[w] = atomic_load_explicit(&h->used[w], memory_order_acquire);
    for (int block = next_used(used, 0); block >= 0; block = next_used(used, block + 1)) {
        uint64_t *b = use(into, block), sum = 0;
        for (int i = 0; i < HIST_BLOCK; i++) {
            uint64_t n = atomic_load_explicit(&h->bucket[block * HIST_BLOCK + i],
                                              memory_order_relaxed);
            b[i] += n;
            sum += n;
        }
        into->sum[block] += sum;
        into->count += sum;
    }
    into->sum_ns += atomic_load_explicit(&h->sum_ns, memory_order_relaxed);
}

void hist_merge(struct hist_copy *into, const struct hist_copy *other)
{
    for (int block = next_used(other->used, 0); block >= 0;
         block = next_used(other->used, block + 1)) {
        uint64_t *b = use(into, block);
        for (int i = 0; i < HIST_BLOCK; i++)
            b[i] += other->bucket[block * HIST_BLOCK + i];
        into->sum[block] += other->sum[block];
    }
    into->count += other->count;
    into->sum_ns += other->sum_ns;
}

void hist_diff(const struct hist_copy *now, const struct hist_copy *before, struct hist_copy *out)
{
    uint64_t used[HIST_WORDS];
    memcpy(used, now->used, sizeof used); /* out may be now */
    uint64_t count = now->count - before->count, sum_ns = now->sum_ns - before->sum_ns;
    for (int block = next_used(used, 0); block >= 0; block = next_used(used, block + 1)) {
        bool old = is_used(before, block);
        uint64_t sum = now->sum[block] - (old ? before->sum[block] : 0);
        if (!sum)
            used[block / 64] &= ~(1ull << block % 64);
        out->sum[block] = sum;
        for (int i = block * HIST_BLOCK; sum && i < (block + 1) * HIST_BLOCK; i++)
            out->bucket[i] = now->bucket[i] - (old ? before->bucket[i] : 0);
    }
    memcpy(out->used, used, sizeof used);
    out->count = count;
    out->sum_ns = sum_ns;
}

static uint64_t rank_of(const struct hist_copy *h, double pct)
{
    /* 99.9 % of 1000 is 999.0000000000001 in binary: that is rank 999, not 1000. */
    double exact = pct / 100 * (double)h->count;
    return (uint64_t)fmax(1, fmin(ceil(exact - 1e-9 * exact), (double)h->count));
}

static double middle(uint32_t bucket)
{
    return (double)hist_low(bucket) + width_less_one(bucket) / 2;
}

/* The bucket of a block in which the rank is reached, when `seen` lie below the block. */
static uint32_t bucket_of_rank(const struct hist_copy *h, int block, uint64_t seen, uint64_t rank)
{
    uint32_t i = (uint32_t)block * HIST_BLOCK;
    while ((seen += h->bucket[i]) < rank)
        i++;
    return i;
}

void hist_percentiles(const struct hist_copy *h, const double *pct, int n, double *out)
{
    uint64_t seen = 0;
    int k = 0;
    for (int block = next_used(h->used, 0); block >= 0 && k < n;
         block = next_used(h->used, block + 1)) {
        for (; k < n && rank_of(h, pct[k]) <= seen + h->sum[block]; k++)
            out[k] = middle(bucket_of_rank(h, block, seen, rank_of(h, pct[k])));
        seen += h->sum[block];
    }
    while (k < n)
        out[k++] = NAN;
}

double hist_percentile(const struct hist_copy *h, double pct)
{
    double out;
    hist_percentiles(h, &pct, 1, &out);
    return out;
}

double hist_mean(const struct hist_copy *h)
{
    return h->count ? (double)h->sum_ns / (double)h->count : NAN;
}

double hist_max(const struct hist_copy *h)
{
    for (int block = HIST_BLOCKS - 1; block >= 0; block--) {
        if (!is_used(h, block) || !h->sum[block])
            continue;
        uint32_t i = (uint32_t)(block + 1) * HIST_BLOCK - 1;
        while (!h->bucket[i])
            i--;
        return (double)hist_low(i) + width_less_one(i);
    }
    return NAN;
}

uint64_t hist_between(const struct hist_copy *h, uint64_t low_ns, uint64_t high_ns)
{
    uint64_t n = 0;
    for (uint32_t i = hist_bucket(low_ns); i < HIST_BUCKETS && hist_low(i) < high_ns; i++)
        if (hist_low(i) >= low_ns && is_used(h, (int)(i / HIST_BLOCK)))
            n += h->bucket[i];
    return n;
}
