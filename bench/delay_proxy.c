/* SPDX-License-Identifier: MIT */
/* Stands between a load and a server and hands on each reply a known time after it came: a latency
 * that is known beforehand. It spins, so that the time is kept to a few microseconds.
 * Usage: delay_proxy UPSTREAM_PORT DELAY_US; prints its port; ends with its standard input. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 64, PARTS = 256, ROOM = 16384 };

struct part { /* bytes of the server on their way, oldest first */
    int64_t due_ns;
    size_t n;
    uint8_t bytes[ROOM];
};

struct pair {
    int client, server; /* -1: none */
    unsigned first, last;
    struct part *parts; /* PARTS, a ring */
};

static struct pair pairs[PAIRS];
static int64_t delay_ns;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int fail(const char *what)
{
    fprintf(stderr, "delay_proxy: %s: %s\n", what, strerror(errno));
    return 1;
}

static struct sockaddr_in local(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int dial(int port)
{
    struct sockaddr_in to = local(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void at_once(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void hang_up(struct pair *p)
{
    close(p->client);
    close(p->server);
    p->client = -1;
}

static void take_client(int listener, int upstream)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    struct pair *p = pairs;
    while (p < pairs + PAIRS && p->client >= 0)
        p++;
    if (fd < 0 || p == pairs + PAIRS) {
        if (fd >= 0)
            close(fd);
        return;
    }
    int server = dial(upstream);
    if (server < 0) {
        close(fd);
        return;
    }
    at_once(fd);
    at_once(server);
    p->client = fd;
    p->server = server;
    p->first = p->last = 0;
}

/* False: one of the two is gone. Requests and replies are small: what a socket does not take at
 * once is an end, too. */
static bool hand_on(struct pair *p)
{
    uint8_t bytes[ROOM];
    ssize_t n = recv(p->client, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN) ||
        (n > 0 && send(p->server, bytes, (size_t)n, MSG_NOSIGNAL) != n))
        return false;
    struct part *in = &p->parts[p->last % PARTS];
    n = p->last - p->first == PARTS ? -1 : recv(p->server, in->bytes, ROOM, MSG_DONTWAIT);
    if (n == 0)
        return false;
    if (n > 0) {
        in->n = (size_t)n;
        in->due_ns = now_ns() + delay_ns;
        p->last++;
    }
    struct part *out = &p->parts[p->first % PARTS];
    if (p->first == p->last || now_ns() < out->due_ns)
        return true;
    p->first++;
    return send(p->client, out->bytes, out->n, MSG_NOSIGNAL) == (ssize_t)out->n;
}

static bool over(void)
{
    char c;
    return read(STDIN_FILENO, &c, 1) == 0;
}

int main(int argc, char **argv)
{
    struct sockaddr_in at = local(0);
    socklen_t len = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (argc != 3)
        return fprintf(stderr, "delay_proxy UPSTREAM_PORT DELAY_US\n"), 2;
    delay_ns = atoll(argv[2]) * 1000;
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, len) < 0 ||
        listen(listener, PAIRS) < 0 || getsockname(listener, (struct sockaddr *)&at, &len) < 0)
        return fail("listen");
    for (int i = 0; i < PAIRS; i++) {
        pairs[i] = (struct pair){.client = -1, .parts = calloc(PARTS, sizeof *pairs[i].parts)};
        if (!pairs[i].parts)
            return fail("memory");
    }
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    for (unsigned i = 0; i % 256 || !over(); i++) {
        take_client(listener, atoi(argv[1]));
        for (int k = 0; k < PAIRS; k++)
            if (pairs[k].client >= 0 && !hand_on(&pairs[k]))
                hang_up(&pairs[k]);
    }
    return 0;
}
