/* SPDX-License-Identifier: MIT */
/* Preloaded into the dashboard: every curses call that draws or reads notes its thread in
 * $CURSES_SHIM_LOG, one line "CALL TID" for each pair seen first. Which calls the program uses is
 * its own affair, so all that matter are here. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEN_MAX = 256 };
static _Atomic long seen[SEEN_MAX];

static void note(int call, const char *name)
{
    char line[96];
    long key = (long)gettid() * 64 + call + 1;
    for (int i = 0; i < SEEN_MAX; i++) {
        long old = 0;
        if (atomic_compare_exchange_strong(&seen[i], &old, key))
            break;
        if (old == key)
            return;
    }
    const char *path = getenv("CURSES_SHIM_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    int n = snprintf(line, sizeof line, "%s %d\n", name, (int)gettid());
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

/* Arguments are handed on as they came: all of these take words and pointers only, at most 5. */
typedef long (*real_fn)(long, long, long, long, long);

#define SHIM(number, name)                                                                         \
    long name(long a, long b, long c, long d, long e);                                             \
    long name(long a, long b, long c, long d, long e)                                              \
    {                                                                                              \
        static real_fn real;                                                                       \
        if (!real)                                                                                 \
            real = (real_fn)dlsym(RTLD_NEXT, #name);                                               \
        note(number, #name);                                                                       \
        return real(a, b, c, d, e);                                                                \
    }

SHIM(0, newterm)
SHIM(1, initscr)
SHIM(2, wrefresh)
SHIM(3, wnoutrefresh)
SHIM(4, doupdate)
SHIM(5, wgetch)
SHIM(6, wget_wch)
SHIM(7, wadd_wch)
SHIM(8, wadd_wchnstr)
SHIM(9, waddnwstr)
SHIM(10, waddnstr)
SHIM(11, wmove)
SHIM(12, werase)
SHIM(13, wclear)
SHIM(14, resizeterm)
SHIM(15, resize_term)
SHIM(16, endwin)
SHIM(17, mvcur)
