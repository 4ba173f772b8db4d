/* SPDX-License-Identifier: MIT */
/* A worker comes to the gate between two waits, and one that sleeps in its wait does not come by
 * itself. So each is woken by something to accept: a connection, kept open until the measurement is
 * over, because its end would be work as well. With several workers the kernel chooses who is
 * woken, so it takes a few. */
#include "load/drain.h"

#include <stdio.h>

#include "base/clock.h"

#define SHUT_NS (2 * NS_PER_S)
#define KNOCK_NS (20 * NS_PER_MS) /* between two */
#define LOOK_NS (100 * NS_PER_US)

static void read_gate(const struct drain *d, struct gate_reading *g)
{
    d->spec->gate_read(d->spec->server_ctx, g);
}

static void set_gate(const struct drain *d, enum gate_word word)
{
    d->spec->gate_set(d->spec->server_ctx, word);
}

/* True once all stand there, at most KNOCK_NS later. */
static bool all_stand(const struct drain *d)
{
    struct gate_reading g;
    for (uint64_t end = clock_ns() + KNOCK_NS; clock_ns() < end;) {
        read_gate(d, &g);
        if (g.standing >= g.workers)
            return true;
        clock_sleep_until(clock_ns() + LOOK_NS);
    }
    return false;
}

static void knock(struct drain *d)
{
    int fd = net_connect_start(&d->spec->target, false);
    if (fd >= 0)
        d->knock[d->knocks++] = fd;
}

static bool stands(struct drain *d)
{
    for (uint64_t end = clock_ns() + SHUT_NS; clock_ns() < end && d->knocks < DRAIN_KNOCKS;) {
        if (all_stand(d))
            return true;
        knock(d);
    }
    return false;
}

bool drain_shut(struct drain *d, const struct load_spec *spec, unsigned held, char *note,
                size_t size)
{
    struct gate_reading g;
    *d = (struct drain){.spec = spec};
    if (!spec->gate_set) {
        snprintf(note, size, "this server has no gate");
        return false;
    }
    read_gate(d, &g);
    if (g.passes & held) {
        snprintf(note, size, "the gate does not hold this model back: it %s outside its wait",
                 g.passes & held & GATE_PASSES_READS ? "reads" : "accepts");
        return false;
    }
    set_gate(d, GATE_SHUT);
    if (stands(d))
        return true;
    set_gate(d, GATE_OPEN);
    snprintf(note, size, "the server did not come to its gate");
    return false;
}

void drain_open(struct drain *d)
{
    set_gate(d, GATE_STAMPS);
}

void drain_end(struct drain *d)
{
    if (d->spec->gate_set)
        set_gate(d, GATE_OPEN);
    while (d->knocks > 0)
        net_close_reset(d->knock[--d->knocks]);
}
