/* SPDX-License-Identifier: MIT */
/* The client's half of HTTP against replies that are not ours, in all pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "http_pieces.h"

#define MIB (1u << 20)

static void what_it_asks(void **state)
{
    (void)state;
    struct proto_check c;
    uint8_t buf[PROTO_ASK_MAX];
    size_t n = http()->ask(&c, 9, 1024, buf);
    assert_int_equal(n, 36);
    assert_memory_equal(buf, "GET /1024 HTTP/1.1\r\nHost: iodash\r\n\r\n", n);
    n = http()->ask(&c, 9, 0, buf);
    assert_memory_equal(buf, "GET / HTTP/1.1\r\nHost: iodash\r\n\r\n", n);
    n = http()->ask(&c, 9, 16 * MIB, buf);
    assert_memory_equal(buf, "GET /16777216 HTTP/1.1\r\n", 24);
}

static void foreign_replies(void **state)
{
    (void)state;
#define OK "HTTP/1.1 200 OK\r\n"
#define LENGTH(n) "Content-Length: " n "\r\n"
#define OURS OK "Server: iodash\r\n"
#define CHUNKED_LINE "Transfer-Encoding: chunked\r\n"
#define CHUNKED OK CHUNKED_LINE
    static const struct {
        int says;
        uint64_t size;
        const char *reply;
    } all[] = {
        {1, 9, OK "Server: nginx\r\ncontent-length:2\r\n\r\nhi"},
        {2, 0, "HTTP/1.0 204 \r\nContent-Length:0\r\n\r\n"},
        {1, 0, "HTTP/1.1 204\r\n\r\n"},
        {-EBADMSG, 0, "HTTP/1.1 204 \r\n" LENGTH("1") "\r\na"},
        {1, 5, "HTTP/1.1 206 Part\r\nX: y\r\nCONTENT-LENGTH: \t 3 \r\nServer: iodash2\r\n"
               "Content-Lengthy: 5\r\n\r\nabc"},
        {0, 5, OK LENGTH("3") "\r\nab"},
        {-EBADMSG, 5, OK LENGTH("3") "\r\nabcd"},
        {0, 5, OK "X: y\r\n\r\nuntil the connection ends"},
        {-EBADMSG, 5, OURS "X: y\r\n\r\nours says how long it is"},
        {-EBADMSG, 5, "HTTP/1.1 404 Not Found\r\n" LENGTH("0") "\r\n"},
        {-EBADMSG, 5, "HTTP/1.1 500"},
        {-EBADMSG, 5, "HTTP/1.1 2000 OK\r\n"},
        {-EBADMSG, 5, "HTTP/1.1 101 Switching Protocols\r\n"},
        {-EBADMSG, 5, "HTTP/2 200 OK\r\n"},
        {-EBADMSG, 5, "SSH-2.0-x\r\n"},
        {1, 5, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK
               LENGTH("2") "\r\nhi"},
        {0, 5, CHUNKED "\r\n"},
        {1, 5, CHUNKED "\r\n0\r\n\r\n"},
        {1, 5, CHUNKED "\r\n5\r\nhello\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n"},
        {1, 5, CHUNKED "\r\n1 \r\nx\r\n0\r\nTrailer: t\r\nSecond: u\r\n\r\n"},
        {2, 5, CHUNKED "Connection: close\r\n\r\n1\r\nx\r\n0\r\n\r\n"},
        {0, 5, CHUNKED "\r\n5\r\nhello\r\n0\r\n"},
        {-EBADMSG, 5, CHUNKED "\r\n5\r\nhello!\r\n0\r\n\r\n"},
        {-EBADMSG, 5, CHUNKED "\r\n0\r\n\r\nx"},
        {-EBADMSG, 5, CHUNKED "\r\nx\r\n"},
        {-EBADMSG, 5, CHUNKED "\r\n\r\n"},
        {-EBADMSG, 5, CHUNKED "\r\n123456789abcdef\r\n"},
        {-EBADMSG, 5, CHUNKED LENGTH("3") "\r\n"},
        {-EBADMSG, 5, CHUNKED CHUNKED_LINE "\r\n"},
        {-EBADMSG, 5, OK "Transfer-Encoding: gzip, chunked\r\n\r\n"},
        {-EBADMSG, 5, OK "Transfer-Encoding: chunkedx\r\n\r\n"},
        {1, 5, OK "Transfer-encoding:chunked\n\r\n0\r\n\r\n"},
        {2, 5, OK LENGTH("2") "connection:CLOSE\r\n\r\nhi"},
        {2, 5, OK LENGTH("2") "Connection: Upgrade, close\r\n\r\nhi"},
        {1, 5, OK LENGTH("2") "Connection: closed, keep-alivee\r\n\r\nhi"},
        {1, 5, OK LENGTH("2") "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\nhi"},
        {2, 5, "HTTP/1.0 200 OK\r\n" LENGTH("2") "\r\nhi"},
        {1, 5, "HTTP/1.0 200 OK\r\n" LENGTH("2") "Connection: Keep-Alive\r\n\r\nhi"},
        {-EBADMSG, 5, OK LENGTH("3") LENGTH("3")},
        {-EBADMSG, 5, OK LENGTH("3x")},
        {-EBADMSG, 5, OK LENGTH("99999999999999999999")},
        {-EBADMSG, 5, OK LENGTH("3") "\n\r\nabc"},
        /* From iodash by its own word: it must be the pattern, and as long as was asked for. */
        {1, 3, OURS LENGTH("3") "\r\n\0\1\2"},
        {-EBADMSG, 3, OURS LENGTH("3") "\r\nabc"},
        {-EBADMSG, 3, OURS "Content-Type: text/plain\r\n" LENGTH("3") "\r\nabc"},
        {-EBADMSG, 3, OURS "Content-Type: text/plain\r\n" LENGTH("3") LENGTH("3") "\r\nabc"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *reply = all[i].reply;
        bool zero = all[i].says == 1 && strncmp(reply, OURS, strlen(OURS)) == 0;
        size_t n = strlen(reply) + (zero ? 3 : 0); /* a body that begins with a zero byte */
        for (size_t piece = 1; piece < 200; piece++)
            if (check_in(piece, all[i].size, reply, n) != all[i].says)
                fail_msg("in pieces of %zu not %d: %s", piece, all[i].says, reply);
    }
}

