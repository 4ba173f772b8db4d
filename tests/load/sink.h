/* SPDX-License-Identifier: MIT */
/* A server that only takes, for the tests of loads that wait for no reply: a thread with an epoll
 * set, a gate, and manners that may be changed while it runs. */
#ifndef TESTS_SINK_H
#define TESTS_SINK_H

#include "rig.h"

struct sink_manners {
    _Atomic bool silent;           /* accepts, and reads nothing */
    _Atomic bool passes;           /* its gate does not hold it back, and it says so */
    _Atomic uint64_t gap_ns;       /* before each read */
    _Atomic uint64_t first_gap_ns; /* before the first read behind the gate */
    _Atomic uint64_t reset_every;  /* resets instead of every so many-th read */
    _Atomic uint64_t read_most;    /* bytes of one read */
};

struct sink;

struct sink *sink_start(void);
void sink_stop(struct sink *s);
struct sink_manners *sink_manners(struct sink *s);
struct server_counts sink_counts(struct sink *s);
/* The least and the most bytes that came over one of the connections it holds. */
void sink_shares(struct sink *s, uint64_t *least, uint64_t *most);

/* A workload against it, resolved, with this many connections and one load thread, and everything
 * that a pass may ask of a server. */
struct load_spec sink_spec(struct sink *s, const char *workload, int connections);

/* How often its passes said that the measured part begins and ends, and how much it had read
 * then. */
struct sink_marks {
    int begins, ends;
    uint64_t begin_bytes, end_bytes;
};
struct sink_marks sink_marks(struct sink *s);

#endif
