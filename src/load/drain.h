/* SPDX-License-Identifier: MIT */
/* For passes that measure a server alone: it stands at its gate while work piles up before it, then
 * works through that with nobody adding to it. Thread: the pass's. */
#ifndef LOAD_DRAIN_H
#define LOAD_DRAIN_H

#include "load/load.h"

#define DRAIN_KNOCKS 64

struct drain {
    const struct load_spec *spec;
    int knocks;
    int knock[DRAIN_KNOCKS]; /* connections that woke its workers */
};

/* Shuts the gate and waits, two seconds at most, until all workers stand there. `held`: what the
 * gate must hold back (GATE_PASSES_*). False with why in note (size bytes) when that is not to be
 * had here: then it is open. drain_end() in both cases. */
bool drain_shut(struct drain *d, const struct load_spec *spec, unsigned held, char *note,
                size_t size);

/* Opens it; from now on its times are noted. */
void drain_open(struct drain *d);

/* The gate as always; closes the connections that woke the workers. */
void drain_end(struct drain *d);

#endif
