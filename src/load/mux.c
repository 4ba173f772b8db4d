/* SPDX-License-Identifier: MIT */
/* The mux engine: a thread, an epoll set, many connections. A pass sends what is due, looks what
 * came, and answers replies at once. In a turn it spins (looks with time-out 0: on loopback the
 * server pays for waking whoever sleeps) or sleeps exactly until the next request is due; between
 * turns it sleeps on the load's word. Time-outs and tries are looked for in scans ten times a
 * second, so they cost nothing a request. */
#include "load/mux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OPEN_AT_ONCE 64      /* connects started in one pass */
#define OPEN_WAITING 256     /* connects in progress at most */
#define SCAN_NS (100 * NS_PER_MS)
#define LINGER_NS (20 * NS_PER_MS) /* after opening: a server that refuses says so */

static void send_due(struct mux *m);

/* One event at a time: what comes due meanwhile is not kept waiting. A descriptor that a child just
 * spawned still holds may report after it was closed here: the generation tells. */
static void handle(struct mux *m, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t tag = m->events[i].data.u64;
        uint32_t at = (uint32_t)tag;
        if (tag == MUX_WAKE || at >= (uint32_t)m->conn_count)
            continue; /* the wake-up is edge-triggered: it need not be read */
        if (m->conns[at].generation == tag >> 32)
            conn_event(m, &m->conns[at], m->events[i].events);
        if (m->now_ns >= m->next_due_ns)
            send_due(m);
    }
}

/* --- turns -------------------------------------------------------------------------------------- */

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
        n = epoll_wait(m->epoll, m->events, MUX_EVENTS, 0);
        m->now_ns = clock_ns();
        handle(m, n);
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
        if (c->state != CONN_OPEN || c->waiting)
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
    if (phase == LOAD_STOP)
        end_turn(m);
    else
        set_offset(m);
    take_flags(m, phase);
}

/* --- settings ----------------------------------------------------------------------------------- */

static int share(int total, int of, int index)
{
    return (total - index + of - 1) / of;
}

static void resize(struct mux *m, int count)
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

