/* SPDX-License-Identifier: MIT */
/* A reply as it may come. */
#ifndef TESTS_HTTP_PIECES_H
#define TESTS_HTTP_PIECES_H

#include <errno.h>

#include "net/protocol.h"

static inline const struct protocol *http(void)
{
    return protocol_get(protocol_find("http"), false);
}

/* A reply in pieces; what check says in the end. */
static inline int check_in(size_t piece, uint64_t size, const void *reply, size_t n)
{
    struct proto_check c;
    uint8_t buf[PROTO_ASK_MAX];
    int whole = 0;
    http()->ask(&c, 1, size, buf);
    for (size_t at = 0; at < n; at += piece) {
        if (whole)
            return whole < 0 ? whole : -EBADMSG;
        whole = http()->check(&c, (const uint8_t *)reply + at, n - at < piece ? n - at : piece);
    }
    return whole;
}

#endif
