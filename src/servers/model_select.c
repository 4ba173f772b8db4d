/* SPDX-License-Identifier: MIT */
/* select(2), with the fd_set of the C library and with wider ones. Two bitmaps, what to watch for
 * reading and for writing, go into the kernel at every wait and come back as the answer, so they
 * are copied first; the kernel looks at every watched descriptor (twice when the wait sleeps), the
 * program at every word. Cost by what is open and by the highest number. An fd_set holds
 * FD_SETSIZE (1024) numbers and FD_SET past it writes past it: the classic trap; `select` refuses
 * such a connection. The limit is the type's, not the call's: `select-wide` passes bitmaps of its
 * own, as long as the process has descriptors. The write map is passed only while somebody waits
 * to write. Sources: select(2), Linux fs/select.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>

#include "servers/models.h"
#include "servers/ready.h"

#define WORD_BITS ((int)(8 * sizeof(unsigned long)))
_Static_assert(sizeof(fd_mask) == sizeof(unsigned long), "an fd_set is made of such words");

struct select_state {
    unsigned long *in, *out;             /* watched */
    unsigned long *in_ready, *out_ready; /* the answer */
    int room;                            /* bits in each */
    int top;                             /* highest descriptor watched */
    int watched, writers;
};

static unsigned long select_bit(int fd)
{
    return 1ul << fd % WORD_BITS;
}

static bool select_has(const unsigned long *map, int fd)
{
    return map[fd / WORD_BITS] & select_bit(fd);
}

static unsigned long *select_wider(unsigned long *map, int from, int to)
{
    map = xrealloc(map, (size_t)(to / WORD_BITS), sizeof *map);
    memset(map + from / WORD_BITS, 0, (size_t)(to - from) / 8);
    return map;
}

/* Room for descriptor fd in all four. `select` never needs more than its first, an fd_set's. */
static void select_reserve(struct select_state *s, int fd)
{
    int room = s->room ? s->room : FD_SETSIZE;
    while (room <= fd)
        room *= 2;
    if (room == s->room)
        return;
    unsigned long **maps[] = {&s->in, &s->out, &s->in_ready, &s->out_ready};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        *maps[i] = select_wider(*maps[i], s->room, room);
    s->room = room;
}

static void select_watch(struct worker *w, int fd)
{
    struct select_state *s = w->state;
    select_reserve(s, fd);
    s->in[fd / WORD_BITS] |= select_bit(fd);
    s->watched++;
    if (fd > s->top)
        s->top = fd;
}

static void select_forget(struct worker *w, int fd)
{
    struct select_state *s = w->state;
    s->writers -= select_has(s->out, fd);
    s->in[fd / WORD_BITS] &= ~select_bit(fd);
    s->out[fd / WORD_BITS] &= ~select_bit(fd);
    s->watched--;
    while (s->top > 0 && !select_has(s->in, s->top) && !select_has(s->out, s->top))
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
    bool writing = c->wants == READY_OUT;
    unsigned long *from = writing ? s->in : s->out, *to = writing ? s->out : s->in;
    from[c->fd / WORD_BITS] &= ~select_bit(c->fd);
    to[c->fd / WORD_BITS] |= select_bit(c->fd);
    s->writers += writing ? 1 : -1;
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

static int select_wide_open(struct worker *w, struct err *e)
{
    (void)e;
    ready_start(w, &select_ops);
    select_watch(w, w->wake);
    select_watch(w, w->listener);
    return 0;
}

static int select_open(struct worker *w, struct err *e)
{
    int high = w->listener > w->wake ? w->listener : w->wake;
    if (high >= FD_SETSIZE)
        return err_set(e, EMFILE, "select cannot watch descriptor %d: its limit is %d", high,
                       FD_SETSIZE);
    if (w->fd_limit > FD_SETSIZE)
        w->fd_limit = FD_SETSIZE;
    return select_wide_open(w, e);
}

static void select_found(struct worker *w, int fd, unsigned bits)
{
    if (fd == w->listener)
        ready_accept(w);
    else if (fd != w->wake)
        ready_event(w, &w->conns[fd], bits);
}

/* The first descriptor from `fd` on that the answer names; -1: none. Connections accepted on the
 * way are in none of its words: their numbers were not watched. They may move the maps, though. */
static int select_next(const struct select_state *s, int fd, int top, bool writing)
{
    for (int i = fd / WORD_BITS; i <= top / WORD_BITS; i++) {
        unsigned long any = s->in_ready[i] | (writing ? s->out_ready[i] : 0);
        if (i == fd / WORD_BITS)
            any &= ~0ul << fd % WORD_BITS;
        if (any)
            return i * WORD_BITS + __builtin_ctzl(any);
    }
    return -1;
}

static void select_walk(struct worker *w, int top, bool writing)
{
    const struct select_state *s = w->state;
    for (int fd = select_next(s, 0, top, writing), next; fd >= 0; fd = next) {
        next = select_next(s, fd + 1, top, writing);
        if (next >= 0)
            worker_looks_next(w, next);
        select_found(w, fd, (select_has(s->in_ready, fd) ? READY_IN : 0u) |
                                (writing && select_has(s->out_ready, fd) ? READY_OUT : 0u));
    }
}

/* Copies what is watched into the answer's maps and waits. */
static int select_wait(struct worker *w, int top, bool writing)
{
    struct select_state *s = w->state;
    int ms = ready_timeout_ms(w);
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};
    size_t bytes = ((size_t)(top / WORD_BITS) + 1) * sizeof *s->in;
    memcpy(s->in_ready, s->in, bytes);
    if (writing)
        memcpy(s->out_ready, s->out, bytes);
    return select(top + 1, (fd_set *)s->in_ready, writing ? (fd_set *)s->out_ready : NULL, NULL,
                  ms < 0 ? NULL : &tv);
}

static int select_loop(struct worker *w, struct err *e)
{
    struct select_state *s = w->state;
    while (worker_goes_on(w)) {
        int top = s->top, held = s->watched - 2 + w->accept_paused;
        bool writing = s->writers > 0;
        int n = select_wait(w, top, writing);
        counter_add(&w->count->waits, 1);
        counter_add(&w->count->looks, (uint64_t)s->watched);
        if (n < 0 && errno != EINTR)
            return err_sys(e, "select");
        worker_client_work(w, held);
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
    struct select_state *s = w->state;
    free(s->in);
    free(s->out);
    free(s->in_ready);
    free(s->out_ready);
    *s = (struct select_state){0};
}

const struct io_model model_select = {
    .id = "select",
    .label = "select",
    .summary = "hands the kernel a bitmap of all descriptors at every wait, up to 1024",
    .group = GROUP_KERNEL,
    .caps = CAP_FD_LIMIT | CAP_SCANS,
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_BACKLOG | POLICY_CLIENT_WORK,
    .state_size = sizeof(struct select_state),
    .probe = model_always,
    .open = select_open,
    .loop = select_loop,
    .close = select_close,
};

const struct io_model model_select_wide = {
    .id = "select-wide",
    .label = "select, wider set",
    .summary = "the same with a bitmap as wide as the process has descriptors",
    .group = GROUP_KERNEL,
    .caps = CAP_SCANS,
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_BACKLOG | POLICY_CLIENT_WORK,
    .state_size = sizeof(struct select_state),
    .probe = model_always,
    .open = select_wide_open,
    .loop = select_loop,
    .close = select_close,
};
