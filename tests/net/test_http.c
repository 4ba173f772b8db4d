/* SPDX-License-Identifier: MIT */
/* http with no socket: both halves against each other in every split, replies of every kind, what
 * ends the connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_pieces.h"
#include "net/pattern.h"

#define MIB (1u << 20)
#define OUT_MAX (18u * MIB)

/* A connection to the server's half: what came out, and how it ended. */
struct link {
    uint64_t state[PROTO_STATE / 8];
    uint8_t *out;
    size_t n, replies;
    enum proto_sent last;
    bool due;
};

static void link_open(struct link *l)
{
    memset(l, 0, sizeof *l);
    l->out = malloc(OUT_MAX);
    assert_non_null(l->out);
    http()->begin(l->state, 1024);
}

static void link_close(struct link *l)
{
    http()->end(l->state);
    free(l->out);
}

/* Sends at most `most` at a time while something is due. */
static void drain(struct link *l, size_t most)
{
    const uint8_t *bytes;
    size_t n;
    while ((n = http()->due(l->state, &bytes)) > 0) {
        size_t part = n < most ? n : most;
        assert_true(l->n + part <= OUT_MAX);
        memcpy(l->out + l->n, bytes, part);
        l->n += part;
        bool ends = http()->ends(l->state, part);
        enum proto_sent what = http()->sent(l->state, part);
        assert_int_equal(ends, what == PROTO_REPLIED);
        if (what == PROTO_GOES_ON)
            continue;
        l->last = what;
        l->replies++;
    }
}

/* Gives n bytes in pieces as a server would: what is not taken stands before the next piece. */
static void feed(struct link *l, const void *bytes, size_t n, size_t piece, size_t most)
{
    uint8_t *in = malloc(n);
    assert_non_null(in);
    size_t have = 0;
    for (size_t at = 0; at < n;) {
        size_t k = n - at < piece ? n - at : piece;
        memcpy(in + have, (const uint8_t *)bytes + at, k);
        at += k;
        have += k;
        for (ssize_t used = 1; have > 0 && used > 0 && l->last < PROTO_LAST;) {
            used = http()->take(l->state, in, have);
            assert_in_range(used, 0, have);
            have -= (size_t)used;
            memmove(in, in + used, have);
            drain(l, most);
        }
    }
    free(in);
}

static void say(struct link *l, const char *text)
{
    feed(l, text, strlen(text), SIZE_MAX, SIZE_MAX);
}

/* What came out begins with this line; returns where the body of that reply begins. */
static const uint8_t *begins(const struct link *l, const char *line)
{
    size_t n = strlen(line);
    if (l->n < n || memcmp(l->out, line, n) != 0)
        fail_msg("not %s: %.*s", line, (int)(l->n < 200 ? l->n : 200), (const char *)l->out);
    const uint8_t *end = memmem(l->out, l->n, "\r\n\r\n", 4);
    assert_non_null(end);
    return end + 4;
}

static bool has(const struct link *l, const char *text)
{
    return memmem(l->out, l->n, text, strlen(text)) != NULL;
}

/* --- the server's half ------------------------------------------------------------------------ */

static void get_sizes(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 255, 1024, 65535, 65536, 65537, 200000, MIB, 16 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char ask[64], length[64];
        struct link l;
        link_open(&l);
        snprintf(ask, sizeof ask, "GET /%u HTTP/1.1\r\nHost: a\r\n\r\n", sizes[i]);
        snprintf(length, sizeof length, "\r\nContent-Length: %u\r\n", sizes[i]);
        feed(&l, ask, strlen(ask), SIZE_MAX, i % 2 ? SIZE_MAX : 10000);
        const uint8_t *body = begins(&l, "HTTP/1.1 200 OK\r\n");
        assert_true(has(&l, length));
        assert_int_equal(l.out + l.n - body, sizes[i]);
        assert_true(pattern_is(0, body, sizes[i]));
        assert_int_equal(l.last, PROTO_REPLIED);
        link_close(&l);
    }
}

