/* SPDX-License-Identifier: MIT */
/* Why not simply N independent phases: where the period is longer than what is measured (3 requests
 * a second over 400 connections), their number in a second would scatter by its square root. So the
 * cycle is cut into blocks of a tenth of a second (at least one request), each with its exact share
 * of connections at independent random times. Where a whole cycle is shorter than a tenth of a
 * second, that is N independent phases. */
#include "load/pace.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"

#define BLOCK_S 0.1

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

static int *shuffled(int n, uint64_t *state)
{
    int *order = xcalloc((size_t)n, sizeof *order);
    for (int i = 0; i < n; i++) {
        int j = (int)(random_next(state) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

double *pace_phases(uint64_t seed, int n, double rate)
{
    double *phases = xcalloc((size_t)n + 1, sizeof *phases);
    if (n < 1)
        return phases;
    double slot_ns = 1e9 / rate;
    int block = (int)fmin(n, fmax(1, ceil(rate * BLOCK_S)));
    uint64_t state = seed;
    int *order = shuffled(n, &state);
    for (int r = 0; r < n; r++) {
        int start = r / block * block, width = n - start < block ? n - start : block;
        phases[order[r]] = (start + random_unit(&state) * width) * slot_ns;
    }
    free(order);
    return phases;
}

static int by_phase(const void *a, const void *b)
{
    const struct pace_slot *x = a, *y = b;
    if (x->phase_ns != y->phase_ns)
        return x->phase_ns < y->phase_ns ? -1 : 1;
    return x->conn < y->conn ? -1 : 1;
}

void pace_init(struct pace *p, const double *phases, struct pace_share share, double rate)
{
    *p = (struct pace){.period_ns = share.n * 1e9 / rate, .due_ns = UINT64_MAX};
    p->slots = xcalloc((size_t)(share.n / share.stride + 1), sizeof *p->slots);
    for (int i = share.first; i < share.n; i += share.stride) {
        p->slots[p->count].phase_ns = (uint64_t)phases[i];
        p->slots[p->count].conn = (uint32_t)p->count;
        p->count++;
    }
    qsort(p->slots, (size_t)p->count, sizeof *p->slots, by_phase);
    pace_seek(p, 0);
}

void pace_fini(struct pace *p)
{
    free(p->slots);
    *p = (struct pace){.due_ns = UINT64_MAX};
}

static int first_at_or_after(const struct pace *p, uint64_t phase_ns)
{
    int low = 0, high = p->count;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (p->slots[mid].phase_ns < phase_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void pace_seek(struct pace *p, uint64_t t_ns)
{
    if (!p->count)
        return;
    p->cycle = (uint64_t)((double)t_ns / p->period_ns);
    p->cycle_ns = (uint64_t)((double)p->cycle * p->period_ns);
    p->at = first_at_or_after(p, t_ns > p->cycle_ns ? t_ns - p->cycle_ns : 0);
    if (p->at == p->count) {
        p->at = 0;
        p->cycle++;
        p->cycle_ns = (uint64_t)((double)p->cycle * p->period_ns);
    }
    p->due_ns = p->cycle_ns + p->slots[p->at].phase_ns;
}
