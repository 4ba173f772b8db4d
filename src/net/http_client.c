/* SPDX-License-Identifier: MIT */
/* The client's half of HTTP/1.x: GET on a kept connection. A reply must say 2xx and where its body
 * ends: by its length, by chunks, or by the end of the connection; when it says that it comes from
 * iodash, the body must be the pattern, as long as was asked for. The head is read byte by byte
 * with a few numbers for memory, so it may come in any pieces; but what a line is about shows in
 * its first bytes, so a line that is there whole is mostly read by these alone. Sources: RFC 9110,
 * RFC 9112. */
#include "net/http_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/pattern.h"

#define HEAD_MAX 16384

/* What the head said so far, and what its current line may still be about. */
enum {
    SAW_LENGTH = 1 << 0,
    SAW_CHUNKED = 1 << 1,
    SAW_OURS = 1 << 2,
    SAW_OLD = 1 << 3,     /* HTTP/1.0: the connection ends unless the head says otherwise */
    SAW_KEEP = 1 << 4,    /* Connection: keep-alive */
    SAW_CLOSE = 1 << 5,   /* Connection: close */
    SAW_INTERIM = 1 << 6, /* 1xx: another head follows */
    SAW_NOTHING = 1 << 7, /* 204: there is no body */
    SAW_HEAD = 1 << 8,    /* all of it: the body comes */
    IN_STATUS = 1 << 9,
    IN_LENGTH = 1 << 10,  /* in the value of Content-Length, ... */
    IN_CODING = 1 << 11,  /* ... of Transfer-Encoding, ... */
    IN_OPTIONS = 1 << 12, /* ... of Connection */
    IN_END = 1 << 13,     /* of the head: the empty line */
    LINES = 1 << 14,      /* from this bit on: lines[] that the current one may be */
    WORDS = 1 << 18,      /* from this bit on: words[] that the current one may be */
    COLUMN = 1 << 24      /* from this bit on: the column in that word */
};
#define SAW (IN_STATUS - 1)

/* Beginnings of lines, and words of the lists in their values, in lower case. */
static const struct {
    const char *name;
    uint32_t length, is;
} lines[] = {
    {"content-length:", 15, IN_LENGTH | SAW_LENGTH},
    {"transfer-encoding:", 18, IN_CODING},
    {"connection:", 11, IN_OPTIONS},
    {"server: iodash\r", 15, SAW_OURS},
};
static const char *const words[] = {"chunked", "keep-alive", "close"};
static const uint32_t word_is[] = {SAW_CHUNKED, SAW_KEEP, SAW_CLOSE};
#define LINE_COUNT (sizeof lines / sizeof *lines)
#define WORD_COUNT (sizeof words / sizeof *words)
#define ALL_LINES (((1u << LINE_COUNT) - 1) * LINES)
#define ALL_WORDS (((1u << WORD_COUNT) - 1) * WORDS)
#define COLUMN_MAX 15u
#define UNDECIDED (IN_STATUS | IN_LENGTH | IN_CODING | IN_OPTIONS | IN_END | ALL_LINES)

/* Where a chunked body is, in `place` once the head is over. */
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

/* --- the head --------------------------------------------------------------------------------- */

/* The number stays where http_wrong() finds it when it is no good. */
static int status(struct proto_check *c)
{
    uint64_t code = c->length;
    if (code == 101 || code < 100 || code > 299)
        return -EBADMSG;
    if (code < 200)
        c->phase |= SAW_INTERIM;
    if (code == 204)
        c->phase |= SAW_NOTHING;
    c->length = 0;
    return 0;
}

