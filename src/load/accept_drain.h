/* SPDX-License-Identifier: MIT */
/* How fast a server empties a full accept queue. Thread: the pass's. */
#ifndef LOAD_ACCEPT_DRAIN_H
#define LOAD_ACCEPT_DRAIN_H

#include "load/load.h"

/* Makes the spec's number of connections while the server stands at its gate, and opens it: how
 * many it accepts a second then. METRIC_NONE where the queue does not hold so many, where it
 * failed, and, with why in note (size bytes), where the server has no gate for that. `off`: true
 * ends it early. */
double accept_drain_per_s(const struct load_spec *spec, const _Atomic bool *off, char *note,
                          size_t size);

#endif
