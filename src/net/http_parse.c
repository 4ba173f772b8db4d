/* SPDX-License-Identifier: MIT */
/* A cursor goes over the head once. Each step says that it read its part, that more must come, or
 * with what status the request is refused. What two readers could understand differently (a bare
 * line feed, a folded line, a blank before a colon, two lengths) is refused: between a proxy and a
 * server such a difference smuggles requests. A head that comes in pieces is read again from its
 * start each time; it is at most 8 KiB. */
#include "net/http_parse.h"

#include <string.h>

#define MORE (-1)
#define GOOD 0
#define METHOD_MAX 16

/* What may stand where (RFC 9110 5.5 and 5.6.2, RFC 9112 3.2, RFC 3986 3.2.2). */
enum { TOKEN = 1, TARGET = 2, VALUE = 4, HOST = 8 };
#define ANY (TOKEN | TARGET | VALUE | HOST)
#define DELIMITER (TARGET | VALUE)
#define IN_HOST (DELIMITER | HOST)

static const uint8_t kinds[256] = {
    ['\t'] = VALUE,
    [' '] = VALUE,
    ['!'] = ANY,
    ['"'] = DELIMITER,
    ['#'] = TOKEN | VALUE,
    ['$' ... '\''] = ANY,
    ['(' ... ')'] = IN_HOST,
    ['*' ... '+'] = ANY,
    [','] = DELIMITER,
    ['-' ... '.'] = ANY,
    ['/'] = DELIMITER,
    ['0' ... '9'] = ANY,
    [':' ... ';'] = IN_HOST,
    ['<'] = DELIMITER,
    ['='] = IN_HOST,
    ['>' ... '@'] = DELIMITER,
    ['A' ... 'Z'] = ANY,
    ['['] = IN_HOST,
    ['\\'] = DELIMITER,
    [']'] = IN_HOST,
    ['^' ... 'z'] = ANY,
    ['{'] = DELIMITER,
    ['|'] = ANY,
    ['}'] = DELIMITER,
    ['~'] = ANY,
    [0x80 ... 0xff] = VALUE,
};

struct cursor {
    const uint8_t *at, *end;
};

struct text {
    const char *at;
    size_t n;
};

/* The fields that decide something. */
struct fields {
    int count, hosts;
    bool transfer, chunked, close, keep_alive, bad_expect;
};

/* The word is in lower case. Not by the locale: to a Turkish one I is no capital i. No byte that
 * may stand here becomes another one's lower case by this bit, but for letters. */
static bool begins(struct text t, const char *word)
{
    for (size_t i = 0; word[i]; i++)
        if (i == t.n || (t.at[i] | 0x20) != word[i])
            return false;
    return true;
}

static inline bool is(struct text t, const char *word)
{
    return t.n == strlen(word) && begins(t, word);
}

/* All bytes of a kind from here on. */
static struct text run(struct cursor *c, uint8_t kind)
{
    const uint8_t *from = c->at, *at = from, *end = c->end;
    while (at < end && kinds[*at] & kind)
        at++;
    c->at = at;
    return (struct text){(const char *)from, (size_t)(at - from)};
}

/* The byte that must come next. */
static int expect(struct cursor *c, char byte)
{
    if (c->at == c->end)
        return MORE;
    return *c->at++ == (uint8_t)byte ? GOOD : 400;
}

static int line_end(struct cursor *c)
{
    int r = expect(c, '\r');
    return r == GOOD ? expect(c, '\n') : r;
}

/* --- the request line ------------------------------------------------------------------------- */

#define WORD(s) {s, sizeof s - 1}

static void name_method(struct text t, struct http_request *out)
{
    static const struct text words[] = {WORD("GET"),     WORD("HEAD"),  WORD("POST"),
                                        WORD("PUT"),     WORD("DELETE"), WORD("OPTIONS"),
                                        WORD("TRACE"),   WORD("CONNECT"), WORD("PATCH")};
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++) {
        if (t.n != words[i].n || memcmp(t.at, words[i].at, t.n) != 0)
            continue;
        out->method = i < HTTP_POST ? (enum http_method)(i + 1) : HTTP_OTHER;
        out->known = i >= HTTP_POST;
        return;
    }
}

static int method(struct cursor *c, struct http_request *out)
{
    struct text t = run(c, TOKEN);
    if (t.n > METHOD_MAX)
        return 501;
    int r = expect(c, ' ');
    if (r != GOOD)
        return r;
    if (t.n == 0)
        return 400;
    name_method(t, out);
    return GOOD;
}

/* "/path?query", or "http://host/path?query" as proxies get it; "*" and "host:port" belong to
 * methods that are not served, and stay as they are. */
static void set_path(struct text t, struct http_request *out)
{
    static const char scheme[] = "http://";
    const char *end = memchr(t.at, '?', t.n);
    if (end)
        t.n = (size_t)(end - t.at);
    if (begins(t, scheme)) {
        const char *host = t.at + sizeof scheme - 1, *stop = t.at + t.n;
        const char *slash = memchr(host, '/', (size_t)(stop - host));
        t.at = slash ? slash : "/";
        t.n = slash ? (size_t)(stop - slash) : 1;
    }
    out->path = t.at;
    out->path_length = t.n;
}

static int target(struct cursor *c, struct http_request *out)
{
    struct text t = run(c, TARGET);
    if (t.n > HTTP_TARGET_MAX)
        return 414;
    int r = expect(c, ' ');
    if (r != GOOD)
        return r;
    if (t.n == 0)
        return 400;
    set_path(t, out);
    return GOOD;
}

