/* SPDX-License-Identifier: MIT */
/* What models over epoll share: the counted epoll_ctl, and events as READY_ bits. model_epoll.c has
 * them. */
#ifndef SERVERS_EPOLL_CALLS_H
#define SERVERS_EPOLL_CALLS_H

#include <stdint.h>
#include <sys/epoll.h>

#include "servers/worker.h"

/* epoll_ctl(2) on a set; the event's data is the descriptor. 0 or -errno. */
int epoll_control_in(struct worker *w, int set, int op, int fd, uint32_t bits);

unsigned epoll_ready_bits(uint32_t events);

#endif
