/* SPDX-License-Identifier: MIT */
/* A price is CPU time of the thread that pays: the lower quartile of batches, since disturbances
 * only add. Calls that need nobody are made again and again; recv and send are timed where a
 * server makes them, one after the other through a few hundred connections, while a client reads
 * on another CPU: alone and on one socket they would come out at half the price. What a sleep
 * costs cannot be timed from inside: it is what a request costs at a pace, where the server
 * sleeps before most, less wait, recv and send. So it holds the switch away and back, and what
 * went cold meanwhile. What a further descriptor costs in a wait is the slope between one and
 * all of them. */
#include "metrics/prices.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "metrics/price_bench.h"
#include "metrics/price_ring.h"
#include "metrics/stats.h"

enum { BATCHES = 12, CONNECTS = 32, ROUNDS = 9, SLEEPS = 8, PACED = 400, WARM = 40 };
#define LIMIT_NS (2 * NS_PER_S)

const char *const price_columns[PRICE_COUNT] = {
#define X(id, help) "price_" #id "_ns",
    PRICES(X)
#undef X
};
const char *const price_helps[PRICE_COUNT] = {
#define X(id, help) help,
    PRICES(X)
#undef X
};

void prices_clear(struct prices *p)
{
    for (int i = 0; i < PRICE_COUNT; i++)
        p->ns[i] = NAN;
}

void prices_middle(const struct prices *taken, int n, struct prices *out)
{
    double v[PRICES_TAKEN];
    for (int p = 0; p < PRICE_COUNT; p++) {
        int known = 0;
        for (int i = 0; i < n; i++)
            if (!isnan(taken[i].ns[p]))
                v[known++] = taken[i].ns[p];
        out->ns[p] = bench_quantile(v, known, 0.5);
    }
}

bool prices_known(const struct prices *p)
{
    for (int i = 0; i < PRICE_COUNT; i++)
        if (p->ns[i] > 0)
            return true;
    return false;
}

/* --- calls that need nobody ------------------------------------------------------------------- */

typedef void (*call_fn)(struct bench *b);

static double price_of(struct bench *b, call_fn call, int times)
{
    double batch[BATCHES];
    int n = 0;
    call(b);
    for (; n < BATCHES && !bench_over(b); n++) {
        double from = bench_cpu_ns();
        for (int i = 0; i < times; i++)
            call(b);
        batch[n] = (bench_cpu_ns() - from) / times;
    }
    return bench_quantile(batch, n, 0.25);
}

static void call_nothing(struct bench *b)
{
    (void)b;
    syscall(SYS_getppid);
}

static void call_epoll(struct bench *b)
{
    struct epoll_event ev;
    epoll_wait(b->epoll, &ev, 1, 0);
}

static void call_select(struct bench *b)
{
    struct timeval tv = {.tv_usec = b->timeout_us};
    memcpy(b->ready, b->map, (size_t)b->words * sizeof *b->map);
    select(b->top + 1, (fd_set *)b->ready, NULL, NULL, &tv);
}

static void call_poll(struct bench *b)
{
    struct timespec t = {.tv_nsec = b->timeout_us * 1000l};
    ppoll(b->fds, (nfds_t)b->watched, &t, NULL);
}

static void call_recv_empty(struct bench *b)
{
    recv(b->server[b->n - 1], b->bytes, BENCH_REQUEST, 0);
}

static void call_mod(struct bench *b)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = b->server[b->n - 1]};
    epoll_ctl(b->epoll, EPOLL_CTL_MOD, ev.data.fd, &ev);
}

/* What each further descriptor costs in this wait. A wait with a time-out of a microsecond that
 * finds nothing does all that one does that sleeps long. */
static double slope(struct bench *b, call_fn wait, bool sleeps)
{
    b->timeout_us = sleeps ? 1 : 0;
    bench_watch(b, 1);
    double one = price_of(b, wait, 100);
    bench_watch(b, b->n);
    double all = price_of(b, wait, 25);
    return b->n > 1 && all > one ? (all - one) / (b->n - 1) : NAN;
}

