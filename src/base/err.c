/* SPDX-License-Identifier: MIT */
/* Errors as text plus -errno, and the one way to die. die() hands the terminal back first, because
 * a message drawn into a curses screen is a message nobody reads. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic(void (*)(void)) on_death;

int err_set(struct err *e, int code, const char *fmt, ...)
{
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(e->text, sizeof e->text, fmt, ap);
        va_end(ap);
    }
    return -code;
}

int err_sys(struct err *e, const char *fmt, ...)
{
    int code = errno ? errno : EIO;
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        int n = vsnprintf(e->text, sizeof e->text, fmt, ap);
        va_end(ap);
        if (n >= 0 && (size_t)n < sizeof e->text)
            snprintf(e->text + n, sizeof e->text - (size_t)n, ": %s", strerror(code));
    }
    return -code;
}

void die_on(void (*fn)(void))
{
    atomic_store(&on_death, fn);
}

void die(const char *fmt, ...)
{
    void (*fn)(void) = atomic_exchange(&on_death, NULL);
    if (fn)
        fn();
    va_list ap;
    va_start(ap, fmt);
    fputs("iodash: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    _exit(70);
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p)
        die("out of memory (%zu x %zu bytes)", count, size);
    return p;
}

void *xrealloc(void *p, size_t count, size_t size)
{
    void *q = reallocarray(p, count ? count : 1, size ? size : 1);
    if (!q)
        die("out of memory (%zu x %zu bytes)", count, size);
    return q;
}

char *xstrdup(const char *s)
{
    char *p = strdup(s);
    if (!p)
        die("out of memory (%zu bytes)", strlen(s));
    return p;
}

char *xasprintf(const char *fmt, ...)
{
    char *s;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0)
        die("out of memory for a text");
    return s;
}
