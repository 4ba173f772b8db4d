/* SPDX-License-Identifier: MIT */
/* What a person writes who wants the most of libev: one ev_io a connection, recv and send in its
 * callback, one fixed reply of 1 KiB to every GET that comes whole in one piece (from wrk each
 * does); anything else closes the connection. What `iodash serve -m libev` costs beside it is what
 * the project's layers cost. Usage: bare_libev_http PORT */
#include <arpa/inet.h>
#include <ev.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BODY = 1024, BUFFER = 16384 };

static char reply[256 + BODY];
static size_t reply_bytes;

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static int listen_on(const char *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1024) < 0)
        give_up("listen");
    return fd;
}

static void make_reply(void)
{
    int n = sprintf(reply,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n",
                    BODY);
    for (int i = 0; i < BODY; i++)
        reply[n + i] = (char)i;
    reply_bytes = (size_t)(n + BODY);
}

static void on_conn(struct ev_loop *loop, ev_io *io, int what)
{
    static char in[BUFFER];
    ssize_t n = recv(io->fd, in, sizeof in, 0);
    (void)what;
    if (n > 4 && memcmp(in + n - 4, "\r\n\r\n", 4) == 0 &&
        send(io->fd, reply, reply_bytes, MSG_NOSIGNAL) == (ssize_t)reply_bytes)
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
            give_up("malloc");
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
    make_reply();
    struct ev_loop *loop = ev_default_loop(EVBACKEND_EPOLL);
    if (!loop)
        give_up("ev_default_loop");
    ev_io_init(&listener, on_listener, listen_on(argv[1]), EV_READ);
    ev_io_start(loop, &listener);
    return ev_run(loop, 0), 0;
}
