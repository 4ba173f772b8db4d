/* SPDX-License-Identifier: MIT */
/* The blocking engine: a thread for each connection, as the old test clients did: send, recv, until
 * the reply is whole. Between requests a paced thread sleeps on the load's word with a time-out at
 * its next due time, so a stop wakes it at once. Only the owner may end a recv that nobody answers,
 * by shutting the socket down; `waiting` and the lock make sure that it is this request's one. */
#include "load/blocking.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/futex.h"

#define BLOCKING_MOST 4000
#define STACK 65536
#define LINGER_NS (20 * NS_PER_MS)

/* --- turns ------------------------------------------------------------------------------------ */

/* What was due before t (virtual) and could not be sent counts as due, and is dropped. */
static void drop_due(struct blocker *b, uint64_t t_ns)
{
    while (b->pace.due_ns < t_ns) {
        if (b->measuring && b->pace.due_ns + b->offset_ns >= b->measure_ns)
            counter_add_shared(&blocker_shard(b)->counts.due, 1);
        pace_step(&b->pace);
    }
}

static void take_settings(struct blocker *b)
{
    struct load_want w = load_settings(b->load, &b->pace, b->index, 0);
    b->settings = w.number;
    b->size = w.size;
    b->done |= b->index >= w.connections;
    b->left = load_quota(b->load, b->index, w.connections);
}

void blocker_take_word(struct blocker *b)
{
    struct load *l = b->load;
    b->word = word_get(l);
    uint32_t phase = b->word & WORD_PHASE;
    uint64_t virtual_ns = atomic_load_explicit(&l->virtual_ns, memory_order_relaxed);
    bool begins = !b->in_turn && phase_in_turn(phase);
    if (b->in_turn && !phase_in_turn(phase))
        drop_due(b, virtual_ns);
    b->in_turn = phase_in_turn(phase);
    b->measuring = phase == LOAD_MEASURE;
    b->counting = phase != LOAD_PARKED;
    b->done |= phase == PHASE_CLOSE;
    b->offset_ns = atomic_load_explicit(&l->offset_ns, memory_order_relaxed);
    b->measure_ns = atomic_load_explicit(&l->measure_ns, memory_order_relaxed);
    if (phase == LOAD_PARKED)
        b->tried = false;
    if (atomic_load(&l->settings) != b->settings)
        take_settings(b);
    if (!begins)
        return;
    pace_seek(&b->pace, virtual_ns);
    if (b->load->fresh)
        blocker_shut(b); /* a socket that the owner shut down does not connect again */
    else if (b->fd >= 0 && !blocker_still_open(b))
        blocker_closed(b);
}

static void sleep_until(struct blocker *b, uint64_t t_ns)
{
    uint64_t now = clock_ns();
    if (t_ns <= now)
        return;
    counter_add_shared(&blocker_shard(b)->counts.sleeps, 1);
    futex_wait(&b->load->word, b->word, t_ns - now);
}

/* Keepalive: a connection is made, or its probation ends. */
static void mend(struct blocker *b)
{
    if (b->fd < 0) {
        blocker_connect(b);
        return;
    }
    b->retry_ns = 0;
    b->doubted = false;
    if (blocker_still_open(b))
        blocker_set_turned(b, false);
    else
        blocker_closed(b);
}

static void step(struct blocker *b)
{
    uint64_t now = clock_ns();
    if (now < b->retry_ns) {
        sleep_until(b, b->retry_ns);
        return;
    }
    if (b->retry_ns || (b->fd < 0 && !b->load->fresh)) {
        if (b->load->fresh)
            b->retry_ns = 0;
        else
            mend(b);
        drop_due(b, clock_ns() - b->offset_ns);
        return;
    }
    if (!b->pace.count) {
        blocker_ask(b, now);
        return;
    }
    uint64_t due_ns = b->pace.due_ns + b->offset_ns;
    if (now < due_ns) {
        sleep_until(b, due_ns);
        return;
    }
    if (b->measuring && due_ns >= b->measure_ns)
        counter_add_shared(&blocker_shard(b)->counts.due, 1);
    pace_step(&b->pace);
    blocker_ask(b, due_ns);
}

/* Opens the connection, and gives a server that refuses it the time to say so. */
static void parked(struct blocker *b)
{
    if ((b->word & WORD_PHASE) == LOAD_PARKED && b->fd < 0 && !b->tried && !b->load->fresh) {
        blocker_connect(b);
        futex_wait(&b->load->word, b->word, LINGER_NS);
        if (b->fd >= 0 && !blocker_still_open(b))
            blocker_closed(b);
        return;
    }
    blocker_publish_cpu(b, clock_ns());
    load_rest(b->load, &b->rest, b->word);
}

static void *blocker_main(void *arg)
{
    struct blocker *b = arg;
    load_thread_setup();
    while (!b->done) {
        if (word_get(b->load) != b->word)
            blocker_take_word(b);
        else if (b->in_turn && b->left)
            step(b);
        else
            parked(b);
    }
    blocker_shut(b);
    blocker_forget(b);
    blocker_publish_cpu(b, clock_ns());
    return NULL;
}

/* --- the owner's side ------------------------------------------------------------------------- */

static void join(struct blocker *b)
{
    pthread_join(b->thread, NULL);
    pthread_mutex_destroy(&b->lock);
    pace_fini(&b->pace);
    free(b);
}

static int start(struct load *l, int index)
{
    struct blocker *b = xcalloc(1, sizeof *b);
    long least = PTHREAD_STACK_MIN;
    struct load_thread how = {blocker_main, b, least > STACK ? (size_t)least : STACK, -1};
    b->load = l;
    b->index = index;
    b->fd = -1;
    b->sequence = (uint64_t)(index + 1) << 40;
    b->pace.due_ns = UINT64_MAX;
    pthread_mutex_init(&b->lock, NULL);
    int failed = load_start_thread(l, &b->thread, &how);
    if (failed) {
        pthread_mutex_destroy(&b->lock);
        free(b);
        return failed;
    }
    l->blockers[l->blocker_count++] = b;
    return 0;
}

int blocking_resize(struct load *l, int connections, struct err *e)
{
    if (connections > BLOCKING_MOST)
        return err_set(e, EAGAIN, "%d blocking connections: at most %d, a thread each", connections,
                       BLOCKING_MOST);
    while (l->blocker_count > connections) /* they have seen the settings, and end */
        join(l->blockers[--l->blocker_count]);
    l->blockers = xrealloc(l->blockers, (size_t)connections + 1, sizeof(struct blocker *));
    while (l->blocker_count < connections) {
        int failed = start(l, l->blocker_count);
        if (failed)
            return err_set(e, failed, "only %d of %d blocking threads could be made: %s",
                           l->blocker_count, connections, strerror(failed));
    }
    return 0;
}

void blocking_interrupt(struct load *l, uint32_t old_word)
{
    for (int i = 0; i < l->blocker_count; i++) {
        struct blocker *b = l->blockers[i];
        if (atomic_load(&b->rest) == old_word || !atomic_load(&b->waiting))
            continue;
        pthread_mutex_lock(&b->lock);
        if (b->fd >= 0)
            shutdown(b->fd, SHUT_RDWR);
        pthread_mutex_unlock(&b->lock);
    }
}

void blocking_stop(struct load *l)
{
    while (l->blocker_count)
        join(l->blockers[--l->blocker_count]);
    free(l->blockers);
}
