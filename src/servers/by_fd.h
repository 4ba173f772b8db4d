/* SPDX-License-Identifier: MIT */
/* What a library keeps for each connection, by descriptor: elements that never move (the library
 * has pointers to them), are zero until used, and cost address space, not memory, until then. */
#ifndef SERVERS_BY_FD_H
#define SERVERS_BY_FD_H

#include <stddef.h>

#include "base/err.h"

struct by_fd {
    char *at;
    size_t element, bytes;
};

/* Room for descriptors below count. 0 or -errno; by_fd_close() in both cases. */
int by_fd_open(struct by_fd *t, int count, size_t element, struct err *e);
void by_fd_close(struct by_fd *t);

static inline void *by_fd_at(const struct by_fd *t, int fd)
{
    return t->at + (size_t)fd * t->element;
}

/* The descriptor whose element this is. */
static inline int by_fd_of(const struct by_fd *t, const void *element)
{
    return (int)((size_t)((const char *)element - t->at) / t->element);
}

#endif
