/* SPDX-License-Identifier: MIT */
/* keepalive off in the blocking engine: connect, send, recv, and the end, one call each. Ended by
 * a reset the socket stays and is connected anew. A connect that waits comes back each 50 ms (its
 * time limit is the one for sends) and goes on where it was, so that it can be called off. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "load/blocking.h"

#define SLICE_US 50000

static int make_socket(struct blocker *b)
{
    const struct load *l = b->load;
    struct timeval slice = {0, SLICE_US};
    struct timeval most = {(time_t)(l->timeout_ns / NS_PER_S),
                           (suseconds_t)(l->timeout_ns % NS_PER_S / NS_PER_US)};
    int fd = net_socket_nth(&l->spec.target, b->index, true);
    if (fd < 0)
        return fd;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &slice, sizeof slice);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    blocker_set_fd(b, fd);
    return 0;
}

/* The owner has given the drain up, or the load ends. */
static bool given_up(const struct blocker *b)
{
    uint32_t phase = word_get(b->load) & WORD_PHASE;
    return !phase_in_turn(phase) && phase != LOAD_STOP;
}

int fresh_dial(struct blocker *b, uint64_t since_ns)
{
    const struct net_addr *to = &b->load->spec.target;
    int failed = b->fd < 0 ? make_socket(b) : 0;
    while (!failed && connect(b->fd, (const struct sockaddr *)&to->ss, to->len) < 0) {
        bool waits = errno == EINPROGRESS || errno == EALREADY || errno == EINTR;
        if (errno == EISCONN)
            break;
        if (!waits)
            failed = -errno;
        else if (given_up(b))
            failed = -ECANCELED;
        else if (clock_ns() - since_ns >= b->load->timeout_ns)
            failed = -ETIMEDOUT;
    }
    if (!failed)
        blocker_linked(b, true);
    return failed;
}

void fresh_leave(struct blocker *b)
{
    bool fin = b->load->fin;
    if (fin || net_hang_up(b->fd) < 0) {
        int fd = b->fd;
        blocker_set_fd(b, -1);
        if (fin)
            close(fd);
        else
            net_close_reset(fd);
    }
    blocker_linked(b, false);
}
