/* SPDX-License-Identifier: MIT */
/* resp: both halves, in every split of the bytes. */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "net/protocol.h"

static const struct protocol *resp(void)
{
    return protocol_table[protocol_find("resp")];
}

static void server(void **state)
{
    (void)state;
    const struct protocol *p = resp();
    uint64_t s[PROTO_STATE / 8] = {0};
    const uint8_t *out, *in = (const uint8_t *)"PING\r\nping\r\n";
    for (size_t n = 1; n < 6; n++)
        assert_int_equal(p->take(s, in, n), 0);
    assert_int_equal(p->due(s, &out), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(p->take(s, in + 6 * round, 12 - 6 * (size_t)round), 6);
        assert_int_equal(p->due(s, &out), 7);
        assert_memory_equal(out, "+PONG\r\n", 7);
        assert_true(p->ends(s, 7) && !p->ends(s, 6));
        assert_int_equal(p->sent(s, 3), PROTO_GOES_ON);
        assert_int_equal(p->due(s, &out), 4);
        assert_memory_equal(out, "NG\r\n", 4);
        assert_int_equal(p->sent(s, 4), PROTO_REPLIED);
        assert_int_equal(p->due(s, &out), 0);
    }
    static const char *const junk[] = {"GET / HTTP", "PINGS\r\n", "PING\n", "P\r\n", "*1\r\n"};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++)
        assert_int_equal(p->take(s, (const uint8_t *)junk[i], strlen(junk[i])), -EPROTO);
}

static int hears(const char *reply, size_t split, char *why, size_t size)
{
    struct proto_check c;
    uint8_t ask[PROTO_ASK_MAX];
    assert_int_equal(resp()->ask(&c, 1, 7, ask), 6);
    assert_memory_equal(ask, "PING\r\n", 6);
    int rc = resp()->check(&c, (const uint8_t *)reply, split);
    if (rc == 0 && split < strlen(reply))
        rc = resp()->check(&c, (const uint8_t *)reply + split, strlen(reply) - split);
    resp()->wrong(&c, why, size);
    return rc;
}

static void client(void **state)
{
    (void)state;
    char why[80];
    for (size_t split = 0; split <= 7; split++)
        assert_int_equal(hears("+PONG\r\n", split, why, sizeof why), 1);
    assert_int_equal(hears("+PON", 2, why, sizeof why), 0);
    assert_int_equal(hears("+PONG\r\n+", 3, why, sizeof why), -EBADMSG);
    assert_int_equal(hears("+OK\r\n", 1, why, sizeof why), -EBADMSG);
    assert_string_equal(why, "it replied something else than PONG");
    assert_int_equal(hears("-NOAUTH no\r\n", 4, why, sizeof why), -EBADMSG);
    assert_string_equal(why, "it replied an error to PING");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(server), cmocka_unit_test(client)};
    return cmocka_run_group_tests_name("resp", tests, NULL, NULL);
}
