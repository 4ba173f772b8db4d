/* SPDX-License-Identifier: MIT */
/* select(2). Two bitmaps, what to watch for reading and for writing, go into the kernel at every
 * wait and come back as the answer, so they are copied first; the kernel looks at every watched
 * descriptor (twice when the wait sleeps), the program at every word. Cost by what is open and by
 * the highest number. An fd_set holds FD_SETSIZE (1024) numbers and FD_SET past it writes past it:
 * the classic trap; such a connection is refused here. The write map is passed only while somebody
 * waits to write. Sources: select(2), Linux fs/select.c. */
#include <errno.h>
#include <sys/select.h>

#include "servers/models.h"
#include "servers/ready.h"

#define WORD_BITS ((int)(8 * sizeof(fd_mask)))

struct select_state {
    fd_set in, out; /* watched */
    int top;        /* highest descriptor watched */
    int watched, writers;
    fd_set in_ready, out_ready; /* the answer */
};

static void select_watch(struct worker *w, int fd)
{
    struct select_state *s = w->state;
    FD_SET(fd, &s->in);
    s->watched++;
    if (fd > s->top)
        s->top = fd;
}

static void select_forget(struct worker *w, int fd)
{
    struct select_state *s = w->state;
    s->writers -= FD_ISSET(fd, &s->out) != 0;
    FD_CLR(fd, &s->in);
    FD_CLR(fd, &s->out);
    s->watched--;
    while (s->top > 0 && !FD_ISSET(s->top, &s->in) && !FD_ISSET(s->top, &s->out))
        s->top--;
}

static int select_add(struct worker *w, struct conn *c)
{
    select_watch(w, c->fd);
    return 0;
}

static void select_want(struct worker *w, struct conn *c)
{
    struct select_state *s = w->state;
    if (c->wants == READY_OUT) {
        FD_CLR(c->fd, &s->in);
        FD_SET(c->fd, &s->out);
        s->writers++;
    } else {
        FD_SET(c->fd, &s->in);
        FD_CLR(c->fd, &s->out);
        s->writers--;
    }
}

static void select_drop(struct worker *w, struct conn *c)
{
    select_forget(w, c->fd);
}

static void select_listen(struct worker *w, bool on)
{
    if (on)
        select_watch(w, w->listener);
    else
        select_forget(w, w->listener);
}

static const struct ready_ops select_ops = {
    .add = select_add,
    .want = select_want,
    .drop = select_drop,
    .listen = select_listen,
};

static int select_open(struct worker *w, struct err *e)
{
    struct select_state *s = w->state;
    int high = w->listener > w->wake ? w->listener : w->wake;
    if (high >= FD_SETSIZE)
        return err_set(e, EMFILE, "select cannot watch descriptor %d: its limit is %d", high,
                       FD_SETSIZE);
    if (w->fd_limit > FD_SETSIZE)
        w->fd_limit = FD_SETSIZE;
    FD_ZERO(&s->in);
    FD_ZERO(&s->out);
    ready_start(w, &select_ops);
    select_watch(w, w->wake);
    select_watch(w, w->listener);
    return 0;
}

static void select_found(struct worker *w, int fd, unsigned bits)
{
    if (fd == w->listener)
        ready_accept(w);
    else if (fd != w->wake)
        ready_event(w, &w->conns[fd], bits);
}

/* Connections accepted on the way are in none of these words: their numbers were not watched. */
static void select_walk(struct worker *w, int top, bool writing)
{
    const struct select_state *s = w->state;
    for (int i = 0; i <= top / WORD_BITS; i++) {
        unsigned long in = (unsigned long)s->in_ready.fds_bits[i];
        unsigned long out = writing ? (unsigned long)s->out_ready.fds_bits[i] : 0;
        for (unsigned long any = in | out; any; any &= any - 1) {
            unsigned long bit = any & -any;
            select_found(w, i * WORD_BITS + __builtin_ctzl(any),
                         (in & bit ? READY_IN : 0u) | (out & bit ? READY_OUT : 0u));
        }
    }
}

static int select_loop(struct worker *w, struct err *e)
{
    struct select_state *s = w->state;
    while (!worker_stopping(w)) {
        int ms = ready_timeout_ms(w), top = s->top;
        struct timeval tv = {ms / 1000, ms % 1000 * 1000};
        bool writing = s->writers > 0;
        s->in_ready = s->in;
        s->out_ready = s->out;
        int n = select(top + 1, &s->in_ready, writing ? &s->out_ready : NULL, NULL,
                       ms < 0 ? NULL : &tv);
        counter_add(&w->count->waits, 1);
        counter_add(&w->count->looks, (uint64_t)s->watched);
        if (n < 0 && errno != EINTR)
            return err_sys(e, "select");
        if (n > 0) {
            counter_add(&w->count->events, (uint64_t)n);
            select_walk(w, top, writing);
        }
        ready_after(w);
    }
    return 0;
}

static void select_close(struct worker *w)
{
    (void)w;
}

const struct io_model model_select = {
    .id = "select",
    .label = "select",
    .summary = "hands the kernel a bitmap of all descriptors at every wait, up to 1024",
    .group = GROUP_KERNEL,
    .caps = CAP_FD_LIMIT,
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_BACKLOG,
    .state_size = sizeof(struct select_state),
    .probe = model_always,
    .open = select_open,
    .loop = select_loop,
    .close = select_close,
};
