/* SPDX-License-Identifier: MIT */
/* One connection of the mux engines, whichever way it is waited for. One that a server closes with
 * nothing outstanding is a close, not an error; one that ended before its first reply is tried
 * again later and then keeps quiet for a moment, so that a server which refuses it can say so
 * before a request makes a reset of it. */
#include "load/mux_conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/dial.h"
#include "load/mux_way.h"

enum lost { LOST_CLOSED, LOST_RESET, LOST_TIMEOUT, LOST_BYTES };

static int *tally(struct mux *m, enum conn_state s)
{
    switch (s) {
    case CONN_ABSENT: return &m->absent;
    case CONN_CONNECTING: return &m->connecting;
    case CONN_QUIET:
    case CONN_FAILED: return &m->pending;
    case CONN_OPEN:
    case CONN_BARE: break;
    }
    return NULL;
}

static void set_state(struct mux *m, struct conn *c, enum conn_state s)
{
    int *from = tally(m, c->state), *to = tally(m, s);
    if (from)
        --*from;
    if (to)
        ++*to;
    c->state = (uint8_t)s;
}

static bool established(const struct conn *c)
{
    return c->state == CONN_OPEN || c->state == CONN_QUIET;
}

bool conn_asks(const struct mux *m, const struct conn *c)
{
    return c - m->conns < m->asking && conn_can_ask(c) && m->in_turn;
}

static void set_turned(struct mux *m, struct conn *c, bool turned)
{
    if (c->turned != turned)
        atomic_fetch_add_explicit(&m->load->turned_away, turned ? 1 : -1, memory_order_relaxed);
    c->turned = turned;
}

