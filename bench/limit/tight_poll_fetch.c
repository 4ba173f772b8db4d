/* SPDX-License-Identifier: MIT */
/* The least that a poll server over `fetch` has to do: wait with the list, walk it until all that
 * are ready are found, one recv and one send each. No protocol layer, no counters, no partial
 * requests or replies (where they are not whole the connection is closed and the load says so).
 * What `iodash serve -m poll` costs beside it is what the project's layers cost.
 * Usage: tight_poll_fetch PORT */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST = 64, BUFFER = 16384, REPLY_MAX = 65536, MOST = 16384 };

static uint8_t pattern[REPLY_MAX + 256];
static struct pollfd list[MOST];
static int count;

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

static void watch(int fd)
{
    list[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void accept_all(int listener)
{
    int one = 1;
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        if (count == MOST) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        watch(fd);
    }
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* One request: the size stands at 8, the low byte of the sequence at 23. False: it is closed. */
static bool serve(int fd, uint8_t *in)
{
    ssize_t n = recv(fd, in, BUFFER, 0);
    uint32_t size = n == REQUEST && memcmp(in, "IODF", 4) == 0 ? get32(in + 8) : 0;
    if (size > 0 && size <= REPLY_MAX &&
        send(fd, pattern + in[23], size, MSG_NOSIGNAL) == (ssize_t)size)
        return true;
    close(fd);
    return false;
}

int main(int argc, char **argv)
{
    static uint8_t in[BUFFER];
    if (argc != 2)
        return fputs("usage: tight_poll_fetch PORT\n", stderr), 2;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)i;
    watch(listen_on(argv[1]));
    for (;;) {
        int left = poll(list, (nfds_t)count, -1);
        if (left < 0)
            give_up("poll");
        bool accept = list[0].revents != 0;
        left -= accept;
        for (int i = 1; left > 0; i++) {
            if (!list[i].revents)
                continue;
            left--;
            if (!serve(list[i].fd, in))
                list[i--] = list[--count]; /* the moved one is looked at next */
        }
        if (accept)
            accept_all(list[0].fd);
    }
}
