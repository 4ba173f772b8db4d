/* SPDX-License-Identifier: MIT */
/* fetch, both halves: every split of the input, every way to be wrong, replies of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/protocol.h"

#define MIB (1u << 20)

static const struct protocol *fetch(void)
{
    return protocol_table[protocol_find("fetch")];
}

static void request_bytes(void **state)
{
    (void)state;
    static const uint8_t head[24] = {'I', 'O', 'D', 'F', 0, 0, 0, 1, 0, 0, 4, 0,
                                     0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    uint8_t buf[PROTO_ASK_MAX], zero[40] = {0};
    struct proto_check c;
    assert_int_equal(fetch()->ask(&c, 0x0102030405060708u, 1024, buf), 64);
    assert_memory_equal(buf, head, sizeof head);
    assert_memory_equal(buf + 24, zero, sizeof zero);
    assert_int_equal(c.size, 1024);
    assert_int_equal(c.got, 0);
    assert_int_equal(fetch()->request_max, 64);
}

/* Runs a reply through the server's half, sending at most `most` at a time, into the client's. */
static void run_reply(void *server, struct proto_check *c, size_t most)
{
    const uint8_t *bytes;
    size_t n, sent = 0;
    bool end = false;
    while ((n = fetch()->due(server, &bytes)) > 0) {
        size_t part = n < most ? n : most;
        assert_false(end);
        int whole = fetch()->check(c, bytes, part);
        sent += part;
        end = fetch()->sent(server, part);
        assert_int_equal(whole, sent == c->size);
        assert_int_equal(end, sent == c->size);
    }
    assert_true(end);
    assert_int_equal(sent, c->size);
}

static void sizes_and_sequences(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 255, 256, 257, 1024, 65535, 65536, 65537, MIB + 3};
    static const uint64_t sequences[] = {0, 1, 255, 256, 0xffffffffffffff80u, UINT64_MAX};
    static const size_t mosts[] = {1 << 30, 65536, 1000, 77};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < sizeof sequences / sizeof *sequences; k++) {
            uint64_t server[PROTO_STATE / 8] = {0};
            uint8_t buf[PROTO_ASK_MAX];
            struct proto_check c;
            size_t n = fetch()->ask(&c, sequences[k], sizes[i], buf);
            assert_int_equal(fetch()->take(server, buf, n), 64);
            run_reply(server, &c, mosts[(i + k) % 4]);
        }
    }
}

static void largest(void **state)
{
    (void)state;
    uint64_t server[PROTO_STATE / 8] = {0};
    uint8_t buf[PROTO_ASK_MAX];
    struct proto_check c;
    fetch()->ask(&c, 3, 16 * MIB, buf);
    assert_int_equal(fetch()->take(server, buf, 64), 64);
    run_reply(server, &c, 1 << 30);
}

static void reply_is_low_bytes(void **state)
{
    (void)state;
    uint64_t server[PROTO_STATE / 8] = {0};
    uint8_t buf[PROTO_ASK_MAX];
    const uint8_t *bytes;
    struct proto_check c;
    fetch()->ask(&c, 0xfffe, 600, buf);
    assert_int_equal(fetch()->take(server, buf, 64), 64);
    assert_int_equal(fetch()->due(server, &bytes), 600);
    for (int i = 0; i < 600; i++)
        assert_int_equal(bytes[i], (0xfffe + i) & 255);
}

/* Whatever part of a request has come: it is waited for, and no byte of it is used up. */
static void every_split(void **state)
{
    (void)state;
    uint8_t buf[2 * PROTO_ASK_MAX];
    struct proto_check c;
    fetch()->ask(&c, 1, 10, buf);
    fetch()->ask(&c, 2, 10, buf + 64);
    for (size_t n = 1; n <= 128; n++) {
        uint64_t server[PROTO_STATE / 8] = {0};
        /* Of exactly this length, so that a sanitizer sees a look past its end. */
        uint8_t *part = malloc(n);
        memcpy(part, buf, n);
        assert_int_equal(fetch()->take(server, part, n), n < 64 ? 0 : 64);
        free(part);
    }
}

static void junk(void **state)
{
    (void)state;
    uint8_t good[PROTO_ASK_MAX], bad[PROTO_ASK_MAX];
    uint64_t server[PROTO_STATE / 8] = {0};
    struct proto_check c;
    fetch()->ask(&c, 1, 10, good);
    for (int i = 0; i < 64; i++) {
        memcpy(bad, good, 64);
        bad[i] ^= 0x80;
        bool may_differ = i >= 9 && i < 12; /* another size, up to 16 MiB */
        may_differ |= i >= 16 && i < 24;    /* another sequence */
        if (!may_differ)
            assert_int_equal(fetch()->take(server, bad, 64), -EPROTO);
    }
    assert_int_equal(fetch()->take(server, (const uint8_t *)"G", 1), -EPROTO);
    assert_int_equal(fetch()->take(server, (const uint8_t *)"IODFx", 5), -EPROTO);
    fetch()->ask(&c, 1, 0, bad);
    assert_int_equal(fetch()->take(server, bad, 64), -EPROTO);
    fetch()->ask(&c, 1, 16 * MIB + 1, bad);
    assert_int_equal(fetch()->take(server, bad, 64), -EPROTO);
}

static void wrong_replies(void **state)
{
    (void)state;
    uint8_t ask[PROTO_ASK_MAX], reply[300];
    struct proto_check c;
    for (int i = 0; i < 300; i++)
        reply[i] = (uint8_t)(7 + i);
    for (int i = 0; i < 300; i++) {
        fetch()->ask(&c, 7, 300, ask);
        reply[i] ^= 1;
        assert_int_equal(fetch()->check(&c, reply, 300), -EBADMSG);
        reply[i] ^= 1;
    }
    fetch()->ask(&c, 7, 299, ask);
    assert_int_equal(fetch()->check(&c, reply, 300), -EBADMSG); /* one too many */
    fetch()->ask(&c, 7, 300, ask);
    for (int i = 0; i < 300; i++)
        assert_int_equal(fetch()->check(&c, reply + i, 1), i == 299);
    assert_int_equal(fetch()->check(&c, reply, 1), -EBADMSG);
}

static void table(void **state)
{
    (void)state;
    for (int i = 0; i < protocol_count; i++) {
        const struct protocol *p = protocol_table[i];
        assert_int_equal(protocol_find(p->id), i);
        assert_string_equal(protocol_word(i), p->id);
        assert_true(p->label && p->summary && p->take && p->due && p->sent && p->ask && p->check);
    }
    assert_null(protocol_word(protocol_count));
    assert_null(protocol_word(-1));
    assert_int_equal(protocol_find("gopher"), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_bytes), cmocka_unit_test(sizes_and_sequences),
        cmocka_unit_test(largest),       cmocka_unit_test(reply_is_low_bytes),
        cmocka_unit_test(every_split),   cmocka_unit_test(junk),
        cmocka_unit_test(wrong_replies), cmocka_unit_test(table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
