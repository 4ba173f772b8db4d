/* SPDX-License-Identifier: MIT */
/* discard: takes what comes and replies nothing. The client's half sends bytes of the pattern, as
 * many as are asked for up to PROTO_ASK_MAX a call; a reply to wait for there is none, so only
 * workloads that look for none can use it. */
#include <errno.h>
#include <string.h>

#include "net/pattern.h"
#include "net/protocol.h"
#include "net/protocols.h"

static ssize_t discard_take(void *state, const uint8_t *in, size_t n)
{
    (void)state, (void)in;
    return (ssize_t)n;
}

static size_t discard_due(void *state, const uint8_t **bytes)
{
    (void)state;
    *bytes = NULL;
    return 0;
}

static enum proto_sent discard_sent(void *state, size_t n)
{
    (void)state, (void)n;
    return PROTO_REPLIED;
}

static size_t discard_ask(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf)
{
    size_t n = size < PROTO_ASK_MAX ? (size_t)size : PROTO_ASK_MAX;
    *c = (struct proto_check){.sequence = sequence};
    memcpy(buf, pattern_at(sequence), n);
    return n;
}

static int discard_check(struct proto_check *c, const uint8_t *in, size_t n)
{
    (void)c, (void)in;
    return n > 0 ? -EBADMSG : 0;
}

const struct protocol protocol_discard = {
    .id = "discard",
    .label = "discard",
    .summary = "takes what comes and replies nothing",
    .one_way = true,
    .take = discard_take,
    .due = discard_due,
    .sent = discard_sent,
    .request_max = 1,
    .ask = discard_ask,
    .check = discard_check,
};
