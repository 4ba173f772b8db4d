/* SPDX-License-Identifier: MIT */
/* The layer between models and protocols, with no socket: every split of the input, replies taken
 * in parts, input that comes while a reply is due. And the lineup as it is typed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "servers/harness.h"
#include "servers/service.h"

struct bench {
    struct worker w;
    struct server_counters count;
    struct conn c;
};

static void bench_init(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->w.protocol = protocol_table[0];
    b->w.count = &b->count;
}

/* Two requests, of 300 and of 5 bytes. */
static size_t two_requests(uint8_t *buf)
{
    struct proto_check c;
    size_t n = protocol_table[0]->ask(&c, 17, 300, buf);
    return n + protocol_table[0]->ask(&c, 99, 5, buf + n);
}

/* Takes what is due in steps of `step`; appends to out. */
static size_t drain(struct bench *b, struct input *in, size_t step, uint8_t *out)
{
    const uint8_t *bytes;
    size_t got = 0;
    ssize_t n;
    while ((n = service_next(&b->w, &b->c, in, &bytes)) > 0) {
        size_t take = (size_t)n < step ? (size_t)n : step;
        memcpy(out + got, bytes, take);
        service_sent(&b->w, &b->c, take);
        got += take;
    }
    assert_int_equal(n, 0);
    return got;
}

static void check_two_replies(const uint8_t *out, size_t n)
{
    assert_int_equal(n, 305);
    for (int i = 0; i < 300; i++)
        assert_int_equal(out[i], (uint8_t)(17 + i));
    for (int i = 0; i < 5; i++)
        assert_int_equal(out[300 + i], (uint8_t)(99 + i));
}

/* As readiness models do it: the kept part goes before what is read next. */
static void every_split_by_prefix(void **state)
{
    (void)state;
    uint8_t all[1024], buf[1024], out[1024];
    size_t n = two_requests(all);
    for (size_t cut = 1; cut < n; cut++) {
        struct bench b;
        bench_init(&b);
        size_t got = 0, at = 0;
        for (int part = 0; part < 2; part++) {
            size_t len = part == 0 ? cut : n - cut;
            size_t kept = service_prefix(&b.c, buf);
            memcpy(buf + kept, all + at, len);
            at += len;
            struct input in = service_came(&b.c, buf, kept + len);
            got += drain(&b, &in, 64 + cut, out + got);
            service_keep(&b.c, &in);
        }
        check_two_replies(out, got);
        assert_null(b.c.stash);
        assert_int_equal(counter_get(&b.count.requests), 2);
        assert_int_equal(counter_get(&b.count.bytes_out), 305);
    }
}

/* As completion models do it: bytes land anywhere, in pieces of every length. */
static void every_piece_by_append(void **state)
{
    (void)state;
    uint8_t all[1024], out[1024];
    size_t n = two_requests(all);
    for (size_t piece = 1; piece <= n; piece++) {
        struct bench b;
        bench_init(&b);
        size_t got = 0;
        for (size_t at = 0; at < n; at += piece) {
            size_t len = n - at < piece ? n - at : piece;
            struct input in = service_append(&b.c, all + at, len);
            got += drain(&b, &in, 1, out + got);
            service_keep(&b.c, &in);
        }
        check_two_replies(out, got);
        assert_null(b.c.stash);
    }
}

/* A reply is under way while more comes; nothing of it is looked at until the reply is out. */
static void input_while_due(void **state)
{
    (void)state;
    struct bench b;
    uint8_t all[1024], out[1024];
    const uint8_t *bytes;
    bench_init(&b);
    size_t n = two_requests(all), got = 0;
    struct input in = service_append(&b.c, all, 70);
    assert_int_equal(service_next(&b.w, &b.c, &in, &bytes), 300);
    service_keep(&b.c, &in);
    for (size_t at = 70; at < n; at++) {
        in = service_append(&b.c, all + at, 1);
        service_keep(&b.c, &in);
        if (at % 2 == 0) {
            in = service_resume(&b.c);
            assert_true(service_next(&b.w, &b.c, &in, &bytes) > 0);
            out[got++] = bytes[0];
            service_sent(&b.w, &b.c, 1);
        }
    }
    in = service_resume(&b.c);
    assert_true(in.stashed && in.n == 64);
    got += drain(&b, &in, 7, out + got);
    service_keep(&b.c, &in);
    check_two_replies(out, got);
    assert_null(b.c.stash);
}

static void junk_is_told(void **state)
{
    (void)state;
    struct bench b;
    const uint8_t *bytes;
    bench_init(&b);
    struct input in = service_append(&b.c, (const uint8_t *)"IODX", 4);
    assert_int_equal(service_next(&b.w, &b.c, &in, &bytes), -EPROTO);
    service_free(&b.c);
}

