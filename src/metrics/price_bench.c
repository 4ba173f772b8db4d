/* SPDX-License-Identifier: MIT */
/* The client is what the load is in a run: it spins over an epoll set, so the server's send does
 * not pay for waking it, and it reads on another CPU, so what it touches is cold for the server.
 * While nothing is asked of it it naps: the screen may need its CPU. Connections are closed by a
 * reset, so that no port stays in TIME_WAIT. */
#include "metrics/price_bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

#define WORD_BITS ((int)(8 * sizeof(unsigned long)))
#define PERIOD_NS 87000 /* on average: 11 500 requests a second */
#define NAP_NS 200000

static int listen_anywhere(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (fd < 0)
        return -errno;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, BENCH_PAIRS) < 0) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

int bench_open(struct bench *b)
{
    b->epoll = b->client_epoll = -1;
    b->listener = listen_anywhere();
    if (b->listener < 0)
        return b->listener;
    b->epoll = epoll_create1(EPOLL_CLOEXEC);
    b->client_epoll = epoll_create1(EPOLL_CLOEXEC);
    return b->epoll < 0 || b->client_epoll < 0 ? -errno : 0;
}

static void close_reset(int fd)
{
    struct linger now = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

void bench_hang_up(struct bench *b, int n)
{
    for (int i = b->n - n; i < b->n; i++)
        close_reset(b->client[i]);
}

void bench_close_last(struct bench *b, int n)
{
    while (n-- > 0)
        close(b->server[--b->n]);
}

void bench_close(struct bench *b)
{
    bench_hang_up(b, b->n);
    bench_close_last(b, b->n);
    const int rest[] = {b->listener, b->epoll, b->client_epoll};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (rest[i] >= 0)
            close(rest[i]);
    free(b->map);
    free(b->ready);
}

int bench_connect(struct bench *b, int n)
{
    struct sockaddr_in to;
    socklen_t len = sizeof to;
    int made = 0;
    if (getsockname(b->listener, (struct sockaddr *)&to, &len) < 0)
        return 0;
    while (made < n && b->n + made < BENCH_PAIRS) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            break;
        struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};
        if (connect(fd, (struct sockaddr *)&to, len) < 0 ||
            epoll_ctl(b->client_epoll, EPOLL_CTL_ADD, fd, &ev) < 0) {
            close_reset(fd);
            break;
        }
        b->client[b->n + made++] = fd;
    }
    return made;
}

int bench_accept(struct bench *b, int n)
{
    int made = 0;
    while (made < n) {
        int fd = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            break;
        b->server[b->n + made++] = fd;
    }
    for (int i = made; i < n; i++) /* nobody took them */
        close_reset(b->client[b->n + i]);
    for (int i = 0; i < made; i++) {
        int fd = b->server[b->n + i];
        struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(b->epoll, EPOLL_CTL_ADD, fd, &ev);
        b->top = fd > b->top ? fd : b->top;
    }
    b->n += made;
    return made;
}

void bench_watch(struct bench *b, int n)
{
    int words = b->top / WORD_BITS + 1;
    if (words > b->words) {
        b->map = xrealloc(b->map, (size_t)words, sizeof *b->map);
        b->ready = xrealloc(b->ready, (size_t)words, sizeof *b->ready);
        b->words = words;
    }
    memset(b->map, 0, (size_t)words * sizeof *b->map);
    for (int i = 0; i < n; i++) {
        int fd = b->server[i];
        b->map[fd / WORD_BITS] |= 1ul << fd % WORD_BITS;
        b->fds[i] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    b->watched = n;
}

bool bench_over(const struct bench *b)
{
    return clock_ns() > b->deadline_ns || (b->quit && atomic_load(b->quit));
}

double bench_cpu_ns(void)
{
    return (double)clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(double *v, int n, double share)
{
    qsort(v, (size_t)n, sizeof *v, by_size);
    return n > 0 ? v[(int)((n - 1) * share)] : NAN;
}

/* --- the client ------------------------------------------------------------------------------- */

/* One of the first n. */
static void ask(struct bench *b, int n)
{
    static const uint8_t request[BENCH_REQUEST];
    if (b->n == 0) { /* it was called off before a connection was made */
        atomic_store(&b->order, BENCH_END);
        return;
    }
    b->last = (b->last + 1) % n;
    if (send(b->client[b->last], request, sizeof request, MSG_NOSIGNAL) < 0)
        atomic_store(&b->order, BENCH_END); /* cannot be: then nothing is measured */
}

static void read_ready(struct bench *b)
{
    struct epoll_event ev[64];
    int n = epoll_wait(b->client_epoll, ev, 64, 0);
    for (int i = 0; i < n; i++) {
        ssize_t got = recv(ev[i].data.fd, b->replies, sizeof b->replies, MSG_DONTWAIT);
        if (got > 0)
            atomic_fetch_add(&b->taken, (uint64_t)got);
    }
}

static void ask_all(struct bench *b)
{
    for (int i = 0; i < b->n; i++)
        ask(b, b->n);
    int asked = BENCH_ASK;
    atomic_compare_exchange_strong(&b->order, &asked, BENCH_READ);
}

/* Many connections with a schedule each come like this: at any time, whatever was before. */
static uint64_t gap_ns(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint64_t)(-PERIOD_NS * log(((*seed >> 8) + 1) / 16777217.0));
}

void bench_client(struct bench *b)
{
    uint64_t due = 0;
    uint32_t seed = 1;
    for (;;) {
        switch (atomic_load(&b->order)) {
        case BENCH_END:
            atomic_store(&b->left, true);
            return;
        case BENCH_REST:
            clock_sleep_until(clock_ns() + NAP_NS);
            due = 0;
            break;
        case BENCH_ASK:
            ask_all(b);
            break;
        case BENCH_PACE:
            if (clock_ns() >= due) {
                ask(b, b->n < BENCH_PACED ? b->n : BENCH_PACED);
                due = (due ? due : clock_ns()) + gap_ns(&seed);
            }
            read_ready(b);
            break;
        default:
            read_ready(b);
        }
    }
}

bool bench_order(struct bench *b, enum bench_order what)
{
    atomic_store(&b->order, what);
    while (what == BENCH_ASK && atomic_load(&b->order) == BENCH_ASK)
        if (bench_over(b))
            return false;
    while (what == BENCH_END && !atomic_load(&b->left))
        clock_sleep_until(clock_ns() + NAP_NS); /* it may be in the middle of an order */
    return atomic_load(&b->order) != BENCH_END || what == BENCH_END;
}

bool bench_taken(struct bench *b, uint64_t bytes)
{
    while (atomic_load(&b->taken) < bytes)
        if (bench_over(b))
            return false;
    return true;
}
