/* SPDX-License-Identifier: MIT */
/* fetch: ask for N bytes, get N bytes that can be checked. Request, 64 bytes: "IODF", u32 version
 * 1, u32 size, u32 reserved, u64 sequence, all big-endian, the rest zero. Reply: size bytes, byte i
 * is the low byte of sequence + i. Replies are sent straight out of the pattern's table, so a
 * server copies nothing and a client compares with memcmp. */
#include <errno.h>
#include <string.h>

#include "net/pattern.h"
#include "net/protocol.h"
#include "net/protocols.h"

#define REQUEST 64
#define VERSION 1
#define SIZE_MAX_ASKED (16u << 20)

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* --- server ----------------------------------------------------------------------------------- */

struct fetch_state {
    uint64_t position; /* sequence + bytes sent */
    uint32_t left;     /* bytes of the reply still to go */
};
_Static_assert(sizeof(struct fetch_state) <= PROTO_STATE, "fits a connection");

static ssize_t fetch_take(void *state, const uint8_t *in, size_t n)
{
    static const uint8_t head[8] = {'I', 'O', 'D', 'F', 0, 0, 0, VERSION}, zero[REQUEST];
    struct fetch_state *s = state;
    /* Told as soon as it shows, so that noise shorter than a request is not waited upon. */
    if (memcmp(in, head, n < sizeof head ? n : sizeof head) != 0)
        return -EPROTO;
    if (n < REQUEST)
        return 0;
    uint32_t size = get32(in + 8);
    if (size == 0 || size > SIZE_MAX_ASKED || memcmp(in + 12, zero, 4) != 0 ||
        memcmp(in + 24, zero, REQUEST - 24) != 0)
        return -EPROTO;
    s->position = (uint64_t)get32(in + 16) << 32 | get32(in + 20);
    s->left = size;
    return REQUEST;
}

static size_t fetch_due(void *state, const uint8_t **bytes)
{
    const struct fetch_state *s = state;
    *bytes = pattern_at(s->position);
    return s->left < PATTERN_RUN ? s->left : PATTERN_RUN;
}

static bool fetch_ends(const void *state, size_t n)
{
    const struct fetch_state *s = state;
    return s->left == n;
}

static enum proto_sent fetch_sent(void *state, size_t n)
{
    struct fetch_state *s = state;
    s->position += n;
    s->left -= (uint32_t)n;
    return s->left == 0 ? PROTO_REPLIED : PROTO_GOES_ON;
}

/* --- client ----------------------------------------------------------------------------------- */

static size_t fetch_ask(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf)
{
    *c = (struct proto_check){.sequence = sequence, .size = size};
    memset(buf, 0, REQUEST);
    memcpy(buf, "IODF", 4);
    put32(buf + 4, VERSION);
    put32(buf + 8, (uint32_t)size);
    put32(buf + 16, (uint32_t)(sequence >> 32));
    put32(buf + 20, (uint32_t)sequence);
    return REQUEST;
}

static int fetch_check(struct proto_check *c, const uint8_t *in, size_t n)
{
    if (n > c->size - c->got || !pattern_is(c->sequence + c->got, in, n))
        return -EBADMSG;
    c->got += n;
    return c->got == c->size;
}

const struct protocol protocol_fetch = {
    .id = "fetch",
    .label = "fetch",
    .summary = "asks for a number of bytes and checks every one that comes",
    .take = fetch_take,
    .due = fetch_due,
    .ends = fetch_ends,
    .sent = fetch_sent,
    .request_max = REQUEST,
    .ask = fetch_ask,
    .check = fetch_check,
};
