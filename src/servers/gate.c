/* SPDX-License-Identifier: MIT */
/* Workers sleep before a shut gate on a futex, so a server that stands there costs no CPU. The end
 * of the work behind it is noted between two passes, from the counters that the pass left: no clock
 * is read for a recv, and none at all once the gate is plainly open again. */
#include "servers/gate.h"

#include "base/clock.h"
#include "base/futex.h"
#include "servers/worker.h"

void gate_set(struct gate *g, enum gate_word word)
{
    if (word == GATE_SHUT) {
        atomic_store(&g->passed_ns, 0);
        atomic_store(&g->drained_ns, 0);
        atomic_store(&g->drained, 0);
    }
    atomic_store(&g->word, word);
    futex_wake_all(&g->word);
}

void gate_read(const struct gate *g, struct gate_reading *out)
{
    uint64_t drained = atomic_load(&g->drained); /* first: its time is written before it */
    *out = (struct gate_reading){
        .standing = (int)atomic_load(&g->standing),
        .passes = atomic_load(&g->passes),
        .passed_ns = atomic_load(&g->passed_ns),
        .drained = drained,
        .drained_ns = atomic_load(&g->drained_ns),
    };
}

static void stand(struct worker *w)
{
    struct gate *g = w->gate;
    atomic_fetch_add(&g->standing, 1);
    while (atomic_load(&g->word) == GATE_SHUT && !worker_stopping(w))
        futex_wait(&g->word, GATE_SHUT, 0);
    atomic_fetch_sub(&g->standing, 1);
    w->gate_bytes = counter_get(&w->count->bytes_in);
}

static void raise_to(_Atomic uint64_t *latest, uint64_t t_ns)
{
    uint64_t was = atomic_load(latest);
    while (was < t_ns && !atomic_compare_exchange_weak(latest, &was, t_ns))
        ;
}

static void stamp(struct worker *w)
{
    uint64_t now = clock_ns(), never = 0, bytes = counter_get(&w->count->bytes_in);
    atomic_compare_exchange_strong(&w->gate->passed_ns, &never, now);
    if (bytes == w->gate_bytes)
        return;
    raise_to(&w->gate->drained_ns, now);
    atomic_fetch_add(&w->gate->drained, bytes - w->gate_bytes);
    w->gate_bytes = bytes;
}

void gate_hold(struct worker *w)
{
    if (atomic_load(&w->gate->word) == GATE_SHUT)
        stand(w);
    if (atomic_load(&w->gate->word) == GATE_STAMPS)
        stamp(w);
}