static void note(bool *noted, _Atomic long *count)
{
    *noted = true;
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static void forget(bool *noted, _Atomic long *count)
{
    if (*noted)
        atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
    *noted = false;
}

static void count_closed(struct mux *m, const struct conn *c)
{
    if (!established(c))
        return;
    counter_add(&m->shard->counts.closed, 1);
    atomic_fetch_sub_explicit(&m->load->established, 1, memory_order_relaxed);
}

static void shut(struct mux *m, struct conn *c)
{
    count_closed(m, c);
    if (c->waiting)
        m->in_flight--;
    if (c->fd >= 0) {
        m->way->forget(m, c);
        net_close_reset(c->fd);
    }
    c->fd = -1;
    c->waiting = c->served = false;
    c->owed = 0;
    c->unsent = 0;
}

/* Ended by a reset the socket stays where it can be used again; a FIN costs it. */
void conn_leave(struct mux *m, struct conn *c)
{
    bool fin = m->load->fin;
    count_closed(m, c);
    c->served = false;
    set_state(m, c, CONN_BARE);
    if (m->way->redials && !fin && net_hang_up(c->fd) == 0)
        return;
    m->way->forget(m, c);
    if (fin)
        close(c->fd);
    else
        net_close_reset(c->fd);
    c->fd = -1;
}

void conn_drop(struct mux *m, struct conn *c)
{
    shut(m, c);
    set_turned(m, c, false);
    forget(&c->asked, &m->load->asked);
    forget(&c->answered, &m->load->served);
    set_state(m, c, CONN_ABSENT);
    m->absent--;
}

static void try_later(struct mux *m, struct conn *c, uint64_t wait_ns)
{
    set_state(m, c, CONN_FAILED);
    c->at_ns = m->now_ns + wait_ns;
}

void conn_open_failed(struct mux *m, struct conn *c, int code)
{
    if (c->state == CONN_CONNECTING) /* it is in no accept queue */
        atomic_fetch_sub_explicit(&m->load->begun, 1, memory_order_relaxed);
    shut(m, c);
    load_note_trouble(m->load, code);
    /* Our own limits count also before the first turn: who opens only once has no other. */
    if (m->counting || code == EMFILE || code == ENFILE || code == EADDRNOTAVAIL)
        counter_add(load_error_counter(&m->shard->counts, code), 1);
    try_later(m, c, RETRY_NS);
}

long conn_number(const struct mux *m, const struct conn *c)
{
    return (c - m->conns) * m->of + m->index;
}

/* A new socket, whose number in c->fd it may be. */
static int dial_first(struct mux *m, struct conn *c)
{
    const struct load_spec *spec = &m->load->spec;
    /* A request behind a connect never waits for an acknowledgement, an idle one sends nothing. */
    bool nodelay = spec->params.nodelay != 0 && !m->load->fresh && c - m->conns < m->asking;
    c->generation = ++m->generation;
    c->fd = net_connect_nth(&spec->target, conn_number(m, c), nodelay);
    if (c->fd < 0)
        return c->fd;
    net_buffers(c->fd, (int)spec->params.socket_buffer);
    return 0;
}

void conn_dial(struct mux *m, struct conn *c)
{
    bool again = c->fd >= 0;
    c->at_ns = m->now_ns;
    int failed = again ? net_connect_again(c->fd, &m->load->spec.target) : dial_first(m, c);
    if (failed) {
        conn_open_failed(m, c, -failed);
        return;
    }
    set_state(m, c, CONN_CONNECTING);
    atomic_fetch_add_explicit(&m->load->begun, 1, memory_order_relaxed);
    failed = again ? 0 : m->way->watch(m, c);
    if (failed)
        conn_open_failed(m, c, -failed);
}

void conn_open(struct mux *m, struct conn *c)
{
    if (!conn_fresh(m, c)) {
        conn_dial(m, c);
        return;
    }
    set_state(m, c, CONN_BARE);
    conn_next(m, c);
}

static _Atomic uint64_t *lost_counter(struct mux *m, enum lost why)
{
    struct load_counters *counts = &m->shard->counts;
    switch (why) {
    case LOST_RESET: return &counts->errors_reset;
    case LOST_TIMEOUT: return &counts->errors_timeout;
    case LOST_BYTES: return &counts->errors_bytes;
    case LOST_CLOSED: break;
    }
    return NULL;
}

static void lost(struct mux *m, struct conn *c, enum lost why)
{
    bool served = c->served;
    if (why == LOST_CLOSED && c->waiting) /* a request that never went out over its connection */
        why = LOST_RESET;
    _Atomic uint64_t *counter = lost_counter(m, why);
    if (counter && m->counting)
        counter_add(counter, 1);
    if (why == LOST_CLOSED && !served)
        set_turned(m, c, true);
    shut(m, c);
    c->doubted = !served && why != LOST_TIMEOUT;
    if (!c->doubted)
        conn_open(m, c);
    else
        try_later(m, c, why == LOST_CLOSED ? TURNED_AWAY_NS : RETRY_NS);
}

void conn_give_up(struct mux *m, struct conn *c)
{
    counter_add(&m->shard->counts.errors_timeout, 1);
    shut(m, c);
    conn_open(m, c);
}

void conn_begin(struct mux *m, struct conn *c, uint64_t due_ns)
{
    if (!c->asked)
        note(&c->asked, &m->load->asked);
    c->waiting = true;
    m->in_flight++;
    c->at_ns = m->now_ns;
    c->due_ns = due_ns;
    c->timed = m->measuring && due_ns >= m->measure_ns;
}

void conn_sent(struct mux *m, struct conn *c)
{
    counter_add(&m->shard->counts.asked, 1);
    if (!c->timed)
        return;
    counter_add(&m->shard->counts.sent, 1);
    if (m->paced)
        hist_add(m->shard->hists[LOAD_LATE], c->at_ns - c->due_ns);
}

void conn_ask(struct mux *m, struct conn *c, uint64_t due_ns)
{
    if (c->state == CONN_BARE) {
        fresh_ask(m, c, due_ns);
        return;
    }
    if (m->load->protocol->one_way) {
        flow_ask(m, c, due_ns);
        return;
    }
    size_t len = load_ask(m->load, &c->check, m->sequence++, m->size, m->ask);
    ssize_t n = m->way->send(m, c, len);
    if (n < 0) { /* it was closed while nothing was outstanding */
        lost(m, c, LOST_CLOSED);
        return;
    }
    c->unsent = (uint16_t)(len - (size_t)n);
    conn_begin(m, c, due_ns);
    conn_sent(m, c);
}

/* It depends on its sequence and size alone. */
size_t conn_make_again(struct mux *m, const struct conn *c)
{
    struct proto_check again;
    return load_ask(m->load, &again, c->check.sequence, c->check.size, m->ask);
}

void conn_send_rest(struct mux *m, struct conn *c)
{
    if (m->load->protocol->one_way) {
        flow_send(m, c);
        return;
    }
    size_t len = conn_make_again(m, c);
    ssize_t n = send(c->fd, m->ask + len - c->unsent, c->unsent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
        c->unsent = (uint16_t)(c->unsent - n);
}

void conn_unsent(struct mux *m, struct conn *c, ssize_t sent)
{
    if (sent >= 0) {
        c->unsent = (uint16_t)(conn_make_again(m, c) - (size_t)sent);
        return;
    }
    if (!conn_fresh(m, c)) { /* it was closed while nothing was outstanding */
        c->waiting = false;
        m->in_flight--;
    }
    lost(m, c, LOST_CLOSED);
}

void conn_next(struct mux *m, struct conn *c)
{
    if (m->load->protocol->one_way) {
        flow_next(m, c);
        return;
    }
    if (!conn_asks(m, c))
        return;
    if (!m->paced) {
        conn_ask(m, c, m->now_ns);
    } else if (c->owed) {
        uint64_t due_ns = c->owed_ns;
        c->owed--;
        c->owed_ns += (uint64_t)m->pace.period_ns;
        conn_ask(m, c, due_ns);
    }
}

static void answered(struct mux *m, struct conn *c)
{
    mux_look_at_word(m);
    struct load_shard *s = m->shard;
    counter_add(&s->counts.got, 1);
    counter_add(&s->counts.got_bytes, c->check.got);
    if (m->measuring) {
        counter_add(&s->counts.replies, 1);
        counter_add(&s->counts.reply_bytes, c->check.got);
    }
    if (c->timed) {
        counter_add(&s->counts.answered, 1);
        hist_add(s->hists[LOAD_LATENCY], m->now_ns - c->at_ns);
        if (m->paced)
            hist_add(s->hists[LOAD_RESPONSE], m->now_ns - c->due_ns);
    }
    c->waiting = false;
    m->in_flight--;
    c->left--;
    if (--m->left == 0)
        load_note_spent(m->load, m->now_ns);
    if (!c->served) {
        c->served = true;
        set_turned(m, c, false);
        if (!c->answered)
            note(&c->answered, &m->load->served);
    }
}

/* A connection that the server ends by its own word is no error: the next request has a new one. */
static void whole_reply(struct mux *m, struct conn *c, int whole, bool follows)
{
    answered(m, c);
    if (conn_fresh(m, c))
        conn_leave(m, c);
    else if (whole == PROTO_WHOLE_LAST)
        lost(m, c, LOST_CLOSED);
    if (!follows)
        conn_next(m, c);
}

/* What follows a whole reply at once is the end, or bytes that nobody asked for: seen before the
 * next request makes a reset of it. */
bool conn_came(struct mux *m, struct conn *c, const uint8_t *bytes, size_t n, bool follows)
{
    int whole = c->waiting ? m->load->protocol->check(&c->check, bytes, n) : -EBADMSG;
    if (whole < 0) {
        load_note_wrong(m->load, &c->check, c->waiting);
        lost(m, c, LOST_BYTES);
        return false;
    }
    if (!whole)
        return true;
    follows &= whole != PROTO_WHOLE_LAST && !conn_fresh(m, c);
    whole_reply(m, c, whole, follows);
    return follows;
}

void conn_ended(struct mux *m, struct conn *c, bool clean)
{
    int whole = clean && c->waiting ? load_check_end(m->load, &c->check) : 0;
    if (whole > 0) {
        whole_reply(m, c, whole, false);
        return;
    }
    /* Flat out without replies there is no moment in which nothing is on its way. */
    bool flows = m->load->protocol->one_way && !m->paced && m->in_turn;
    lost(m, c, c->waiting || flows ? LOST_RESET : LOST_CLOSED);
}

void conn_connected(struct mux *m, struct conn *c)
{
    set_state(m, c, c->doubted ? CONN_QUIET : CONN_OPEN);
    if (!c->waiting)
        c->at_ns = m->now_ns;
    counter_add(&m->shard->counts.connects, 1);
    atomic_fetch_add_explicit(&m->load->established, 1, memory_order_relaxed);
}

void conn_connecting(struct mux *m, struct conn *c, uint32_t events)
{
    m->now_ns = clock_ns();
    /* Without one of the two there is no error to ask for. */
    int result = events & (EPOLLERR | EPOLLHUP) ? net_connect_result(c->fd) : 0;
    if (result < 0 && !dial_was_connected(result)) {
        conn_open_failed(m, c, -result);
        return;
    }
    conn_connected(m, c);
    if (result < 0)
        lost(m, c, LOST_CLOSED);
    else if (!m->way->established(m, c, events))
        return;
    else if (c->waiting)
        fresh_connected(m, c);
    else
        conn_next(m, c);
}

void conn_scan(struct mux *m, struct conn *c)
{
    uint64_t timeout_ns = m->load->timeout_ns, now = m->now_ns;
    if (c->state == CONN_CONNECTING) {
        if (now >= c->at_ns + timeout_ns)
            conn_open_failed(m, c, ETIMEDOUT);
    } else if (c->state == CONN_FAILED) {
        if (now >= c->at_ns && m->counting)
            conn_open(m, c);
    } else if (c->state == CONN_QUIET) {
        if (now < c->at_ns + PROBATION_NS)
            return;
        c->doubted = false;
        set_turned(m, c, false);
        set_state(m, c, CONN_OPEN);
        conn_next(m, c);
    } else if (c->waiting && now >= c->at_ns + timeout_ns) {
        lost(m, c, LOST_TIMEOUT);
    }
}
