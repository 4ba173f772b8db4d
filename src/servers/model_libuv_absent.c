/* SPDX-License-Identifier: MIT */
/* In place of model_libuv.c where the library was not there at build. */
#include "servers/absent.h"
#include "servers/libraries.h"

static int libuv_probe(struct err *e)
{
    return absent_reason("libuv1-dev", e);
}

const struct io_model model_libuv = {
    LIBUV_ROW,
    .probe = libuv_probe,
    .open = absent_open,
    .loop = absent_loop,
    .close = absent_close,
};
