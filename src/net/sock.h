/* SPDX-License-Identifier: MIT */
/* Sockets: addresses, listening, connecting, closing, waking. Every descriptor made here is
 * close-on-exec. Sources: ip(7), tcp(7), socket(7). Thread: any. */
#ifndef NET_SOCK_H
#define NET_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/err.h"

struct net_addr {
    struct sockaddr_storage ss;
    socklen_t len;
};

/* "127.0.0.1:80", "[::1]:80", "localhost:80", "*:80" or ":80" (all addresses, listening only).
 * Returns 0, -EINVAL with what is wrong, or -ENOENT for a name that stands for no address. Names go
 * through getaddrinfo(3). */
int net_addr_parse(const char *text, bool listening, struct net_addr *out, struct err *e);

/* "127.0.0.1:8080", "[::1]:8080". Returns buf. */
char *net_addr_print(const struct net_addr *a, char *buf, size_t size);

/* The port, in host order; and setting it. */
int net_addr_port(const struct net_addr *a);
void net_addr_set_port(struct net_addr *a, int port);

/* Is it an address of this machine (of this network namespace)? */
bool net_addr_here(const struct net_addr *a);

struct net_listen {
    int backlog;
    bool nodelay; /* set on the listener: accepted sockets inherit it */
    bool shared;  /* SO_REUSEPORT */
    int buffers;  /* as net_buffers(); accepted sockets inherit them */
};

/* A non-blocking listener. Returns its descriptor or -errno. Port 0 takes any free one. */
int net_listen(const struct net_addr *addr, const struct net_listen *how, struct err *e);

/* Room of this many bytes in the socket for sending and for receiving each (SO_SNDBUF, SO_RCVBUF:
 * the kernel takes twice that, for what it needs beside the bytes, and has limits of its own); 0:
 * the kernel sizes them as it likes. */
void net_buffers(int fd, int bytes);

/* The local port of a socket, or -errno. */
int net_local_port(int fd);

/* Starts a non-blocking connect. Returns the descriptor (connected or in progress) or -errno:
 * EMFILE, ENFILE no descriptor; EADDRNOTAVAIL no local port; ECONNREFUSED. */
int net_connect_start(const struct net_addr *to, bool nodelay);

/* Connections to one listener that come from one address before the next one is used. The kernel's
 * search for a free port gets slow once half of an address's are taken. */
#define NET_PER_SOURCE 10000

/* The address that the nth connection (from 0) to this listener should come from: to one on
 * loopback 127.0.0.2, .3 ... past each NET_PER_SOURCE. False: the kernel's choice will do. */
bool net_source(const struct net_addr *to, long nth, struct net_addr *out);

/* net_connect_start() for the nth connection, from that address. */
int net_connect_nth(const struct net_addr *to, long nth, bool nodelay);

/* Sets TCP_NODELAY on an open socket. */
void net_nodelay(int fd);

/* A connected blocking socket with send and receive time-outs of timeout_s, or -errno. */
int net_connect_blocking(const struct net_addr *to, bool nodelay, double timeout_s);

/* SO_ERROR of a finished connect as -errno, 0 when it is connected. */
int net_connect_result(int fd);

/* Closes with a reset (SO_LINGER 0): no TIME_WAIT stays. */
void net_close_reset(int fd);

/* Ends the connection with a reset and keeps the socket, its options and its source address;
 * net_connect_again() connects it anew, from another port. 0 or -errno, as net_connect_start(). */
int net_hang_up(int fd);
int net_connect_again(int fd, const struct net_addr *to);

/* A socket for the nth connection, bound to its address and not connected. Descriptor or -errno. */
int net_socket_nth(const struct net_addr *to, long nth, bool blocks);

/* A non-blocking eventfd that ends a wait; signal from any thread; clear by its owner. */
int net_wake_open(struct err *e);
void net_wake_signal(int fd);
void net_wake_clear(int fd);

#endif
