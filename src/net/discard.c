/* SPDX-License-Identifier: MIT */
/* discard: takes what comes and replies nothing. A message of the client's half is as many bytes of
 * the pattern as were asked for, sent straight out of its table; it is over when the socket has
 * taken it, since there is no reply to wait for. */
#include <errno.h>

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
    (void)buf;
    *c = (struct proto_check){.sequence = sequence, .size = size};
    return 0;
}

static int discard_check(struct proto_check *c, const uint8_t *in, size_t n)
{
    (void)c, (void)in;
    return n > 0 ? -EBADMSG : 0;
}

static size_t discard_flow(const struct proto_check *c, const uint8_t **bytes)
{
    uint64_t left = c->size - c->got;
    *bytes = pattern_at(c->sequence + c->got);
    return left < PATTERN_RUN ? (size_t)left : PATTERN_RUN;
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
    .flow = discard_flow,
};
