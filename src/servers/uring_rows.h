/* SPDX-License-Identifier: MIT */
/* What stands in the rows of the models over io_uring whether liburing was there at build or not
 * (model_uring.c and model_uring_poll.c, or model_uring_absent.c, picked by CMake). */
#ifndef SERVERS_URING_ROWS_H
#define SERVERS_URING_ROWS_H

#include "servers/models.h"

#define URING_ROW                                                                                  \
    .id = "uring", .label = "io_uring, completions",                                               \
    .summary = "the kernel accepts, receives and sends, and tells what is done: one call a round", \
    .group = GROUP_KERNEL, .caps = CAP_COMPLETION,                                                 \
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_EVENTS | POLICY_BACKLOG

#define URING_POLL_ROW                                                                             \
    .id = "uring-poll", .label = "io_uring, readiness",                                            \
    .summary = "io_uring only tells what is ready; recv and send are calls as with epoll",         \
    .group = GROUP_KERNEL, .caps = CAP_EDGE,                                                       \
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_EVENTS | POLICY_BACKLOG

#endif