static void price_calls(struct bench *b, struct prices *out)
{
    out->ns[PRICE_call] = price_of(b, call_nothing, 500);
    out->ns[PRICE_recv_empty] = price_of(b, call_recv_empty, 300);
    out->ns[PRICE_mod] = price_of(b, call_mod, 300);
    prctl(PR_SET_TIMERSLACK, 1ul);
    out->ns[PRICE_look_sleep] = slope(b, call_select, true);
    out->ns[PRICE_poll_look_sleep] = slope(b, call_poll, true);
    static const uint8_t byte[1];
    if (send(b->client[0], byte, 1, MSG_NOSIGNAL) != 1)
        return;
    out->ns[PRICE_wait] = price_of(b, call_epoll, 300);
    out->ns[PRICE_look] = slope(b, call_select, false);
    out->ns[PRICE_poll_look] = slope(b, call_poll, false);
    recv(b->server[0], b->bytes, 1, 0);
}

/* Makes the connections, and prices their accepting. */
static void price_accepts(struct bench *b, struct prices *out)
{
    double each[BENCH_PAIRS / CONNECTS];
    int n = 0;
    for (int made; n < BENCH_PAIRS / CONNECTS && !bench_over(b); n++) {
        made = bench_connect(b, CONNECTS);
        double from = bench_cpu_ns();
        if (bench_accept(b, made) < CONNECTS)
            break;
        each[n] = (bench_cpu_ns() - from) / CONNECTS;
    }
    out->ns[PRICE_accept] = bench_quantile(each, n, 0.25);
}

/* --- requests --------------------------------------------------------------------------------- */

struct exchange { /* sums over one round */
    double recv_ns, send_ns;
};

/* Serves connection i with a reply of so many bytes; each call between two readings of the
 * clock. */
static bool serve(struct bench *b, int fd, size_t reply, struct exchange *x)
{
    uint64_t t0 = clock_ns();
    ssize_t got = recv(fd, b->bytes, BENCH_REQUEST, 0);
    uint64_t t1 = clock_ns();
    if (got != BENCH_REQUEST)
        return false;
    ssize_t sent = send(fd, b->bytes, reply, MSG_NOSIGNAL);
    uint64_t t2 = clock_ns();
    x->recv_ns += (double)(t1 - t0);
    x->send_ns += (double)(t2 - t1);
    return sent == (ssize_t)reply;
}

static double clock_price(void)
{
    uint64_t from = clock_ns();
    for (int i = 0; i < 1000; i++)
        (void)clock_ns();
    return (double)(clock_ns() - from) / 1000;
}

/* Rounds in which all have asked before they are served: the server never sleeps. What rounds there
 * was time for count. */
static struct exchange price_busy(struct bench *b, size_t reply, int rounds)
{
    double recvs[ROUNDS], sends[ROUNDS], tick = clock_price();
    uint64_t taken = atomic_load(&b->taken);
    int n = 0;
    for (; n < rounds && !bench_over(b); n++) {
        struct exchange x = {0, 0};
        bool all = bench_order(b, BENCH_ASK);
        for (int i = 0; i < b->n && all; i++)
            all = serve(b, b->server[i], reply, &x);
        taken += (uint64_t)b->n * reply;
        if (!all || !bench_taken(b, taken))
            break;
        recvs[n] = x.recv_ns / b->n - tick;
        sends[n] = x.send_ns / b->n - tick;
    }
    return (struct exchange){bench_quantile(recvs, n, 0.25), bench_quantile(sends, n, 0.25)};
}

struct paced { /* of one batch */
    double cpu_ns;
    int requests, waits;
    long sleeps;
};

static long sleeps_now(void)
{
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nvcsw : 0;
}

/* Serves what comes at a pace: mostly asleep, woken, one request. False: nothing came. */
static bool serve_paced(struct bench *b, int requests, struct paced *out)
{
    struct epoll_event ev[8];
    double from = bench_cpu_ns();
    long slept = sleeps_now();
    *out = (struct paced){0};
    while (out->requests < requests) {
        int n = epoll_wait(b->epoll, ev, 8, 100);
        out->waits++;
        for (int i = 0; i < n; i++)
            if (recv(ev[i].data.fd, b->bytes, BENCH_REQUEST, 0) != BENCH_REQUEST ||
                send(ev[i].data.fd, b->bytes, BENCH_REPLY, MSG_NOSIGNAL) != BENCH_REPLY)
                return false;
        if (n <= 0)
            return false;
        out->requests += n;
    }
    out->cpu_ns = bench_cpu_ns() - from;
    out->sleeps = sleeps_now() - slept;
    return true;
}

