/* SPDX-License-Identifier: MIT */
/* A model without its library. Its probe keeps it from being started; the rest is there because a
 * row has no holes. */
#include "servers/absent.h"

#include <errno.h>

int absent_reason(const char *package, struct err *e)
{
    return err_set(e, ENOSYS, "not built: %s is missing", package);
}

int absent_open(struct worker *w, struct err *e)
{
    (void)w;
    return err_set(e, ENOSYS, "not built");
}

int absent_loop(struct worker *w, struct err *e)
{
    return absent_open(w, e);
}

void absent_close(struct worker *w)
{
    (void)w;
}