static void root_is_the_size_that_was_set(void **state)
{
    (void)state;
    struct link l;
    link_open(&l);
    say(&l, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(l.out + l.n - begins(&l, "HTTP/1.1 200 OK\r\n"), 1024);
    link_close(&l);
    link_open(&l);
    http()->begin(l.state, 7);
    say(&l, "GET http://a/?q HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(l.out + l.n - begins(&l, "HTTP/1.1 200 OK\r\n"), 7);
    link_close(&l);
}

/* The usual reply is one run: one send. */
static void one_run(void **state)
{
    (void)state;
    static const char ask[] = "GET /1024 HTTP/1.1\r\nHost: a\r\n\r\n";
    struct link l;
    const uint8_t *bytes, *again;
    link_open(&l);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(http()->take(l.state, (const uint8_t *)ask, sizeof ask - 1),
                         sizeof ask - 1);
        size_t n = http()->due(l.state, i ? &again : &bytes);
        assert_true(i == 0 || again == bytes); /* nothing is made anew */
        assert_int_equal(http()->sent(l.state, n), PROTO_REPLIED);
    }
    link_close(&l);
}

/* More sizes than are kept. */
static void many_sizes(void **state)
{
    (void)state;
    struct link l;
    link_open(&l);
    for (unsigned i = 0; i < 300; i++) {
        char ask[64];
        l.n = 0;
        snprintf(ask, sizeof ask, "GET /%u HTTP/1.1\r\nHost: a\r\n\r\n", i * 7 % 100 * 1000);
        say(&l, ask);
        const uint8_t *body = begins(&l, "HTTP/1.1 200 OK\r\n");
        assert_int_equal(l.out + l.n - body, i * 7 % 100 * 1000);
        assert_true(pattern_is(0, body, (size_t)(l.out + l.n - body)));
    }
    assert_int_equal(l.replies, 300);
    /* Given up in the middle of one of its own: freed. */
    const uint8_t *bytes;
    static const char ask[] = "GET /77777 HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_int_equal(http()->take(l.state, (const uint8_t *)ask, sizeof ask - 1), sizeof ask - 1);
    assert_true(http()->due(l.state, &bytes) > 100);
    assert_int_equal(http()->sent(l.state, 100), PROTO_GOES_ON);
    link_close(&l);
}

static void head_only(void **state)
{
    (void)state;
    struct link l;
    link_open(&l);
    say(&l, "HEAD /100000 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_ptr_equal(begins(&l, "HTTP/1.1 200 OK\r\n"), l.out + l.n);
    assert_true(has(&l, "\r\nContent-Length: 100000\r\n"));
    l.n = 0;
    say(&l, "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_ptr_equal(begins(&l, "HTTP/1.1 404 Not Found\r\n"), l.out + l.n);
    assert_int_equal(l.last, PROTO_REPLIED);
    l.n = 0;
    say(&l, "HEAD / HTTP/1.1\r\n\r\n");
    assert_ptr_equal(begins(&l, "HTTP/1.1 400 Bad Request\r\n"), l.out + l.n);
    assert_int_equal(l.last, PROTO_REFUSED);
    link_close(&l);
}

static void paths_that_are_not_there(void **state)
{
    (void)state;
    static const char *const targets[] = {"/a", "/1a", "/16777217", "/99999999999999999999", "/-1",
                                          "//", "/1/", "*", "a:80", "/%31"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char ask[96];
        struct link l;
        link_open(&l);
        snprintf(ask, sizeof ask, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", targets[i]);
        say(&l, ask);
        begins(&l, "HTTP/1.1 404 Not Found\r\n");
        assert_int_equal(l.last, PROTO_REPLIED); /* and the connection goes on */
        snprintf(ask, sizeof ask, "GET %s HTTP/1.0\r\n\r\n", targets[i]);
        say(&l, ask);
        assert_int_equal(l.last, PROTO_LAST);
        link_close(&l);
    }
}

static void keep_alive(void **state)
{
    (void)state;
    static const struct {
        const char *ask, *says;
        enum proto_sent last;
    } all[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "Connection: keep-alive\r\n", PROTO_REPLIED},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "Connection: close\r\n",
         PROTO_LAST},
        {"GET / HTTP/1.0\r\n\r\n", "Connection: close\r\n", PROTO_LAST},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "Connection: keep-alive\r\n",
         PROTO_REPLIED},
        {"POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nab", "Connection: close\r\n", PROTO_LAST},
        {"POST / HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n\r\n", "Connection: keep-alive\r\n",
         PROTO_REPLIED},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct link l;
        link_open(&l);
        say(&l, all[i].ask);
        begins(&l, "HTTP/1.1 200 OK\r\n");
        assert_true(has(&l, all[i].says));
        assert_int_equal(l.last, all[i].last);
        assert_int_equal(l.replies, 1);
        link_close(&l);
    }
}

static void refusals_end_it(void **state)
{
    (void)state;
    static const struct {
        const char *ask, *line;
    } all[] = {
        {"\x16\x03\x01", "HTTP/1.1 400 Bad Request\r\n"},
        {"\rX", "HTTP/1.1 400 Bad Request\r\n"},
        {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
        {"PUT / HTTP/1.1\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 411 Length Required\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n",
         "HTTP/1.1 413 Content Too Large\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
         "HTTP/1.1 413 Content Too Large\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: x\r\n\r\n",
         "HTTP/1.1 417 Expectation Failed\r\n"},
        {"BREW / HTTP/1.1\r\n", "HTTP/1.1 501 Not Implemented\r\n"},
        {"GET / HTTP/3.0\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct link l;
        link_open(&l);
        say(&l, all[i].ask);
        const uint8_t *body = begins(&l, all[i].line);
        assert_true(has(&l, "\r\nConnection: close\r\n"));
        assert_int_equal(has(&l, "\r\nAllow: GET, HEAD, POST\r\n"),
                         strstr(all[i].line, "405") != NULL);
        assert_int_equal(l.out + l.n - body, strlen(all[i].line) - strlen("HTTP/1.1 \r\n") + 1);
        assert_int_equal(l.last, PROTO_REFUSED);
        link_close(&l);
    }
}

/* A request never has to be longer than request_max to be answered. */
static void long_heads(void **state)
{
    (void)state;
    struct link l;
    size_t n = http()->request_max;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'a', n);
    memcpy(text, "GET / HTTP/1.1\r\nA:", 18);
    link_open(&l);
    feed(&l, text, n - 1, 1000, SIZE_MAX);
    assert_int_equal(l.n, 0);
    link_close(&l);
    link_open(&l);
    assert_int_equal(http()->take(l.state, (uint8_t *)text, n), n);
    drain(&l, SIZE_MAX);
    begins(&l, "HTTP/1.1 431 Request Header Fields Too Large\r\n");
    link_close(&l);
    link_open(&l);
    memset(text, '/', n);
    memcpy(text, "GET ", 4);
    feed(&l, text, n, 100, SIZE_MAX);
    begins(&l, "HTTP/1.1 414 URI Too Long\r\n");
    link_close(&l);
    free(text);
}

static void post_bodies(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 1000, 70000, MIB};
    uint8_t *text = malloc(MIB + 128);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t piece = 1; piece < 300000; piece = piece * 31 + 1) {
            struct link l;
            if (sizes[i] / piece > 100000)
                continue;
            link_open(&l);
            int head = snprintf((char *)text, 128,
                                "POST /any HTTP/1.1\r\nHost: a\r\nContent-Length: %u\r\n\r\n",
                                sizes[i]);
            for (uint32_t k = 0; k < sizes[i]; k++)
                text[head + (int)k] = (uint8_t)(k * 7 + k / 251);
            feed(&l, text, (size_t)head + sizes[i], piece, 50000);
            const uint8_t *body = begins(&l, "HTTP/1.1 200 OK\r\n");
            assert_int_equal(l.out + l.n - body, sizes[i]);
            assert_memory_equal(body, text + head, sizes[i]);
            assert_int_equal(l.replies, 1);
            link_close(&l);
        }
    }
    free(text);
}

