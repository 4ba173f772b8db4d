/* SPDX-License-Identifier: MIT */
/* A ring of io_uring(7) for one thread: set up with the best flags that the kernel takes, waited
 * upon, and emptied before it is closed. For who is told of completions, and for who only polls
 * with it. Thread: the one that opened or enabled it (SINGLE_ISSUER). */
#ifndef NET_URING_H
#define NET_URING_H

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define URING_BATCH 4096 /* length of the completion queue */
#define URING_REQUESTS 1024 /* length of the queue of requests */

struct uring {
    struct io_uring io;
    unsigned flags;    /* IORING_SETUP_ that it got */
    unsigned queued;   /* requests made and not counted yet */
    unsigned inflight; /* requests whose last completion has not come, but quiet ones */
    int wake;          /* what uring_watch_wake() watches */
    bool open, registered;
};

/* What a completion is about: extra is the owner's. A quiet one has a completion only when it
 * failed. */
enum uring_op {
    URING_WAKE, URING_ACCEPT, URING_RECV, URING_SEND, URING_QUIET, URING_POLL, URING_CANCEL
};

/* fd: a descriptor, or another number of the owner's below 2^24. */
static inline uint64_t uring_tag(enum uring_op op, int fd, uint32_t extra)
{
    return (uint64_t)extra << 32 | (uint64_t)op << 24 | (uint64_t)fd;
}

static inline enum uring_op uring_op_of(const struct io_uring_cqe *cqe)
{
    return (enum uring_op)(cqe->user_data >> 24 & 255);
}

static inline int uring_fd_of(const struct io_uring_cqe *cqe)
{
    return (int)(cqe->user_data & 0xffffff);
}

static inline uint32_t uring_extra_of(const struct io_uring_cqe *cqe)
{
    return (uint32_t)(cqe->user_data >> 32);
}

/* 0, or -errno with the true reason; uring_close() in both cases. URING_LATER: made for another
 * thread, which calls uring_enable() before anything else. URING_PEEKS: uring_has_work() knows. */
enum { URING_LATER = 1, URING_PEEKS = 2 };
int uring_open(struct uring *r, unsigned how, struct err *e);
void uring_enable(struct uring *r);

/* Watches this eventfd, so that the wait returns when it is signalled: once, or each time. */
void uring_watch_wake(struct uring *r, int wake, bool again);

/* Waits for the end of all requests, which the owner has cancelled, so that the kernel holds no
 * descriptor and no memory of ours when it returns. uring_drain: only this part of it, by the
 * thread that used the ring when another one closes it. */
void uring_drain(struct uring *r);
void uring_close(struct uring *r);

/* Room for one more request; it is submitted by the next uring_enter(). Set its tag with
 * io_uring_sqe_set_data64(). uring_make_quiet: it completes while it is submitted, and says nothing
 * when it succeeds. */
struct io_uring_sqe *uring_request(struct uring *r);
void uring_make_quiet(struct uring *r, struct io_uring_sqe *sqe);

/* Receives for ever into buffers of the group, with this tag. */
void uring_receive(struct uring *r, int fd, uint64_t tag);

/* Cancels the request of that tag. Its last completion is still to come. */
void uring_cancel(struct uring *r, uint64_t tag);

/* Submits what was made and waits for so many completions (0: takes what is there), at most
 * timeout_ns (UINT64_MAX: for ever). One system call. 0 or -errno. */
int uring_enter(struct uring *r, unsigned wanted, uint64_t timeout_ns, struct err *e);

/* The completions that came, at most so many; uring_seen() when they are used. */
unsigned uring_collect(struct uring *r, struct io_uring_cqe **cqes, unsigned most);
void uring_seen(struct uring *r, unsigned n);

/* False when an uring_enter() now would neither submit nor find anything: costs no system call. */
bool uring_has_work(const struct uring *r);

/* True when all requests were submitted and the n completions taken are all there are: quiet ones
 * that are not among them succeeded. */
bool uring_saw_all(struct uring *r, unsigned n);

#endif