static int digit(struct cursor *c, int *out)
{
    if (c->at == c->end)
        return MORE;
    *out = *c->at++ - '0';
    return *out >= 0 && *out <= 9 ? GOOD : 400;
}

static int version(struct cursor *c, struct http_request *out)
{
    static const char usual[] = "HTTP/1.1\r\n";
    int major = 0, r = GOOD;
    if ((size_t)(c->end - c->at) > sizeof usual && memcmp(c->at, usual, sizeof usual - 1) == 0) {
        c->at += sizeof usual - 1;
        out->minor = 1;
        return GOOD;
    }
    for (const char *p = "HTTP/"; *p && r == GOOD; p++)
        r = expect(c, *p);
    if (r == GOOD)
        r = digit(c, &major);
    if (r == GOOD)
        r = expect(c, '.');
    if (r == GOOD)
        r = digit(c, &out->minor);
    if (r == GOOD)
        r = line_end(c);
    return r == GOOD && major != 1 ? 505 : r;
}

static int request_line(struct cursor *c, struct http_request *out)
{
    int r = method(c, out);
    if (r == GOOD)
        r = target(c, out);
    if (r == GOOD)
        r = version(c, out);
    if (r != GOOD || out->method != HTTP_OTHER)
        return r;
    return out->known ? 405 : 501;
}

/* --- fields ----------------------------------------------------------------------------------- */

/* Digits alone, and once: a list of lengths has no meaning that all agree on. */
static int content_length(struct text value, struct http_request *out)
{
    uint64_t n = 0;
    if (out->has_length || value.n == 0)
        return 400;
    for (size_t i = 0; i < value.n; i++) {
        uint64_t d = (uint64_t)(uint8_t)value.at[i] - '0';
        if (d > 9)
            return 400;
        n = n > (UINT64_MAX - d) / 10 ? UINT64_MAX : n * 10 + d;
    }
    out->has_length = true;
    out->length = n;
    return GOOD;
}

static int host(struct text value, struct fields *f)
{
    uint8_t all = HOST;
    for (size_t i = 0; i < value.n; i++)
        all &= kinds[(uint8_t)value.at[i]];
    return !all || f->hosts++ ? 400 : GOOD;
}

static struct text trimmed(struct text t)
{
    while (t.n > 0 && (*t.at == ' ' || *t.at == '\t')) {
        t.at++;
        t.n--;
    }
    while (t.n > 0 && (t.at[t.n - 1] == ' ' || t.at[t.n - 1] == '\t'))
        t.n--;
    return t;
}

static void connection(struct text list, struct fields *f)
{
    while (list.n > 0) {
        const char *comma = memchr(list.at, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.at) : list.n;
        struct text option = trimmed((struct text){list.at, n});
        f->close |= is(option, "close");
        f->keep_alive |= is(option, "keep-alive");
        n += comma != NULL;
        list.at += n;
        list.n -= n;
    }
}

static int act(struct text name, struct text value, struct fields *f, struct http_request *out)
{
    switch (name.n) {
    case 4:
        return is(name, "host") ? host(value, f) : GOOD;
    case 6:
        if (is(name, "expect")) {
            out->expects = is(value, "100-continue");
            f->bad_expect |= !out->expects;
        }
        return GOOD;
    case 10:
        if (is(name, "connection"))
            connection(value, f);
        return GOOD;
    case 14:
        return is(name, "content-length") ? content_length(value, out) : GOOD;
    case 17:
        if (is(name, "transfer-encoding")) {
            f->chunked = !f->transfer && is(value, "chunked");
            f->transfer = true;
        }
        return GOOD;
    default:
        return GOOD;
    }
}

static int field(struct cursor *c, struct fields *f, struct http_request *out)
{
    struct text name = run(c, TOKEN);
    int r = expect(c, ':');
    if (r != GOOD)
        return r;
    struct text value = run(c, VALUE);
    r = line_end(c);
    if (r != GOOD)
        return r;
    if (name.n == 0)
        return 400;
    return ++f->count > HTTP_FIELDS_MAX ? 431 : act(name, trimmed(value), f, out);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* What only the whole head tells. */
static int judge(const struct fields *f, struct http_request *out)
{
    if (f->hosts == 0 && out->minor > 0)
        return 400;
    if (f->transfer && (out->has_length || out->minor == 0))
        return 400;
    if (f->transfer)
        return f->chunked ? 411 : 501;
    if (out->method == HTTP_POST && !out->has_length)
        return 411;
    if (out->method != HTTP_POST && out->length > 0)
        return 400; /* a body without a meaning */
    if (f->bad_expect && out->minor > 0)
        return 417;
    out->expects &= out->minor > 0;
    out->keep_alive = !f->close && (out->minor > 0 || f->keep_alive);
    return GOOD;
}

static int head(struct cursor *c, struct http_request *out)
{
    struct fields f = {0};
    int r = request_line(c, out);
    while (r == GOOD && c->at < c->end && *c->at != '\r')
        r = field(c, &f, out);
    if (r == GOOD)
        r = line_end(c);
    return r == GOOD ? judge(&f, out) : r;
}

ssize_t http_parse(const uint8_t *in, size_t n, struct http_request *out)
{
    struct cursor c = {in, in + (n < HTTP_HEAD_MAX ? n : HTTP_HEAD_MAX)};
    *out = (struct http_request){0};
    int r = head(&c, out);
    if (r == MORE)
        return n < HTTP_HEAD_MAX ? 0 : -431;
    return r == GOOD ? c.at - in : -r;
}
