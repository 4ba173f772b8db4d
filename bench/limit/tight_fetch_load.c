/* SPDX-License-Identifier: MIT */
/* A closed loop over `fetch` that spins, so that a server never pays for waking it: each of N
 * connections asks again as soon as its reply is whole. Reads the CPU clocks of the server's
 * processes itself, at both edges of the measured time. Sends one line of figures to stdout.
 * Usage: tight_fetch_load PORT CONNECTIONS SECONDS PID... */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST = 64, REPLY = 1024, EVENTS = 256, CONNECTIONS_MAX = 16384 };

struct connection {
    int fd;
    int got;
};

static struct connection connections[CONNECTIONS_MAX];
static uint8_t request[REQUEST] = {'I', 'O', 'D', 'F', 0, 0, 0, 1, 0, 0, REPLY >> 8, REPLY & 255};
static long long requests, looks, empty;

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t) < 0)
        give_up("clock_gettime");
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t cpu_ns(char **pids)
{
    int64_t sum = 0;
    clockid_t id;
    for (; *pids; pids++) {
        if (clock_getcpuclockid(atoi(*pids), &id) != 0)
            give_up("clock_getcpuclockid");
        sum += clock_ns(id);
    }
    return sum;
}

static void ask(struct connection *c)
{
    c->got = 0;
    if (send(c->fd, request, REQUEST, MSG_NOSIGNAL) != REQUEST)
        give_up("send");
}

static void open_all(int set, const char *port, int count)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int one = 1;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < count; i++) {
        struct connection *c = &connections[i];
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
        c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof a) < 0)
            give_up("connect");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (epoll_ctl(set, EPOLL_CTL_ADD, c->fd, &e) < 0)
            give_up("epoll_ctl");
    }
}

static void take(struct connection *c)
{
    static uint8_t in[REPLY];
    ssize_t n = recv(c->fd, in, sizeof in, MSG_DONTWAIT);
    if (n <= 0)
        give_up("recv");
    c->got += (int)n;
    if (c->got < REPLY)
        return;
    requests++;
    ask(c);
}

static void run_until(int set, int64_t end_ns)
{
    struct epoll_event ready[EVENTS];
    while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
        int n = epoll_wait(set, ready, EVENTS, 0);
        looks++;
        empty += n == 0;
        for (int i = 0; i < n; i++)
            take(ready[i].data.ptr);
    }
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return fputs("usage: tight_fetch_load PORT CONNECTIONS SECONDS PID...\n", stderr), 2;
    int count = atoi(argv[2]), set = epoll_create1(EPOLL_CLOEXEC);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (count < 1 || count > CONNECTIONS_MAX)
        return fputs("CONNECTIONS: 1 to 16384\n", stderr), 2;
    open_all(set, argv[1], count);
    for (int i = 0; i < count; i++)
        ask(&connections[i]);
    run_until(set, clock_ns(CLOCK_MONOTONIC) + 300000000);
    requests = looks = empty = 0;
    int64_t start = clock_ns(CLOCK_MONOTONIC), cpu = cpu_ns(argv + 4);
    run_until(set, start + (int64_t)(atof(argv[3]) * 1e9));
    cpu = cpu_ns(argv + 4) - cpu;
    double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
    printf("requests %lld seconds %.4f server_cpu_s %.4f load_spare %.3f\n", requests, seconds,
           (double)cpu / 1e9, (double)empty / (double)looks);
    return 0;
}