/* A protocol that never has enough must not outgrow the buffer. */
static ssize_t never(void *state, const uint8_t *in, size_t n)
{
    (void)state, (void)in, (void)n;
    return 0;
}

static void greedy_protocol(void **state)
{
    (void)state;
    static const struct protocol greedy = {.take = never, .request_max = 8};
    struct bench b;
    const uint8_t *bytes;
    bench_init(&b);
    b.w.protocol = &greedy;
    struct input in = service_append(&b.c, (const uint8_t *)"1234567", 7);
    assert_int_equal(service_next(&b.w, &b.c, &in, &bytes), 0);
    service_keep(&b.c, &in);
    in = service_append(&b.c, (const uint8_t *)"8", 1);
    assert_int_equal(service_next(&b.w, &b.c, &in, &bytes), -EPROTO);
    service_free(&b.c);
}

static void lineups(void **state)
{
    (void)state;
    struct lineup l;
    struct err e = {""};
    assert_int_equal(lineup_parse("select,epoll-lt", &l, &e), 0);
    assert_int_equal(l.count, 2);
    assert_string_equal(l.models[0]->id, "select");
    assert_string_equal(l.models[1]->id, "epoll-lt");
    assert_int_equal(lineup_parse("poll,poll,poll,poll", &l, &e), 0);
    assert_int_equal(l.count, 4);
    assert_int_equal(lineup_parse("poll,poll,poll,poll,poll", &l, &e), -EINVAL);
    assert_string_equal(e.text, "--models: more than 4 models");
    assert_int_equal(lineup_parse("", &l, &e), -EINVAL);
    assert_int_equal(lineup_parse("select,", &l, &e), -EINVAL);
    assert_string_equal(e.text, "--models: a name is missing in the list");
    assert_int_equal(lineup_parse("epol-lt", &l, &e), -EINVAL);
    assert_ptr_equal(strstr(e.text, "--models: no model 'epol-lt', did you mean 'epoll-lt'?; there "
                                    "are select, "), e.text);
}

/* Every kernel call once, each beside the same A. */
static void all_models(void **state)
{
    (void)state;
    struct lineups all;
    struct err e = {""};
    int seen = 1, kernel = 0;
    assert_int_equal(lineups_parse("all", &all, &e), 0);
    for (int i = 0; i < all.count; i++) {
        assert_in_range(all.lineup[i].count, 2, LINEUP_MAX);
        assert_ptr_equal(all.lineup[i].models[0], io_model_table[0]);
        for (int k = 1; k < all.lineup[i].count; k++) {
            assert_int_equal(all.lineup[i].models[k]->group, GROUP_KERNEL);
            seen += all.lineup[i].models[k] != all.lineup[i].models[k - 1];
        }
    }
    for (int i = 0; i < io_model_count; i++)
        kernel += io_model_table[i]->group == GROUP_KERNEL;
    assert_int_equal(seen, kernel);
    assert_int_equal(lineups_parse("poll,select", &all, &e), 0);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.lineup[0].count, 2);
    assert_int_equal(lineups_parse("all,poll", &all, &e), -EINVAL);
    assert_non_null(strstr(e.text, "'all'"));
    assert_int_equal(lineup_parse("all", &all.lineup[0], &e), -EINVAL);
}

static void own_workers(void **state)
{
    (void)state;
    struct lineup l;
    struct err e = {""};
    assert_int_equal(lineup_parse("epoll-lt,pool", &l, &e), 0);
    assert_int_equal(lineup_takes_workers(&l, &e), -EINVAL);
    assert_string_equal(e.text, "--workers: pool has its own workers");
    assert_int_equal(lineup_parse("epoll-lt,poll", &l, &e), 0);
    assert_int_equal(lineup_takes_workers(&l, &e), 0);
}

static void table_is_whole(void **state)
{
    (void)state;
    for (int i = 0; i < io_model_count; i++) {
        const struct io_model *m = io_model_table[i];
        assert_true(m->id && m->label && m->summary && m->probe && m->open && m->loop && m->close);
        assert_int_equal(io_model_find(m->id), i);
        assert_string_equal(io_model_word(i), m->id);
    }
    assert_null(io_model_word(io_model_count));
    assert_null(io_model_word(-1));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_split_by_prefix), cmocka_unit_test(every_piece_by_append),
        cmocka_unit_test(input_while_due),       cmocka_unit_test(junk_is_told),
        cmocka_unit_test(greedy_protocol),       cmocka_unit_test(lineups),
        cmocka_unit_test(all_models),            cmocka_unit_test(own_workers),
        cmocka_unit_test(table_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
