/* SPDX-License-Identifier: MIT */
/* resp: the liveness question of the protocol that redis speaks, as an inline command: "PING" and
 * the end of a line, answered by "+PONG". It makes a server of that protocol comparable with ours;
 * nothing is stored. Any other command is junk. Source: the REdis Serialization Protocol. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/protocol.h"
#include "net/protocols.h"

static const char question[] = "PING\r\n", answer[] = "+PONG\r\n";
#define QUESTION (sizeof question - 1)
#define ANSWER (sizeof answer - 1)

/* --- server ----------------------------------------------------------------------------------- */

struct resp_state {
    uint32_t at, n; /* of the answer: sent, to send */
};
_Static_assert(sizeof(struct resp_state) <= PROTO_STATE, "fits a connection");

/* Commands may be written small. */
static ssize_t resp_take(void *state, const uint8_t *in, size_t n)
{
    struct resp_state *s = state;
    size_t seen = n < QUESTION ? n : QUESTION;
    for (size_t i = 0; i < seen; i++) {
        uint8_t c = in[i] >= 'a' && in[i] <= 'z' ? in[i] - ('a' - 'A') : in[i];
        if (c != (uint8_t)question[i])
            return -EPROTO;
    }
    if (n < QUESTION)
        return 0;
    *s = (struct resp_state){.n = ANSWER};
    return QUESTION;
}

static size_t resp_due(void *state, const uint8_t **bytes)
{
    const struct resp_state *s = state;
    *bytes = (const uint8_t *)answer + s->at;
    return s->n - s->at;
}

static bool resp_ends(const void *state, size_t n)
{
    const struct resp_state *s = state;
    return s->at + n == s->n;
}

static enum proto_sent resp_sent(void *state, size_t n)
{
    struct resp_state *s = state;
    s->at += (uint32_t)n;
    return s->at < s->n ? PROTO_GOES_ON : PROTO_REPLIED;
}

/* --- client ----------------------------------------------------------------------------------- */

static size_t resp_ask(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf)
{
    (void)size;
    *c = (struct proto_check){.sequence = sequence, .size = ANSWER};
    memcpy(buf, question, QUESTION);
    return QUESTION;
}

static int resp_check(struct proto_check *c, const uint8_t *in, size_t n)
{
    if (c->got == 0 && n > 0)
        c->phase = in[0];
    if (n > c->size - c->got || memcmp(in, answer + c->got, n) != 0)
        return -EBADMSG;
    c->got += n;
    return c->got == c->size;
}

static void resp_wrong(const struct proto_check *c, char *buf, size_t size)
{
    snprintf(buf, size, "%s", c->phase == '-' ? "it replied an error to PING"
                                              : "it replied something else than PONG");
}

const struct protocol protocol_resp = {
    .id = "resp",
    .label = "RESP",
    .summary = "PING, answered by PONG, as redis does",
    .fixed = ANSWER,
    .take = resp_take,
    .due = resp_due,
    .ends = resp_ends,
    .sent = resp_sent,
    .request_max = QUESTION,
    .ask = resp_ask,
    .check = resp_check,
    .wrong = resp_wrong,
};
