/* SPDX-License-Identifier: MIT */
/* The head of a reply, for http_client.c. What it said so far lies in the check's `phase`. */
#ifndef NET_HTTP_HEAD_H
#define NET_HTTP_HEAD_H

#include <sys/types.h>

#include "net/protocol.h"

enum {
    SAW_LENGTH = 1 << 0,
    SAW_CHUNKED = 1 << 1,
    SAW_OURS = 1 << 2,
    SAW_OLD = 1 << 3,     /* HTTP/1.0: the connection ends unless the head says otherwise */
    SAW_KEEP = 1 << 4,    /* Connection: keep-alive */
    SAW_CLOSE = 1 << 5,   /* Connection: close */
    SAW_INTERIM = 1 << 6, /* 1xx: another head follows */
    SAW_NOTHING = 1 << 7, /* 204: there is no body */
    SAW_HEAD = 1 << 8,    /* all of it: the body comes */
    IN_STATUS = 1 << 9    /* where a reply begins */
};

/* Reads on in the head: returns how many of the n bytes it took, all unless it ends among them.
 * Then SAW_HEAD is there, `length` is what the body's is said to be, and `place` is 0. -EBADMSG: it
 * is no good. */
ssize_t http_head(struct proto_check *c, const uint8_t *in, size_t n);

/* The status of a reply that was refused for it; 0: it was refused for something else. */
int http_head_status(const struct proto_check *c);

#endif
