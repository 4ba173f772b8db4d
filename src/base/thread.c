/* SPDX-License-Identifier: MIT */
/* In a process with threads the C library makes each recv, send and wait a point where the thread
 * can be cancelled, at the price of two locked instructions a call: not when its type is
 * asynchronous already. With cancelling disabled that changes nothing else. */
#include "base/thread.h"

#include <pthread.h>
#include <stddef.h>

void thread_never_cancelled(void)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}
