/* SPDX-License-Identifier: MIT */
/* In place of model_uring.c and model_uring_poll.c where liburing was not there at build. */
#include "net/uring_probe.h"
#include "servers/absent.h"
#include "servers/uring_rows.h"

const struct io_model model_uring = {
    URING_ROW,
    .probe = uring_probe,
    .open = absent_open,
    .loop = absent_loop,
    .close = absent_close,
};

const struct io_model model_uring_poll = {
    URING_POLL_ROW,
    .probe = uring_poll_probe,
    .open = absent_open,
    .loop = absent_loop,
    .close = absent_close,
};
