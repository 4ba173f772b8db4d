/* SPDX-License-Identifier: MIT */
/* One way to fail. A function that can fail because of the system or of its input returns 0 (or a
 * useful value >= 0), else -errno, and leaves one line of text in the caller's struct err.
 * Broken invariants and exhausted memory die(). Thread: all of it is safe from any thread. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stddef.h>

struct err {
    char text[320]; /* one line, no newline; "" when nothing was said */
};

/* Writes the text; returns -code (code > 0, an errno number). e may be NULL. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same with errno: appends ": " and its name; returns -errno. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Calls the function given to die_on(), prints "iodash: TEXT" on stderr, ends with status 70. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* fn runs before the last message; it must be async-signal-safe. NULL forgets it. */
void die_on(void (*fn)(void));

/* Memory or death: never NULL. xcalloc zeroes. The caller frees with free(). */
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t count, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
