/* SPDX-License-Identifier: MIT */
/* What the bare programs on the libraries share: one fixed reply of 1 KiB to every GET that comes
 * whole in one piece (from wrk each does). Anything else closes the connection. */
#ifndef BENCH_LIMIT_BARE_HTTP_H
#define BENCH_LIMIT_BARE_HTTP_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BARE_BODY = 1024, BARE_BUFFER = 16384 };

static char bare_in[BARE_BUFFER], bare_reply[256 + BARE_BODY];
static size_t bare_reply_bytes;

static inline _Noreturn void bare_give_up(const char *what)
{
    perror(what);
    exit(1);
}

static inline void bare_make_reply(void)
{
    int n = sprintf(bare_reply,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n",
                    BARE_BODY);
    for (int i = 0; i < BARE_BODY; i++)
        bare_reply[n + i] = (char)i;
    bare_reply_bytes = (size_t)(n + BARE_BODY);
}

static inline bool bare_is_whole(const char *in, ssize_t n)
{
    return n > 4 && memcmp(in + n - 4, "\r\n\r\n", 4) == 0;
}

static inline int bare_listen(const char *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1024) < 0)
        bare_give_up("listen");
    return fd;
}

/* Reads once and replies; false: it is to be closed. */
static inline bool bare_serve(int fd)
{
    return bare_is_whole(bare_in, recv(fd, bare_in, sizeof bare_in, 0)) &&
           send(fd, bare_reply, bare_reply_bytes, MSG_NOSIGNAL) == (ssize_t)bare_reply_bytes;
}

#endif
