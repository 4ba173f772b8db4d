/* SPDX-License-Identifier: MIT */
/* A ring of io_uring(7) for one worker: set up with the best flags that the kernel takes, waited
 * upon, and emptied before it is closed. For the models that are told of completions, and for those
 * that only poll with it. Thread: the worker's, from open to close (SINGLE_ISSUER). */
#ifndef SERVERS_URING_H
#define SERVERS_URING_H

#include <liburing.h>

#include "servers/worker.h"

#define URING_BATCH 4096 /* length of the completion queue, and the most taken of one wait */

struct uring {
    struct io_uring io;
    unsigned flags;    /* IORING_SETUP_ that it got */
    unsigned queued;   /* requests made and not counted yet */
    unsigned inflight; /* requests whose last completion has not come, but quiet ones */
    int wake;          /* what uring_watch_wake() watches */
    bool open;
};

/* What a completion is about: extra is the model's. A quiet one has a completion only when it
 * failed. */
enum uring_op {
    URING_WAKE, URING_ACCEPT, URING_RECV, URING_SEND, URING_QUIET, URING_POLL, URING_CANCEL
};

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

/* 0, or -errno with the true reason; uring_close() in both cases. */
int uring_open(struct uring *r, struct err *e);

/* Watches w->wake, so that the wait returns when the worker must stop. */
void uring_watch_wake(struct worker *w, struct uring *r);

/* Waits for the end of all requests, which the model has cancelled, so that the kernel holds no
 * descriptor and no memory of ours when it returns. */
void uring_close(struct uring *r);

/* Room for one more request; it is submitted by the next uring_wait(). Set its tag with
 * io_uring_sqe_set_data64(). uring_make_quiet: it completes while it is submitted, and says nothing
 * when it succeeds. */
struct io_uring_sqe *uring_request(struct uring *r);
void uring_make_quiet(struct uring *r, struct io_uring_sqe *sqe);

/* Cancels the request of that tag. Its last completion is still to come. */
void uring_cancel(struct uring *r, uint64_t tag);

/* Submits what was made and waits for so many completions (0: takes what is there), at most
 * timeout_ms (-1: for ever). One system call. 0 or -errno. */
int uring_wait(struct worker *w, struct uring *r, unsigned wanted, int timeout_ms, struct err *e);

/* The completions that came, at most w->events, counted. uring_seen() when they are used. */
unsigned uring_take(struct worker *w, struct uring *r, struct io_uring_cqe **cqes);
void uring_seen(struct uring *r, unsigned n);

/* True when all requests were submitted and the n completions taken are all there are: quiet ones
 * that are not among them succeeded. */
bool uring_saw_all(struct uring *r, unsigned n);

/* Milliseconds until accepting is tried again, -1 when it is not paused. */
int uring_pause_ms(const struct worker *w);

/* Probes: rings with provided buffers and multishot receives; multishot polls. A success is
 * remembered. Any thread. */
int uring_probe(struct err *e);
int uring_poll_probe(struct err *e);

/* The flags that a ring gets here, as words. */
void uring_note(char *buf, size_t size);

#endif