static int status_byte(struct proto_check *c, uint32_t column, uint8_t byte)
{
    static const char good[] = "HTTP/1.# ###"; /* #: a digit */
    bool digit = byte >= '0' && byte <= '9';
    if (column == sizeof good - 1)
        return byte == ' ' || byte == '\r' ? 0 : -EBADMSG;
    if (column >= sizeof good)
        return 0;
    if (good[column] == '#' ? !digit : byte != (uint8_t)good[column])
        return -EBADMSG;
    if (column == 7 && byte == '0')
        c->phase |= SAW_OLD;
    if (column > 8)
        c->length = c->length * 10 + (uint64_t)(byte - '0');
    return column == sizeof good - 2 ? status(c) : 0;
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

/* The end of a word `column` long, if there was one. No coding but chunked was asked for. */
static int word_over(struct proto_check *c, uint32_t column)
{
    uint32_t is = 0;
    for (size_t i = 0; column && i < WORD_COUNT; i++)
        if (c->phase & (uint32_t)WORDS << i && words[i][column] == '\0')
            is |= word_is[i];
    c->phase = (c->phase & (COLUMN - 1)) | ALL_WORDS;
    if (c->phase & IN_OPTIONS)
        is &= ~(uint32_t)SAW_CHUNKED;
    else if (column && (is != SAW_CHUNKED || c->phase & SAW_CHUNKED))
        return -EBADMSG;
    c->phase |= is;
    return 0;
}

static int word_byte(struct proto_check *c, uint8_t byte)
{
    uint32_t column = c->phase / COLUMN;
    if (byte == ',' || byte == ';' || byte == ' ' || byte == '\t' || byte == '\r')
        return word_over(c, column);
    if (byte >= 'A' && byte <= 'Z')
        byte |= 0x20;
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (c->phase & (uint32_t)WORDS << i && byte != (uint8_t)words[i][column])
            c->phase &= ~((uint32_t)WORDS << i);
    if (column < COLUMN_MAX)
        c->phase += COLUMN;
    return 0;
}

/* The line is about that. */
static int found(struct proto_check *c, size_t line)
{
    if (lines[line].is & c->phase & SAW_LENGTH)
        return -EBADMSG;
    c->phase |= lines[line].is | ALL_WORDS;
    return 0;
}

static int name_byte(struct proto_check *c, uint32_t column, uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z')
        byte |= 0x20;
    for (size_t i = 0; i < LINE_COUNT; i++) {
        uint32_t bit = (uint32_t)LINES << i;
        if (!(c->phase & bit))
            continue;
        if (byte != (uint8_t)lines[i].name[column]) {
            c->phase &= ~bit;
        } else if (lines[i].name[column + 1] == '\0') {
            c->phase &= ~ALL_LINES;
            return found(c, i);
        }
    }
    return 0;
}

/* How the body ends must be clear: two ways are one too many. */
static int head_over(struct proto_check *c)
{
    if (c->phase & SAW_INTERIM) {
        c->phase = IN_STATUS;
        c->length = 0;
        return 0;
    }
    if (c->phase & SAW_CHUNKED && c->phase & (SAW_LENGTH | SAW_OURS | SAW_NOTHING))
        return -EBADMSG;
    if (c->phase & SAW_NOTHING && c->length > 0)
        return -EBADMSG;
    c->phase = (c->phase & SAW) | SAW_HEAD | (c->phase & SAW_NOTHING ? SAW_LENGTH : 0);
    c->place = CHUNK_SIZE;
    return 0;
}

/* `place`: the column in the lower half, the bytes of the head in the upper. */
static int line_over(struct proto_check *c, uint32_t column)
{
    bool empty = (c->phase & IN_END) && column == 1;
    if (column == 0 || ((c->phase & IN_STATUS) && column < 12))
        return -EBADMSG;
    if (c->phase & (IN_CODING | IN_OPTIONS) && word_over(c, c->phase / COLUMN))
        return -EBADMSG;
    c->phase = (c->phase & SAW) | ALL_LINES;
    c->place &= ~0xffffu;
    return empty ? head_over(c) : 0;
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
        return status_byte(c, column, byte);
    if (c->phase & IN_LENGTH)
        return length_byte(c, byte);
    if (c->phase & (IN_CODING | IN_OPTIONS))
        return word_byte(c, byte);
    if (column == 0 && byte == '\r')
        c->phase = (c->phase & ~ALL_LINES) | IN_END;
    return c->phase & ALL_LINES ? name_byte(c, column, byte) : 0;
}

/* Lines that matter begin with one of these. */
static bool may_matter(uint8_t byte)
{
    byte |= 0x20;
    return byte == 'c' || byte == 't' || byte == 's';
}

/* `name` is in lower case, n its length. */
static bool begins(const uint8_t *line, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = line[i];
        if (byte >= 'A' && byte <= 'Z')
            byte |= 0x20;
        if (byte != (uint8_t)name[i])
            return false;
    }
    return true;
}

