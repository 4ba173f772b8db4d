/* SPDX-License-Identifier: MIT */
/* The monotonic clock, and the wall clock where people read it. A step of the wall clock must not
 * move a turn, an axis or an end, so nothing here computes durations from it. */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

static clock_fn injected;

uint64_t clock_ns(void)
{
    if (injected)
        return injected();
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void clock_inject(clock_fn fn)
{
    injected = fn;
}

int64_t clock_cpu_ns(clockid_t clock)
{
    struct timespec ts;
    return clock_gettime(clock, &ts) ? -1 : (int64_t)ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
}

struct timespec clock_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

void clock_sleep_until(uint64_t t_ns)
{
    struct timespec ts = clock_timespec(t_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
        ;
}

void clock_iso8601(char *buf, size_t size)
{
    struct timespec ts;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &ts);
    localtime_r(&ts.tv_sec, &tm);
    char day[24], zone[8];
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
    strftime(zone, sizeof zone, "%z", &tm);
    snprintf(buf, size, "%s.%03ld%.3s:%s", day, ts.tv_nsec / 1000000, zone, zone + 3);
}

void clock_stamp(char *buf, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    strftime(buf, size, "%Y%m%d-%H%M%S", &tm);
}
