/* SPDX-License-Identifier: MIT */
/* echo with and without its suffix, and discard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/pattern.h"
#include "net/protocol.h"

#define MIB (1u << 20)

static const struct protocol *echo(bool suffix)
{
    return protocol_get(protocol_find("echo"), suffix);
}

/* Gives n bytes to the server's half, takes what is due in steps; returns how much came. */
static size_t run(const struct protocol *p, void *server, const uint8_t *in, size_t n, size_t step,
                  uint8_t *out)
{
    const uint8_t *bytes;
    size_t due, got = 0;
    enum proto_sent what = PROTO_GOES_ON;
    assert_int_equal(p->take(server, in, n), n);
    while ((due = p->due(server, &bytes)) > 0) {
        size_t part = due < step ? due : step;
        assert_int_equal(what, PROTO_GOES_ON);
        memcpy(out + got, bytes, part);
        got += part;
        assert_int_equal(p->ends(server, part), part == due);
        what = p->sent(server, part);
        assert_int_equal(what, part == due ? PROTO_REPLIED : PROTO_GOES_ON);
    }
    return got;
}

static void returns_what_came(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 271, 3, 1024, 1025, 100, MIB, 2, 600};
    uint64_t server[PROTO_STATE / 8] = {0};
    uint8_t *in = malloc(MIB), *out = malloc(MIB);
    assert_true(in && out);
    for (size_t i = 0; i < MIB; i++)
        in[i] = (uint8_t)(i * 31 + i / 253);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint8_t *from = in + i;
        size_t n = sizes[i] - i * (sizes[i] == MIB);
        memset(out, 0, n);
        assert_int_equal(run(echo(false), server, from, n, 1 + n / 7, out), n);
        assert_memory_equal(out, from, n);
    }
    echo(false)->end(server);
    free(in);
    free(out);
}

/* The buffer that requests lie in is another connection's when the rest of a reply goes out. */
static void outlives_the_input(void **state)
{
    (void)state;
    for (int suffix = 0; suffix < 2; suffix++) {
        const struct protocol *p = echo(suffix);
        uint64_t server[PROTO_STATE / 8] = {0};
        uint8_t in[] = "hello";
        const uint8_t *bytes;
        assert_int_equal(p->take(server, in, 5), 5);
        memset(in, 'x', 5);
        assert_true(p->due(server, &bytes) >= 5);
        assert_memory_equal(bytes, "hello", 5);
        assert_int_equal(p->sent(server, 2), PROTO_GOES_ON);
        assert_true(p->due(server, &bytes) >= 3);
        assert_memory_equal(bytes, "llo", 3);
        p->end(server);
    }
}

/* No memory is taken anew for a request like the one before. */
static void small_requests_keep_their_memory(void **state)
{
    (void)state;
    uint64_t server[PROTO_STATE / 8] = {0};
    uint8_t buf[PROTO_ASK_MAX], out[1024];
    const uint8_t *first, *again;
    struct proto_check c;
    size_t n = echo(true)->ask(&c, 1, 0, buf);
    echo(true)->take(server, buf, n);
    echo(true)->due(server, &first);
    echo(true)->sent(server, echo(true)->due(server, &again));
    run(echo(true), server, buf, n, 1000, out);
    echo(true)->take(server, buf, n);
    echo(true)->due(server, &again);
    assert_ptr_equal(first, again);
    echo(true)->end(server);
}

static void what_is_published(void **state)
{
    (void)state;
    uint8_t buf[PROTO_ASK_MAX];
    struct proto_check c;
    assert_int_equal(echo(false)->ask(&c, 4, 1024, buf), 271);
    assert_memory_equal(buf, "POST ", 5);
    assert_memory_equal(buf + 271 - 10, "\r\n\r\nHello!", 10);
}

