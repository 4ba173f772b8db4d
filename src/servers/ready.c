/* SPDX-License-Identifier: MIT */
/* One pass a connection and event: finish what is due, read once, answer the requests that came,
 * within a budget of sends and bytes, so that one busy peer cannot starve the others; what is left
 * over stands in a queue and gets its next pass after the next wait. A short read means the socket
 * was empty, so nobody reads again to see EAGAIN; an edge-triggered model goes on only where the
 * event also told of the end (data and FIN together). While a reply is due nothing more is read. */
#include "servers/ready.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "servers/service.h"

#define PASS_SENDS 256
#define PASS_BYTES (1u << 20)
#define ACCEPTS 256

struct budget {
    int sends;
    size_t bytes;
};

enum outcome {
    SERVED_ALL,   /* nothing is due, no whole request is left */
    SERVED_FULL,  /* a reply is due and the socket takes no more */
    SERVED_AGAIN, /* the budget is used up */
    SERVED_JUNK,
    SERVED_END,
    SERVED_FAILED
};

void ready_start(struct worker *w, const struct ready_ops *ops)
{
    w->ops = ops;
    worker_queue_start(w);
}

/* --- accepting -------------------------------------------------------------------------------- */

static void accept_resume(struct worker *w)
{
    w->accept_paused = false;
    w->ops->listen(w, true);
}

static void accepted(struct worker *w, int fd)
{
    struct conn *c = worker_take(w, fd);
    if (!c)
        return;
    c->wants = READY_IN;
    int rc = w->ops->add(w, c);
    if (rc < 0) {
        worker_trouble(w, "refused a connection: %s: %s",
                       w->ops->blocks ? "no thread for it" : "cannot watch it", strerror(-rc));
        worker_refuse(w, c);
        return;
    }
    worker_accepted(w);
}

void ready_accept(struct worker *w)
{
    int most = w->accept_one ? 1 : ACCEPTS;
    int flags = SOCK_CLOEXEC | (w->ops->blocks ? 0 : SOCK_NONBLOCK);
    w->accept_more = !w->accept_one;
    for (int i = 0; i < most; i++) {
        int fd = accept4(w->listener, NULL, NULL, flags);
        if (fd >= 0) {
            accepted(w, fd);
        } else if (!worker_accept_failed(w, errno)) {
            w->accept_more = false;
            break;
        }
    }
    if (w->accept_paused)
        w->ops->listen(w, false);
}

/* --- one connection --------------------------------------------------------------------------- */

static void finish(struct worker *w, struct conn *c, enum drop why)
{
    worker_unqueue(w, c);
    if (w->ops->drop)
        w->ops->drop(w, c);
    worker_drop(w, c, why);
    if (w->accept_paused)
        accept_resume(w);
}

static void want(struct worker *w, struct conn *c, uint8_t bits)
{
    if (c->wants == bits && !(w->ops->rearm & bits))
        return;
    c->wants = bits;
    if (w->ops->want)
        w->ops->want(w, c);
}

/* Sends one run of a reply. SERVED_ALL: it went out whole. */
static enum outcome send_run(struct worker *w, struct conn *c, const uint8_t *bytes, size_t n)
{
    ssize_t sent;
    do {
        sent = send(c->fd, bytes, n, MSG_NOSIGNAL);
        counter_add(&w->count->writes, 1);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno != EAGAIN)
        return SERVED_FAILED;
    if (sent > 0)
        service_sent(w, c, (size_t)sent);
    if (sent == (ssize_t)n)
        return SERVED_ALL;
    counter_add(&w->count->write_full, 1);
    return SERVED_FULL;
}

static enum outcome serve(struct worker *w, struct conn *c, struct input *in, struct budget *left)
{
    const uint8_t *bytes;
    ssize_t n;
    while ((n = service_next(w, c, in, &bytes)) > 0) {
        if (left->sends == 0 || left->bytes == 0)
            return SERVED_AGAIN;
        enum outcome o = send_run(w, c, bytes, (size_t)n);
        if (o != SERVED_ALL)
            return o;
        if (!c->due && in->n == 0)
            return SERVED_ALL; /* the usual case, spared a look for more */
        left->sends--;
        left->bytes -= left->bytes < (size_t)n ? left->bytes : (size_t)n;
    }
    return n == 0 ? SERVED_ALL : SERVED_JUNK;
}

