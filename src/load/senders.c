/* SPDX-License-Identifier: MIT */
/* All sleep on one word, so that one call releases them; who runs when is the scheduler's affair,
 * which is why each takes the time of its own send only, from its own waking on. Nothing else
 * happens between the two readings. */
#include "load/senders.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/ticks.h"
#include "load/dial.h"
#include "load/engine.h"
#include "net/pattern.h"

#define STACK 65536
#define SLICE_MS 20
#define NO_ROOM_NS (500 * NS_PER_MS) /* without a byte taken: the socket holds no more */

static bool called_off(void *ctx)
{
    const struct senders *s = ctx;
    return atomic_load(&s->stop);
}

static void failed(struct senders *s, int code)
{
    if (code != ECANCELED)
        counter_add_shared(load_error_counter(&s->counts, code), 1);
}

static void open_one(struct sender *t)
{
    struct senders *s = t->all;
    const struct params *p = &s->spec->params;
    struct dial d = {&s->spec->target, p->nodelay != 0, s->deadline_ns, called_off, s};
    t->fd = dial(&d);
    if (t->fd < 0) {
        failed(s, -t->fd);
        t->fd = -1;
        return;
    }
    net_buffers(t->fd, (int)p->socket_buffer);
    counter_add_shared(&s->counts.connects, 1);
}

/* Sends from at on until all is taken. Without the server's help when `fill`: then it ends when the
 * sockets take no more. */
static void send_from(struct sender *t, size_t at, bool fill)
{
    struct senders *s = t->all;
    uint64_t taken_ns = clock_ns();
    while (at < s->size && !atomic_load(&s->stop)) {
        ssize_t n = send(t->fd, s->bytes + at, s->size - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        uint64_t now = clock_ns();
        if (n > 0) {
            at += (size_t)n;
            taken_ns = now;
        } else if (errno != EAGAIN && errno != EINTR) {
            failed(s, errno);
            return;
        } else if (now >= s->deadline_ns) {
            failed(s, ETIMEDOUT);
            return;
        } else if (fill && now >= taken_ns + NO_ROOM_NS) {
            return;
        } else {
            poll(&(struct pollfd){.fd = t->fd, .events = POLLOUT}, 1, SLICE_MS);
        }
    }
    t->whole = at == s->size;
}

static void burst(struct sender *t)
{
    struct senders *s = t->all;
    uint64_t ticks = ticks_read(), ns = clock_ns();
    ssize_t n = send(t->fd, s->bytes, s->size, MSG_DONTWAIT | MSG_NOSIGNAL);
    t->ns = clock_ns() - ns;
    t->ticks = ticks_read() - ticks;
    if (n < 0 && errno != EAGAIN)
        failed(s, errno);
    else
        send_from(t, n > 0 ? (size_t)n : 0, false);
}

static void *sender_main(void *arg)
{
    struct sender *t = arg;
    struct senders *s = t->all;
    load_thread_setup();
    open_one(t);
    for (uint32_t step = SENDERS_CONNECT;;) {
        atomic_fetch_add(&s->done, 1);
        while (atomic_load(&s->step) == step)
            futex_wait(&s->step, step, 0);
        step = atomic_load(&s->step);
        if (step == SENDERS_END)
            break;
        t->whole = false;
        if (t->fd >= 0 && step == SENDERS_BURST)
            burst(t);
        else if (t->fd >= 0)
            send_from(t, 0, true);
    }
    if (t->fd >= 0)
        net_close_reset(t->fd);
    atomic_fetch_add(&s->cpu_ns, clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID));
    return NULL;
}

/* --- the pass's side -------------------------------------------------------------------------- */

static void make_bytes(struct senders *s)
{
    s->bytes = xrealloc(NULL, 1, s->size);
    for (size_t at = 0; at < s->size; at += PATTERN_RUN)
        memcpy(s->bytes + at, pattern_at(at),
               s->size - at < PATTERN_RUN ? s->size - at : PATTERN_RUN);
}

int senders_start(struct senders *s, const struct load_spec *spec, uint64_t deadline_ns,
                  struct err *e)
{
    int wanted = (int)spec->params.connections;
    long least = PTHREAD_STACK_MIN;
    memset(s, 0, sizeof *s);
    s->spec = spec;
    s->deadline_ns = deadline_ns;
    s->size = (size_t)spec->params.size;
    if (wanted > SENDERS_MOST)
        return err_set(e, EAGAIN, "%d connections: at most %d, a thread each", wanted,
                       SENDERS_MOST);
    s->sender = xcalloc((size_t)wanted, sizeof *s->sender);
    make_bytes(s);
    for (; s->n < wanted; s->n++) {
        struct sender *t = &s->sender[s->n];
        *t = (struct sender){.all = s, .fd = -1};
        struct load_thread how = {sender_main, t, least > STACK ? (size_t)least : STACK, -1};
        int code = load_start_thread_on(spec, &t->thread, &how);
        if (code)
            return err_set(e, code, "only %d of %d threads could be made: %s", s->n, wanted,
                           strerror(code));
    }
    return 0;
}

void senders_go(struct senders *s, enum senders_step step)
{
    atomic_store(&s->done, 0);
    atomic_store(&s->step, step);
    futex_wake_all(&s->step);
}

int senders_connected(const struct senders *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->sender[i].fd >= 0;
    return n;
}

bool senders_whole(const struct senders *s)
{
    for (int i = 0; i < s->n; i++)
        if (!s->sender[i].whole)
            return false;
    return true;
}

/* What is sent and not confirmed by the peer's kernel: tcp(7), SIOCOUTQ. */
bool senders_delivered(const struct senders *s)
{
    for (int i = 0; i < s->n; i++) {
        int left = 0;
        if (ioctl(s->sender[i].fd, SIOCOUTQ, &left) < 0 || left > 0)
            return false;
    }
    return true;
}

void senders_stop(struct senders *s)
{
    atomic_store(&s->stop, true);
    senders_go(s, SENDERS_END);
    for (int i = 0; i < s->n; i++)
        pthread_join(s->sender[i].thread, NULL);
    free(s->sender);
    free(s->bytes);
    s->sender = NULL;
    s->bytes = NULL;
    s->n = 0;
}
