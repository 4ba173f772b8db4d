/* SPDX-License-Identifier: MIT */
/* Sockets by the plain calls. Everything is close-on-exec, because servers are spawned while others
 * are connected; servers' sockets never block, the blocking engine's do, with time-outs from the
 * socket itself (SO_RCVTIMEO also bounds connect). No TIME_WAIT is left by a close with SO_LINGER
 * 0. Sources: socket(7), ip(7), ipv6(7), tcp(7). */
#include "net/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

char *net_addr_print(const struct net_addr *a, char *buf, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (a->ss.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&a->ss;
        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
        snprintf(buf, size, "[%s]:%d", host, net_addr_port(a));
    } else {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&a->ss;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        snprintf(buf, size, "%s:%d", host, net_addr_port(a));
    }
    return buf;
}

int net_addr_port(const struct net_addr *a)
{
    if (a->ss.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&a->ss)->sin6_port);
    return ntohs(((const struct sockaddr_in *)&a->ss)->sin_port);
}

void net_addr_set_port(struct net_addr *a, int port)
{
    if (a->ss.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&a->ss)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)&a->ss)->sin_port = htons((uint16_t)port);
}

static void set_on(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof value);
}

void net_buffers(int fd, int bytes)
{
    if (bytes <= 0)
        return;
    set_on(fd, SOL_SOCKET, SO_SNDBUF, bytes);
    set_on(fd, SOL_SOCKET, SO_RCVBUF, bytes);
}

/* Closes and gives back the error that was there before. */
static int close_keeping_errno(int fd, int code)
{
    close(fd);
    errno = -code;
    return code;
}

static int bind_and_listen(int fd, const struct net_addr *addr, const struct net_listen *how)
{
    set_on(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (how->shared)
        set_on(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (addr->ss.ss_family == AF_INET6)
        set_on(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    set_on(fd, IPPROTO_TCP, TCP_NODELAY, how->nodelay);
    net_buffers(fd, how->buffers);
    if (bind(fd, (const struct sockaddr *)&addr->ss, addr->len) < 0)
        return -errno;
    return listen(fd, how->backlog) < 0 ? -errno : 0;
}

int net_listen(const struct net_addr *addr, const struct net_listen *how, struct err *e)
{
    char text[80];
    int fd = socket(addr->ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(e, "socket for %s", net_addr_print(addr, text, sizeof text));
    int rc = bind_and_listen(fd, addr, how);
    if (rc < 0) {
        close_keeping_errno(fd, rc);
        return err_sys(e, "cannot listen on %s", net_addr_print(addr, text, sizeof text));
    }
    return fd;
}

int net_local_port(int fd)
{
    struct net_addr a = {.len = sizeof a.ss};
    if (getsockname(fd, (struct sockaddr *)&a.ss, &a.len) < 0)
        return -errno;
    return net_addr_port(&a);
}

bool net_source(const struct net_addr *to, long nth, struct net_addr *out)
{
    const struct sockaddr_in *peer = (const struct sockaddr_in *)&to->ss;
    bool loopback = peer->sin_family == AF_INET && ntohl(peer->sin_addr.s_addr) >> 24 == 127;
    if (!loopback || nth < NET_PER_SOURCE)
        return false;
    struct sockaddr_in *in = (struct sockaddr_in *)&out->ss;
    *out = (struct net_addr){.len = sizeof *in};
    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(nth / NET_PER_SOURCE));
    return true;
}

/* Without a port: connect() finds one, and may then share it with connections to other
 * listeners. */
static int bind_source(int fd, const struct net_addr *from)
{
    set_on(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    return bind(fd, (const struct sockaddr *)&from->ss, from->len) < 0 ? -errno : 0;
}

int net_connect_start(const struct net_addr *to, bool nodelay)
{
    return net_connect_nth(to, 0, nodelay);
}

int net_socket_nth(const struct net_addr *to, long nth, bool blocks)
{
    struct net_addr from;
    int fd = socket(to->ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC | (blocks ? 0 : SOCK_NONBLOCK), 0);
    if (fd < 0)
        return -errno;
    int failed = net_source(to, nth, &from) ? bind_source(fd, &from) : 0;
    return failed ? close_keeping_errno(fd, failed) : fd;
}

int net_connect_nth(const struct net_addr *to, long nth, bool nodelay)
{
    int fd = net_socket_nth(to, nth, false);
    if (fd < 0)
        return fd;
    set_on(fd, IPPROTO_TCP, TCP_NODELAY, nodelay);
    if (connect(fd, (const struct sockaddr *)&to->ss, to->len) < 0 && errno != EINPROGRESS &&
        errno != EINTR)
        return close_keeping_errno(fd, -errno);
    return fd;
}

void net_nodelay(int fd)
{
    set_on(fd, IPPROTO_TCP, TCP_NODELAY, true);
}

int net_connect_blocking(const struct net_addr *to, bool nodelay, double timeout_s)
{
    int fd = socket(to->ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    /* A zero time-out would mean "for ever". */
    int64_t us = timeout_s > 1e-6 ? (int64_t)(timeout_s * 1e6) : 1;
    struct timeval tv = {us / 1000000, us % 1000000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
    set_on(fd, IPPROTO_TCP, TCP_NODELAY, nodelay);
    int rc;
    do
        rc = connect(fd, (const struct sockaddr *)&to->ss, to->len);
    while (rc < 0 && errno == EINTR);
    if (rc == 0 || errno == EISCONN)
        return fd;
    bool late = errno == EINPROGRESS || errno == EALREADY || errno == EAGAIN;
    return close_keeping_errno(fd, late ? -ETIMEDOUT : -errno);
}

int net_connect_result(int fd)
{
    int code = 0;
    socklen_t len = sizeof code;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
        return -errno;
    return -code;
}

void net_close_reset(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

/* connect(2): an address of no family dissolves the association. */
int net_hang_up(int fd)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    return connect(fd, &none, sizeof none) < 0 ? -errno : 0;
}

int net_connect_again(int fd, const struct net_addr *to)
{
    int rc = connect(fd, (const struct sockaddr *)&to->ss, to->len);
    return rc == 0 || errno == EINPROGRESS || errno == EINTR ? 0 : -errno;
}

int net_wake_open(struct err *e)
{
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return fd < 0 ? err_sys(e, "eventfd") : fd;
}

void net_wake_signal(int fd)
{
    uint64_t one = 1;
    ssize_t rc;
    do
        rc = write(fd, &one, sizeof one);
    while (rc < 0 && errno == EINTR); /* EAGAIN: it is signalled already */
}

void net_wake_clear(int fd)
{
    uint64_t n;
    ssize_t rc;
    do
        rc = read(fd, &n, sizeof n);
    while (rc < 0 && errno == EINTR);
}
