/* SPDX-License-Identifier: MIT */
/* The least that an epoll server over `fetch` has to do: one wait, one recv, one send a request. No
 * protocol layer, no counters, no partial requests or replies (on loopback 64 bytes come whole and
 * 1 KiB goes out whole; where not, the connection is closed and the load says so). Level-triggered,
 * or edge-triggered with "et": a short read has emptied the socket, so the loop is the same.
 * What `iodash serve -m epoll-lt` costs beside it is what the project's layers cost.
 * Usage: tight_epoll_fetch PORT [et] */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST = 64, EVENTS = 256, BUFFER = 16384, REPLY_MAX = 65536 };

static uint8_t pattern[REPLY_MAX + 256];

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

static void watch(int set, int fd, uint32_t bits)
{
    struct epoll_event e = {.events = bits, .data.fd = fd};
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) < 0)
        give_up("epoll_ctl");
}

static void accept_all(int set, int listener, uint32_t bits)
{
    int one = 1;
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        watch(set, fd, bits);
    }
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* One request: the size stands at 8, the low byte of the sequence at 23. */
static void serve(int fd, uint8_t *in)
{
    ssize_t n = recv(fd, in, BUFFER, 0);
    uint32_t size = n == REQUEST && memcmp(in, "IODF", 4) == 0 ? get32(in + 8) : 0;
    if (size == 0 || size > REPLY_MAX ||
        send(fd, pattern + in[23], size, MSG_NOSIGNAL) != (ssize_t)size)
        close(fd);
}

int main(int argc, char **argv)
{
    static uint8_t in[BUFFER];
    struct epoll_event ready[EVENTS];
    if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "et") != 0))
        return fputs("usage: tight_epoll_fetch PORT [et]\n", stderr), 2;
    uint32_t bits = argc == 3 ? EPOLLIN | EPOLLET : EPOLLIN;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)i;
    int listener = listen_on(argv[1]), set = epoll_create1(EPOLL_CLOEXEC);
    watch(set, listener, EPOLLIN);
    for (;;) {
        int n = epoll_wait(set, ready, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            if (ready[i].data.fd == listener)
                accept_all(set, listener, bits);
            else
                serve(ready[i].data.fd, in);
        }
    }
}
