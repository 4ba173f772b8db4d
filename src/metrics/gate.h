/* SPDX-License-Identifier: MIT */
/* A gate stands before the wait of every worker of a server of ours. Shut, it keeps a worker from
 * waiting and so from everything that follows a wait; what clients send piles up in the sockets,
 * and connections in the accept queue. Opened, it lets the server work through that with nobody
 * adding to it: a figure of the server alone. */
#ifndef METRICS_GATE_H
#define METRICS_GATE_H

#include <stdint.h>

enum gate_word {
    GATE_OPEN,   /* as always */
    GATE_SHUT,   /* workers stop before their next wait */
    GATE_STAMPS  /* open, and every pass of a worker notes the time */
};

enum { /* what a model does although the gate is shut, as bits */
    GATE_PASSES_READS = 1,
    GATE_PASSES_ACCEPTS = 2
};

/* What a server tells of its gate. */
struct gate_reading {
    int workers, standing; /* standing: before the shut gate */
    unsigned passes;
    uint64_t passed_ns;  /* under GATE_STAMPS: when the first of them went on; 0: not yet */
    uint64_t drained_ns; /* end of the last pass in which bytes came in; 0: none did */
    uint64_t drained;    /* bytes that came in until then */
};

#endif