/* What a sleep costs, when wait and request are taken off, in one batch; NaN where something held
 * the client up. */
static double one_sleep(struct bench *b, double wait_ns, double request_ns)
{
    struct paced p;
    if (!serve_paced(b, WARM, &p) || !serve_paced(b, PACED, &p))
        return NAN;
    double rest = p.cpu_ns - p.waits * wait_ns - p.requests * request_ns;
    return p.sleeps > p.requests / 2 ? rest / (double)p.sleeps : NAN;
}

/* A short sleep is often spent in a loop of the kernel and a longer one with the CPU halted, at
 * thrice the price, and batches of 60 behind a busy time came out a fifth to a third cheaper than
 * those of 400: so batches are long, and the mean of the middle ones counts. */
static double price_sleep(struct bench *b, double wait_ns, double request_ns)
{
    double batch[2 * SLEEPS];
    int n = 0, wanted = SLEEPS;
    if (!bench_order(b, BENCH_PACE))
        return NAN;
    for (; n < wanted && !bench_over(b); n++) {
        batch[n] = one_sleep(b, wait_ns, request_ns);
        wanted += isnan(batch[n]) && wanted < 2 * SLEEPS;
    }
    bench_order(b, BENCH_REST);
    int known = stats_trimmed(batch, n, 0, 0.95).taken;
    double price = stats_trimmed(batch, n, known > 5 ? 2 : 0, 0.95).mean;
    return price > 0 ? price : NAN;
}

static void price_requests(struct bench *b, struct prices *out)
{
    struct exchange small = price_busy(b, BENCH_REPLY, ROUNDS);
    out->ns[PRICE_recv] = small.recv_ns;
    out->ns[PRICE_send] = small.send_ns;
    out->ns[PRICE_sleep] = price_sleep(b, out->ns[PRICE_wait], small.recv_ns + small.send_ns);
    double more = price_busy(b, BENCH_BULK + BENCH_REPLY, 3).send_ns - small.send_ns;
    if (more > 0)
        out->ns[PRICE_kib] = more / (BENCH_BULK / 1024);
}

/* Of connections that the client has reset, as the load does. */
static void price_closes(struct bench *b, struct prices *out)
{
    double each[BENCH_PAIRS / CONNECTS];
    int n = 0;
    while (b->n >= CONNECTS && n < BENCH_PAIRS / CONNECTS) {
        bench_hang_up(b, CONNECTS);
        double from = bench_cpu_ns();
        bench_close_last(b, CONNECTS);
        each[n++] = (bench_cpu_ns() - from) / CONNECTS;
    }
    out->ns[PRICE_close] = bench_quantile(each, n, 0.25);
}

/* --- the whole -------------------------------------------------------------------------------- */

struct job {
    struct bench *bench;
    const struct prices_spec *spec;
    struct prices *out;
};

static void *play_server(void *of)
{
    struct job *j = of;
    struct bench *b = j->bench;
    bool here = j->spec->cpu < 0 || cpus_pin_one(j->spec->cpu, NULL) == 0;
    if (here && bench_open(b) == 0) {
        price_accepts(b, j->out);
        if (b->n > 0)
            price_calls(b, j->out);
        if (b->n > 0) /* before requests come at a pace: some are left unread */
            price_ring(b, j->spec->alone, j->out);
        if (b->n > 0 && !j->spec->alone)
            price_requests(b, j->out);
    }
    bench_order(b, BENCH_END);
    price_closes(b, j->out);
    return NULL;
}

void prices_measure(const struct prices_spec *spec, struct prices *out)
{
    struct bench *b = xcalloc(1, sizeof *b);
    struct job job = {b, spec, out};
    pthread_t server;
    prices_clear(out);
    b->listener = b->epoll = b->client_epoll = -1;
    b->quit = spec->quit;
    b->deadline_ns = clock_ns() + LIMIT_NS;
    if (pthread_create(&server, NULL, play_server, &job) == 0) {
        bench_client(b);
        pthread_join(server, NULL);
    }
    bench_close(b);
    free(b);
}