/* How much of a field of n bytes is read by its front alone: all of it when it matters to nobody or
 * is as it mostly is, else its name. -EBADMSG: it must not be there. */
static int front(struct proto_check *c, const uint8_t *line, size_t n)
{
    static const char usual[] = " keep-alive\r\n";
    for (size_t i = 0; may_matter(*line) && i < LINE_COUNT; i++) {
        size_t name = lines[i].length;
        if (n < name || !begins(line, lines[i].name, name))
            continue;
        if (lines[i].is == IN_OPTIONS && n == name + sizeof usual - 1 &&
            memcmp(line + name, usual, sizeof usual - 1) == 0) {
            c->phase |= SAW_KEEP;
            break;
        }
        c->phase &= ~ALL_LINES;
        return found(c, i) < 0 ? -EBADMSG : (int)name;
    }
    return (int)n;
}

/* A line that is here whole, at its start: the quick way. Returns how many bytes it took. */
static int leap(struct proto_check *c, const uint8_t *in, size_t n)
{
    const uint8_t *end = memchr(in, '\n', n);
    size_t line = end ? (size_t)(end - in) + 1 : 0;
    int took = 0;
    if (line < 2 || *in == '\r' || line > HEAD_MAX - (c->place >> 16))
        return 0;
    if (!(c->phase & IN_STATUS)) {
        took = front(c, in, line);
    } else if (line > 13 && memcmp(in, "HTTP/1.1 200 ", 13) == 0) {
        took = (int)line;
        c->phase = ALL_LINES;
    }
    if (took > 0)
        c->place += (uint32_t)took << 16 | (took < (int)line ? (uint32_t)took : 0);
    return took;
}

/* How many bytes of this line do not matter. */
static int skip(struct proto_check *c, const uint8_t *in, size_t n)
{
    if (c->phase & UNDECIDED)
        return 0;
    const uint8_t *end = memchr(in, '\n', n);
    size_t k = end ? (size_t)(end - in) : n;
    k = k < HEAD_MAX - (c->place >> 16) ? k : HEAD_MAX - (c->place >> 16);
    c->place += (uint32_t)k << 16 | (uint32_t)k;
    return (int)k;
}

/* The head of our own server, as it usually comes: in one piece. Returns how long it is. */
static size_t ours(struct proto_check *c, const uint8_t *in, size_t n)
{
    static const char head[] = "HTTP/1.1 200 OK" HTTP_FIELDS;
    static const char tail[] = "\r\nConnection: keep-alive\r\n\r\n";
    size_t at = sizeof head - 1, digits = at + 10;
    uint64_t length = 0;
    if (n < at || memcmp(in, head, at) != 0)
        return 0;
    for (; at < n && at < digits && in[at] >= '0' && in[at] <= '9'; at++)
        length = length * 10 + (uint64_t)(in[at] - '0');
    if (n - at < sizeof tail - 1 || memcmp(in + at, tail, sizeof tail - 1) != 0)
        return 0;
    c->phase = SAW_LENGTH | SAW_OURS | SAW_KEEP | SAW_HEAD;
    c->length = length;
    return at + sizeof tail - 1;
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
    size_t at = c->phase == IN_STATUS && c->place == 0 ? ours(c, in, n) : 0;
    int bad = 0;
    if (n == 0)
        return connection_over(c);
    while (at < n && bad >= 0 && !(c->phase & SAW_HEAD)) {
        int took = c->place & 0xffff ? skip(c, in + at, n - at) : leap(c, in + at, n - at);
        if (took > 0)
            at += (size_t)took;
        else
            bad = took < 0 ? took : head_byte(c, in[at++]);
    }
    if (bad < 0)
        return bad;
    return c->phase & SAW_HEAD ? body(c, in + at, n - at) : 0;
}

void http_wrong(const struct proto_check *c, char *buf, size_t size)
{
    bool number = c->phase & IN_STATUS && (c->place & 0xffff) == 12; /* three bytes of it */
    if (number && c->length >= 100)
        snprintf(buf, size, "HTTP status %d", (int)c->length);
    else if (c->phase & IN_STATUS)
        snprintf(buf, size, "no HTTP");
    else if (c->phase & SAW_HEAD)
        snprintf(buf, size, "a body that is not as its head says");
    else
        snprintf(buf, size, "a bad HTTP head");
}