/* Both halves; the request reaches the server in two pieces, the reply the client in pieces. */
static void both_halves(void **state)
{
    (void)state;
    for (int suffix = 0; suffix < 2; suffix++) {
        const struct protocol *p = echo(suffix);
        for (size_t cut = 1; cut <= 271; cut++) {
            uint64_t server[PROTO_STATE / 8] = {0};
            uint8_t buf[PROTO_ASK_MAX], out[1024];
            struct proto_check c;
            size_t n = p->ask(&c, cut, 0, buf);
            size_t got = run(p, server, buf, cut, 100, out);
            if (cut < n)
                got += run(p, server, buf + cut, n - cut, 7, out + got);
            assert_true(suffix ? got > n : got == n);
            for (size_t at = 0; at < got; at += cut) {
                size_t part = got - at < cut ? got - at : cut;
                assert_int_equal(p->check(&c, out + at, part), at + part == got);
            }
            assert_int_equal(p->check(&c, out, 1), -EBADMSG);
            p->end(server);
        }
    }
}

static void wrong_replies(void **state)
{
    (void)state;
    for (int suffix = 0; suffix < 2; suffix++) {
        const struct protocol *p = echo(suffix);
        uint64_t server[PROTO_STATE / 8] = {0};
        uint8_t buf[PROTO_ASK_MAX], out[1024];
        struct proto_check c;
        size_t got = run(p, server, buf, p->ask(&c, 1, 0, buf), 1000, out);
        for (size_t i = 0; i < got; i++) {
            p->ask(&c, 1, 0, buf);
            out[i] ^= 1;
            assert_int_equal(p->check(&c, out, got), -EBADMSG);
            out[i] ^= 1;
        }
        out[got] = 'x';
        p->ask(&c, 1, 0, buf);
        assert_int_equal(p->check(&c, out, got + 1), -EBADMSG);
        p->ask(&c, 1, 0, buf);
        assert_int_equal(p->check(&c, out, got - 1), 0);
        p->end(server);
    }
    /* A reply of the other kind. */
    uint8_t buf[PROTO_ASK_MAX];
    struct proto_check c;
    echo(true)->ask(&c, 1, 0, buf);
    assert_int_equal(echo(true)->check(&c, buf, 271), 0); /* its suffix is still to come */
}

static void suffix_is_echos_alone(void **state)
{
    (void)state;
    for (int i = 0; i < protocol_count; i++) {
        assert_ptr_equal(protocol_get(i, false), protocol_table[i]);
        if (i != protocol_find("echo"))
            assert_ptr_equal(protocol_get(i, true), protocol_table[i]);
    }
    assert_string_equal(echo(true)->id, "echo");
    assert_ptr_not_equal(echo(true), echo(false));
}

static void discards(void **state)
{
    (void)state;
    const struct protocol *p = protocol_table[protocol_find("discard")];
    uint64_t server[PROTO_STATE / 8] = {0};
    uint8_t buf[PROTO_ASK_MAX];
    const uint8_t *bytes;
    struct proto_check c;
    assert_true(p->one_way);
    assert_int_equal(p->ask(&c, 3, 100, buf), 0);
    assert_int_equal(p->flow(&c, &bytes), 100);
    assert_int_equal(bytes[99], 102);
    c.got = 60;
    assert_int_equal(p->flow(&c, &bytes), 40);
    assert_int_equal(bytes[0], 63);
    c.got = 100;
    assert_int_equal(p->flow(&c, &bytes), 0);
    p->ask(&c, 0, MIB, buf);
    uint64_t runs = 0;
    for (size_t n; (n = p->flow(&c, &bytes)) > 0; runs++)
        c.got += n;
    assert_true(c.got == MIB && runs == MIB / PATTERN_RUN);
    assert_int_equal(p->take(server, bytes, 100), 100);
    assert_int_equal(p->due(server, &bytes), 0);
    assert_int_equal(p->check(&c, buf, 1), -EBADMSG);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_what_came),     cmocka_unit_test(outlives_the_input),
        cmocka_unit_test(small_requests_keep_their_memory),
        cmocka_unit_test(what_is_published),     cmocka_unit_test(both_halves),
        cmocka_unit_test(wrong_replies),         cmocka_unit_test(suffix_is_echos_alone),
        cmocka_unit_test(discards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
