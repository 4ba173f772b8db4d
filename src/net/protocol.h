/* SPDX-License-Identifier: MIT */
/* What travels over a connection. A protocol has two halves that never touch a socket: the server's
 * turns bytes into replies, the client's makes requests and checks every byte of the replies. One
 * row in protocols.c, one file a protocol. Thread: all state is the caller's. */
#ifndef NET_PROTOCOL_H
#define NET_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROTO_STATE 24    /* bytes of server state a connection, zeroed at accept */
#define PROTO_ASK_MAX 512 /* longest request */

/* The client's side of one outstanding request. */
struct proto_check {
    uint64_t sequence;
    uint64_t size; /* reply bytes asked for */
    uint64_t got;  /* reply bytes seen */
};

struct protocol {
    const char *id, *label, *summary;

    /* Server. take: consumes bytes of one request at the front of in; returns how many it consumed
     * (0: needs more than n bytes, n is below its longest request; the caller keeps them), or
     * -EPROTO for junk. Never called while a reply is due. */
    ssize_t (*take)(void *state, const uint8_t *in, size_t n);
    /* The bytes of reply that are due now, valid until the next call with this state; 0: none. The
     * run may be a part of the reply. */
    size_t (*due)(void *state, const uint8_t **bytes);
    /* n of them went out. True when that was the end of a reply. */
    bool (*sent)(void *state, size_t n);
    size_t request_max; /* the most bytes take() may want to see together */

    /* Client. ask: writes a request for `size` bytes into buf[PROTO_ASK_MAX], returns its length,
     * and prepares c. check: looks at n bytes that came; returns 1 when the reply is whole, 0 when
     * more must come, -EBADMSG when a byte is wrong or too many came. */
    size_t (*ask)(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf);
    int (*check)(struct proto_check *c, const uint8_t *in, size_t n);
};

/* The table. protocol_word: ids for params_bind(), NULL past the last. */
extern const struct protocol *const protocol_table[];
extern const int protocol_count;
const char *protocol_word(int i);
int protocol_find(const char *id);

#endif
