/* SPDX-License-Identifier: MIT */
/* In place of model_libevent.c where the library was not there at build. */
#include "servers/absent.h"
#include "servers/libraries.h"

static int libevent_probe(struct err *e)
{
    return absent_reason("libevent-dev", e);
}

const struct io_model model_libevent = {
    LIBEVENT_ROW,
    .probe = libevent_probe,
    .open = absent_open,
    .loop = absent_loop,
    .close = absent_close,
};
