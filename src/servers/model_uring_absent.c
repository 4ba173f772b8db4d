/* SPDX-License-Identifier: MIT */
/* In place of model_uring.c and model_uring_poll.c where liburing was not there at build. */
#include "servers/absent.h"
#include "servers/uring_rows.h"

static int uring_probe(struct err *e)
{
    return absent_reason("liburing-dev (2.3 or newer)", e);
}

const struct io_model model_uring = {
    URING_ROW,
    .probe = uring_probe,
    .open = absent_open,
    .loop = absent_loop,
    .close = absent_close,
};

const struct io_model model_uring_poll = {
    URING_POLL_ROW,
    .probe = uring_probe,
    .open = absent_open,
    .loop = absent_loop,
    .close = absent_close,
};
