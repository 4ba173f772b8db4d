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
#define LOOK_MOST_NS (50 * NS_PER_US) /* a longer look was not ours: somebody else had the CPU */
#define LINGER_NS (20 * NS_PER_MS) /* after opening: a server that refuses says so */

/* --- a pass ----------------------------------------------------------------------------------- */

static void open_some(struct mux *m)
{
    int left = OPEN_AT_ONCE;
    while (m->absent && left-- && m->connecting < OPEN_WAITING) {
        while (m->conns[m->next_absent].state != CONN_ABSENT)
            m->next_absent = (m->next_absent + 1) % m->conn_count;
        conn_open(m, &m->conns[m->next_absent]);
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
    if (m->empty_look && start - m->now_ns < LOOK_MOST_NS)
        counter_add(&m->shard->counts.spare_ns, start - m->now_ns);
    m->now_ns = start;
    bool busy = m->absent || start >= m->next_due_ns || start >= m->next_scan_ns;
    if (busy) {
        if (m->absent)
            open_some(m);
        mux_send_due(m);
        if (m->now_ns >= m->next_scan_ns)
            scan(m);
    }
    int n = wait_events(m);
    m->empty_look = n == 0 && !busy && spins(m);
    mux_handle(m, n);
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
            mux_take_word(m);
        else if (nothing_left(m))
            load_rest(m->load, &m->rest, m->word);
        else
            pass(m);
    }
    mux_resize(m, 0);
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
