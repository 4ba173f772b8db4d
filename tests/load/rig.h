/* SPDX-License-Identifier: MIT */
/* What the tests of the load share: a spec against the fake server, phases of a given length. */
#ifndef TESTS_LOAD_RIG_H
#define TESTS_LOAD_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake.h"
#include "load/workloads.h"

#define MS NS_PER_MS

/* Runs the tests over each of the mux engines and says so where one cannot run here. Returns what
 * main() returns. */
struct rig_tests {
    const struct CMUnitTest *tests;
    size_t count, first; /* those before the first-th run over mux alone */
};
int rig_each_engine(const struct rig_tests *t);

/* transfer, resolved: this many connections, this rate, one thread, replies of 1024 bytes, the
 * engine whose turn it is. */
struct load_spec rig_spec(struct fake *f, int connections, double rate);

/* Aims it at a port where nobody listens. */
void rig_at_nobody(struct load_spec *s);

/* Opens it and waits until all is established or has failed; fails the test otherwise. */
struct load *rig_open(const struct load_spec *spec);

void rig_sleep(uint64_t ns);

/* One turn: settles, measures, stops and waits until nothing is in flight. */
void rig_turn(struct load *l, uint64_t settle_ns, uint64_t measure_ns);

/* A standstill of the machine spoils a try, a fault of the load spoils each: runs once() until it
 * says true, five times at most, each time against a new server at *f, and fails the test then.
 * What holds on any machine, once() asserts; what needs a CPU at the right time, it asks by
 * HOLDS(), which prints what did not. */
void rig_try(struct fake **f, bool (*once)(struct fake *f, const void *arg), const void *arg);
int rig_holds(bool is, const char *what); /* no bool: & of several asks them all */
#define HOLDS(x) rig_holds((x), #x)

/* Waits at most 5 s for established == n; returns what it is. */
long rig_established(struct load *l, long n);

uint64_t rig_errors(const struct load_counts *c);

/* Waits at most ten seconds for so many errors; returns how many there are. */
uint64_t rig_wait_errors(struct load *l, uint64_t least, struct load_counts *c);

/* Waits until so many requests have come; fails after ten seconds. */
void rig_wait_asked(struct fake *f, long n);

/* What may have come due at most since then: turns last longer where this thread has no CPU. */
uint64_t rig_most_due(uint64_t start_ns, uint64_t rate, uint64_t slack);

/* One of the load's histograms; free() it. */
struct hist_copy *rig_hist(struct load *l, enum load_hist which);

#endif
