/* SPDX-License-Identifier: MIT */
/* The server's half of HTTP/1.1: GET and HEAD of / and /N, POST, which returns its body. A reply to
 * a GET is the same bytes each time, so it is made once for each size, head and body in one piece
 * (up to 64 KiB of the body: the rest is read from the pattern), and never changes or goes away:
 * one send, no copy, no lock, and good for whoever sends later. The table of these is small, so
 * that clients who ask for many sizes fill no memory; what has no place in it is made for one
 * reply, as a POST's. Bad input gets its status and the end of the connection. No Date field: it
 * would cost a clock call a request. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/http_client.h"
#include "net/http_parse.h"
#include "net/pattern.h"
#include "net/protocol.h"
#include "net/protocols.h"

#define BODY_MAX (1u << 20)  /* of a POST */
#define SIZE_MAX_ASKED (16u << 20)
#define IMAGES 16
#define HEAD_ROOM 256

/* Head and body, or as much of the body as fits. */
struct image {
    uint32_t size, head, n; /* of the body; of the head; bytes here */
    bool keep_alive, shared;
    uint8_t bytes[];
};

enum phase { PHASE_HEAD, PHASE_CONTINUE, PHASE_BODY, PHASE_REPLY };

struct http_state {
    struct image *reply;
    uint32_t total; /* bytes to send; PHASE_BODY: to receive */
    uint32_t at;    /* of them so far */
    uint32_t size;  /* of GET / */
    uint8_t phase, after; /* after: an enum proto_sent */
};
_Static_assert(sizeof(struct http_state) <= PROTO_STATE, "fits a connection");

static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

/* --- replies ---------------------------------------------------------------------------------- */

/* With a head for that much body, and room for `room` bytes of it. */
static struct image *image_new(const char *status, uint32_t size, bool keep_alive, uint32_t room)
{
    char head[HEAD_ROOM];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s" HTTP_FIELDS "%u\r\n%sConnection: %s\r\n\r\n", status, size,
                     strncmp(status, "405", 3) == 0 ? "Allow: GET, HEAD, POST\r\n" : "",
                     keep_alive ? "keep-alive" : "close");
    struct image *m = xrealloc(NULL, 1, sizeof *m + (size_t)n + room);
    *m = (struct image){.size = size, .head = (uint32_t)n, .n = (uint32_t)n + room,
                        .keep_alive = keep_alive};
    memcpy(m->bytes, head, (size_t)n);
    return m;
}

static struct image *image_of_pattern(uint32_t size, bool keep_alive)
{
    uint32_t room = size < PATTERN_RUN ? size : PATTERN_RUN;
    struct image *m = image_new("200 OK", size, keep_alive, room);
    memcpy(m->bytes + m->head, pattern_at(0), room);
    return m;
}

/* Whoever comes first leaves it there for all threads and for good. */
static struct image *image_for(uint32_t size, bool keep_alive)
{
    static struct image *_Atomic images[IMAGES];
    struct image *mine = NULL;
    for (int i = 0; i < IMAGES; i++) {
        struct image *there = atomic_load_explicit(&images[i], memory_order_acquire);
        if (!there) {
            if (!mine)
                mine = image_of_pattern(size, keep_alive);
            mine->shared = true;
            if (atomic_compare_exchange_strong(&images[i], &there, mine))
                return mine;
        }
        if (there->size == size && there->keep_alive == keep_alive) {
            free(mine);
            return there;
        }
    }
    if (!mine)
        mine = image_of_pattern(size, keep_alive);
    mine->shared = false;
    return mine;
}

static void send_reply(struct http_state *s, struct image *m, bool head_only, enum proto_sent after)
{
    s->reply = m;
    s->total = head_only ? m->head : m->head + m->size;
    s->at = 0;
    s->phase = PHASE_REPLY;
    s->after = (uint8_t)after;
}

static void refuse(struct http_state *s, const struct http_request *q, int status)
{
    static const struct {
        int status;
        const char *line;
    } lines[] = {
        {400, "400 Bad Request"},           {404, "404 Not Found"},
        {405, "405 Method Not Allowed"},    {411, "411 Length Required"},
        {413, "413 Content Too Large"},     {414, "414 URI Too Long"},
        {417, "417 Expectation Failed"},    {431, "431 Request Header Fields Too Large"},
        {501, "501 Not Implemented"},       {505, "505 HTTP Version Not Supported"},
    };
    size_t i = 0;
    while (lines[i].status != status && i < sizeof lines / sizeof *lines - 1)
        i++;
    /* A path that is not there is the one mistake after which we still know where we are. */
    bool keep = status == 404 && q->keep_alive;
    uint32_t n = (uint32_t)strlen(lines[i].line);
    struct image *m = image_new(lines[i].line, n + 1, keep, n + 1);
    memcpy(m->bytes + m->head, lines[i].line, n);
    m->bytes[m->head + n] = '\n';
    send_reply(s, m, q->method == HTTP_HEAD,
               keep ? PROTO_REPLIED : status == 404 ? PROTO_LAST : PROTO_REFUSED);
}

