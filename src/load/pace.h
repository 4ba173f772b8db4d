/* SPDX-License-Identifier: MIT */
/* The pace: when each connection asks. All connections of a load have the same period N/R, so the
 * order of due times is one fixed cycle: sorted once, walked by a cursor. Times are virtual (they
 * stand still between turns). Thread: the owner of the struct. */
#ifndef LOAD_PACE_H
#define LOAD_PACE_H

#include <stdint.h>

struct pace_slot {
    uint64_t phase_ns;
    uint32_t conn; /* index among the connections of this pace */
};

struct pace {
    struct pace_slot *slots; /* heap, sorted by phase */
    int count, at;
    double period_ns;
    uint64_t cycle, cycle_ns;
    uint64_t due_ns; /* of the slot at the cursor; UINT64_MAX when there are no slots */
};

/* Phases in ns for all n connections at this rate, from the seed: random within each tenth of a
 * second of the schedule, so that any second holds its share. The caller frees. */
double *pace_phases(uint64_t seed, int n, double rate);

/* Takes the connections first, first + stride ... of n; they are numbered 0, 1 ... here. The cursor
 * stands at the start. */
struct pace_share {
    int n, first, stride;
};
void pace_init(struct pace *p, const double *phases, struct pace_share share, double rate);
void pace_fini(struct pace *p);

/* Moves the cursor to the first slot due at or after t. */
void pace_seek(struct pace *p, uint64_t t_ns);

/* The connection at the cursor, and on to the next slot. */
static inline uint32_t pace_step(struct pace *p)
{
    uint32_t conn = p->slots[p->at].conn;
    if (++p->at == p->count) {
        p->at = 0;
        p->cycle++;
        p->cycle_ns = (uint64_t)((double)p->cycle * p->period_ns);
    }
    p->due_ns = p->cycle_ns + p->slots[p->at].phase_ns;
    return conn;
}

#endif
