/* SPDX-License-Identifier: MIT */
/* The head of a request: what is understood, what is refused with which status, and that it does
 * not matter how much of it has come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/http_parse.h"

/* Of exactly this length, so that a sanitizer sees a look past its end. The path is gone then. */
static ssize_t parse(const void *bytes, size_t n, struct http_request *out)
{
    uint8_t *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    ssize_t r = http_parse(copy, n, out);
    free(copy);
    return r;
}

static ssize_t parse_text(const char *text)
{
    struct http_request q;
    return parse(text, strlen(text), &q);
}

static void what_curl_sends(void **state)
{
    (void)state;
    static const char text[] = "GET /1024?a=b HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
                               "User-Agent: curl/8.0\r\nAccept: */*\r\n\r\nGET";
    struct http_request q;
    assert_int_equal(http_parse((const uint8_t *)text, sizeof text - 1, &q), sizeof text - 4);
    assert_int_equal(q.method, HTTP_GET);
    assert_int_equal(q.minor, 1);
    assert_int_equal(q.path_length, 5);
    assert_memory_equal(q.path, "/1024", 5);
    assert_true(q.keep_alive);
    assert_false(q.has_length);
    assert_false(q.expects);
}

static void what_ab_sends(void **state)
{
    (void)state;
    static const char text[] = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: a:80\r\n\r\n";
    struct http_request q;
    assert_int_equal(http_parse((const uint8_t *)text, sizeof text - 1, &q), sizeof text - 1);
    assert_int_equal(q.minor, 0);
    assert_true(q.keep_alive);
}

static void bodies_and_connections(void **state)
{
    (void)state;
    struct http_request q;
    static const struct {
        const char *text;
        bool keep_alive, expects;
        uint64_t length;
    } good[] = {
        {"POST / HTTP/1.1\r\nhost:\r\nCONTENT-LENGTH:7\r\n\r\n", true, false, 7},
        {"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length:  \t 0 \r\n\r\n", true, false, 0},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n", true, false,
         UINT64_MAX},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\nExpect: 100-Continue\r\n\r\n",
         true, true, 2000000},
        {"POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", false, false, 2},
        {"GET / HTTP/1.0\r\n\r\n", false, false, 0},
        {"GET / HTTP/1.9\r\nHost: a\r\n\r\n", true, false, 0},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n", false, false, 0},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, b , close\r\n\r\n", false, false, 0},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade, ,closed\r\n\r\n", true, false, 0},
        {"HEAD / HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 0\r\n\r\n", true, false, 0},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: \x80\xff \t \"(),/:;<=>?@[\\]{}\r\n\r\n", true, false, 0},
        {"GET / HTTP/1.1\r\nHost: a\r\nEmpty:\r\nCookie: =\r\n\r\n", true, false, 0},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t n = strlen(good[i].text);
        if (parse(good[i].text, n, &q) != (ssize_t)n)
            fail_msg("not understood: %s", good[i].text);
        assert_int_equal(q.keep_alive, good[i].keep_alive);
        assert_int_equal(q.expects, good[i].expects);
        assert_true(q.length == good[i].length);
    }
}

static void paths(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path;
    } all[] = {
        {"/", "/"},
        {"/?", "/"},
        {"/12?x=/3", "/12"},
        {"http://a:80/12", "/12"},
        {"HTTP://a", "/"},
        {"http://a?q", "/"},
        {"http://", "/"},
        {"*", "*"},
        {"a:80", "a:80"},
        {"/%20/..", "/%20/.."},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[128];
        struct http_request q;
        int n = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", all[i].target);
        assert_int_equal(http_parse((uint8_t *)text, (size_t)n, &q), n);
        assert_int_equal(q.path_length, strlen(all[i].path));
        assert_memory_equal(q.path, all[i].path, q.path_length);
    }
}

