/* SPDX-License-Identifier: MIT */
/* Every protocol through every model, in both placements: what must hold of bytes whatever they
 * mean to whom. (What `fetch` alone can show is in test_contract.c.) */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "metrics/proc.h"
#include "net/pattern.h"
#include "net/protocol.h"
#include "servers/harness.h"

#define MIB (1u << 20)

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN true
#endif
#endif
#ifndef UNDER_ASAN
#define UNDER_ASAN false
#endif

/* Those that reply. */
static const struct kind {
    const char *id;
    bool suffix;
} kinds[] = {{"fetch", false}, {"echo", false}, {"echo", true}, {"http", false}};
#define KINDS (sizeof kinds / sizeof *kinds)

static const struct protocol *protocol_of(const struct kind *k)
{
    return protocol_get(protocol_find(k->id), k->suffix);
}

static struct server_spec spec_of(void **state, const struct kind *k)
{
    struct server_spec spec = harness_spec(*state);
    spec.params.protocol = protocol_find(k->id);
    spec.params.suffix = k->suffix;
    return spec;
}

static struct server *start(void **state, const struct kind *k)
{
    struct server_spec spec = spec_of(state, k);
    return harness_start(&spec);
}

static struct server *start_named(void **state, const char *id)
{
    return start(state, &(struct kind){id, false});
}

/* --- clients ---------------------------------------------------------------------------------- */

static bool send_all(int fd, const void *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = send(fd, (const char *)bytes + at, n - at, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        at += (size_t)k;
    }
    return true;
}

static void say(int fd, const char *text)
{
    assert_true(send_all(fd, text, strlen(text)));
}

/* Reads n bytes, or fewer when the end comes first. */
static size_t hear(int fd, void *buf, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t k = client_recv(fd, (char *)buf + got, n - got);
        if (k <= 0)
            break;
        got += (size_t)k;
    }
    return got;
}

static void ask(int fd, const struct protocol *p, struct proto_check *c, uint64_t size)
{
    uint8_t buf[PROTO_ASK_MAX];
    size_t n = p->ask(c, 5, size, buf);
    assert_true(send_all(fd, buf, n));
}

static void expect_reply(int fd, const struct protocol *p, struct proto_check *c)
{
    static uint8_t buf[65536];
    for (int whole = 0; whole == 0;) {
        ssize_t n = client_recv(fd, buf, sizeof buf);
        assert_true(n > 0);
        whole = p->check(c, buf, (size_t)n);
        assert_true(whole >= 0);
    }
}

static void ping(int fd, const struct protocol *p, uint64_t size)
{
    struct proto_check c;
    ask(fd, p, &c, size);
    expect_reply(fd, p, &c);
}

/* Sends from a thread, since whoever only sends may wait for ever for whoever only sends. */
struct sender {
    int fd;
    const uint8_t *bytes;
    size_t n;
    pthread_t thread;
    bool all;
};

static void *sender_main(void *arg)
{
    struct sender *s = arg;
    s->all = send_all(s->fd, s->bytes, s->n);
    return NULL;
}

static void sender_start(struct sender *s, int fd, const void *bytes, size_t n)
{
    *s = (struct sender){.fd = fd, .bytes = bytes, .n = n};
    assert_int_equal(pthread_create(&s->thread, NULL, sender_main, s), 0);
}

static void sender_join(struct sender *s)
{
    pthread_join(s->thread, NULL);
    assert_true(s->all);
}

