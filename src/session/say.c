/* SPDX-License-Identifier: MIT */
/* Appending, and numbers in the words of the parameter table. */
#include "session/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/units.h"

void say(struct text *t, const char *fmt, ...)
{
    va_list ap;
    if (t->used >= t->size)
        return;
    va_start(ap, fmt);
    int n = vsnprintf(t->buf + t->used, t->size - t->used, fmt, ap);
    va_end(ap);
    t->used += n > 0 ? (size_t)n : 0;
}

struct num num(double v)
{
    struct num n;
    units_number(n.s, sizeof n.s, v);
    return n;
}

struct num say_load(const struct row *r)
{
    struct num n;
    char v[20];
    if (r->workload->repeat)
        snprintf(n.s, sizeof n.s, "for %s", params_print(PARAM_connections, r->params.connections, v, sizeof v));
    else if (r->params.rate == PARAM_MAX)
        snprintf(n.s, sizeof n.s, "flat out");
    else
        snprintf(n.s, sizeof n.s, "at %s", params_show(PARAM_rate, r->params.rate, v, sizeof v));
    return n;
}