static void take_settings(struct mux *m)
{
    struct load_want w = load_settings(m->load, &m->pace, m->index, m->of);
    m->settings = w.number;
    int asking = m->load->blocking ? 0 : w.connections;
    if (m->load->blocking)
        pace_fini(&m->pace);
    m->asking = share(asking, m->of, m->index);
    resize(m, share(asking + w.idle, m->of, m->index));
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

static void take_word(struct mux *m)
{
    uint32_t phase;
    m->word = word_get(m->load);
    phase = m->word & WORD_PHASE;
    m->now_ns = clock_ns();
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

/* --- a pass ------------------------------------------------------------------------------------- */

static void open_some(struct mux *m)
{
    int left = OPEN_AT_ONCE;
    while (m->absent && left-- && m->connecting < OPEN_WAITING) {
        while (m->conns[m->next_absent].state != CONN_ABSENT)
            m->next_absent = (m->next_absent + 1) % m->conn_count;
        conn_open(m, &m->conns[m->next_absent]);
    }
}

static void send_due(struct mux *m)
{
    while (m->now_ns >= m->next_due_ns) {
        uint64_t due_ns = m->next_due_ns;
        if (m->measuring && due_ns >= m->measure_ns)
            counter_add(&m->shard->counts.due, 1);
        struct conn *c = &m->conns[pace_step(&m->pace)];
        m->next_due_ns = m->pace.due_ns + m->offset_ns;
        if (c->state != CONN_OPEN)
            continue;
        if (c->waiting) {
            if (!c->owed++)
                c->owed_ns = due_ns;
            continue;
        }
        m->now_ns = clock_ns();
        conn_ask(m, c, due_ns);
        mux_look_at_word(m);
    }
}

static void scan(struct mux *m)
{
    m->next_scan_ns = m->now_ns + m->scan_ns;
    int count = m->pending || m->connecting ? m->conn_count : m->in_flight ? m->asking : 0;
    for (int i = 0; i < count; i++)
        conn_scan(m, &m->conns[i]);
}

/* How long a sleep may last; UINT64_MAX: until something happens. */
static uint64_t patience_ns(const struct mux *m)
{
    bool parked = !m->counting;
    uint64_t until = m->next_due_ns;
    if (m->absent && m->connecting < OPEN_WAITING)
        return 0;
    if ((m->in_flight || m->connecting || (m->pending && !parked)) && m->next_scan_ns < until)
        until = m->next_scan_ns;
    if (parked && !m->connecting && m->now_ns + LINGER_NS < until)
        until = m->now_ns + LINGER_NS;
    if (until == UINT64_MAX)
        return until;
    uint64_t now = clock_ns();
    return until > now ? until - now : 0;
}

static int sleep_once(struct mux *m, uint64_t ns)
{
    struct timespec ts = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    int n = epoll_pwait2(m->epoll, m->events, MUX_EVENTS, ns == UINT64_MAX ? NULL : &ts, NULL);
    if (n < 0 && errno == ENOSYS) { /* Linux before 5.11; rounded down: never late, looks instead */
        uint64_t ms = ns / NS_PER_MS;
        n = epoll_wait(m->epoll, m->events, MUX_EVENTS, ms > 60000 ? 60000 : (int)ms);
    }
    return n;
}

static int sleep_wait(struct mux *m, uint64_t ns)
{
    uint64_t start = clock_ns();
    int n = sleep_once(m, ns);
    m->now_ns = clock_ns();
    counter_add(&m->shard->counts.sleeps, 1);
    if (m->in_turn && m->asking)
        counter_add(&m->shard->counts.spare_ns, m->now_ns - start);
    return n;
}

static bool spins(const struct mux *m)
{
    return m->load->spins && m->in_turn && m->asking;
}

static int wait_events(struct mux *m)
{
    int n = epoll_wait(m->epoll, m->events, MUX_EVENTS, 0);
    if (n != 0 || spins(m))
        return n;
    uint64_t ns = patience_ns(m);
    if (!ns)
        return 0;
    n = sleep_wait(m, ns);
    if (n == 0 && !m->counting && !m->absent && !m->connecting)
        m->settled = true;
    return n;
}

static void pass(struct mux *m)
{
    uint64_t start = clock_ns();
    if (m->empty_look)
        counter_add(&m->shard->counts.spare_ns, start - m->now_ns);
    m->now_ns = start;
    bool busy = m->absent || start >= m->next_due_ns || start >= m->next_scan_ns;
    if (busy) {
        if (m->absent)
            open_some(m);
        send_due(m);
        if (m->now_ns >= m->next_scan_ns)
            scan(m);
    }
    int n = wait_events(m);
    m->empty_look = n == 0 && !busy && spins(m);
    handle(m, n);
}

static bool nothing_left(const struct mux *m)
{
    uint32_t phase = m->word & WORD_PHASE;
    if (phase == LOAD_STOP)
        return !m->in_flight;
    return phase == LOAD_PARKED && !m->absent && !m->connecting && m->settled;
}

static void *mux_main(void *arg)
{
    struct mux *m = arg;
    load_thread_setup();
    while ((m->word & WORD_PHASE) != PHASE_CLOSE) {
        if (word_get(m->load) != m->word)
            take_word(m);
        else if (nothing_left(m))
            load_rest(m->load, &m->rest, m->word);
        else
            pass(m);
    }
    resize(m, 0);
    return NULL;
}

static int make_set(struct mux *m, struct err *e)
{
    m->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (m->epoll < 0)
        return err_sys(e, "epoll set of a load thread");
    m->wake = net_wake_open(e);
    if (m->wake < 0)
        return m->wake;
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = MUX_WAKE};
    if (epoll_ctl(m->epoll, EPOLL_CTL_ADD, m->wake, &ev) < 0)
        return err_sys(e, "epoll set of a load thread");
    return 0;
}

static void mux_free(struct mux *m)
{
    if (m->epoll >= 0)
        close(m->epoll);
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
    m->epoll = m->wake = -1;
    m->next_due_ns = m->pace.due_ns = UINT64_MAX;
    m->sequence = (uint64_t)index << 48;
    m->scan_ns = l->timeout_ns / 4 < SCAN_NS ? l->timeout_ns / 4 : SCAN_NS;
    int cpu = l->spec.own_cpus && of <= l->spec.cpu_count ? index : -1;
    struct load_thread how = {mux_main, m, 0, cpu};
    int failed = make_set(m, e);
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
