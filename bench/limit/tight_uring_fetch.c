/* SPDX-License-Identifier: MIT */
/* The least that an io_uring server over `fetch` has to do: one call a round, in which the sends of
 * the last round go out; accept and receive are requests made once. No protocol layer, no counters,
 * no partial requests or replies (where they are not whole the connection is shut down and the load
 * says so). What `iodash serve -m uring` costs beside it is what the project's layers cost.
 * Usage: tight_uring_fetch PORT */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST = 64, BATCH = 256, BUFFER = 16384, BUFFERS = 64, REPLY_MAX = 16384 };
enum { ACCEPT = 1, RECEIVE, SEND };

static uint8_t pattern[REPLY_MAX + 256], buffers[BUFFERS][BUFFER];
static struct io_uring ring;
static struct io_uring_buf_ring *spare;

static _Noreturn void give_up(const char *what, int error)
{
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(1);
}

static int listen_on(const char *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); /* accepted sockets inherit it */
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1024) < 0)
        give_up("listen", errno);
    return fd;
}

static void give_back(int id)
{
    io_uring_buf_ring_add(spare, buffers[id], BUFFER, (unsigned short)id,
                          io_uring_buf_ring_mask(BUFFERS), 0);
    io_uring_buf_ring_advance(spare, 1);
}

static void set_up(void)
{
    struct io_uring_params p = {.cq_entries = 4096};
    p.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    int rc = io_uring_queue_init_params(1024, &ring, &p);
    if (rc < 0)
        give_up("io_uring", -rc);
    io_uring_register_ring_fd(&ring);
    spare = aligned_alloc(4096, 4096);
    struct io_uring_buf_reg reg = {.ring_addr = (uintptr_t)spare, .ring_entries = BUFFERS};
    rc = io_uring_register_buf_ring(&ring, &reg, 0);
    if (rc < 0)
        give_up("io_uring_register_buf_ring", -rc);
    io_uring_buf_ring_init(spare);
    for (int i = 0; i < BUFFERS; i++)
        give_back(i);
}

static struct io_uring_sqe *request(void)
{
    struct io_uring_sqe *sqe;
    while (!(sqe = io_uring_get_sqe(&ring)))
        io_uring_submit(&ring);
    return sqe;
}

static void receive(int fd)
{
    struct io_uring_sqe *sqe = request();
    io_uring_prep_recv_multishot(sqe, fd, NULL, 0, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    io_uring_sqe_set_data64(sqe, (uint64_t)fd << 8 | RECEIVE);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* One request: the size stands at 8, the low byte of the sequence at 23. */
static void serve(int fd, const uint8_t *in, int n)
{
    uint32_t size = n == REQUEST && memcmp(in, "IODF", 4) == 0 ? get32(in + 8) : 0;
    if (size == 0 || size > REPLY_MAX) {
        shutdown(fd, SHUT_RDWR);
        return;
    }
    struct io_uring_sqe *sqe = request();
    io_uring_prep_send(sqe, fd, pattern + in[23], size, MSG_NOSIGNAL | MSG_WAITALL);
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, (uint64_t)fd << 8 | SEND);
}

static void received(const struct io_uring_cqe *cqe)
{
    int fd = (int)(cqe->user_data >> 8), id = (int)(cqe->flags >> IORING_CQE_BUFFER_SHIFT);
    if (cqe->res > 0)
        serve(fd, buffers[id], cqe->res);
    if (cqe->flags & IORING_CQE_F_BUFFER)
        give_back(id);
    if (cqe->flags & IORING_CQE_F_MORE)
        return;
    if (cqe->res > 0 || cqe->res == -ENOBUFS)
        receive(fd);
    else
        close(fd);
}

int main(int argc, char **argv)
{
    static struct io_uring_cqe *done[BATCH];
    if (argc != 2)
        return fputs("usage: tight_uring_fetch PORT\n", stderr), 2;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)i;
    int listener = listen_on(argv[1]);
    set_up();
    struct io_uring_sqe *sqe = request();
    io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
    io_uring_sqe_set_data64(sqe, ACCEPT);
    for (;;) {
        io_uring_submit_and_wait(&ring, 1);
        unsigned n = io_uring_peek_batch_cqe(&ring, done, BATCH);
        for (unsigned i = 0; i < n; i++) {
            if ((done[i]->user_data & 255) == RECEIVE)
                received(done[i]);
            else if ((done[i]->user_data & 255) == ACCEPT && done[i]->res >= 0)
                receive(done[i]->res);
        }
        io_uring_cq_advance(&ring, n);
    }
}
