/* SPDX-License-Identifier: MIT */
/* Whether io_uring can be used here; with or without liburing at build. Any thread. */
#ifndef NET_URING_PROBE_H
#define NET_URING_PROBE_H

#include <stddef.h>

#include "base/err.h"

/* Rings with provided buffers and multishot receives; multishot polls. 0, or -errno with the true
 * reason. A success is remembered. */
int uring_probe(struct err *e);
int uring_poll_probe(struct err *e);

/* The flags that a ring gets here, as words. */
void uring_note(char *buf, size_t size);

#endif