/* --- requests --------------------------------------------------------------------------------- */

/* "/" and "/N": the size that is asked for. */
static bool size_of(const struct http_request *q, uint32_t root, uint32_t *size)
{
    uint32_t n = 0;
    if (q->path_length == 0 || q->path[0] != '/')
        return false;
    for (size_t i = 1; i < q->path_length; i++) {
        if (q->path[i] < '0' || q->path[i] > '9')
            return false;
        n = n * 10 + (uint32_t)(q->path[i] - '0');
        if (n > SIZE_MAX_ASKED)
            return false;
    }
    *size = q->path_length == 1 ? root : n;
    return true;
}

static void get(struct http_state *s, const struct http_request *q)
{
    uint32_t size;
    if (!size_of(q, s->size, &size))
        refuse(s, q, 404);
    else
        send_reply(s, image_for(size, q->keep_alive), q->method == HTTP_HEAD,
                   q->keep_alive ? PROTO_REPLIED : PROTO_LAST);
}

static void replied(struct http_state *s)
{
    send_reply(s, s->reply, false, s->reply->keep_alive ? PROTO_REPLIED : PROTO_LAST);
}

/* Memory that nothing was written to yet costs nothing: a body that is only announced is free. */
static void post(struct http_state *s, const struct http_request *q)
{
    if (q->length > BODY_MAX) {
        refuse(s, q, 413);
        return;
    }
    s->total = (uint32_t)q->length;
    s->at = 0;
    s->reply = image_new("200 OK", s->total, q->keep_alive, s->total);
    s->phase = q->expects && s->total > 0 ? PHASE_CONTINUE : PHASE_BODY;
    if (s->total == 0)
        replied(s);
}

static ssize_t take_body(struct http_state *s, const uint8_t *in, size_t n)
{
    if (n > s->total - s->at)
        n = s->total - s->at;
    memcpy(s->reply->bytes + s->reply->head + s->at, in, n);
    s->at += (uint32_t)n;
    if (s->at == s->total)
        replied(s);
    return (ssize_t)n;
}

static ssize_t http_take(void *state, const uint8_t *in, size_t n)
{
    struct http_state *s = state;
    struct http_request q;
    if (s->phase == PHASE_BODY)
        return take_body(s, in, n);
    if (in[0] == '\r') /* an empty line before a request is passed over (RFC 9112 2.2) */
        if (n == 1 || in[1] == '\n')
            return n == 1 ? 0 : 2;
    ssize_t head = http_parse(in, n, &q);
    if (head < 0)
        refuse(s, &q, (int)-head);
    else if (head > 0 && q.method == HTTP_POST)
        post(s, &q);
    else if (head > 0)
        get(s, &q);
    return head < 0 ? (ssize_t)n : head;
}

static size_t http_due(void *state, const uint8_t **bytes)
{
    const struct http_state *s = state;
    if (s->phase == PHASE_CONTINUE) {
        *bytes = (const uint8_t *)go_on + s->at;
        return sizeof go_on - 1 - s->at;
    }
    if (s->phase != PHASE_REPLY)
        return 0;
    uint32_t left = s->total - s->at, here = s->reply->n > s->at ? s->reply->n - s->at : 0;
    *bytes = here > 0 ? s->reply->bytes + s->at : pattern_at(s->at - s->reply->head);
    uint32_t most = here > 0 ? here : PATTERN_RUN;
    return left < most ? left : most;
}

static bool http_ends(const void *state, size_t n)
{
    const struct http_state *s = state;
    return s->phase == PHASE_REPLY && s->at + n == s->total && s->after == PROTO_REPLIED;
}

static void http_end(void *state)
{
    struct http_state *s = state;
    if (s->reply && !s->reply->shared)
        free(s->reply);
    s->reply = NULL;
    s->phase = PHASE_HEAD;
}

static enum proto_sent http_sent(void *state, size_t n)
{
    struct http_state *s = state;
    s->at += (uint32_t)n;
    if (s->phase == PHASE_CONTINUE) {
        if (s->at == sizeof go_on - 1) {
            s->phase = PHASE_BODY;
            s->at = 0;
        }
        return PROTO_GOES_ON;
    }
    if (s->at < s->total)
        return PROTO_GOES_ON;
    http_end(s);
    return s->after;
}

static void http_begin(void *state, uint64_t size)
{
    struct http_state *s = state;
    s->size = (uint32_t)(size < SIZE_MAX_ASKED ? size : SIZE_MAX_ASKED);
}

const struct protocol protocol_http = {
    .id = "http",
    .label = "HTTP/1.1",
    .summary = "GET / and /N (N bytes), HEAD, POST (returns its body), connections kept open",
    .begin = http_begin,
    .end = http_end,
    .take = http_take,
    .due = http_due,
    .ends = http_ends,
    .sent = http_sent,
    .request_max = HTTP_HEAD_MAX,
    .ask = http_ask,
    .check = http_check,
    .wrong = http_wrong,
};
