/* SPDX-License-Identifier: MIT */
/* Making the load's threads, and how they rest: each that has nothing to do under a word adds
 * itself to a count that belongs to this word alone, and the last one tells the owner. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

#include "base/fds.h"
#include "base/futex.h"
#include "base/thread.h"
#include "load/engine.h"

void load_thread_setup(void)
{
    thread_never_cancelled();
    prctl(PR_SET_NAME, "load");
    prctl(PR_SET_TIMERSLACK, 1);
}

void load_take_table(struct load *l, const int *keep, int n)
{
    int failed = fds_own_table(keep, n);
    if (failed && failed != -ENOSYS)
        load_note_trouble(l, -failed);
}

static void choose_cpus(const struct load_spec *spec, pthread_attr_t *attr, int cpu)
{
    cpu_set_t set = spec->cpus;
    if (!CPU_COUNT(&set))
        return;
    for (int i = 0, seen = 0; cpu >= 0 && i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &spec->cpus) && seen++ == cpu) {
            CPU_ZERO(&set);
            CPU_SET(i, &set);
            break;
        }
    pthread_attr_setaffinity_np(attr, sizeof set, &set);
}

int load_start_thread(const struct load *l, pthread_t *out, const struct load_thread *how)
{
    return load_start_thread_on(&l->spec, out, how);
}

int load_start_thread_on(const struct load_spec *spec, pthread_t *out,
                         const struct load_thread *how)
{
    pthread_attr_t attr;
    sigset_t all, before;
    pthread_attr_init(&attr);
    choose_cpus(spec, &attr, how->cpu);
    if (how->stack)
        pthread_attr_setstacksize(&attr, how->stack);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(out, &attr, how->main, how->arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return failed;
}

void load_rest(struct load *l, _Atomic uint32_t *rest, uint32_t word)
{
    uint64_t was = atomic_load_explicit(&l->resting, memory_order_relaxed);
    atomic_store_explicit(rest, word, memory_order_release);
    do {
        if (was >> 32 != word)
            return; /* there is a new word */
    } while (!atomic_compare_exchange_weak(&l->resting, &was, was + 1));
    if ((uint32_t)was + 1 == atomic_load(&l->threads)) {
        atomic_store(&l->all_rest, word);
        futex_wake_all(&l->all_rest);
    }
    while (word_get(l) == word)
        futex_wait(&l->word, word, 0);
}
