/* SPDX-License-Identifier: MIT */
/* The least that a level-triggered epoll server over HTTP has to do: one wait, one recv, one send a
 * request, and one fixed reply of 1 KiB (as `iodash serve --protocol http` makes it, so a load that
 * checks bytes checks these) to every GET that comes whole in one piece; anything else closes the
 * connection. Something for loads to be full against. Usage: tight_epoll_http PORT */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BODY = 1024, EVENTS = 256, BUFFER = 16384 };

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
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); /* accepted sockets inherit it */
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1024) < 0)
        give_up("listen");
    return fd;
}

static void make_reply(void)
{
    int n = sprintf(reply, "HTTP/1.1 200 OK\r\nServer: iodash\r\nContent-Type: text/plain\r\n"
                           "Content-Length: %d\r\nConnection: keep-alive\r\n\r\n", BODY);
    for (int i = 0; i < BODY; i++)
        reply[n + i] = (char)i;
    reply_bytes = (size_t)(n + BODY);
}

static void watch(int set, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) < 0)
        give_up("epoll_ctl");
}

static void accept_all(int set, int listener)
{
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;)
        watch(set, fd);
}

static void serve(int fd)
{
    static char in[BUFFER];
    ssize_t n = recv(fd, in, sizeof in, 0);
    if (n > 4 && memcmp(in + n - 4, "\r\n\r\n", 4) == 0 &&
        send(fd, reply, reply_bytes, MSG_NOSIGNAL) == (ssize_t)reply_bytes)
        return;
    close(fd);
}

int main(int argc, char **argv)
{
    struct epoll_event ready[EVENTS];
    if (argc != 2)
        return fputs("usage: tight_epoll_http PORT\n", stderr), 2;
    make_reply();
    int listener = listen_on(argv[1]), set = epoll_create1(EPOLL_CLOEXEC);
    watch(set, listener);
    for (;;) {
        int n = epoll_wait(set, ready, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            if (ready[i].data.fd == listener)
                accept_all(set, listener);
            else
                serve(ready[i].data.fd);
        }
    }
}
