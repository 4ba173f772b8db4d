/* SPDX-License-Identifier: MIT */
/* What every model does with a connection whatever way it waits: take it into the table, count it,
 * close it. A descriptor's place in the table is given up before close(), because the number may be
 * another worker's the moment after. */
#include "servers/worker.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/sock.h"
#include "servers/crew.h"
#include "servers/service.h"
#include "servers/shared.h"

#define PAUSE_NS (100 * NS_PER_MS)

bool worker_stopping(const struct worker *w)
{
    return crew_stopping(w->crew);
}

void worker_passes_gate(struct worker *w, unsigned what)
{
    atomic_fetch_or(&w->gate->passes, what);
}

struct worker *worker_first(struct worker *w)
{
    return w - w->index;
}

struct conn *worker_admit(struct worker *w, int fd)
{
    struct conn *c = worker_take(w, fd);
    if (c)
        worker_accepted(w);
    return c;
}

struct conn *worker_take(struct worker *w, int fd)
{
    if (fd >= w->fd_limit) {
        net_close_reset(fd);
        counter_add(&w->count->refusals, 1);
        worker_trouble(w, "refused a connection: descriptor %d, %s takes those below %d", fd,
                       w->model->id, w->fd_limit);
        return NULL;
    }
    struct conn *c = &w->conns[fd];
    /* The number may have been another thread's: after the release of its worker_drop(). */
    atomic_load_explicit(&c->owner, memory_order_acquire);
    memset(c, 0, sizeof *c);
    c->fd = fd;
    c->owner = (uint16_t)(w->index + 1);
    if (w->protocol->begin)
        w->protocol->begin(c->state, w->reply_size);
    if (fd > w->fd_top)
        w->fd_top = fd;
    return c;
}

void worker_accepted(struct worker *w)
{
    counter_add(&w->count->accepts, 1);
    counter_set(&w->count->last_accept_ns, clock_ns());
}

void worker_refuse(struct worker *w, struct conn *c)
{
    int fd = c->fd;
    counter_add(&w->count->refusals, 1);
    c->owner = 0;
    net_close_reset(fd);
}

void worker_end_sending(struct conn *c)
{
    c->closing = true;
    shutdown(c->fd, SHUT_WR);
}

void worker_drop(struct worker *w, struct conn *c, enum drop why)
{
    int fd = c->fd;
    bool junk = why == DROP_JUNK && !c->closing; /* else it was counted when it was refused */
    service_free(c);
    if (w->protocol->end)
        w->protocol->end(c->state);
    c->owner = 0;
    if (why == DROP_END)
        close(fd);
    else
        net_close_reset(fd);
    counter_add(&w->count->closes, 1);
    if (junk)
        counter_add(&w->count->junk, 1);
    if (why == DROP_FAILED)
        counter_add(&w->count->resets, 1);
}

void worker_drop_all(struct worker *w)
{
    for (int fd = 0; fd <= w->fd_top; fd++)
        if (w->conns[fd].owner == w->index + 1)
            worker_drop(w, &w->conns[fd], DROP_STOP);
}

/* Errors of the connection that was to be accepted are no errors of ours (accept(2), "Error
 * handling"). */
bool worker_accept_failed(struct worker *w, int code)
{
    switch (code) {
    case EINTR:
        return true;
    case EAGAIN:
        return false;
    case ECONNABORTED: case EPROTO: case ENOPROTOOPT: case ENETDOWN: case ENETUNREACH:
    case EHOSTDOWN: case EHOSTUNREACH: case ENONET: case EOPNOTSUPP:
        counter_add(&w->count->accept_failures, 1);
        return true;
    default:
        counter_add(&w->count->accept_failures, 1);
        worker_trouble(w, "accept: %s", strerror(code));
        w->accept_paused = true;
        w->accept_again_ns = clock_ns() + PAUSE_NS;
        return false;
    }
}

void worker_queue_start(struct worker *w)
{
    w->queue_first = w->queue_last = -1;
}

void worker_queue(struct worker *w, struct conn *c)
{
    if (c->queued)
        return;
    c->queued = true;
    c->next = -1;
    c->prev = w->queue_last;
    if (w->queue_last >= 0)
        w->conns[w->queue_last].next = c->fd;
    else
        w->queue_first = c->fd;
    w->queue_last = c->fd;
    w->queue_length++;
}

void worker_unqueue(struct worker *w, struct conn *c)
{
    if (!c->queued)
        return;
    c->queued = false;
    if (c->prev >= 0)
        w->conns[c->prev].next = c->next;
    else
        w->queue_first = c->next;
    if (c->next >= 0)
        w->conns[c->next].prev = c->prev;
    else
        w->queue_last = c->prev;
    w->queue_length--;
}

/* Each by the clock from where it begins, so that time taken away (another process ran) shortens
 * one connection's work only. */
void worker_spend(const struct worker *w, int held)
{
    for (int i = 0; i < held; i++) {
        uint64_t end = clock_ns() + w->client_work_ns;
        while (clock_ns() < end)
            if (worker_stopping(w))
                return;
    }
}

void worker_trouble(struct worker *w, const char *fmt, ...)
{
    char *text = shared_trouble_begin(crew_shared(w->crew));
    if (!text)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, SHARED_TEXT, fmt, ap);
    va_end(ap);
    shared_trouble_end(crew_shared(w->crew));
}
