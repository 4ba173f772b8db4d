/* SPDX-License-Identifier: MIT */
/* Both halves of every protocol over bytes that come in pieces: the first byte picks the protocol,
 * the second the half, the third the size of the pieces. The server's half must never ask to see
 * more than it said, nor consume more than there is. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/input.h"
#include "net/protocol.h"

static void reply_all(const struct protocol *p, void *state, bool *over)
{
    const uint8_t *bytes;
    size_t due, total = 0;
    while (!*over && (due = p->due(state, &bytes)) > 0) {
        size_t n = due > 1 && total % 3 == 1 ? due / 2 : due; /* a part, now and then */
        uint8_t sum = 0;
        for (size_t i = 0; i < n && i < 4096; i++)
            sum ^= bytes[i];
        (void)sum;
        enum proto_sent sent = p->sent(state, n);
        *over = sent == PROTO_LAST || sent == PROTO_REFUSED || (total += n) > 64 << 20;
        if (sent == PROTO_REPLIED)
            return;
    }
}

static void serve(const struct protocol *p, const uint8_t *in, size_t size, size_t piece)
{
    _Alignas(16) uint8_t state[PROTO_STATE] = {0};
    size_t at = 0, seen = 0;
    bool over = false;
    if (p->begin)
        p->begin(state, 1024);
    while (!over && at < size) {
        seen = at + seen < size ? seen + piece : seen;
        size_t n = at + seen < size ? seen : size - at;
        ssize_t took = p->take(state, in + at, n);
        if (took < 0)
            break;
        if ((size_t)took > n)
            abort();
        if (took == 0 && n >= p->request_max)
            abort();
        if (took == 0 && at + n >= size)
            break;
        at += (size_t)took;
        seen = took ? 0 : n;
        if (took > 0)
            reply_all(p, state, &over);
    }
    if (p->end)
        p->end(state);
}

static void ask(const struct protocol *p, const uint8_t *in, size_t size, size_t piece)
{
    struct proto_check check = {0};
    uint8_t request[PROTO_ASK_MAX];
    char why[256];
    if (p->one_way)
        return;
    if (p->ask(&check, 7, 1024, request) > sizeof request)
        abort();
    for (size_t at = 0; at < size; at += piece) {
        size_t n = at + piece < size ? piece : size - at;
        int said = p->check(&check, in + at, n);
        if (said < 0 && p->wrong)
            p->wrong(&check, why, sizeof why);
        if (said != 0)
            return;
    }
    p->check(&check, in, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const struct protocol *p = protocol_get(data[0] % protocol_count, data[1] & 2);
    size_t piece = data[2] ? data[2] : 65536, n = size - 3;
    uint8_t *copy = malloc(n ? n : 1); /* of its exact size, so that a look past it is seen */
    memcpy(copy, data + 3, n);
    if (data[1] & 1)
        ask(p, copy, n, piece);
    else
        serve(p, copy, n, piece);
    free(copy);
    return 0;
}
