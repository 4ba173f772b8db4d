/* SPDX-License-Identifier: MIT */
/* Sends to itself over loopback, in windows short enough that most are disturbed by nobody: the
 * thread's CPU clock over the wall clock. Disturbances only make it less, so the largest counts. */
#include "metrics/irq_time.h"

#include <math.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum { WINDOWS = 60, EXCHANGES = 40 };
#define LIMIT_NS (NS_PER_S / 2)

static double cpu_ns(void)
{
    return (double)clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* A datagram socket connected to itself; -1: none. */
static int own_socket(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, size) == 0 &&
        getsockname(fd, (struct sockaddr *)&at, &size) == 0 &&
        connect(fd, (struct sockaddr *)&at, size) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool exchange(int fd)
{
    char bytes[1024] = {0};
    for (int i = 0; i < EXCHANGES; i++)
        if (send(fd, bytes, sizeof bytes, 0) < 0 || recv(fd, bytes, sizeof bytes, 0) < 0)
            return false;
    return true;
}

double irq_time_charged(void)
{
    double most = NAN;
    uint64_t end = clock_ns() + LIMIT_NS;
    int fd = own_socket();
    for (int i = 0; fd >= 0 && i < WINDOWS && clock_ns() < end; i++) {
        double cpu = cpu_ns();
        uint64_t wall = clock_ns();
        if (!exchange(fd))
            break;
        double passed = (double)(clock_ns() - wall);
        most = fmax(most, fmin(1, (cpu_ns() - cpu) / passed));
    }
    if (fd >= 0)
        close(fd);
    return most;
}
