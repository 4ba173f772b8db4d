/* SPDX-License-Identifier: MIT */
/* What a person writes who wants the most of libevent: one event a connection, recv and send in its
 * callback.
 * Usage: bare_libevent_http PORT */
#include <event2/event.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "bare_http.h"

static struct event_base *base;

static void on_conn(evutil_socket_t fd, short what, void *arg)
{
    (void)what, (void)arg;
    if (bare_serve(fd))
        return;
    event_free(event_base_get_running_event(base));
    close(fd);
}

static void watch(int fd, event_callback_fn fn)
{
    struct event *ev = event_new(base, fd, EV_READ | EV_PERSIST, fn, NULL);
    if (!ev || event_add(ev, NULL) < 0)
        bare_give_up("event");
}

static void on_listener(evutil_socket_t listener, short what, void *arg)
{
    int one = 1;
    (void)what, (void)arg;
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        watch(fd, on_conn);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fputs("usage: bare_libevent_http PORT\n", stderr), 2;
    bare_make_reply();
    base = event_base_new();
    if (!base)
        bare_give_up("event_base_new");
    watch(bare_listen(argv[1]), on_listener);
    return event_base_dispatch(base);
}
