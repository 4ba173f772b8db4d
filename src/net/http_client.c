/* SPDX-License-Identifier: MIT */
/* The client's half of HTTP/1.1: GET on a kept connection. A reply must say 2xx and how long its
 * body is; when it says that it comes from iodash, the body must be the pattern, as long as was
 * asked for. The head is read byte by byte with a few numbers for memory, so it may come in any
 * pieces; what a line is about shows in its first bytes, the rest of a line that matters to nobody
 * is skipped at once. */
#include "net/http_client.h"

#include <errno.h>
#include <string.h>

#include "net/pattern.h"

#define HEAD_MAX 16384

/* What the head said so far, and what its current line may still be about. */
enum {
    SAW_LENGTH = 1,
    SAW_OURS = 2,
    SAW_HEAD = 4, /* all of it: the body comes */
    IN_STATUS = 8,
    IN_VALUE = 16, /* of Content-Length */
    IN_END = 32,   /* of the head: the empty line */
    LINES = 256,   /* from this bit on: lines[] that the current one may be */
};

/* Beginnings of lines, in lower case. */
static const char *const lines[] = {"content-length:", "server: iodash\r", "transfer-encoding:"};
enum { LINE_LENGTH, LINE_OURS, LINE_CODING, LINE_COUNT };
#define ALL_LINES (((1u << LINE_COUNT) - 1) * LINES)
#define UNDECIDED (IN_STATUS | IN_VALUE | IN_END | ALL_LINES)

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

size_t http_ask(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf)
{
    *c = (struct proto_check){.sequence = sequence, .size = size, .phase = IN_STATUS};
    char *to = put((char *)buf, "GET /");
    if (size > 0)
        to = put_number(to, size);
    to = put(to, " HTTP/1.1\r\nHost: iodash\r\n\r\n");
    return (size_t)(to - (char *)buf);
}

/* --- the head --------------------------------------------------------------------------------- */

static bool status_byte(uint32_t column, uint8_t byte)
{
    static const char good[] = "HTTP/1.# 2##"; /* #: a digit */
    if (column >= sizeof good - 1)
        return true;
    return good[column] == '#' ? byte >= '0' && byte <= '9' : byte == (uint8_t)good[column];
}

static int length_byte(struct proto_check *c, uint8_t byte)
{
    if (byte == ' ' || byte == '\t' || byte == '\r')
        return 0;
    if (byte < '0' || byte > '9' || c->length > UINT32_MAX)
        return -EBADMSG;
    c->length = c->length * 10 + (uint64_t)(byte - '0');
    return 0;
}

/* The line is about that. */
static int found(struct proto_check *c, int line)
{
    if (line == LINE_OURS)
        c->phase |= SAW_OURS;
    if (line != LINE_LENGTH)
        return line == LINE_CODING ? -EBADMSG : 0;
    if (c->phase & SAW_LENGTH)
        return -EBADMSG;
    c->phase |= SAW_LENGTH | IN_VALUE;
    return 0;
}

static int name_byte(struct proto_check *c, uint32_t column, uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z')
        byte |= 0x20;
    for (int i = 0; i < LINE_COUNT; i++) {
        uint32_t bit = (uint32_t)LINES << i;
        if (!(c->phase & bit))
            continue;
        if (byte != (uint8_t)lines[i][column]) {
            c->phase &= ~bit;
        } else if (lines[i][column + 1] == '\0') {
            c->phase &= ~ALL_LINES;
            return found(c, i);
        }
    }
    return 0;
}

/* `place`: the column in the lower half, the bytes of the head in the upper. */
static int line_over(struct proto_check *c, uint32_t column)
{
    bool empty = (c->phase & IN_END) && column == 1;
    if (column == 0 || ((c->phase & IN_STATUS) && column < 12))
        return -EBADMSG;
    c->phase = (c->phase & (SAW_LENGTH | SAW_OURS)) | ALL_LINES;
    c->place &= ~0xffffu;
    if (!empty)
        return 0;
    c->phase |= SAW_HEAD;
    return c->phase & SAW_LENGTH ? 0 : -EBADMSG;
}

static int head_byte(struct proto_check *c, uint8_t byte)
{
    uint32_t column = c->place & 0xffff;
    if (c->place >> 16 >= HEAD_MAX)
        return -EBADMSG;
    c->place += 1u << 16 | 1;
    if (byte == '\n')
        return line_over(c, column);
    if (c->phase & IN_STATUS)
        return status_byte(column, byte) ? 0 : -EBADMSG;
    if (c->phase & IN_VALUE)
        return length_byte(c, byte);
    if (column == 0 && byte == '\r')
        c->phase = (c->phase & ~ALL_LINES) | IN_END;
    return c->phase & ALL_LINES ? name_byte(c, column, byte) : 0;
}

/* How many bytes of this line do not matter. */
static size_t skip(struct proto_check *c, const uint8_t *in, size_t n)
{
    if (c->phase & UNDECIDED)
        return 0;
    const uint8_t *end = memchr(in, '\n', n);
    size_t k = end ? (size_t)(end - in) : n;
    k = k < HEAD_MAX - (c->place >> 16) ? k : HEAD_MAX - (c->place >> 16);
    c->place += (uint32_t)k << 16 | (uint32_t)k;
    return k;
}

/* The head of our own server, as it usually comes: in one piece. Returns how much that was. */
static size_t ours(struct proto_check *c, const uint8_t *in, size_t n)
{
    static const char head[] = "HTTP/1.1 200 OK" HTTP_FIELDS;
    size_t k = sizeof head - 1;
    if (c->place != 0 || n < k || memcmp(in, head, k) != 0)
        return 0;
    c->phase = SAW_LENGTH | SAW_OURS | IN_VALUE;
    c->place = (uint32_t)k << 16 | (uint32_t)(sizeof "Content-Length: " - 1);
    return k;
}

/* --- the reply -------------------------------------------------------------------------------- */

static int body(struct proto_check *c, const uint8_t *in, size_t n)
{
    bool ours = c->phase & SAW_OURS;
    if (n > c->length - c->got || (ours && !pattern_is(c->got, in, n)))
        return -EBADMSG;
    if (ours && c->size > 0 && c->length != c->size)
        return -EBADMSG;
    c->got += n;
    return c->got == c->length;
}

int http_check(struct proto_check *c, const uint8_t *in, size_t n)
{
    size_t at = c->phase == IN_STATUS ? ours(c, in, n) : 0;
    int bad = 0;
    while (at < n && !bad && !(c->phase & SAW_HEAD)) {
        at += skip(c, in + at, n - at);
        if (at < n)
            bad = head_byte(c, in[at++]);
    }
    if (bad)
        return bad;
    return c->phase & SAW_HEAD ? body(c, in + at, n - at) : 0;
}
