/* SPDX-License-Identifier: MIT */
/* One connection of the mux engine. Its descriptor is registered once, edge-triggered for
 * everything, so the steady state is one recv and one send a request and no epoll_ctl: a reply that
 * is whole leaves nothing to read (one request is outstanding), and a short recv has emptied the
 * socket (epoll(7)). A connection that a server closes with nothing outstanding is a close, not an
 * error; one that ended before its first reply is tried again later and then keeps quiet for a
 * moment, so that a server which refuses it can say so before a request makes a reset of it. */
#include "load/mux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "load/dial.h"

enum lost { LOST_CLOSED, LOST_RESET, LOST_TIMEOUT, LOST_BYTES };

static int *tally(struct mux *m, enum conn_state s)
{
    switch (s) {
    case CONN_ABSENT: return &m->absent;
    case CONN_CONNECTING: return &m->connecting;
    case CONN_QUIET:
    case CONN_FAILED: return &m->pending;
    case CONN_OPEN: break;
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

static bool asks(const struct mux *m, const struct conn *c)
{
    return c - m->conns < m->asking && c->state == CONN_OPEN && !c->waiting && m->in_turn;
}

static void set_turned(struct mux *m, struct conn *c, bool turned)
{
    if (c->turned != turned)
        atomic_fetch_add_explicit(&m->load->turned_away, turned ? 1 : -1, memory_order_relaxed);
    c->turned = turned;
}

static void shut(struct mux *m, struct conn *c)
{
    if (established(c)) {
        counter_add(&m->shard->counts.closed, 1);
        atomic_fetch_sub_explicit(&m->load->established, 1, memory_order_relaxed);
    }
    if (c->waiting)
        m->in_flight--;
    if (c->fd >= 0)
        net_close_reset(c->fd);
    c->fd = -1;
    c->waiting = c->served = false;
    c->owed = 0;
    c->unsent = 0;
}

void conn_drop(struct mux *m, struct conn *c)
{
    shut(m, c);
    set_turned(m, c, false);
    set_state(m, c, CONN_ABSENT);
    m->absent--;
}

static void try_later(struct mux *m, struct conn *c, uint64_t wait_ns)
{
    set_state(m, c, CONN_FAILED);
    c->at_ns = m->now_ns + wait_ns;
}

static void open_failed(struct mux *m, struct conn *c, int code)
{
    shut(m, c);
    load_note_trouble(m->load, code);
    if (m->counting)
        counter_add(load_error_counter(&m->shard->counts, code), 1);
    try_later(m, c, RETRY_NS);
}

void conn_open(struct mux *m, struct conn *c)
{
    const struct load_spec *spec = &m->load->spec;
    c->generation = ++m->generation;
    c->at_ns = m->now_ns;
    c->fd = net_connect_start(&spec->target, spec->params.nodelay != 0);
    if (c->fd < 0) {
        open_failed(m, c, -c->fd);
        return;
    }
    struct epoll_event ev = {
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data.u64 = (uint64_t)c->generation << 32 | (uint32_t)(c - m->conns),
    };
    set_state(m, c, CONN_CONNECTING);
    if (epoll_ctl(m->epoll, EPOLL_CTL_ADD, c->fd, &ev) < 0)
        open_failed(m, c, errno);
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

void conn_ask(struct mux *m, struct conn *c, uint64_t due_ns)
{
    size_t len = m->load->protocol->ask(&c->check, m->sequence++, m->size, m->ask);
    ssize_t n = send(c->fd, m->ask, len, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        n = 0;
    if (n < 0) { /* it was closed while nothing was outstanding */
        lost(m, c, LOST_CLOSED);
        return;
    }
    c->unsent = (uint16_t)(len - (size_t)n);
    c->waiting = true;
    m->in_flight++;
    c->at_ns = m->now_ns;
    c->due_ns = due_ns;
    c->timed = m->measuring && due_ns >= m->measure_ns;
    if (!c->timed)
        return;
    counter_add(&m->shard->counts.sent, 1);
    if (m->paced)
        hist_add(m->shard->hists[LOAD_LATE], m->now_ns - due_ns);
}

/* Sends the rest of a request that the socket did not take whole. The request is made again: it
 * depends on its sequence and size alone. */
static void send_rest(struct mux *m, struct conn *c)
{
    struct proto_check again;
    size_t len = m->load->protocol->ask(&again, c->check.sequence, c->check.size, m->ask);
    ssize_t n = send(c->fd, m->ask + len - c->unsent, c->unsent, MSG_NOSIGNAL);
    if (n > 0)
        c->unsent = (uint16_t)(c->unsent - n);
}

static void next_request(struct mux *m, struct conn *c)
{
    if (!asks(m, c))
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
    m->now_ns = clock_ns();
    mux_look_at_word(m);
    struct load_shard *s = m->shard;
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
    if (!c->served) {
        c->served = true;
        set_turned(m, c, false);
    }
}

/* Takes n bytes; false when the connection waits for no more of them now. */
static bool take(struct mux *m, struct conn *c, size_t n, uint32_t events)
{
    int whole = c->waiting ? m->load->protocol->check(&c->check, m->buffer, n) : -EBADMSG;
    if (whole < 0) {
        m->now_ns = clock_ns();
        lost(m, c, LOST_BYTES);
        return false;
    }
    if (!whole)
        return n == MUX_BUFFER || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    answered(m, c);
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        lost(m, c, LOST_CLOSED);
    else
        next_request(m, c);
    return false;
}

static void readable(struct mux *m, struct conn *c, uint32_t events)
{
    for (;;) {
        ssize_t n = recv(c->fd, m->buffer, MUX_BUFFER, 0);
        if (n > 0) {
            if (!take(m, c, (size_t)n, events))
                return;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else if (n == 0 || errno != EINTR) {
            m->now_ns = clock_ns();
            lost(m, c, c->waiting ? LOST_RESET : LOST_CLOSED);
            return;
        }
    }
}

static void connected(struct mux *m, struct conn *c)
{
    set_state(m, c, c->doubted ? CONN_QUIET : CONN_OPEN);
    c->at_ns = m->now_ns;
    counter_add(&m->shard->counts.connects, 1);
    atomic_fetch_add_explicit(&m->load->established, 1, memory_order_relaxed);
}

static void connecting(struct mux *m, struct conn *c, uint32_t events)
{
    m->now_ns = clock_ns();
    int result = net_connect_result(c->fd);
    if (result < 0 && !dial_was_connected(result)) {
        open_failed(m, c, -result);
        return;
    }
    connected(m, c);
    if (result < 0)
        lost(m, c, LOST_CLOSED);
    else if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        readable(m, c, events);
    else
        next_request(m, c);
}

void conn_event(struct mux *m, struct conn *c, uint32_t events)
{
    if (c->state == CONN_CONNECTING) {
        if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
            connecting(m, c, events);
    } else if (established(c)) {
        if (c->unsent && (events & EPOLLOUT))
            send_rest(m, c);
        if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            readable(m, c, events);
    }
}

void conn_scan(struct mux *m, struct conn *c)
{
    uint64_t timeout_ns = m->load->timeout_ns, now = m->now_ns;
    if (c->state == CONN_CONNECTING) {
        if (now >= c->at_ns + timeout_ns)
            open_failed(m, c, ETIMEDOUT);
    } else if (c->state == CONN_FAILED) {
        if (now >= c->at_ns && m->counting)
            conn_open(m, c);
    } else if (c->state == CONN_QUIET) {
        if (now < c->at_ns + PROBATION_NS)
            return;
        c->doubted = false;
        set_turned(m, c, false);
        set_state(m, c, CONN_OPEN);
        next_request(m, c);
    } else if (c->waiting && now >= c->at_ns + timeout_ns) {
        lost(m, c, LOST_TIMEOUT);
    }
}
