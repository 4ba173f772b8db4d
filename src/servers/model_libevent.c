/* SPDX-License-Identifier: MIT */
/* libevent 2, plain events: one persistent event a connection, whose callback calls recv and send
 * itself (a bufferevent copies everything once more and costs twice as much). Beneath lies epoll,
 * level-triggered: an idle connection costs memory (its event, a slot of the descriptor map, the
 * kernel's entry) and no time; each ready one goes through libevent's queue of active events
 * before its callback. Traps: an event's interest is changed by del and add, two epoll_ctl; by
 * default the library prints its warnings and ends the process when memory is out; EVLOOP_NONBLOCK
 * alone goes on as long as anything is ready. There is no hook around its wait before 2.2, so a
 * run of the loop counts as one wait, a callback as one event. Sources: event2/event.h, libevent's
 * event.c and epoll.c. */
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "servers/by_fd.h"
#include "servers/libraries.h"
#include "servers/ready.h"

struct libevent_state {
    struct event_base *base;
    struct event *wake, *listener, *timer;
    struct by_fd events; /* struct event, of the size that the library says */
    uint64_t found;      /* in this run of the loop */
};

/* --- the library as a whole ------------------------------------------------------------------- */

static _Thread_local char libevent_said[128];

static void libevent_log(int severity, const char *text)
{
    if (severity >= EVENT_LOG_WARN)
        snprintf(libevent_said, sizeof libevent_said, "%s", text);
}

/* Must not return. */
static void libevent_fatal(int code)
{
    (void)code;
    die("libevent: %s", libevent_said);
}

static void libevent_set_up(void)
{
    event_set_log_callback(libevent_log);
    event_set_fatal_callback(libevent_fatal);
}

/* libev exports functions of the same names, which would serve quite as well, unnoticed. */
static int libevent_probe(struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *version = event_get_version();
    if (strncmp(version, "2.", 2) != 0)
        return err_set(e, ENOSYS, "event_get_version() says %.40s: not libevent 2", version);
    pthread_once(&once, libevent_set_up);
    return 0;
}

static void libevent_note(char *buf, size_t size)
{
    snprintf(buf, size, "libevent %s", event_get_version());
}

/* --- events ----------------------------------------------------------------------------------- */

static void libevent_on_conn(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    struct libevent_state *s = w->state;
    s->found++;
    ready_event(w, &w->conns[fd],
                (what & EV_READ ? READY_IN : 0u) | (what & EV_WRITE ? READY_OUT : 0u));
}

static void libevent_on_listener(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    struct libevent_state *s = w->state;
    (void)fd, (void)what;
    s->found++;
    ready_accept(w);
}

static void libevent_on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    struct libevent_state *s = w->state;
    (void)fd, (void)what;
    s->found++;
}

static void libevent_on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

/* One epoll_ctl each: a connection has one event only. */
static int libevent_start(struct worker *w, struct event *ev)
{
    counter_add(&w->count->controls, 1);
    errno = 0;
    return event_add(ev, NULL) == 0 ? 0 : errno ? -errno : -ENOMEM;
}

static void libevent_end(struct worker *w, struct event *ev)
{
    if (!event_pending(ev, EV_READ | EV_WRITE, NULL))
        return;
    counter_add(&w->count->controls, 1);
    event_del(ev);
}

static int libevent_watch(struct worker *w, struct conn *c, short what)
{
    const struct libevent_state *s = w->state;
    struct event *ev = by_fd_at(&s->events, c->fd);
    event_assign(ev, s->base, c->fd, (short)(what | EV_PERSIST), libevent_on_conn, w);
    return libevent_start(w, ev);
}

static int libevent_add(struct worker *w, struct conn *c)
{
    return libevent_watch(w, c, EV_READ);
}

static void libevent_drop(struct worker *w, struct conn *c)
{
    const struct libevent_state *s = w->state;
    libevent_end(w, by_fd_at(&s->events, c->fd));
}

static void libevent_want(struct worker *w, struct conn *c)
{
    libevent_drop(w, c);
    libevent_watch(w, c, c->wants == READY_OUT ? EV_WRITE : EV_READ);
}

static void libevent_listen(struct worker *w, bool on)
{
    struct libevent_state *s = w->state;
    if (on)
        libevent_start(w, s->listener);
    else
        libevent_end(w, s->listener);
}

static const struct ready_ops libevent_ops = {
    .add = libevent_add,
    .want = libevent_want,
    .drop = libevent_drop,
    .listen = libevent_listen,
};

/* --- the loop --------------------------------------------------------------------------------- */

static struct event_base *libevent_base(void)
{
    struct event_base *base = NULL;
    struct event_config *config = event_config_new();
    if (!config)
        return NULL;
    if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV) == 0 &&
        event_config_avoid_method(config, "poll") == 0 &&
        event_config_avoid_method(config, "select") == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static int libevent_open(struct worker *w, struct err *e)
{
    struct libevent_state *s = w->state;
    int rc = libevent_probe(e);
    if (rc == 0)
        rc = by_fd_open(&s->events, w->fd_limit, event_get_struct_event_size(), e);
    if (rc < 0)
        return rc;
    ready_start(w, &libevent_ops);
    s->base = libevent_base();
    if (!s->base)
        return err_set(e, EIO, "libevent: no event base over epoll: %s", libevent_said);
    s->wake = event_new(s->base, w->wake, EV_READ | EV_PERSIST, libevent_on_wake, w);
    s->listener = event_new(s->base, w->listener, EV_READ | EV_PERSIST, libevent_on_listener, w);
    s->timer = evtimer_new(s->base, libevent_on_timer, w);
    if (!s->wake || !s->listener || !s->timer || libevent_start(w, s->wake) < 0 ||
        libevent_start(w, s->listener) < 0)
        return err_set(e, EIO, "libevent: cannot watch the listener: %s", libevent_said);
    return 0;
}

static void libevent_wake_in(struct libevent_state *s, int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};
    evtimer_add(s->timer, &tv);
}

static int libevent_loop(struct worker *w, struct err *e)
{
    struct libevent_state *s = w->state;
    while (worker_goes_on(w)) {
        int ms = ready_timeout_ms(w);
        if (ms > 0)
            libevent_wake_in(s, ms);
        s->found = 0;
        if (event_base_loop(s->base, ms == 0 ? EVLOOP_ONCE | EVLOOP_NONBLOCK : EVLOOP_ONCE) < 0)
            return err_set(e, EIO, "libevent: %s", libevent_said);
        counter_add(&w->count->waits, 1);
        counter_add(&w->count->events, s->found);
        counter_add(&w->count->looks, s->found);
        ready_after(w);
    }
    return 0;
}

static void libevent_close(struct worker *w)
{
    struct libevent_state *s = w->state;
    struct event *own[] = {s->wake, s->listener, s->timer};
    for (int i = 0; i < 3; i++)
        if (own[i])
            event_free(own[i]);
    if (s->base)
        event_base_free(s->base);
    by_fd_close(&s->events);
    *s = (struct libevent_state){0};
}

const struct io_model model_libevent = {
    LIBEVENT_ROW,
    .state_size = sizeof(struct libevent_state),
    .probe = libevent_probe,
    .note = libevent_note,
    .open = libevent_open,
    .loop = libevent_loop,
    .close = libevent_close,
};
