/* SPDX-License-Identifier: MIT */
/* The buffers that the kernel receives into, shared by all connections of a ring: an idle
 * connection has none. Thread: the ring's. */
#ifndef NET_URING_BUFFERS_H
#define NET_URING_BUFFERS_H

#include <liburing.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define URING_GROUP 0 /* the buffer group */

struct uring_buffers {
    struct io_uring_buf_ring *ring;
    uint8_t *bytes;
    size_t size;              /* of each */
    unsigned room, provided;  /* how many there can be, and are */
    uint64_t uses, bytes_used; /* since the last growth */
};

/* Registers them with a ring. 0 or -errno; uring_buffers_close() after the ring's close. */
int uring_buffers_open(struct uring_buffers *b, struct io_uring *io, size_t size, struct err *e);
void uring_buffers_close(struct uring_buffers *b);

/* The buffer that a receive of n bytes was put into, and its way back to the kernel. */
static inline const uint8_t *uring_buffers_at(struct uring_buffers *b, unsigned id, size_t n)
{
    b->uses++;
    b->bytes_used += n;
    return b->bytes + id * b->size;
}
void uring_buffers_return(struct uring_buffers *b, unsigned id);

/* A receive found none. Adds some, when what comes is small. */
void uring_buffers_short(struct uring_buffers *b);

#endif