static enum outcome serve_and_keep(struct worker *w, struct conn *c, struct input in,
                                   struct budget *left)
{
    enum outcome o = serve(w, c, &in, left);
    c->held = o == SERVED_FULL || o == SERVED_AGAIN;
    if (in.n > 0 || c->stash)
        service_keep(c, &in);
    return o;
}

static enum outcome read_once(struct worker *w, struct conn *c, struct budget *left)
{
    size_t kept = service_prefix(c, w->input);
    ssize_t n;
    do {
        n = recv(c->fd, w->input + kept, w->buffer, 0);
        counter_add(&w->count->reads, 1);
    } while (n < 0 && errno == EINTR);
    if (n == 0)
        return SERVED_END;
    if (n < 0 && errno != EAGAIN)
        return SERVED_FAILED;
    if (n < 0) {
        counter_add(&w->count->read_empty, 1);
        c->ready = 0;
        return SERVED_ALL;
    }
    counter_add(&w->count->bytes_in, (uint64_t)n);
    if ((size_t)n < w->buffer && !(c->ready & (READY_EOF | READY_HUP)))
        c->ready = 0;
    if (w->ops->write_later)
        left->sends = 0;
    enum outcome o = serve_and_keep(w, c, service_came(c, w->input, kept + (size_t)n), left);
    return w->ops->write_later && o == SERVED_AGAIN ? SERVED_FULL : o;
}

/* What the connection waits for now. In a pool it is another worker's from want() on. */
static void settle(struct worker *w, struct conn *c, enum outcome o)
{
    if (!w->ops->edge)
        c->ready = 0; /* the next wait says it again */
    switch (o) {
    case SERVED_ALL:
        want(w, c, READY_IN);
        if (w->ops->edge && c->ready)
            worker_queue(w, c);
        break;
    case SERVED_FULL:
        c->full = true;
        want(w, c, READY_OUT);
        break;
    case SERVED_AGAIN:
        worker_queue(w, c);
        break;
    case SERVED_JUNK:
        finish(w, c, DROP_JUNK);
        return;
    case SERVED_END:
        finish(w, c, DROP_END);
        return;
    case SERVED_FAILED:
        finish(w, c, DROP_FAILED);
        return;
    }
}

static void pass(struct worker *w, struct conn *c)
{
    struct budget left = {.sends = PASS_SENDS, .bytes = PASS_BYTES};
    enum outcome o = SERVED_ALL;
    if (c->held)
        o = serve_and_keep(w, c, service_resume(c), &left);
    if (o == SERVED_ALL && c->ready)
        o = read_once(w, c, &left);
    settle(w, c, o);
}

void ready_event(struct worker *w, struct conn *c, unsigned bits)
{
    if (c->owner != w->index + 1)
        return;
    c->ready |= bits & (READY_IN | READY_EOF | READY_HUP);
    if (c->queued)
        return; /* its pass comes in ready_after() */
    if (c->full && !(bits & (READY_OUT | READY_HUP)))
        return;
    c->full = false;
    pass(w, c);
}

/* --- around the wait -------------------------------------------------------------------------- */

int ready_timeout_ms(const struct worker *w)
{
    if (w->queue_length > 0 || w->accept_more)
        return 0;
    if (!w->accept_paused)
        return -1;
    uint64_t now = clock_ns();
    if (now >= w->accept_again_ns)
        return 0;
    return (int)((w->accept_again_ns - now) / NS_PER_MS) + 1;
}

void ready_after(struct worker *w)
{
    /* Those that are pushed back meanwhile wait for the next round. */
    for (int n = w->queue_length; n > 0 && w->queue_first >= 0; n--) {
        struct conn *c = &w->conns[w->queue_first];
        worker_unqueue(w, c);
        pass(w, c);
    }
    if (w->accept_more)
        ready_accept(w);
    if (w->accept_paused && clock_ns() >= w->accept_again_ns)
        accept_resume(w);
}
