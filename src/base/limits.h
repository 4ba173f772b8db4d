/* SPDX-License-Identifier: MIT */
/* What this machine and this user allow: descriptors, local ports, the accept queue. -1 means
 * "could not be read". Sources: getrlimit(2), /proc/sys/net. Thread: any. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stddef.h>

#include "base/err.h"

/* "/proc" unless set, for tests (NULL: again). Before threads start. */
void limits_inject(const char *root);

/* Raises the soft descriptor limit to the hard one; returns the limit now in force. */
long limits_raise_nofile(void);
long limits_nofile_soft(void);
long limits_nofile_hard(void);

/* Descriptors open in this process now (-1: /proc is not there). */
long limits_open_fds(void);

/* Local ports an address has for outgoing connections (ip_local_port_range without the reserved
 * ones), the first of them, net.core.somaxconn, net.ipv4.tcp_syncookies, net.ipv4.tcp_tw_reuse (0:
 * no port in TIME_WAIT is used again within a minute, 1: after a second, 2: that only on
 * loopback), sockets in TIME_WAIT of both ends and towards anybody (sockstat). */
long limits_local_ports(void);
long limits_first_local_port(void);
long limits_somaxconn(void);
long limits_syncookies(void);
long limits_tw_reuse(void);
long limits_time_wait(void);

/* Connections that the kernel tracks (nf_conntrack_count); -1 also where it has no such thing. */
long limits_tracked(void);

/* Reads a whole small file (at most size - 1 bytes, then a NUL). Returns its length or -errno. */
int limits_read_file(const char *path, char *buf, size_t size);

#endif
