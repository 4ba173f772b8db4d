/* SPDX-License-Identifier: MIT */
/* The mux engines: few threads, many connections each, one way of waiting (mux_epoll.c: readiness;
 * mux_uring.c: completions, all that a pass asked for in one call). A pass sends what is due,
 * looks what came, and answers replies at once. In a turn it spins (looks with time-out 0: on
 * loopback the server pays for waking whoever sleeps) or sleeps exactly until the next request is
 * due; between turns it sleeps on the load's word. Time-outs and tries are looked for in scans ten
 * times a second, so they cost nothing a request. */
#include "load/mux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/mux_conn.h"
#include "load/mux_way.h"

#define SCAN_NS (100 * NS_PER_MS)
#define LOOK_MOST_NS (50 * NS_PER_US) /* a longer look was not ours: somebody else had the CPU */
#define LINGER_NS (20 * NS_PER_MS) /* after opening: a server that refuses says so */
#define HELD_BACK_NS (100 * NS_PER_US) /* between two looks whether the server took some */

/* --- a pass ----------------------------------------------------------------------------------- */

static void scan(struct mux *m)
{
    m->next_scan_ns = m->now_ns + m->scan_ns;
    mux_count_sleeps(m);
    int count = m->pending || m->connecting ? m->conn_count : m->in_flight ? m->asking : 0;
    for (int i = 0; i < count; i++)
        conn_scan(m, &m->conns[i]);
}

/* How long a sleep may last; UINT64_MAX: until something happens. */
static uint64_t patience_ns(const struct mux *m)
{
    bool parked = !m->counting;
    uint64_t until = m->next_due_ns;
    if (mux_may_open(m) || m->line_first >= 0)
        return 0;
    if (m->absent && m->held_back && m->now_ns + HELD_BACK_NS < until)
        until = m->now_ns + HELD_BACK_NS;
    if ((m->in_flight || m->connecting || (m->pending && !parked)) && m->next_scan_ns < until)
        until = m->next_scan_ns;
    if (parked && !m->connecting && m->now_ns + LINGER_NS < until)
        until = m->now_ns + LINGER_NS;
    if (until == UINT64_MAX)
        return until;
    return until > m->now_ns ? until - m->now_ns : 0;
}

static bool spins(const struct mux *m)
{
    return m->load->spins && m->in_turn && m->asking;
}

static int wait_events(struct mux *m)
{
    uint64_t ns = spins(m) ? 0 : patience_ns(m);
    int n = m->way->wait(m, ns);
    if (n == 0 && ns && !m->counting && !m->absent && !m->connecting)
        m->settled = true;
    return n;
}

static bool nothing_left(const struct mux *m)
{
    uint32_t phase = m->word & WORD_PHASE;
    if (phase_in_turn(phase))
        return !m->left;
    if (phase == LOAD_STOP)
        return !m->in_flight;
    return phase == LOAD_PARKED && !m->absent && !m->connecting && m->settled;
}

static void pass(struct mux *m)
{
    uint64_t start = clock_ns();
    if (m->empty_look && start - m->now_ns < LOOK_MOST_NS)
        counter_add(&m->shard->counts.spare_ns, start - m->now_ns);
    m->now_ns = start;
    bool busy = m->absent || start >= m->next_due_ns || start >= m->next_scan_ns;
    if (busy) {
        if (m->absent)
            mux_open_some(m);
        mux_send_due(m);
        if (m->now_ns >= m->next_scan_ns)
            scan(m);
        m->now_ns = clock_ns();
    }
    if (m->line_first >= 0) {
        mux_flow(m);
        busy = true;
    }
    if (busy && nothing_left(m))
        return; /* the last one timed out: nothing would end a wait */
    int n = wait_events(m);
    m->empty_look = n == 0 && !busy && spins(m);
    m->way->handle(m, n);
}

/* What a way has put off until its next wait, the end of connections too, is not left lying. */
static void rest(struct mux *m)
{
    m->way->handle(m, m->way->wait(m, 0));
    if (nothing_left(m))
        load_rest(m->load, &m->rest, m->word);
}

static void *mux_main(void *arg)
{
    struct mux *m = arg;
    load_thread_setup();
    if (m->load->own_tables)
        load_take_table(m->load, (int[]){m->wait_fd, m->wake}, 2);
    m->way->start(m);
    while ((m->word & WORD_PHASE) != PHASE_CLOSE) {
        if (word_get(m->load) != m->word)
            mux_take_word(m);
        else if (nothing_left(m))
            rest(m);
        else
            pass(m);
    }
    mux_resize(m, 0);
    m->way->stop(m);
    return NULL;
}

static void mux_free(struct mux *m)
{
    m->way->close(m);
    if (m->wake >= 0)
        close(m->wake);
    pace_fini(&m->pace);
    free(m->conns);
    free(m);
}

struct mux *mux_start(struct load *l, int index, int of, struct err *e)
{
    struct mux *m = xcalloc(1, sizeof *m);
    m->load = l;
    m->shard = &l->shards[index];
    m->index = index;
    m->of = of;
    m->way = l->way;
    m->wait_fd = m->wake = m->line_first = -1;
    m->next_due_ns = m->pace.due_ns = UINT64_MAX;
    m->sequence = (uint64_t)index << 48;
    m->scan_ns = l->timeout_ns / 4 < SCAN_NS ? l->timeout_ns / 4 : SCAN_NS;
    int cpu = l->spec.own_cpus && of <= l->spec.cpu_count ? index : -1;
    struct load_thread how = {mux_main, m, 0, cpu};
    m->wake = net_wake_open(e);
    int failed = m->wake < 0 ? m->wake : m->way->open(m, e);
    if (!failed) {
        failed = load_start_thread(l, &m->thread, &how);
        if (!failed)
            return m;
        err_set(e, failed, "thread %d of the load cannot be made: %s", index + 1, strerror(failed));
    }
    mux_free(m);
    return NULL;
}

void mux_wake(struct mux *m, uint32_t old_word)
{
    if (atomic_load_explicit(&m->rest, memory_order_acquire) != old_word)
        net_wake_signal(m->wake);
}

void mux_join(struct mux *m)
{
    pthread_join(m->thread, NULL);
    mux_free(m);
}

pthread_t mux_thread(const struct mux *m)
{
    return m->thread;
}