static const struct {
    int status;
    const char *text;
} bad[] = {
    {400, "\n"},
    {400, "\x16\x03\x01\x02"},
    {400, " GET / HTTP/1.1\r\n"},
    {400, "GET\r\n"},
    {400, "GET  / HTTP/1.1\r\n"},
    {400, "GET /\r\n\r\n"},
    {400, "GET / \r\n\r\n"},
    {400, "GET /  HTTP/1.1\r\n"},
    {400, "GET / HTTP/1.1 \r\n"},
    {400, "GET / HTTP/1.1\n"},
    {400, "GET / HTTP/1.1\rX"},
    {400, "GET / HTTP/11.1\r\n"},
    {400, "GET / HTTP/a.1\r\n"},
    {400, "GET / http/1.1\r\n"},
    {400, "GET / HTTPS"},
    {400, "GET /\x80 HTTP/1.1\r\n"},
    {400, "GET /a#b HTTP/1.1\r\n"},
    {400, "GET /\t HTTP/1.1\r\n"},
    {400, "G(T / HTTP/1.1\r\n"},
    {400, "GET / HTTP/1.1\r\n\r\n"},                                   /* no Host */
    {400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"},             /* two */
    {400, "GET / HTTP/1.1\r\nHost: a b\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a, b\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a/b\r\n"},
    {400, "GET / HTTP/1.1\r\n Host: a\r\n"},                           /* begins folded */
    {400, "GET / HTTP/1.1\r\nHost: a\r\n b\r\n"},                      /* folded */
    {400, "GET / HTTP/1.1\r\nHost : a\r\n"},
    {400, "GET / HTTP/1.1\r\n: a\r\n"},
    {400, "GET / HTTP/1.1\r\nHost\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\rb\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\x01\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\x7f\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\r\n\rX"},
    {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n"},
    {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n"},
    {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n"},
    {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n"},
    {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 1\r\n"},
    {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n"},
    {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n"},
    {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {400, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"},
    {411, "POST / HTTP/1.1\r\nHost: a\r\n\r\n"},
    {411, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {411, "GET / HTTP/1.1\r\nHost: a\r\nTransfer-encoding:Chunked\r\n\r\n"},
    {501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"},
    {501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked"
          "\r\n\r\n"},
    {501, "get / HTTP/1.1\r\n"},
    {501, "BREW / HTTP/1.1\r\n"},
    {501, "xxxxxxxxxxxxxxxxxx"},
    {405, "PUT / HTTP/1.1\r\n"},
    {405, "DELETE /1 HTTP/1.1\r\n"},
    {405, "OPTIONS * HTTP/1.1\r\n"},
    {405, "CONNECT a:1 HTTP/1.1\r\n"},
    {405, "TRACE / HTTP/1.0\r\n"},
    {405, "PATCH / HTTP/1.1\r\n"},
    {417, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n"},
    {505, "GET / HTTP/2.0\r\n"},
    {505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
    {505, "GET / HTTP/0.9\r\n"},
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t n = strlen(bad[i].text);
        ssize_t r = parse_text(bad[i].text);
        if (r != -bad[i].status)
            fail_msg("%zd and not %d: %s", -r, bad[i].status, bad[i].text);
        /* It shows at the same byte whatever stands behind it, and never earlier than by then. */
        char more[512];
        snprintf(more, sizeof more, "%sX-More: 1\r\n\r\n", bad[i].text);
        assert_int_equal(parse_text(more), r);
        bool told = false;
        for (size_t k = 0; k <= n; k++) {
            struct http_request q;
            ssize_t part = parse(bad[i].text, k, &q);
            assert_true(part == 0 || part == r);
            assert_true(!told || part == r);
            told = part == r;
        }
        assert_true(told);
    }
}

/* A zero byte cannot stand in the texts above. */
static void zero_bytes(void **state)
{
    (void)state;
    static const char good[] = "GET /12 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
    struct http_request q;
    for (size_t i = 0; i < sizeof good - 1; i++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        text[i] = '\0';
        assert_int_equal(parse(text, sizeof good - 1, &q), -400);
    }
}

static void every_split(void **state)
{
    (void)state;
    static const char text[] = "POST /12?q HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                               "Content-Length: 5\r\nConnection: close\r\n\r\nHello";
    size_t head = sizeof text - 1 - 5;
    for (size_t n = 0; n < sizeof text; n++) {
        struct http_request q;
        assert_int_equal(parse(text, n, &q), n < head ? 0 : (ssize_t)head);
        if (n >= head)
            assert_true(q.method == HTTP_POST && q.length == 5 && q.expects && !q.keep_alive);
    }
}

/* `what` n times between two texts. */
static ssize_t parse_long(const char *before, const char *what, size_t n, const char *after)
{
    struct http_request q;
    size_t a = strlen(before), b = strlen(what), c = strlen(after), all = a + n * b + c;
    char *text = malloc(all);
    assert_non_null(text);
    memcpy(text, before, a);
    for (size_t i = 0; i < n; i++)
        memcpy(text + a + i * b, what, b);
    memcpy(text + a + n * b, after, c);
    ssize_t r = parse(text, all, &q);
    free(text);
    return r;
}

static void limits(void **state)
{
    (void)state;
    static const char start[] = "GET / HTTP/1.1\r\nHost: a\r\n";
    static const char end[] = " HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_true(parse_long("GET /", "a", HTTP_TARGET_MAX - 1, end) > 0);
    assert_int_equal(parse_long("GET /", "a", HTTP_TARGET_MAX, end), -414);
    assert_int_equal(parse_long("GET /", "a", HTTP_TARGET_MAX, ""), -414);
    assert_int_equal(parse_long("GET /", "a", 1 << 20, ""), -414);
    static const char long_one[] = "GET / HTTP/1.1\r\nHost: a\r\nX:";
    assert_true(parse_long(start, "A: b\r\n", HTTP_FIELDS_MAX - 1, "\r\n") > 0);
    assert_int_equal(parse_long(start, "A: b\r\n", HTTP_FIELDS_MAX, "\r\n"), -431);
    assert_int_equal(parse_long(start, "A: b\r\n", HTTP_FIELDS_MAX, ""), -431);
    size_t room = HTTP_HEAD_MAX - strlen(start) - strlen("X:\r\n\r\n");
    assert_int_equal(parse_long(long_one, "b", room, "\r\n\r\n"), HTTP_HEAD_MAX);
    assert_int_equal(parse_long(long_one, "b", room + 1, "\r\n\r\n"), -431);
    assert_int_equal(parse_long(long_one, "b", room - 1, ""), 0);
    assert_int_equal(parse_long(long_one, "b", room + 4, ""), -431);
}

/* Any bytes: an answer, and the same one when more stands behind them once it is final. */
static void noise(void **state)
{
    (void)state;
    static const char *const seeds[] = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                                        "POST /1 HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"};
    unsigned x = 12345;
    for (int round = 0; round < 20000; round++) {
        char text[128];
        struct http_request q, again;
        size_t n = strlen(seeds[round % 2]);
        memcpy(text, seeds[round % 2], n);
        for (int k = 0; k < 3; k++) {
            x = x * 1103515245u + 12345u;
            text[(x >> 16) % n] = (char)(x >> 8);
        }
        ssize_t r = parse(text, n, &q);
        assert_true(r >= -505 && r <= (ssize_t)n);
        memcpy(text + n, "\r\nX", 3);
        if (r != 0)
            assert_int_equal(parse(text, n + 3, &again), r);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_curl_sends), cmocka_unit_test(what_ab_sends),
        cmocka_unit_test(bodies_and_connections), cmocka_unit_test(paths),
        cmocka_unit_test(refusals),        cmocka_unit_test(zero_bytes),
        cmocka_unit_test(every_split),     cmocka_unit_test(limits),
        cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
