/* SPDX-License-Identifier: MIT */
/* A closed loop over `fetch` or `http` that spins, so that a server never pays for waking it: each
 * of N connections asks again as soon as its reply is whole. A reply is as long as the first one
 * was, which is asked for beforehand on a connection of its own. IDLE further connections are only
 * open. Reads the CPU clocks of the server's processes itself, at both edges of the measured time.
 * Sends one line of figures to stdout. Ends with resets, so nothing is left in TIME_WAIT.
 * Usage: spin_load fetch|http PORT CONNECTIONS IDLE SECONDS PID... */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REPLY_MAX = 16384, EVENTS = 256, CONNECTIONS_MAX = 16384, QUIET_MS = 200 };

struct connection {
    int fd;
    int got;
};

static const char fetch_request[64] = "IODF\0\0\0\1\0\0\4\0"; /* for 1024 bytes */
static const char http_request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

static struct connection connections[CONNECTIONS_MAX];
static const char *request = fetch_request;
static size_t request_bytes = sizeof fetch_request;
static int reply_bytes;
static uint8_t in[REPLY_MAX];
static long long requests;
static int64_t spare_ns; /* in looks that found nothing */

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
    if (send(c->fd, request, request_bytes, MSG_NOSIGNAL) != (ssize_t)request_bytes)
        give_up("send");
}

static int dial(const char *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    struct linger reset = {.l_onoff = 1};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
        give_up("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    return fd;
}

/* Sets reply_bytes: all that comes after one request, until nothing more does. */
static void learn(const char *port)
{
    struct connection c = {.fd = dial(port)};
    struct pollfd p = {.fd = c.fd, .events = POLLIN};
    ask(&c);
    for (int ms = 5000; poll(&p, 1, ms) > 0; ms = QUIET_MS) {
        ssize_t n = recv(c.fd, in, sizeof in, 0);
        if (n <= 0)
            break;
        reply_bytes += (int)n;
    }
    close(c.fd);
    if (reply_bytes < 1024 || reply_bytes > REPLY_MAX) {
        fprintf(stderr, "a reply of %d bytes\n", reply_bytes);
        exit(1);
    }
}

static void open_all(int set, const char *port, int count, int idle)
{
    for (int i = 0; i < count; i++) {
        struct connection *c = &connections[i];
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
        c->fd = dial(port);
        if (epoll_ctl(set, EPOLL_CTL_ADD, c->fd, &e) < 0)
            give_up("epoll_ctl");
    }
    for (int i = 0; i < idle; i++)
        dial(port);
    for (int i = 0; i < count; i++)
        ask(&connections[i]);
}

static void take(struct connection *c)
{
    ssize_t n = recv(c->fd, in, sizeof in, MSG_DONTWAIT);
    if (n <= 0)
        give_up("recv");
    c->got += (int)n;
    if (c->got < reply_bytes)
        return;
    requests++;
    ask(c);
}

static void run_until(int set, int64_t end_ns)
{
    struct epoll_event ready[EVENTS];
    for (int64_t now = clock_ns(CLOCK_MONOTONIC), last; now < end_ns;) {
        int n = epoll_wait(set, ready, EVENTS, 0);
        for (int i = 0; i < n; i++)
            take(ready[i].data.ptr);
        last = now;
        now = clock_ns(CLOCK_MONOTONIC);
        spare_ns += n == 0 ? now - last : 0;
    }
}

static void measure(int set, double length_s, char **pids)
{
    requests = spare_ns = 0;
    int64_t start = clock_ns(CLOCK_MONOTONIC), cpu = cpu_ns(pids);
    run_until(set, start + (int64_t)(length_s * 1e9));
    cpu = cpu_ns(pids) - cpu;
    double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
    printf("requests %lld seconds %.4f server_cpu_s %.4f load_spare %.3f\n", requests, seconds,
           (double)cpu / 1e9, (double)spare_ns / 1e9 / seconds);
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return fputs("usage: spin_load fetch|http PORT CONNECTIONS IDLE SECONDS PID...\n", stderr),
               2;
    int count = atoi(argv[3]), set = epoll_create1(EPOLL_CLOEXEC);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (count < 1 || count > CONNECTIONS_MAX)
        return fputs("CONNECTIONS: 1 to 16384\n", stderr), 2;
    if (strcmp(argv[1], "http") == 0) {
        request = http_request;
        request_bytes = sizeof http_request - 1;
    }
    learn(argv[2]);
    open_all(set, argv[2], count, atoi(argv[4]));
    run_until(set, clock_ns(CLOCK_MONOTONIC) + 300000000);
    measure(set, atof(argv[5]), argv + 6);
    return 0;
}
