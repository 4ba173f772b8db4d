/* SPDX-License-Identifier: MIT */
/* A closed loop over `fetch` that spins and batches: each of N connections asks again as soon as
 * its reply is whole, and all that ask go out with one call, so that the server finds many requests
 * at once. Only such a load shows what a server gains by batching itself. Reads the CPU clocks of
 * the server's processes, at both edges of the measured time. Sends one line of figures to stdout.
 * Usage: batch_fetch_load PORT CONNECTIONS SECONDS PID... */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST = 64, REPLY = 1024, BUFFER = 4096, BUFFERS = 1024, BATCH = 1024,
       CONNECTIONS_MAX = 16384 };
enum { RECEIVE = 1, SEND };

struct connection {
    int fd;
    int got;
};

static struct connection connections[CONNECTIONS_MAX];
static uint8_t request_bytes[REQUEST] = {'I', 'O', 'D', 'F', 0, 0, 0, 1,
                                         0,   0,   REPLY >> 8, REPLY & 255};
static uint8_t buffers[BUFFERS][BUFFER];
static struct io_uring ring;
static struct io_uring_buf_ring *spare;
static long long requests, found;
static int64_t spare_ns; /* in looks that found nothing */

static _Noreturn void give_up(const char *what, int error)
{
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(1);
}

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t) < 0)
        give_up("clock_gettime", errno);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t cpu_ns(char **pids)
{
    int64_t sum = 0;
    clockid_t id;
    for (; *pids; pids++) {
        int rc = clock_getcpuclockid(atoi(*pids), &id);
        if (rc != 0)
            give_up("clock_getcpuclockid", rc);
        sum += clock_ns(id);
    }
    return sum;
}

static void give_back(int id)
{
    io_uring_buf_ring_add(spare, buffers[id], BUFFER, (unsigned short)id,
                          io_uring_buf_ring_mask(BUFFERS), 0);
    io_uring_buf_ring_advance(spare, 1);
}

static void set_up(void)
{
    struct io_uring_params p = {.cq_entries = 4 * CONNECTIONS_MAX};
    p.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    int rc = io_uring_queue_init_params(4096, &ring, &p);
    if (rc < 0)
        give_up("io_uring", -rc);
    io_uring_register_ring_fd(&ring);
    spare = aligned_alloc(4096, BUFFERS * sizeof(struct io_uring_buf));
    struct io_uring_buf_reg reg = {.ring_addr = (uintptr_t)spare, .ring_entries = BUFFERS};
    rc = io_uring_register_buf_ring(&ring, &reg, 0);
    if (rc < 0)
        give_up("io_uring_register_buf_ring", -rc);
    io_uring_buf_ring_init(spare);
    for (int i = 0; i < BUFFERS; i++)
        give_back(i);
}

static struct io_uring_sqe *new_request(void)
{
    struct io_uring_sqe *sqe;
    while (!(sqe = io_uring_get_sqe(&ring)))
        io_uring_submit(&ring);
    return sqe;
}

static void receive(int index)
{
    struct io_uring_sqe *sqe = new_request();
    io_uring_prep_recv_multishot(sqe, connections[index].fd, NULL, 0, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    io_uring_sqe_set_data64(sqe, (uint64_t)index << 8 | RECEIVE);
}

static void ask(int index)
{
    struct io_uring_sqe *sqe = new_request();
    connections[index].got = 0;
    io_uring_prep_send(sqe, connections[index].fd, request_bytes, REQUEST,
                       MSG_NOSIGNAL | MSG_WAITALL);
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, (uint64_t)index << 8 | SEND);
}

static void open_all(const char *port, int count)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    struct linger reset = {.l_onoff = 1}; /* leaves nothing in TIME_WAIT */
    int one = 1;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < count; i++) {
        struct connection *c = &connections[i];
        c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof a) < 0)
            give_up("connect", errno);
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        receive(i);
    }
}

static void take(const struct io_uring_cqe *cqe)
{
    int index = (int)(cqe->user_data >> 8);
    struct connection *c = &connections[index];
    if ((cqe->user_data & 255) == SEND)
        give_up("send", -cqe->res);
    if (!(cqe->flags & IORING_CQE_F_MORE))
        receive(index);
    if (cqe->res == -ENOBUFS)
        return;
    if (cqe->res <= 0)
        give_up("recv", -cqe->res);
    give_back((int)(cqe->flags >> IORING_CQE_BUFFER_SHIFT));
    c->got += cqe->res;
    if (c->got < REPLY)
        return;
    requests++;
    ask(index);
}

static void run_until(int64_t end_ns)
{
    static struct io_uring_cqe *done[BATCH];
    for (int64_t now = clock_ns(CLOCK_MONOTONIC), last; now < end_ns;) {
        io_uring_submit_and_get_events(&ring);
        unsigned n = io_uring_peek_batch_cqe(&ring, done, BATCH);
        for (unsigned i = 0; i < n; i++)
            take(done[i]);
        io_uring_cq_advance(&ring, n);
        last = now;
        now = clock_ns(CLOCK_MONOTONIC);
        spare_ns += n == 0 ? now - last : 0;
        found += n > 0;
    }
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return fputs("usage: batch_fetch_load PORT CONNECTIONS SECONDS PID...\n", stderr), 2;
    int count = atoi(argv[2]);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (count < 1 || count > CONNECTIONS_MAX)
        return fputs("CONNECTIONS: 1 to 16384\n", stderr), 2;
    set_up();
    open_all(argv[1], count);
    for (int i = 0; i < count; i++)
        ask(i);
    run_until(clock_ns(CLOCK_MONOTONIC) + 300000000);
    requests = found = spare_ns = 0;
    int64_t start = clock_ns(CLOCK_MONOTONIC), cpu = cpu_ns(argv + 4);
    run_until(start + (int64_t)(atof(argv[3]) * 1e9));
    cpu = cpu_ns(argv + 4) - cpu;
    double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
    printf("requests %lld seconds %.4f server_cpu_s %.4f load_spare %.3f batch %.1f\n", requests,
           seconds, (double)cpu / 1e9, (double)spare_ns / 1e9 / seconds,
           (double)requests / (double)(found ? found : 1));
    return 0;
}
