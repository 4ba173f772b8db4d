/* SPDX-License-Identifier: MIT */
/* What a person writes who wants the most of libev: one ev_io a connection, recv and send in its
 * callback. What `iodash serve -m libev` costs beside it is what the project's layers cost.
 * Usage: bare_libev_http PORT */
#include <ev.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "bare_http.h"

static void on_conn(struct ev_loop *loop, ev_io *io, int what)
{
    (void)what;
    if (bare_serve(io->fd))
        return;
    ev_io_stop(loop, io);
    close(io->fd);
    free(io);
}

static void on_listener(struct ev_loop *loop, ev_io *listener, int what)
{
    int one = 1;
    (void)what;
    for (int fd; (fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        ev_io *io = malloc(sizeof *io);
        if (!io)
            bare_give_up("malloc");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        ev_io_init(io, on_conn, fd, EV_READ);
        ev_io_start(loop, io);
    }
}

int main(int argc, char **argv)
{
    ev_io listener;
    if (argc != 2)
        return fputs("usage: bare_libev_http PORT\n", stderr), 2;
    bare_make_reply();
    struct ev_loop *loop = ev_default_loop(EVBACKEND_EPOLL);
    if (!loop)
        bare_give_up("ev_default_loop");
    ev_io_init(&listener, on_listener, bare_listen(argv[1]), EV_READ);
    ev_io_start(loop, &listener);
    return ev_run(loop, 0), 0;
}
