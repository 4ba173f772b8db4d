/* SPDX-License-Identifier: MIT */
/* What a thread that makes many system calls sets for itself. Thread: that one. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

/* Nobody cancels this thread: spares two locked instructions at each call that may wait. */
void thread_never_cancelled(void);

#endif
