/* SPDX-License-Identifier: MIT */
/* How fast connections can be opened from one thread: nothing but socket(), TCP_NODELAY, connect(),
 * in batches that leave a server's accept queue room, and a poll over each batch to know that they
 * are established. From another source address after each 10 000. Prints the seconds from the first
 * connect() to the last one established, keeps them until its input ends, and resets them.
 * Usage: tight_connect PORT CONNECTIONS */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, PER_SOURCE = 10000, MOST = 20000 };

static int fds[MOST];

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int begin(const struct sockaddr_in *to, int nth)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        give_up("socket");
    if (nth >= PER_SOURCE) {
        struct sockaddr_in from = {.sin_family = AF_INET};
        from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(nth / PER_SOURCE));
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        if (bind(fd, (struct sockaddr *)&from, sizeof from) < 0)
            give_up("bind");
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (const struct sockaddr *)to, sizeof *to) < 0 && errno != EINPROGRESS)
        give_up("connect");
    return fd;
}

static void wait_established(struct pollfd *p, int n)
{
    int ready;
    do
        ready = poll(p, (nfds_t)n, 10000);
    while (ready > 0 && ready < n);
    for (int i = 0; i < n; i++)
        if (p[i].revents != POLLOUT)
            give_up("a connection was not established");
}

int main(int argc, char **argv)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct rlimit most;
    struct pollfd batch[BATCH];
    char byte;
    if (argc < 3)
        return fprintf(stderr, "usage: tight_connect PORT CONNECTIONS\n"), 2;
    to.sin_port = htons((uint16_t)atoi(argv[1]));
    int n = atoi(argv[2]);
    if (n > MOST)
        return fprintf(stderr, "at most %d\n", MOST), 2;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    double start = now_s();
    for (int i = 0; i < n; i += BATCH) {
        int k = n - i < BATCH ? n - i : BATCH;
        for (int j = 0; j < k; j++)
            batch[j] = (struct pollfd){.fd = fds[i + j] = begin(&to, i + j), .events = POLLOUT};
        wait_established(batch, k);
    }
    printf("%.6f\n", now_s() - start);
    fflush(stdout);
    if (read(0, &byte, 1) < 0)
        give_up("read");
    for (int i = 0; i < n; i++) {
        struct linger now = {1, 0};
        setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(fds[i]);
    }
    return 0;
}
