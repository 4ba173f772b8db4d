/* SPDX-License-Identifier: MIT */
/* What a new word means to a mux thread: turns begin and end, settings change; and sending what is
 * due in a turn. */
#include <stdlib.h>
#include <sys/resource.h>

#include "load/mux_conn.h"
#include "load/mux_way.h"

void mux_send_overdue(struct mux *m)
{
    while (m->now_ns >= m->next_due_ns) {
        uint64_t due_ns = m->next_due_ns;
        if (m->measuring && due_ns >= m->measure_ns)
            counter_add(&m->shard->counts.due, 1);
        struct conn *c = &m->conns[pace_step(&m->pace)];
        m->next_due_ns = m->pace.due_ns + m->offset_ns;
        if (c->waiting && !c->owed++)
            c->owed_ns = due_ns;
        if (!conn_can_ask(c))
            continue;
        m->now_ns = clock_ns();
        conn_ask(m, c, due_ns);
        mux_look_at_word(m);
    }
}

/* --- turns ------------------------------------------------------------------------------------ */

/* As the kernel counts: a wait that finds something at once looks like one that slept. */
void mux_count_sleeps(struct mux *m)
{
    struct rusage u;
    if (getrusage(RUSAGE_THREAD, &u) == 0)
        counter_set(&m->shard->counts.sleeps, (uint64_t)u.ru_nvcsw);
}

static void take_flags(struct mux *m, uint32_t phase)
{
    m->measuring = phase == LOAD_MEASURE;
    m->counting = phase != LOAD_PARKED;
    m->measure_ns = atomic_load_explicit(&m->load->measure_ns, memory_order_relaxed);
}

/* What happened while parked is seen before the first request goes out, so that a connection closed
 * meanwhile is a close and no reset. */
static void catch_up(struct mux *m)
{
    int n;
    do {
        n = m->way->wait(m, 0);
        m->now_ns = clock_ns();
        m->way->handle(m, n);
    } while (n == MUX_EVENTS);
}

static void set_offset(struct mux *m)
{
    m->offset_ns = atomic_load_explicit(&m->load->offset_ns, memory_order_relaxed);
    m->next_due_ns = m->paced && m->pace.count ? m->pace.due_ns + m->offset_ns : UINT64_MAX;
}

static void all_ask(struct mux *m)
{
    for (int i = 0; i < m->asking && m->in_turn; i++) {
        struct conn *c = &m->conns[i];
        if (!conn_can_ask(c))
            continue;
        m->now_ns = clock_ns();
        conn_ask(m, c, m->now_ns);
        mux_look_at_word(m);
    }
}

static void begin_turn(struct mux *m, uint32_t phase)
{
    m->counting = true;
    catch_up(m);
    for (int i = 0; i < m->asking; i++)
        m->conns[i].owed = 0;
    m->in_turn = true;
    take_flags(m, phase);
    m->next_scan_ns = m->now_ns;
    pace_seek(&m->pace, atomic_load_explicit(&m->load->virtual_ns, memory_order_relaxed));
    set_offset(m);
    if (!m->paced)
        all_ask(m);
}

/* What was due before the stop and is not sent counts as due, and is dropped. */
static void end_turn(struct mux *m)
{
    uint64_t stop_ns = atomic_load_explicit(&m->load->virtual_ns, memory_order_relaxed);
    m->in_turn = false;
    flow_clear(m);
    m->next_due_ns = UINT64_MAX;
    if (!m->paced)
        return;
    while (m->pace.due_ns < stop_ns) {
        if (m->measuring && m->pace.due_ns + m->offset_ns >= m->measure_ns)
            counter_add(&m->shard->counts.due, 1);
        pace_step(&m->pace);
    }
}

void mux_turn_over(struct mux *m)
{
    uint32_t word = word_get(m->load), phase = word & WORD_PHASE;
    if (!m->in_turn || !(phase_in_turn(phase) || phase == LOAD_STOP))
        return;
    m->word = word;
    mux_count_sleeps(m);
    if (phase == LOAD_STOP)
        end_turn(m);
    else
        set_offset(m);
    take_flags(m, phase);
}

/* --- settings --------------------------------------------------------------------------------- */

static int share(int total, int of, int index)
{
    return (total - index + of - 1) / of;
}

void mux_resize(struct mux *m, int count)
{
    for (int i = count; i < m->conn_count; i++)
        conn_drop(m, &m->conns[i]);
    m->conns = xrealloc(m->conns, (size_t)count + 1, sizeof *m->conns);
    for (int i = m->conn_count; i < count; i++) {
        m->conns[i] = (struct conn){.fd = -1, .state = CONN_ABSENT};
        m->absent++;
    }
    m->conn_count = count;
    m->next_absent = 0;
}

static void share_budget(struct mux *m, int asking)
{
    m->left = m->load->spec.budget ? 0 : UINT64_MAX;
    for (int i = 0; i < m->asking; i++) {
        m->conns[i].left = load_quota(m->load, i * m->of + m->index, asking);
        m->left += m->load->spec.budget ? m->conns[i].left : 0;
    }
}

/* Connections that were opened as idle ones ask from now on. */
static void idle_ask(struct mux *m, int first)
{
    bool nodelay = m->load->spec.params.nodelay != 0;
    for (int i = first; i < m->asking && nodelay; i++)
        if (m->conns[i].fd >= 0)
            net_nodelay(m->conns[i].fd);
}

static void take_settings(struct mux *m)
{
    struct load_want w = load_settings(m->load, &m->pace, m->index, m->of);
    int asked = m->asking;
    m->settings = w.number;
    int asking = m->load->blocking ? 0 : w.connections;
    if (m->load->blocking)
        pace_fini(&m->pace);
    m->asking = share(asking, m->of, m->index);
    mux_resize(m, share(asking + w.idle, m->of, m->index));
    share_budget(m, asking);
    fresh_roles(m);
    idle_ask(m, asked);
    m->size = w.size;
    m->paced = w.rate < PARAM_MAX;
}

static void park(struct mux *m)
{
    m->settled = false;
    for (int i = 0; i < m->asking; i++)
        if (m->conns[i].waiting)
            conn_give_up(m, &m->conns[i]);
}

void mux_take_word(struct mux *m)
{
    uint32_t phase;
    m->word = word_get(m->load);
    phase = m->word & WORD_PHASE;
    m->now_ns = clock_ns();
    mux_count_sleeps(m);
    m->empty_look = false;
    if (m->in_turn && !phase_in_turn(phase))
        end_turn(m);
    if (atomic_load(&m->load->settings) != m->settings)
        take_settings(m);
    if (!m->in_turn && phase_in_turn(phase)) {
        begin_turn(m, phase);
        return;
    }
    if (m->in_turn)
        set_offset(m);
    take_flags(m, phase);
    if (phase == LOAD_PARKED)
        park(m);
}
