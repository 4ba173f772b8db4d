/* SPDX-License-Identifier: MIT */
/* The models over event libraries: what stands in their rows whether the library was there at build
 * or not (model_NAME.c or model_NAME_absent.c, picked by CMake). None honours `events`: how much is
 * taken from one wait is the library's business. */
#ifndef SERVERS_LIBRARIES_H
#define SERVERS_LIBRARIES_H

#include "servers/models.h"

#define LIBRARY_POLICIES (POLICY_ACCEPT | POLICY_BUFFER | POLICY_BACKLOG)

#define LIBEVENT_ROW                                                                               \
    .id = "libevent", .label = "libevent",                                                         \
    .summary = "plain persistent events of libevent over epoll, with recv and send of our own",    \
    .group = GROUP_LIBRARIES, .policies = LIBRARY_POLICIES

#define LIBUV_ROW                                                                                  \
    .id = "libuv", .label = "libuv",                                                               \
    .summary = "uv_poll handles of libuv over epoll, with recv and send of our own",               \
    .group = GROUP_LIBRARIES, .policies = LIBRARY_POLICIES

#define LIBEV_ROW                                                                                  \
    .id = "libev", .label = "libev",                                                               \
    .summary = "ev_io watchers of libev over epoll, with recv and send of our own",                \
    .group = GROUP_LIBRARIES, .policies = LIBRARY_POLICIES

#endif
