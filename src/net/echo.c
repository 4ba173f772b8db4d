/* SPDX-License-Identifier: MIT */
/* echo: returns what came, as it came; with the suffix a fixed text stands behind the bytes of each
 * read. What came is copied once: the buffer it lies in is the model's and is gone long before a
 * slow peer has taken the reply, and with the suffix copied behind it one send does for both. Small
 * copies are kept for the next request, so that nothing is allocated a request; large ones are
 * freed. The client sends what the source of `ramp` sent, an HTTP POST of 271 bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/protocol.h"
#include "net/protocols.h"

#define KEPT 1024 /* most bytes of memory that a connection keeps between requests */

static const char suffix[] = "| echoed by iodash\n";
#define SUFFIX (sizeof suffix - 1)

static const char request[] = "POST /echo HTTP/1.1\r\n"
                              "Host: 127.0.0.1:8080\r\n"
                              "User-Agent: iodash\r\n"
                              "Accept: text/plain, */*; q=0.5\r\n"
                              "Cache-Control: no-cache\r\n"
                              "Content-Type: text/plain; charset=utf-8\r\n"
                              "Content-Length: 6\r\n"
                              "X-Sent-By: the ramp workload of iodash, which counts them\r\n"
                              "Connection: keep-alive\r\n"
                              "\r\n"
                              "Hello!";
#define REQUEST (sizeof request - 1)
_Static_assert(REQUEST == 271, "as long as the one that was published");
_Static_assert(REQUEST <= PROTO_ASK_MAX, "fits");

/* --- server ----------------------------------------------------------------------------------- */

struct echo_state {
    uint8_t *bytes; /* or NULL */
    uint32_t room, n, at;
};
_Static_assert(sizeof(struct echo_state) <= PROTO_STATE, "fits a connection");

static void echo_end(void *state)
{
    struct echo_state *s = state;
    free(s->bytes);
    *s = (struct echo_state){0};
}

/* Room for n bytes, whatever stood there. */
static void make_room(struct echo_state *s, size_t n)
{
    if (n <= s->room)
        return;
    s->room = (uint32_t)(n < KEPT / 2 ? KEPT / 2 : n);
    free(s->bytes);
    s->bytes = xrealloc(NULL, 1, s->room);
}

static ssize_t take(struct echo_state *s, const uint8_t *in, size_t n, size_t extra)
{
    make_room(s, n + extra);
    memcpy(s->bytes, in, n);
    memcpy(s->bytes + n, suffix, extra);
    s->n = (uint32_t)(n + extra);
    s->at = 0;
    return (ssize_t)n;
}

static ssize_t echo_take(void *state, const uint8_t *in, size_t n)
{
    return take(state, in, n, 0);
}

static ssize_t echo_take_suffix(void *state, const uint8_t *in, size_t n)
{
    return take(state, in, n, SUFFIX);
}

static size_t echo_due(void *state, const uint8_t **bytes)
{
    const struct echo_state *s = state;
    *bytes = s->bytes + s->at;
    return s->n - s->at;
}

static bool echo_ends(const void *state, size_t n)
{
    const struct echo_state *s = state;
    return s->at + n == s->n;
}

static enum proto_sent echo_sent(void *state, size_t n)
{
    struct echo_state *s = state;
    s->at += (uint32_t)n;
    if (s->at < s->n)
        return PROTO_GOES_ON;
    if (s->room > KEPT)
        echo_end(s);
    return PROTO_REPLIED;
}

/* --- client ----------------------------------------------------------------------------------- */

static size_t echo_ask(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf)
{
    (void)size;
    *c = (struct proto_check){.sequence = sequence, .size = REQUEST};
    memcpy(buf, request, REQUEST);
    return REQUEST;
}

static int echo_check(struct proto_check *c, const uint8_t *in, size_t n)
{
    if (n > c->size - c->got || memcmp(in, request + c->got, n) != 0)
        return -EBADMSG;
    c->got += n;
    return c->got == c->size;
}

/* A request that reached the server in several reads comes back with several suffixes, so one may
 * stand anywhere; the request has no byte that could begin one. `place` counts its bytes. */
static int echo_check_suffix(struct proto_check *c, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool inside = c->place > 0 || in[i] == (uint8_t)suffix[0];
        if (c->phase || (!inside && c->got == REQUEST))
            return -EBADMSG; /* behind the end */
        if (in[i] != (uint8_t)(inside ? suffix[c->place] : request[c->got]))
            return -EBADMSG;
        c->place = inside ? (c->place + 1) % SUFFIX : 0;
        c->got += !inside;
        c->phase = inside && c->place == 0 && c->got == REQUEST;
    }
    return c->phase != 0;
}

#define ECHO_ROW                                                                                   \
    .id = "echo", .label = "echo", .summary = "returns what came", .fixed = REQUEST,               \
    .end = echo_end,                                                                               \
    .due = echo_due, .ends = echo_ends, .sent = echo_sent, .request_max = 1, .ask = echo_ask

const struct protocol protocol_echo = {
    ECHO_ROW,
    .take = echo_take,
    .check = echo_check,
};

const struct protocol protocol_echo_suffix = {
    ECHO_ROW,
    .take = echo_take_suffix,
    .check = echo_check_suffix,
};
