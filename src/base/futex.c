/* SPDX-License-Identifier: MIT */
/* Two lines over futex(2). Not FUTEX_PRIVATE_FLAG: the same calls serve words in a memfd. */
#include "base/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    struct timespec ts = clock_timespec(timeout_ns);
    syscall(SYS_futex, word, FUTEX_WAIT, value, timeout_ns ? &ts : NULL, NULL, 0);
}

void futex_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