/* A body that never comes is given up with the connection. */
static void body_given_up(void **state)
{
    (void)state;
    struct link l;
    link_open(&l);
    say(&l, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc");
    assert_int_equal(l.n, 0);
    link_close(&l);
}

static void expect_continue(void **state)
{
    (void)state;
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    static const char ask[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                              "Expect: 100-continue\r\n\r\n";
    struct link l;
    link_open(&l);
    feed(&l, ask, sizeof ask - 1, SIZE_MAX, 3);
    assert_int_equal(l.n, sizeof go_on - 1);
    assert_memory_equal(l.out, go_on, l.n);
    assert_int_equal(l.replies, 0); /* that was none yet */
    l.n = 0;
    say(&l, "ab");
    assert_int_equal(l.n, 0);
    say(&l, "c");
    assert_memory_equal(begins(&l, "HTTP/1.1 200 OK\r\n"), "abc", 3);
    assert_int_equal(l.replies, 1);
    l.n = 0;
    say(&l, "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n");
    begins(&l, "HTTP/1.1 200 OK\r\n");
    link_close(&l);
}

/* Several requests of every kind in one stream: whatever the pieces, the same bytes come out. */
static void pipelined_in_every_split(void **state)
{
    (void)state;
    static const char text[] = "GET /5 HTTP/1.1\r\nHost: a\r\n\r\n"
                               "\r\nHEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
                               "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n"
                               "GET / HTTP/1"
                               "GET /nope HTTP/1.1\r\nHost: a\r\n\r\n"
                               "GET /300 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                               "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n";
    struct link whole;
    link_open(&whole);
    say(&whole, text);
    assert_int_equal(whole.replies, 5); /* what stands behind the close is not looked at */
    assert_int_equal(whole.last, PROTO_LAST);
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct link l;
        link_open(&l);
        feed(&l, text, sizeof text - 1, piece, piece % 3 ? piece : SIZE_MAX);
        assert_int_equal(l.n, whole.n);
        assert_memory_equal(l.out, whole.out, l.n);
        assert_int_equal(l.replies, 5);
        link_close(&l);
    }
    link_close(&whole);
}

/* --- the client's half ------------------------------------------------------------------------ */

static void both_halves(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 100, 1024, 70000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct proto_check c;
        uint8_t buf[PROTO_ASK_MAX];
        struct link l;
        link_open(&l);
        size_t n = http()->ask(&c, 3, sizes[i], buf);
        feed(&l, buf, n, SIZE_MAX, SIZE_MAX);
        for (size_t piece = 1; piece <= l.n; piece += 1 + piece / 3)
            assert_int_equal(check_in(piece, sizes[i], l.out, l.n), 1);
        assert_int_equal(http()->check(&c, l.out, l.n), 1);
        assert_int_equal(c.got, sizes[i]);
        assert_int_equal(check_in(SIZE_MAX / 2, sizes[i], l.out, l.n - 1), 0);
        assert_int_equal(check_in(SIZE_MAX / 2, sizes[i] + 1, l.out, l.n), -EBADMSG);
        assert_int_equal(check_in(SIZE_MAX / 2, sizes[i], l.out, l.n + 1), -EBADMSG);
        for (size_t k = 0; k < 40 && k < sizes[i]; k++) {
            size_t at = l.n - 1 - k * (sizes[i] / 40);
            l.out[at] ^= 1;
            assert_int_equal(check_in(SIZE_MAX / 2, sizes[i], l.out, l.n), -EBADMSG);
            l.out[at] ^= 1;
        }
        link_close(&l);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(get_sizes),
        cmocka_unit_test(root_is_the_size_that_was_set),
        cmocka_unit_test(one_run),
        cmocka_unit_test(many_sizes),
        cmocka_unit_test(head_only),
        cmocka_unit_test(paths_that_are_not_there),
        cmocka_unit_test(keep_alive),
        cmocka_unit_test(refusals_end_it),
        cmocka_unit_test(long_heads),
        cmocka_unit_test(post_bodies),
        cmocka_unit_test(body_given_up),
        cmocka_unit_test(expect_continue),
        cmocka_unit_test(pipelined_in_every_split),
        cmocka_unit_test(both_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
