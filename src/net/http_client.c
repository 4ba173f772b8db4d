/* SPDX-License-Identifier: MIT */
/* The client's half of HTTP/1.x: GET on a kept connection. A reply must say 2xx and where its body
 * ends: by its length, by chunks, or by the end of the connection; when it says that it comes from
 * iodash, the body must be the pattern, as long as was asked for. Its head is http_head.c's.
 * Sources: RFC 9110, RFC 9112. */
#include "net/http_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/http_head.h"
#include "net/pattern.h"

/* Where a chunked body is, in `place` once the head is over (0). */
enum {
    CHUNK_SIZE,   /* before its first digit, ... */
    CHUNK_DIGITS, /* ... behind it */
    CHUNK_REST,   /* of that line */
    CHUNK_BYTES,  /* `length` of them are still to come */
    CHUNK_CR,
    CHUNK_LF,
    TRAILER,      /* at the start of a line behind the last chunk, ... */
    TRAILER_LINE, /* ... within one */
    TRAILER_LF    /* of the empty line */
};

/* --- asking ----------------------------------------------------------------------------------- */

static char *put(char *to, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, text, n);
    return to + n;
}

static char *put_number(char *to, uint64_t n)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

static size_t make(uint64_t size, char *text)
{
    char *to = put(text, "GET /");
    if (size > 0)
        to = put_number(to, size);
    to = put(to, " HTTP/1.1\r\nHost: iodash\r\n\r\n");
    return (size_t)(to - text);
}

/* A load asks for the same size again and again. */
size_t http_ask(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf)
{
    static _Thread_local struct {
        uint64_t size;
        size_t length;
        char text[64];
    } last;
    *c = (struct proto_check){.sequence = sequence, .size = size, .phase = IN_STATUS};
    if (last.length == 0 || last.size != size) {
        last.size = size;
        last.length = make(size, last.text);
    }
    memcpy(buf, last.text, last.length);
    return last.length;
}

/* --- the body --------------------------------------------------------------------------------- */

static int whole(const struct proto_check *c)
{
    bool ends = c->phase & SAW_CLOSE || (c->phase & SAW_OLD && !(c->phase & SAW_KEEP));
    return ends ? PROTO_WHOLE_LAST : PROTO_WHOLE;
}

static int size_byte(struct proto_check *c, uint8_t byte)
{
    uint8_t low = byte | 0x20;
    bool digit = byte >= '0' && byte <= '9', letter = low >= 'a' && low <= 'f';
    if (!digit && !letter) {
        bool good = c->place == CHUNK_DIGITS && (byte == '\r' || byte == ';' || byte == ' ');
        c->place = CHUNK_REST;
        return good ? 0 : -EBADMSG;
    }
    if (c->length > UINT32_MAX)
        return -EBADMSG;
    c->length = c->length * 16 + (uint64_t)(digit ? byte - '0' : low - 'a' + 10);
    c->place = CHUNK_DIGITS;
    return 0;
}

/* A byte that must be that one. */
static int expect(struct proto_check *c, uint8_t byte, uint8_t wanted, uint32_t then)
{
    c->place = then;
    return byte == wanted ? 0 : -EBADMSG;
}

/* A byte between the bytes of the body. */
static int frame_byte(struct proto_check *c, uint8_t byte)
{
    switch (c->place) {
    case CHUNK_SIZE:
    case CHUNK_DIGITS:
        return size_byte(c, byte);
    case CHUNK_REST:
        if (byte == '\n')
            c->place = c->length ? CHUNK_BYTES : TRAILER;
        return 0;
    case CHUNK_CR:
        return expect(c, byte, '\r', CHUNK_LF);
    case CHUNK_LF:
        return expect(c, byte, '\n', CHUNK_SIZE);
    case TRAILER:
        c->place = byte == '\r' ? TRAILER_LF : TRAILER_LINE;
        return 0;
    case TRAILER_LINE:
        if (byte == '\n')
            c->place = TRAILER;
        return 0;
    default:
        return byte == '\n' ? whole(c) : -EBADMSG;
    }
}

static int chunks(struct proto_check *c, const uint8_t *in, size_t n)
{
    for (size_t at = 0; at < n;) {
        if (c->place == CHUNK_BYTES) {
            size_t k = n - at < c->length ? n - at : (size_t)c->length;
            c->got += k;
            c->length -= k;
            c->place = c->length ? CHUNK_BYTES : CHUNK_CR;
            at += k;
            continue;
        }
        int says = frame_byte(c, in[at++]);
        if (says)
            return says > 0 && at < n ? -EBADMSG : says;
    }
    return 0;
}

static int body(struct proto_check *c, const uint8_t *in, size_t n)
{
    bool ours = c->phase & SAW_OURS;
    if (c->phase & SAW_CHUNKED)
        return chunks(c, in, n);
    if (!(c->phase & SAW_LENGTH)) {
        c->got += n;
        return ours ? -EBADMSG : 0;
    }
    if (n > c->length - c->got || (ours && !pattern_is(c->got, in, n)))
        return -EBADMSG;
    if (ours && c->size > 0 && c->length != c->size)
        return -EBADMSG;
    c->got += n;
    return c->got == c->length ? whole(c) : 0;
}

/* A body that says nothing of its end goes on until there. */
static int connection_over(const struct proto_check *c)
{
    bool open = c->phase & SAW_HEAD && !(c->phase & (SAW_LENGTH | SAW_CHUNKED));
    return open ? PROTO_WHOLE_LAST : 0;
}

int http_check(struct proto_check *c, const uint8_t *in, size_t n)
{
    ssize_t at = 0;
    if (n == 0)
        return connection_over(c);
    if (!(c->phase & SAW_HEAD))
        at = http_head(c, in, n);
    if (at < 0)
        return (int)at;
    return c->phase & SAW_HEAD ? body(c, in + at, n - (size_t)at) : 0;
}

void http_wrong(const struct proto_check *c, char *buf, size_t size)
{
    int status = http_head_status(c);
    if (status)
        snprintf(buf, size, "HTTP status %d", status);
    else if (c->phase & IN_STATUS)
        snprintf(buf, size, "no HTTP");
    else if (c->phase & SAW_HEAD)
        snprintf(buf, size, "a body that is not as its head says");
    else
        snprintf(buf, size, "a bad HTTP head");
}
