/* SPDX-License-Identifier: MIT */
/* In place of uring.c where liburing was not there at build. */
#include <errno.h>

#include "net/uring_probe.h"

int uring_probe(struct err *e)
{
    return err_set(e, ENOSYS, "not built: liburing-dev (2.3 or newer) is missing");
}

int uring_poll_probe(struct err *e)
{
    return uring_probe(e);
}

void uring_note(char *buf, size_t size)
{
    if (size > 0)
        *buf = '\0';
}
