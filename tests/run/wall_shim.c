/* SPDX-License-Identifier: MIT */
/* Preloaded into iodash: the wall clock goes forward by an hour one second after the first look
 * at it and back by an hour a second later, again and again. The monotonic clock is the real
 * one. */
#include <dlfcn.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

typedef int (*clock_gettime_fn)(clockid_t, struct timespec *);

static clock_gettime_fn real(void)
{
    static clock_gettime_fn fn;
    if (!fn)
        fn = (clock_gettime_fn)(intptr_t)dlsym(RTLD_NEXT, "clock_gettime");
    return fn;
}

static time_t step(void)
{
    static time_t first;
    struct timespec ts;
    real()(CLOCK_MONOTONIC, &ts);
    if (!first)
        first = ts.tv_sec;
    return (ts.tv_sec - first) % 2 ? 3600 : -3600;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
    int r = real()(id, ts);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
        ts->tv_sec += step();
    return r;
}

time_t time(time_t *out)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    if (out)
        *out = ts.tv_sec;
    return ts.tv_sec;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec ts;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &ts);
    *tv = (struct timeval){ts.tv_sec, ts.tv_nsec / 1000};
    return 0;
}
