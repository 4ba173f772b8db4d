/* SPDX-License-Identifier: MIT */
/* keepalive off: a connection lasts as long as its request. Ended by a reset its socket stays,
 * with its descriptor and its place in the set, and is connected anew; and on loopback a
 * connect() that did not wait is over when it returns, so the request goes out right behind it.
 * Thus a request costs four calls: connect, send, recv, and the connect to nowhere that ends it.
 * An event may then be late and of the connection before: it finds nothing to read. */
#include <errno.h>
#include <sys/socket.h>

#include "load/dial.h"
#include "load/mux_conn.h"
#include "load/mux_way.h"

bool conn_fresh(const struct mux *m, const struct conn *c)
{
    return m->load->fresh && c - m->conns < m->asking;
}

static void went(struct mux *m, struct conn *c, size_t n)
{
    c->unsent = (uint16_t)(c->unsent - n);
    conn_sent(m, c);
}

void fresh_connected(struct mux *m, struct conn *c)
{
    ssize_t n = m->way->send(m, c, conn_make_again(m, c));
    if (n < 0)
        conn_ended(m, c, false);
    else
        went(m, c, (size_t)n);
}

/* Behind connect(): 0 says that it is not connected yet. */
static void send_behind(struct mux *m, struct conn *c, size_t len)
{
    ssize_t n = m->way->send(m, c, len);
    int code = errno;
    if (n == 0)
        return;
    if (n < 0 && !dial_was_connected(-code)) {
        conn_open_failed(m, c, code);
        return;
    }
    conn_connected(m, c);
    if (n < 0)
        conn_ended(m, c, false);
    else
        went(m, c, (size_t)n);
}

void fresh_ask(struct mux *m, struct conn *c, uint64_t due_ns)
{
    size_t len = load_ask(m->load, &c->check, m->sequence++, m->size, m->ask);
    c->unsent = (uint16_t)len;
    c->doubted = false;
    conn_begin(m, c, due_ns);
    conn_dial(m, c);
    if (c->state == CONN_CONNECTING && m->way->redials)
        send_behind(m, c, len);
}

void fresh_roles(struct mux *m)
{
    for (int i = 0; m->load->fresh && i < m->conn_count; i++) {
        struct conn *c = &m->conns[i];
        if (c->state == CONN_ABSENT || conn_fresh(m, c) == (c->state == CONN_BARE))
            continue;
        conn_drop(m, c);
        m->absent++;
    }
}
