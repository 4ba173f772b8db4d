/* SPDX-License-Identifier: MIT */
/* The least that a load over HTTP has to do: a closed loop over N connections, one wait for all
 * that came, then one recv, one look at the clock, one latency counted and one send a request. A
 * reply is as long as the first one was; its bytes are counted, not looked at. Sleeps in its
 * wait, as wrk does. What `iodash load` costs beside it is what phases, checks and error kinds
 * cost. Sends one line of figures to stdout. Usage: tight_http_load PORT CONNECTIONS SECONDS */
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

enum { EVENTS = 256, BUFFER = 65536, CONNECTIONS_MAX = 16384, WAIT_MS = 100 };
enum { STEPS = 1 << 20, STEP_NS = 100 }; /* of the histogram, up to 0.1 s */

static const char request[] = "GET /1024 HTTP/1.1\r\nHost: iodash\r\n\r\n";

static struct connection {
    int fd, got;
    int64_t sent_ns;
} connections[CONNECTIONS_MAX];
static char in[BUFFER];
static int reply_bytes;
static long long requests;
static uint32_t latencies[STEPS];

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void ask(struct connection *c, int64_t now)
{
    c->got = 0;
    c->sent_ns = now;
    if (send(c->fd, request, sizeof request - 1, MSG_NOSIGNAL) != sizeof request - 1)
        give_up("send");
}

static int open_one(const char *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
        give_up("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* The length of a reply: what comes within a tenth of a second. */
static void learn(struct connection *c)
{
    struct timeval quiet = {0, 100000};
    ssize_t n;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof quiet);
    ask(c, 0);
    while ((n = recv(c->fd, in, sizeof in, 0)) > 0)
        reply_bytes += (int)n;
    if (reply_bytes == 0)
        give_up("no reply");
}

static void open_all(int set, const char *port, int count)
{
    for (int i = 0; i < count; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &connections[i]};
        connections[i].fd = open_one(port);
        if (i == 0)
            learn(&connections[0]);
        if (epoll_ctl(set, EPOLL_CTL_ADD, connections[i].fd, &e) < 0)
            give_up("epoll_ctl");
    }
}

static void take(struct connection *c)
{
    ssize_t n = recv(c->fd, in, sizeof in, MSG_DONTWAIT);
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (n <= 0)
        give_up("recv");
    c->got += (int)n;
    if (c->got < reply_bytes)
        return;
    requests++;
    int64_t step = (now - c->sent_ns) / STEP_NS;
    latencies[step < STEPS ? step : STEPS - 1]++;
    ask(c, now);
}

static void run_until(int set, int64_t end_ns)
{
    struct epoll_event ready[EVENTS];
    while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
        int n = epoll_wait(set, ready, EVENTS, WAIT_MS);
        for (int i = 0; i < n; i++)
            take(ready[i].data.ptr);
    }
}

static double percentile_us(double pct)
{
    long long left = (long long)((double)requests * pct / 100);
    int i = 0;
    while (i < STEPS - 1 && (left -= latencies[i]) > 0)
        i++;
    return (double)i * STEP_NS / 1e3;
}

int main(int argc, char **argv)
{
    struct linger reset = {1, 0};
    struct rlimit limit;
    if (argc != 4)
        return fputs("usage: tight_http_load PORT CONNECTIONS SECONDS\n", stderr), 2;
    int count = atoi(argv[2]), set = epoll_create1(EPOLL_CLOEXEC);
    if (count < 1 || count > CONNECTIONS_MAX)
        return fputs("CONNECTIONS: 1 to 16384\n", stderr), 2;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    open_all(set, argv[1], count);
    for (int i = 0; i < count; i++)
        ask(&connections[i], clock_ns(CLOCK_MONOTONIC));
    run_until(set, clock_ns(CLOCK_MONOTONIC) + 300000000);
    requests = 0;
    memset(latencies, 0, sizeof latencies);
    int64_t start = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    run_until(set, start + (int64_t)(atof(argv[3]) * 1e9));
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("requests %lld seconds %.4f load_cpu_s %.4f p99_us %.1f errors 0\n", requests,
           (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9, (double)cpu / 1e9, percentile_us(99));
    for (int i = 0; i < count; i++)
        setsockopt(connections[i].fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    return 0;
}