static uint8_t *varied(size_t n)
{
    uint8_t *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(i * 37 + i / 251 + i / 65536);
    return bytes;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void in_pieces(void **state)
{
    for (size_t k = 0; k < KINDS; k++) {
        const struct protocol *p = protocol_of(&kinds[k]);
        struct server *s = start(state, &kinds[k]);
        int fd = client_open(s);
        for (size_t piece = 1; piece < 200; piece = piece * 5 + 2) {
            uint8_t buf[PROTO_ASK_MAX];
            struct proto_check c;
            size_t n = p->ask(&c, 7, 1000, buf);
            for (size_t at = 0; at < n; at += piece) {
                assert_true(send_all(fd, buf + at, n - at < piece ? n - at : piece));
                if (at % 32 == 0)
                    harness_sleep_ms(1);
            }
            expect_reply(fd, p, &c);
            ping(fd, p, 1000);
        }
        assert_int_equal(harness_counts(s).junk, 0);
        close(fd);
        UNTIL(harness_held(s) == 0);
        server_stop(s);
    }
}

/* One reply, byte by byte: where it ends is the check's to say. */
static size_t record_reply(int fd, const struct protocol *p, uint8_t *out, size_t most)
{
    struct proto_check c;
    size_t n = 0;
    ask(fd, p, &c, 700);
    for (int whole = 0; whole == 0; n++) {
        assert_true(n < most && client_recv(fd, out + n, 1) == 1);
        whole = p->check(&c, out + n, 1);
        assert_true(whole >= 0);
    }
    return n;
}

/* Many requests before the first reply is read: the replies are those of one, as often. A suffix
 * stands behind a read and not behind a request, so there it depends. */
static void pipelined(void **state)
{
    enum { COUNT = 200, MOST = 1024 };
    uint8_t one[MOST], *all = malloc(COUNT * MOST), *replies = malloc(COUNT * MOST);
    assert_true(all && replies);
    for (size_t k = 0; k < KINDS; k++) {
        const struct protocol *p = protocol_of(&kinds[k]);
        struct server_spec spec = spec_of(state, &kinds[k]);
        struct proto_check c;
        struct sender sender;
        if (kinds[k].suffix)
            continue;
        spec.params.buffer = k % 2 ? 100 : 16384; /* 100: requests lie across reads */
        struct server *s = harness_start(&spec);
        int fd = client_open(s);
        size_t length = record_reply(fd, p, one, MOST), n = 0;
        for (size_t i = 0; i < COUNT; i++)
            n += p->ask(&c, 5, 700, all + n);
        sender_start(&sender, fd, all, n);
        harness_sleep_ms(5);
        assert_int_equal(hear(fd, replies, COUNT * length), COUNT * length);
        for (size_t i = 0; i < COUNT; i++)
            assert_memory_equal(replies + i * length, one, length);
        sender_join(&sender);
        UNTIL(harness_counts(s).bytes_in == n + n / COUNT); /* a thread may count after its reply */
        close(fd);
        UNTIL(harness_held(s) == 0);
        server_stop(s);
    }
    free(all);
    free(replies);
}

static void slow_read(int fd, const uint8_t *want, size_t n)
{
    static uint8_t buf[16384];
    for (size_t at = 0, i = 0; at < n; i++) {
        ssize_t got = client_recv(fd, buf, n - at < sizeof buf ? n - at : sizeof buf);
        assert_true(got > 0);
        assert_memory_equal(buf, want + at, got);
        at += (size_t)got;
        if (i % 16 == 0)
            harness_sleep_ms(1);
    }
}

/* Past the head, which is of no more than one read here. */
static void skip_head(int fd)
{
    char c[4] = "";
    while (memcmp(c, "\r\n\r\n", 4) != 0) {
        memmove(c, c + 1, 3);
        assert_int_equal(client_recv(fd, c + 3, 1), 1);
    }
}

static void slow_readers(void **state)
{
    static const char post[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n";
    size_t n = MIB, head = sizeof post - 1;
    uint8_t *bytes = varied(n);
    struct sender sender;
    struct server *s = start_named(state, "echo");
    int fd = client_open_small(s);
    sender_start(&sender, fd, bytes, n / 2);
    slow_read(fd, bytes, n / 2);
    sender_join(&sender);
    UNTIL(harness_counts(s).bytes_out == n / 2);
    close(fd);
    server_stop(s);
    s = start_named(state, "http");
    fd = client_open_small(s);
    say(fd, "GET /1048576 HTTP/1.1\r\nHost: a\r\n\r\n");
    skip_head(fd);
    for (size_t at = 0; at < n; at += PATTERN_RUN) {
        slow_read(fd, pattern_at(0), PATTERN_RUN);
        if (at >= n / 4) /* so far slowly */
            client_widen(fd);
    }
    close(fd);
    fd = client_open_small(s);
    memcpy(bytes, post, head);
    sender_start(&sender, fd, bytes, head + 200000);
    skip_head(fd);
    slow_read(fd, bytes + head, 200000);
    sender_join(&sender);
    UNTIL(harness_counts(s).requests == 2);
    close(fd);
    UNTIL(harness_held(s) == 0);
    server_stop(s);
    free(bytes);
}

/* The last reply arrives whole and then the end, not a reset, though more was sent behind the
 * request than anybody will read. */
static void last_replies(void **state)
{
    static const struct {
        const char *ask, *line;
        bool junk;
    } all[] = {
        {"GET /100000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 ", false},
        {"GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", false},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n", "HTTP/1.1 413 ", true},
        {"PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n", "HTTP/1.1 405 ", true},
        {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ", true},
    };
    struct server *s = start_named(state, "http");
    uint8_t *more = varied(200000), *reply = malloc(MIB);
    assert_non_null(reply);
    uint64_t junk = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sender sender;
        int fd = client_open(s);
        say(fd, all[i].ask);
        sender_start(&sender, fd, more, 200000);
        sender_join(&sender);
        harness_sleep_ms(5);
        size_t n = hear(fd, reply, MIB);
        assert_true(n > strlen(all[i].line));
        assert_memory_equal(reply, all[i].line, strlen(all[i].line));
        assert_int_equal(client_recv(fd, reply, 1), 0); /* not ECONNRESET */
        junk += all[i].junk;
        UNTIL(harness_counts(s).junk == junk);
        close(fd);
        UNTIL(harness_held(s) == 0);
    }
    UNTIL(harness_counts(s).requests == 2);
    assert_int_equal(harness_counts(s).junk, junk);
    /* Whoever goes on and on is reset in the end. */
    int fd = client_open(s);
    say(fd, "GET / HTTP/1.0\r\n\r\n");
    for (int i = 0; i < 50 && send_all(fd, more, 200000); i++)
        ;
    UNTIL(harness_held(s) == 0);
    close(fd);
    server_stop(s);
    free(more);
    free(reply);
}

/* Pairs of request and end in one segment, reset in the middle of a body, silence. */
static void abrupt_ends(void **state)
{
    struct server *s = start_named(state, "http");
    char reply[256];
    for (int i = 0; i < 30; i++) {
        int fd = client_open(s);
        static const char get[] = "GET /9 HTTP/1.1\r\nHost: a\r\n\r\n";
        static const char post[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\nabc";
        if (i % 3 == 0) {
            assert_int_equal(send(fd, get, sizeof get - 1, MSG_MORE), sizeof get - 1);
            shutdown(fd, SHUT_WR);
            size_t n = hear(fd, reply, sizeof reply);
            assert_true(n > 9 && memcmp(reply + n - 9, pattern_at(0), 9) == 0);
            close(fd);
        } else if (i % 3 == 1) {
            say(fd, post);
            net_close_reset(fd);
        } else {
            say(fd, post);
            shutdown(fd, SHUT_WR); /* half a body: no reply */
            assert_int_equal(hear(fd, reply, sizeof reply), 0);
            close(fd);
        }
    }
    UNTIL(harness_held(s) == 0);
    UNTIL(harness_counts(s).requests == 10);
    server_stop(s);
}

/* Replies of their own memory that nobody takes: freed with the connection. */
static void reset_while_blocked(void **state)
{
    static const char *const ids[] = {"echo", "http"};
    for (int i = 0; i < 2; i++) {
        struct server *s = start_named(state, ids[i]);
        uint8_t *bytes = varied(8 * MIB);
        int fd[2], other = client_open(s);
        for (int k = 0; k < 2; k++) {
            fd[k] = client_open_small(s);
            if (i)
                say(fd[k], k % 2 ? "GET /16777213 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                                 : "GET /16777216 HTTP/1.1\r\nHost: a\r\n\r\n");
            struct timeval tv = {0, 30000};
            setsockopt(fd[k], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
            if (!i)
                send_all(fd[k], bytes, 8 * MIB); /* until both directions are full */
        }
        harness_sleep_ms(20);
        assert_true(harness_counts(s).bytes_in < 8 * MIB); /* half of it stays outside */
        for (int k = 0; k < 2; k++)
            net_close_reset(fd[k]);
        UNTIL(harness_held(s) == 1);
        ping(other, protocol_table[protocol_find(ids[i])], 10);
        close(other);
        server_stop(s);
        free(bytes);
    }
}

static void steady_state_calls(void **state)
{
    enum { COUNT = 200 };
    for (size_t k = 1; k < KINDS; k++) {
        const struct protocol *p = protocol_of(&kinds[k]);
        struct server *s = start(state, &kinds[k]);
        int fd = client_open(s);
        ping(fd, p, 1024);
        UNTIL(harness_counts(s).requests == 1);
        struct server_counts a = harness_counts(s), b;
        for (int i = 0; i < COUNT; i++)
            ping(fd, p, 1024);
        UNTIL(harness_counts(s).requests == COUNT + 1);
        b = harness_counts(s);
        assert_int_equal(b.reads - a.reads, COUNT);
        assert_int_equal(b.writes - a.writes, COUNT);
        assert_int_equal(b.read_empty - a.read_empty, 0);
        assert_int_equal(b.write_full - a.write_full, 0);
        close(fd);
        server_stop(s);
    }
}

static void discards(void **state)
{
    struct server *s = start_named(state, "discard");
    uint8_t *bytes = varied(3 * MIB);
    int fd = client_open(s);
    char c;
    assert_true(send_all(fd, bytes, 3 * MIB));
    UNTIL(harness_counts(s).bytes_in == 3 * MIB);
    assert_int_equal(recv(fd, &c, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(harness_counts(s).bytes_out, 0);
    assert_int_equal(harness_counts(s).requests, 0);
    shutdown(fd, SHUT_WR);
    assert_int_equal(client_recv(fd, &c, 1), 0);
    UNTIL(harness_held(s) == 0);
    close(fd);
    server_stop(s);
    free(bytes);
}

/* --- noise ------------------------------------------------------------------------------------ */

static int64_t rss(const struct server *s)
{
    struct proc_stat stat;
    struct err e;
    assert_int_equal(proc_stat_read(server_pid(s), &stat, &e), 0);
    return stat.rss_bytes;
}

/* One of each: nothing at all, somebody else's hello, 1 MB of bytes and 1 MB of letters. */
static void make_noise(const struct server *s, const uint8_t *bytes, const uint8_t *letters)
{
    static const char tls[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 client hello";
    int fd[4];
    for (int i = 0; i < 4; i++) {
        struct timeval tv = {0, 20000};
        fd[i] = client_open(s);
        setsockopt(fd[i], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
    }
    send_all(fd[1], tls, sizeof tls - 1);
    send_all(fd[2], bytes, MIB); /* whether it takes them all or not */
    send_all(fd[3], letters, MIB);
    for (int i = 0; i < 4; i++)
        close(fd[i]);
}

static void noise(void **state)
{
    static const char *const ids[] = {"fetch", "http", "resp", "echo", "discard"};
    uint8_t *bytes = varied(MIB), *letters = malloc(MIB);
    assert_non_null(letters);
    memset(letters, 'x', MIB);
    for (int i = 0; i < 5; i++) {
        struct server *s = start_named(state, ids[i]);
        const struct protocol *p = protocol_table[protocol_find(ids[i])];
        bool strict = i < 3;
        int good = client_open(s);
        make_noise(s, bytes, letters);
        UNTIL(harness_held(s) == 1);
        int64_t before = rss(s);
        for (int round = 0; round < 5; round++)
            make_noise(s, bytes, letters);
        UNTIL(harness_held(s) == 1);
        /* Of some 10 MB of noise: what threads and rings of buffers come to use is bounded. */
        if (!UNDER_ASAN && !UNDER_TSAN && server_pid(s) != getpid())
            assert_true(rss(s) < before + 3 * (int64_t)MIB);
        UNTIL(harness_counts(s).junk == (strict ? 18 : 0));
        if (!p->one_way)
            ping(good, p, 100);
        close(good);
        server_stop(s);
    }
    free(bytes);
    free(letters);
}

static int tests(void)
{
    static const struct contract all[] = {
        {"in pieces", in_pieces},
        {"pipelined", pipelined},
        {"slow readers", slow_readers},
        {"last replies", last_replies},
        {"abrupt ends", abrupt_ends},
        {"reset while blocked", reset_while_blocked},
        {"steady state calls", steady_state_calls},
        {"discards", discards},
        {"noise", noise},
    };
    return harness_contract("protocols", all, sizeof all / sizeof *all);
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests);
}
