/* SPDX-License-Identifier: MIT */
/* io_uring for test_faults.c: the accept is a request, not a call. One that is to fail is submitted
 * as a request that does nothing, and its completion then says the error. */
#include <liburing.h>

#include "servers/faults.h"
#include "servers/uring.h"

int __real_io_uring_submit_and_wait(struct io_uring *r, unsigned n);
int __wrap_io_uring_submit_and_wait(struct io_uring *r, unsigned n);
int __real_io_uring_submit_and_get_events(struct io_uring *r);
int __wrap_io_uring_submit_and_get_events(struct io_uring *r);
unsigned __real_io_uring_peek_batch_cqe(struct io_uring *r, struct io_uring_cqe **c, unsigned n);
unsigned __wrap_io_uring_peek_batch_cqe(struct io_uring *r, struct io_uring_cqe **c, unsigned n);
int __real_io_uring_submit_and_wait_timeout(struct io_uring *r, struct io_uring_cqe **c, unsigned n,
                                            struct __kernel_timespec *t, sigset_t *mask);
int __wrap_io_uring_submit_and_wait_timeout(struct io_uring *r, struct io_uring_cqe **c, unsigned n,
                                            struct __kernel_timespec *t, sigset_t *mask);

static _Thread_local int spoiled; /* the error of the accept that was taken away, or 0 */

static void spoil(struct io_uring *r)
{
    for (unsigned i = r->sq.sqe_head; i != r->sq.sqe_tail; i++) {
        struct io_uring_sqe *sqe = &r->sq.sqes[i & r->sq.ring_mask];
        __u64 tag = sqe->user_data;
        int code = sqe->opcode == IORING_OP_ACCEPT && !spoiled ? fault("accept") : 0;
        if (code == 0)
            continue;
        io_uring_prep_nop(sqe);
        sqe->ioprio = 0;
        sqe->user_data = tag;
        spoiled = code;
    }
}

int __wrap_io_uring_submit_and_wait(struct io_uring *r, unsigned n)
{
    spoil(r);
    return __real_io_uring_submit_and_wait(r, n);
}

int __wrap_io_uring_submit_and_wait_timeout(struct io_uring *r, struct io_uring_cqe **c, unsigned n,
                                            struct __kernel_timespec *t, sigset_t *mask)
{
    spoil(r);
    return __real_io_uring_submit_and_wait_timeout(r, c, n, t, mask);
}

int __wrap_io_uring_submit_and_get_events(struct io_uring *r)
{
    spoil(r);
    return __real_io_uring_submit_and_get_events(r);
}

unsigned __wrap_io_uring_peek_batch_cqe(struct io_uring *r, struct io_uring_cqe **c, unsigned n)
{
    n = __real_io_uring_peek_batch_cqe(r, c, n);
    for (unsigned i = 0; i < n && spoiled; i++) {
        if (uring_op_of(c[i]) != URING_ACCEPT)
            continue;
        c[i]->res = -spoiled;
        spoiled = 0;
    }
    return n;
}
