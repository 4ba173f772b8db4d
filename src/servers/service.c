/* SPDX-License-Identifier: MIT */
/* The stash is the only memory a connection has beside its cache line. It is made when bytes came
 * that cannot be used yet (part of a request, or requests behind a reply that the socket does not
 * take) and freed when they are used up, so an idle connection and one whose requests come whole
 * cost nothing. Input out of the stash is worked on in place. */
#include "servers/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SWALLOW_MAX (1u << 20)

struct stash {
    size_t start, n, room;
    uint8_t bytes[];
};

static struct stash *stash_new(size_t room)
{
    struct stash *s = xrealloc(NULL, 1, sizeof *s + room);
    *s = (struct stash){.room = room};
    return s;
}

size_t service_prefix(const struct conn *c, uint8_t *buf)
{
    const struct stash *s = c->stash;
    if (!s)
        return 0;
    memcpy(buf, s->bytes + s->start, s->n);
    return s->n;
}

struct input service_came(struct conn *c, const uint8_t *buf, size_t n)
{
    if (c->stash)
        c->stash->start = c->stash->n = 0;
    return (struct input){.at = buf, .n = n};
}

struct input service_append(struct conn *c, const uint8_t *bytes, size_t n)
{
    struct stash *old = c->stash;
    if (!old || old->n == 0)
        return (struct input){.at = bytes, .n = n};
    if (old->room - old->start - old->n < n) {
        c->stash = stash_new(old->n + n);
        memcpy(c->stash->bytes, old->bytes + old->start, old->n);
        c->stash->n = old->n;
        free(old);
    }
    memcpy(c->stash->bytes + c->stash->start + c->stash->n, bytes, n);
    c->stash->n += n;
    return service_resume(c);
}

struct input service_resume(const struct conn *c)
{
    struct stash *s = c->stash;
    if (!s)
        return (struct input){.at = NULL, .n = 0};
    return (struct input){.at = s->bytes + s->start, .n = s->n, .stashed = true};
}

/* After our last reply. A peer that has not read it yet must not be reset, so what it goes on
 * sending is thrown away, up to a limit. */
static ssize_t swallow(struct conn *c, struct input *in)
{
    if (in->n > SWALLOW_MAX - c->swallowed)
        return -EPROTO;
    c->swallowed += (uint32_t)in->n;
    in->at += in->n;
    in->n = 0;
    return 0;
}

ssize_t service_next(struct worker *w, struct conn *c, struct input *in, const uint8_t **bytes)
{
    const struct protocol *p = w->protocol;
    for (;;) {
        if (c->due) {
            size_t n = p->due(c->state, bytes);
            if (n > 0)
                return (ssize_t)n;
            c->due = false;
        }
        if (in->n == 0)
            return 0;
        if (c->closing)
            return swallow(c, in);
        ssize_t used = p->take(c->state, in->at, in->n);
        /* A protocol that wants more than its longest request would outgrow the read buffer. */
        if (used == 0 && in->n >= p->request_max)
            return -EPROTO;
        if (used <= 0)
            return used;
        in->at += used;
        in->n -= (size_t)used;
        c->due = true;
    }
}

bool service_ends(const struct worker *w, const struct conn *c, size_t n)
{
    return w->protocol->ends && w->protocol->ends(c->state, n);
}

void service_sent(struct worker *w, struct conn *c, size_t n)
{
    counter_add(&w->count->bytes_out, n);
    enum proto_sent what = w->protocol->sent(c->state, n);
    if (what == PROTO_GOES_ON)
        return;
    c->due = false;
    counter_add(what == PROTO_REFUSED ? &w->count->junk : &w->count->requests, 1);
    if (what != PROTO_REPLIED)
        worker_end_sending(c);
}

void service_keep(struct conn *c, const struct input *in)
{
    struct stash *s = c->stash;
    if (in->n == 0) {
        service_free(c);
        return;
    }
    if (in->stashed) {
        s->start = (size_t)(in->at - s->bytes);
        s->n = in->n;
        return;
    }
    if (!s || s->room < in->n) {
        free(s);
        c->stash = s = stash_new(in->n);
    }
    memcpy(s->bytes, in->at, in->n);
    s->start = 0;
    s->n = in->n;
}

void service_free(struct conn *c)
{
    free(c->stash);
    c->stash = NULL;
}
