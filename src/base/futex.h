/* SPDX-License-Identifier: MIT */
/* futex(2) on a 32-bit word: how parked load threads and a waiting runner sleep. Thread: any. */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Sleeps while *word == value, at most timeout_ns (0: for ever). Spurious returns happen. Works
 * across processes when the word lies in shared memory. */
void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);

/* Wakes every sleeper. */
void futex_wake_all(_Atomic uint32_t *word);

#endif
