/* SPDX-License-Identifier: MIT */
/* Time. Everything that measures or waits uses the monotonic clock (clock_gettime(2),
 * CLOCK_MONOTONIC: the same in every process of one machine); the wall clock only names files and
 * stamps rows. Tests put a clock of their own in its place. Thread: any. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef uint64_t (*clock_fn)(void);

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull

/* Nanoseconds of the monotonic clock, or of the injected one. About 25 ns a call. */
uint64_t clock_ns(void);

/* Replaces the monotonic clock (NULL: the real one again). Before any thread starts. */
void clock_inject(clock_fn fn);

/* Sleeps until clock_ns() reaches t; EINTR goes on sleeping. */
void clock_sleep_until(uint64_t t_ns);

/* CPU time in ns by the clock of a thread or a process (CLOCK_THREAD_CPUTIME_ID: the caller's); -1:
 * it is gone. */
int64_t clock_cpu_ns(clockid_t clock);

/* So many ns as system calls take them. */
struct timespec clock_timespec(uint64_t ns);

/* Wall time as ISO 8601 with offset, "2026-11-30T14:06:01.250+00:00". */
void clock_iso8601(char *buf, size_t size);

/* Wall time as "20261130-140601", for file names. */
void clock_stamp(char *buf, size_t size);

#endif
