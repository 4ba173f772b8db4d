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
    uint64_t size;         /* reply bytes asked for; http: 0 asks for what the server likes */
    uint64_t got;          /* reply bytes seen; http: of the body */
    uint64_t length;       /* http: the body's, from the head */
    uint32_t phase, place; /* where the protocol's own marks are read */
};

/* What went out with the last bytes. */
enum proto_sent {
    PROTO_GOES_ON, /* a part of a reply */
    PROTO_REPLIED, /* the end of one */
    PROTO_LAST,    /* the end of one, and nothing more is sent over this connection */
    PROTO_REFUSED  /* likewise, and it said that what came was no good: counted as junk */
};

/* What a client's check says of a reply, beside 0 and -EBADMSG. */
enum {
    PROTO_WHOLE = 1,
    PROTO_WHOLE_LAST /* and the server ends the connection: another request needs a new one */
};

struct protocol {
    const char *id, *label, *summary;
    bool one_way; /* nothing is replied */
    uint64_t fixed; /* bytes that each reply has; 0: as many as are asked for */

    /* Server. begin: a connection is new and its state zeroed; size is that of a reply to who names
     * none. end: it is over; frees what the state holds. Either may be NULL. */
    void (*begin)(void *state, uint64_t size);
    void (*end)(void *state);
    /* Consumes bytes of one request at the front of in; returns how many it consumed (0: needs more
     * than n bytes, n is below its longest request; the caller keeps them), or -EPROTO for junk.
     * Never called while a reply is due. */
    ssize_t (*take)(void *state, const uint8_t *in, size_t n);
    /* The bytes of reply that are due now; 0: none. The run may be a part of the reply. They stay
     * where they are until sent() has all of them or end(), whatever becomes of the input. */
    size_t (*due)(void *state, const uint8_t **bytes);
    /* Whether n of them, once sent, would be PROTO_REPLIED. NULL: not known. */
    bool (*ends)(const void *state, size_t n);
    /* n of them went out. */
    enum proto_sent (*sent)(void *state, size_t n);
    size_t request_max; /* the most bytes take() may want to see together */

    /* Client. ask: writes a request for `size` bytes into buf[PROTO_ASK_MAX], returns its length,
     * and prepares c. check: looks at n bytes that came (n 0: the server ended the connection);
     * returns > 0 when the reply is whole, 0 when more must come, -EBADMSG when a byte is wrong or
     * too many came. wrong: why it said so, as one clause; NULL: there is nothing more to say. */
    size_t (*ask)(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf);
    int (*check)(struct proto_check *c, const uint8_t *in, size_t n);
    /* One-way: ask() writes nothing, its message goes out from here: how many bytes of it come next
     * and where they are; 0: it is sent. Who sends n of them adds n to c->got. Else NULL. */
    size_t (*flow)(const struct proto_check *c, const uint8_t **bytes);
    void (*wrong)(const struct proto_check *c, char *buf, size_t size);
};

/* The table. protocol_word: ids for params_bind(), NULL past the last. */
extern const struct protocol *const protocol_table[];
extern const int protocol_count;
const char *protocol_word(int i);
int protocol_find(const char *id);

/* Row i as both ends use it: with or without the suffix that echo can add. */
const struct protocol *protocol_get(int i, bool suffix);

#endif
