/* SPDX-License-Identifier: MIT */
/* The head of a reply, read with a few numbers for memory, so it may come in any pieces. What a
 * line is about shows in its first bytes: one that is there whole is mostly read by these alone,
 * else byte by byte, and the rest of a line that matters to nobody is skipped at once. Sources: RFC
 * 9110, RFC 9112. */
#include "net/http_head.h"

#include <errno.h>
#include <string.h>

#include "net/http_client.h"

#define HEAD_MAX 16384

/* What the current line may still be about. */
enum {
    IN_LENGTH = 1 << 10,  /* in the value of Content-Length, ... */
    IN_CODING = 1 << 11,  /* ... of Transfer-Encoding, ... */
    IN_OPTIONS = 1 << 12, /* ... of Connection */
    IN_END = 1 << 13,     /* of the head: the empty line */
    LINES = 1 << 14,      /* from this bit on: lines[] that it may be */
    WORDS = 1 << 18,      /* from this bit on: words[] that the current one may be */
    SAW_DIGIT = 1 << 22,  /* of the length */
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

/* The number stays where http_head_status() finds it when it is no good. */
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
    c->phase |= SAW_DIGIT;
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
        if (c->phase & (uint32_t)WORDS << i && (byte != (uint8_t)words[i][column] || !byte))
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
    c->place = 0;
    return 0;
}

/* `place`: the column in the lower half, the bytes of the head in the upper. */
static int line_over(struct proto_check *c, uint32_t column)
{
    bool empty = (c->phase & IN_END) && column == 1;
    if (column == 0 || ((c->phase & IN_STATUS) && column < 12))
        return -EBADMSG;
    if (c->phase & IN_LENGTH && !(c->phase & SAW_DIGIT))
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

ssize_t http_head(struct proto_check *c, const uint8_t *in, size_t n)
{
    size_t at = c->phase == IN_STATUS && c->place == 0 ? ours(c, in, n) : 0;
    while (at < n && !(c->phase & SAW_HEAD)) {
        int took = c->place & 0xffff ? skip(c, in + at, n - at) : leap(c, in + at, n - at);
        if (took < 0 || (took == 0 && head_byte(c, in[at]) < 0))
            return -EBADMSG;
        at += took > 0 ? (size_t)took : 1;
    }
    return (ssize_t)at;
}

int http_head_status(const struct proto_check *c)
{
    bool number = c->phase & IN_STATUS && (c->place & 0xffff) == 12; /* three bytes of it */
    return number && c->length >= 100 ? (int)c->length : 0;
}
