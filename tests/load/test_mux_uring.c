/* SPDX-License-Identifier: MIT */
/* What is special about mux-uring: requests that the kernel cannot send at once, more connections
 * than requests fit into its queue, more replies than there are buffers, kernels without the best
 * flags. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "net/uring.h"
#include "rig.h"

/* Linked in place of two of net/uring.h: the next `failures` sends are not made, and end with this
 * code. */
static _Atomic int failures, code;
void __real_uring_make_quiet(struct uring *r, struct io_uring_sqe *sqe);
void __wrap_uring_make_quiet(struct uring *r, struct io_uring_sqe *sqe);
unsigned __real_uring_collect(struct uring *r, struct io_uring_cqe **cqes, unsigned most);
unsigned __wrap_uring_collect(struct uring *r, struct io_uring_cqe **cqes, unsigned most);

void __wrap_uring_make_quiet(struct uring *r, struct io_uring_sqe *sqe)
{
    uint64_t tag = sqe->user_data;
    __real_uring_make_quiet(r, sqe);
    if (sqe->opcode != IORING_OP_SEND || failures == 0)
        return;
    failures--;
    memset(sqe, 0, sizeof *sqe); /* newer liburings leave flags alone in the next line */
    io_uring_prep_nop(sqe);      /* loud */
    io_uring_sqe_set_data64(sqe, tag);
}

unsigned __wrap_uring_collect(struct uring *r, struct io_uring_cqe **cqes, unsigned most)
{
    unsigned n = __real_uring_collect(r, cqes, most);
    for (unsigned i = 0; i < n; i++)
        if (uring_op_of(cqes[i]) == URING_QUIET && cqes[i]->res == 0)
            cqes[i]->res = code;
    return n;
}

/* A kernel that does not know these flags. */
static unsigned unknown;
int __real_io_uring_queue_init_params(unsigned n, struct io_uring *r, struct io_uring_params *p);
int __wrap_io_uring_queue_init_params(unsigned n, struct io_uring *r, struct io_uring_params *p);

int __wrap_io_uring_queue_init_params(unsigned n, struct io_uring *r, struct io_uring_params *p)
{
    return p->flags & unknown ? -EINVAL : __real_io_uring_queue_init_params(n, r, p);
}

static int setup(void **state)
{
    *state = fake_start(1024);
    failures = 0;
    unknown = 0;
    return 0;
}

static int teardown(void **state)
{
    fake_stop(*state);
    return 0;
}

static struct load_spec spec(struct fake *f, int connections, double wait)
{
    struct load_spec s = rig_spec(f, connections, PARAM_MAX);
    s.params.engine = ENGINE_MUX_URING;
    s.params.load_wait = wait;
    return s;
}

static void test_a_full_socket_is_waited_for(void **state)
{
    struct load_spec s = spec(*state, 10, WAIT_BLOCK);
    struct load *l = rig_open(&s);
    struct load_counts c;
    code = -EAGAIN;
    failures = 25; /* each of the ten more than once */
    rig_turn(l, 0, 300 * MS);
    load_read(l, &c);
    assert_int_equal(failures, 0);
    assert_true(c.sent > 25);
    assert_int_equal(c.answered, c.sent);
    assert_int_equal(rig_errors(&c) + c.closed, 0);
    load_close(l);
}

static void test_a_send_to_a_closed_socket_is_a_close(void **state)
{
    struct load_spec s = spec(*state, 10, WAIT_BLOCK);
    struct load *l = rig_open(&s);
    struct load_counts c;
    rig_turn(l, 0, 50 * MS); /* all were served once: they are opened again at once */
    code = -EPIPE;
    failures = 4;
    rig_turn(l, 0, 300 * MS);
    load_read(l, &c);
    assert_int_equal(failures, 0);
    assert_int_equal(c.closed, 4);
    assert_int_equal(c.connects, 14);
    assert_in_range(c.sent - c.answered, 0, 4); /* those before the measured part do not count */
    assert_int_equal(rig_errors(&c), 0);
    assert_int_equal(rig_established(l, 10), 10);
    load_close(l);
}

static void turn(struct load_spec *s, uint64_t replies)
{
    struct load *l = rig_open(s);
    struct load_counts c;
    assert_int_equal(load_established(l), (long)(s->params.connections + s->params.idle));
    rig_turn(l, 50 * MS, 300 * MS);
    load_read(l, &c);
    assert_true(c.answered >= replies);
    assert_int_equal(c.answered, c.sent);
    assert_int_equal(c.reply_bytes, c.replies * (uint64_t)s->params.size);
    assert_int_equal(rig_errors(&c) + c.closed, 0);
    load_close(l);
}

static void test_more_connections_than_the_queue_holds(void **state)
{
    if (limits_raise_nofile() < 6 * URING_REQUESTS)
        skip(); /* both ends are in this process */
    struct load_spec s = spec(*state, 2 * URING_REQUESTS, WAIT_SPIN);
    s.params.idle = 500;
    turn(&s, 100);
}

/* 60 replies of 256 KiB at once, against 1 MiB of buffers. */
static void test_more_bytes_than_buffers(void **state)
{
    struct load_spec s = spec(*state, 60, WAIT_BLOCK);
    s.params.size = 1 << 18;
    turn(&s, 60);
    s.params.load_wait = WAIT_SPIN;
    turn(&s, 60);
}

static void test_older_kernels(void **state)
{
    static const unsigned flags[] = {
        IORING_SETUP_DEFER_TASKRUN,
        IORING_SETUP_SINGLE_ISSUER,
        IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN,
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        unknown = flags[i];
        struct load_spec s = spec(*state, 20, i % 2 ? WAIT_BLOCK : WAIT_SPIN);
        turn(&s, 50);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_a_full_socket_is_waited_for),
        T(test_a_send_to_a_closed_socket_is_a_close),
        T(test_more_connections_than_the_queue_holds),
        T(test_more_bytes_than_buffers),
        T(test_older_kernels),
    };
    struct params p = {.engine = ENGINE_MUX_URING};
    struct err e;
    if (load_probe(&p, &e) == 0)
        return cmocka_run_group_tests(tests, NULL, NULL);
    print_message("skipped: %s\n", e.text);
    return 0;
}
