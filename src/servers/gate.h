/* SPDX-License-Identifier: MIT */
/* The gate of a server (metrics/gate.h): one word in the memory that it shares with its owner, read
 * before every wait. */
#ifndef SERVERS_GATE_H
#define SERVERS_GATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "metrics/gate.h"

struct worker;

struct gate {
    /* The owner's. Nobody writes this line while a server is measured as always. */
    _Alignas(128) _Atomic uint32_t word;

    /* The workers', at a gate that is or was shut. */
    _Alignas(128) _Atomic uint32_t standing, passes;
    _Atomic uint64_t passed_ns, drained_ns, drained;
};

/* The owner's side. Shutting it clears what was noted. */
void gate_set(struct gate *g, enum gate_word word);
void gate_read(const struct gate *g, struct gate_reading *out);

/* A worker's side, when the word is not GATE_OPEN: sleeps while it is shut and the server is not
 * stopping; notes the times. */
void gate_hold(struct worker *w);

#endif
