/* SPDX-License-Identifier: MIT */
/* A blocking connect(2) cannot be called off and knows no deadline of its own, so this one starts a
 * non-blocking one and waits for it in short slices. Connected at once (the rule on loopback), it
 * costs one poll more. */
#include "load/dial.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/time.h>
#include <time.h>

#include "base/clock.h"

#define SLICE_NS (50 * NS_PER_MS)

static int wait_connected(int fd, const struct dial *d)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    for (;;) {
        uint64_t now = clock_ns();
        if (now >= d->deadline_ns)
            return -ETIMEDOUT;
        uint64_t ns = d->deadline_ns - now < SLICE_NS ? d->deadline_ns - now : SLICE_NS;
        struct timespec ts = clock_timespec(ns);
        if (ppoll(&p, 1, &ts, NULL) > 0)
            return net_connect_result(fd);
        if (d->off && d->off(d->ctx))
            return -ECANCELED;
    }
}

int dial(const struct dial *d)
{
    int fd = net_connect_start(d->to, d->nodelay);
    if (fd < 0)
        return fd;
    int failed = wait_connected(fd, d);
    if (!failed || dial_was_connected(failed))
        return fd;
    net_close_reset(fd);
    return failed;
}

void dial_blocking(int fd, uint64_t timeout_ns)
{
    struct timeval tv = {(time_t)(timeout_ns / NS_PER_S),
                         (suseconds_t)(timeout_ns % NS_PER_S / NS_PER_US)};
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
}