/* The end of the connection ends a body that does not say how long it is, and no other. */
static void ended(void **state)
{
    (void)state;
    static const struct {
        int says;
        uint64_t got;
        const char *reply;
    } all[] = {
        {PROTO_WHOLE_LAST, 5, OK "X: y\r\n\r\nhello"},
        {PROTO_WHOLE_LAST, 0, "HTTP/1.0 200 OK\r\n\r\n"},
        {0, 0, OK "X: y\r\n"},
        {0, 0, ""},
        {0, 2, OK LENGTH("3") "\r\nhi"},
        {0, 5, CHUNKED "\r\n5\r\nhello\r\n0\r\n"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct proto_check c;
        uint8_t buf[PROTO_ASK_MAX];
        size_t n = strlen(all[i].reply);
        http()->ask(&c, 1, 0, buf);
        if (n)
            assert_int_equal(http()->check(&c, (const uint8_t *)all[i].reply, n), 0);
        assert_int_equal(http()->check(&c, buf, 0), all[i].says);
        assert_int_equal(c.got, all[i].got);
    }
}

static void what_was_wrong(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        {"HTTP/1.1 404 Not Found\r\n", "HTTP status 404"},
        {"HTTP/1.1 503", "HTTP status 503"},
        {"SSH-2.0-OpenSSH", "no HTTP"},
        {"HTTP/1.1 20x", "no HTTP"},
        {OK LENGTH("x"), "a bad HTTP head"},
        {OK LENGTH("") "\r\nab", "a bad HTTP head"},
        {OK LENGTH("1") "\r\nab", "a body that is not as its head says"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct proto_check c;
        uint8_t buf[PROTO_ASK_MAX];
        char text[80];
        http()->ask(&c, 1, 0, buf);
        const uint8_t *reply = (const uint8_t *)all[i][0];
        assert_int_equal(http()->check(&c, reply, strlen(all[i][0])), -EBADMSG);
        http()->wrong(&c, text, sizeof text);
        assert_string_equal(text, all[i][1]);
    }
}

static void endless_head(void **state)
{
    (void)state;
    char *text = malloc(MIB);
    assert_non_null(text);
    memset(text, 'x', MIB);
    memcpy(text, "HTTP/1.1 200 OK\r\nX: ", 20);
    assert_int_equal(check_in(SIZE_MAX / 2, 1, text, MIB), -EBADMSG);
    assert_int_equal(check_in(1000, 1, text, MIB), -EBADMSG);
    assert_int_equal(check_in(1000, 1, text, 16000), 0);
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_asks), cmocka_unit_test(foreign_replies),
        cmocka_unit_test(ended),        cmocka_unit_test(what_was_wrong),
        cmocka_unit_test(endless_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
