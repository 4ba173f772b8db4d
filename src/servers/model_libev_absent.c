/* SPDX-License-Identifier: MIT */
/* In place of model_libev.c where the library was not there at build. */
#include "servers/absent.h"
#include "servers/libraries.h"

static int libev_probe(struct err *e)
{
    return absent_reason("libev-dev", e);
}

const struct io_model model_libev = {
    LIBEV_ROW,
    .probe = libev_probe,
    .open = absent_open,
    .loop = absent_loop,
    .close = absent_close,
};
