/* SPDX-License-Identifier: MIT */
/* Where nothing is replied, a load whose threads rest may have left megabytes in the sockets, and a
 * server that works through them would do so in another model's turn. What has been sent and what
 * the server has received are counted on both sides, so a turn is over when they are equal. Bytes
 * of a connection that broke are in no count: after such a loss it is over when the server reads no
 * more. */
#include "base/clock.h"
#include "load/engine.h"

#define LOOK_NS (500 * NS_PER_US)
#define STILL_NS (100 * NS_PER_MS)

/* Flat out both socket buffers of each connection are full when a turn ends; a read costs some 0.9
 * us, and a byte of it 0.4 ns. Where the kernel sizes the buffers nobody knows beforehand. */
double load_drain_seconds(const struct params *p)
{
    double buffers = 2 * (p->socket_buffer > 0 ? p->socket_buffer : 262144);
    if (!protocol_table[(int)p->protocol]->one_way || p->rate != PARAM_MAX)
        return 0;
    return p->connections * buffers * (0.9e-6 / p->buffer + 0.4e-9);
}

static uint64_t received(const struct load *l)
{
    struct server_counts c;
    l->spec.server_read(l->spec.server_ctx, &c);
    return c.bytes_in;
}

static bool counted(const struct load *l)
{
    return l->protocol->one_way && l->spec.server_read;
}

void unread_begin(struct load *l)
{
    struct load_counts c;
    if (!counted(l))
        return;
    load_read(l, &c);
    l->unread.base = received(l) - c.sent_bytes;
    l->unread.closed = c.closed;
}

bool unread_wait(struct load *l, uint64_t timeout_ns, bool lost)
{
    uint64_t end = clock_ns() + timeout_ns;
    while (counted(l)) {
        struct load_counts c;
        uint64_t now = clock_ns(), got = received(l) - l->unread.base;
        load_read(l, &c);
        if (got >= c.sent_bytes)
            break;
        if (got != l->unread.seen)
            l->unread.seen_ns = now;
        l->unread.seen = got;
        lost |= c.closed != l->unread.closed;
        if (lost && now - l->unread.seen_ns >= STILL_NS)
            break;
        if (now >= end)
            return false;
        clock_sleep_until(now + LOOK_NS);
    }
    return true;
}
