/* SPDX-License-Identifier: MIT */
/* The rows of the model table, for io_models.c and the files that define them. */
#ifndef SERVERS_MODELS_H
#define SERVERS_MODELS_H

#include "servers/io_models.h"

extern const struct io_model model_select;
extern const struct io_model model_select_wide;
extern const struct io_model model_poll;
extern const struct io_model model_epoll_lt;
extern const struct io_model model_epoll_et;
extern const struct io_model model_epoll_oneshot;
extern const struct io_model model_epoll_rearm;
extern const struct io_model model_uring;
extern const struct io_model model_uring_poll;
extern const struct io_model model_blocking;
extern const struct io_model model_pool;
extern const struct io_model model_libevent;
extern const struct io_model model_libuv;
extern const struct io_model model_libev;

/* A probe for what every Linux has. */
int model_always(struct err *e);

#endif
