/* SPDX-License-Identifier: MIT */
/* A small server for the tests of the load: a thread with an epoll set that speaks fetch and
 * behaves well or badly on order. Fields of struct fake_manners may be changed while it runs. */
#ifndef TESTS_FAKE_H
#define TESTS_FAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "load/load.h"

#define FAKE_FDS 8192
#define FAKE_STAMPS 100000

struct fake_manners {
    _Atomic uint64_t delay_ns;     /* of every reply */
    _Atomic uint64_t slow_every;   /* every so many-th request is delayed by slow_ns; 0: none */
    _Atomic uint64_t slow_ns;
    _Atomic bool silent;           /* takes requests and says nothing */
    _Atomic uint64_t reset_every;  /* resets instead of every so many-th reply */
    _Atomic uint64_t wrong_every;  /* a wrong byte in every so many-th reply */
    _Atomic uint64_t hang_up_every; /* closes after every so many-th reply */
    _Atomic long serves;           /* requests of the first so many accepted only; 0: of all */
    _Atomic long capacity;         /* connections held; further ones are reset at once */
    _Atomic bool deaf;             /* does not accept, from its next look on: fake_deafen() */
    _Atomic uint64_t accept_gap_ns; /* between two accepts */
    _Atomic uint64_t pause_ns;     /* sleeps once, this long, and clears it */
};

struct fake;

struct fake *fake_start(int backlog);
void fake_stop(struct fake *f);
struct fake_manners *fake_manners(struct fake *f);
void fake_deafen(struct fake *f); /* it does not accept any more when this returns */
void fake_address(const struct fake *f, struct net_addr *out);
void fake_read(void *fake, struct server_counts *out); /* for struct load_spec */
long fake_open(const struct fake *f);                  /* connections it holds now */

/* Monotonic times at which requests came, and over which connection (descriptor). */
struct fake_stamp {
    uint64_t t_ns;
    int fd;
    long nth; /* of the accepts, from 1 */
};
long fake_stamps(const struct fake *f, const struct fake_stamp **out);

#endif
