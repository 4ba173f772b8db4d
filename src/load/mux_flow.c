/* SPDX-License-Identifier: MIT */
/* Messages of a protocol without replies. One is over when the socket has taken all of it. Flat out
 * the connections take turns, a few messages each (load_together()); one whose socket is full
 * leaves the line until there is room. Paced, each message goes at its own time, and only those
 * stand in line that owe one because the one before did not fit. */
#include "load/mux_conn.h"
#include "load/mux_way.h"

#include <errno.h>
#include <sys/socket.h>

#define IN_A_ROW 16 /* sends between two looks at what came */

static void push(struct mux *m, struct conn *c)
{
    int at = (int)(c - m->conns);
    if (c->in_line)
        return;
    c->in_line = true;
    c->next = -1;
    if (m->line_first < 0)
        m->line_first = at;
    else
        m->conns[m->line_last].next = at;
    m->line_last = at;
}

static struct conn *pop(struct mux *m)
{
    struct conn *c = &m->conns[m->line_first];
    m->line_first = c->next;
    c->in_line = false;
    return c;
}

void flow_next(struct mux *m, struct conn *c)
{
    if (conn_asks(m, c) && (!m->paced || c->owed))
        push(m, c);
}

void flow_clear(struct mux *m)
{
    while (m->line_first >= 0)
        pop(m);
}

static void sent(struct mux *m, struct conn *c)
{
    c->waiting = false;
    c->unsent = 0;
    c->served = true;
    m->in_flight--;
    if (c->timed)
        counter_add(&m->shard->counts.sent, c->check.size / m->size);
    flow_next(m, c);
}

void flow_send(struct mux *m, struct conn *c)
{
    const uint8_t *bytes;
    size_t n;
    while ((n = m->load->protocol->flow(&c->check, &bytes)) > 0) {
        ssize_t took = send(c->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (took < 0 && errno != EAGAIN && errno != EINTR) {
            if (m->paced && !c->check.got) { /* it was closed before, with nothing on its way */
                c->waiting = false;
                m->in_flight--;
            }
            conn_ended(m, c, false);
            return;
        }
        c->check.got += took > 0 ? (uint64_t)took : 0;
        counter_add(&m->shard->counts.sent_bytes, took > 0 ? (uint64_t)took : 0);
        if (took < (ssize_t)n) {
            c->unsent = 1; /* how much is in c->check */
            return;
        }
    }
    sent(m, c);
}

void flow_ask(struct mux *m, struct conn *c, uint64_t due_ns)
{
    uint64_t together = load_together(m->size, m->paced);
    m->load->protocol->ask(&c->check, m->sequence, together * m->size, m->ask);
    m->sequence += together;
    c->waiting = true;
    m->in_flight++;
    c->at_ns = m->now_ns;
    c->timed = m->measuring && due_ns >= m->measure_ns;
    if (c->timed && m->paced)
        hist_add(m->shard->hists[LOAD_LATE], m->now_ns - due_ns);
    flow_send(m, c);
}

void mux_flow(struct mux *m)
{
    for (int left = IN_A_ROW; left > 0 && m->line_first >= 0; left--) {
        struct conn *c = pop(m);
        if (!conn_asks(m, c))
            continue;
        m->now_ns = clock_ns();
        uint64_t due_ns = m->now_ns;
        if (m->paced) {
            due_ns = c->owed_ns;
            c->owed--;
            c->owed_ns += (uint64_t)m->pace.period_ns;
        }
        flow_ask(m, c, due_ns);
        mux_look_at_word(m);
    }
}
