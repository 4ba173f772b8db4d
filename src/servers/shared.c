/* SPDX-License-Identifier: MIT */
/* One memfd a server. Parameters go across as they lie in memory: parent and child are the same
 * binary, and sizes and version are checked in case they are not (an upgrade under a running
 * dashboard). */
#include "servers/shared.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "servers/worker.h"

#define MAGIC 0x494f4448u /* "IODH" */
#define VERSION 3

_Static_assert(SHARED_WORKERS == WORKERS_MAX, "a thread's number for each worker");

static size_t bytes_of(int workers)
{
    return sizeof(struct shared) + (size_t)workers * sizeof(struct server_counters);
}

int shared_count(double value, int fallback)
{
    return isfinite(value) && value >= 0 && value <= 1e9 ? (int)value : fallback;
}

/* A pool has a thread for each CPU that it may use, two at least; else it is what was asked for. */
static int workers_of(const struct server_spec *spec)
{
    int asked = shared_count(spec->params.workers, 1);
    if (asked != 1 || !(spec->model->caps & CAP_POOL))
        return asked;
    int cpus = spec->cpu >= 0 ? 1 : (int)cpus_usable();
    return cpus < 2 ? 2 : cpus < WORKERS_MAX ? cpus : WORKERS_MAX;
}

static struct shared *map(int fd, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

int shared_new(const struct server_spec *spec, struct shared **out, struct err *e)
{
    int workers = workers_of(spec);
    if (workers < 1 || workers > WORKERS_MAX)
        return err_set(e, EINVAL, "--workers %d: 1 to %d", workers, WORKERS_MAX);
    int fd = memfd_create("iodash-server", MFD_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "memfd_create");
    if (ftruncate(fd, (off_t)bytes_of(workers)) < 0 || !(*out = map(fd, bytes_of(workers)))) {
        int rc = err_sys(e, "shared memory of a server");
        close(fd);
        return rc;
    }
    struct shared *s = *out;
    s->magic = MAGIC;
    s->version = VERSION;
    s->header_bytes = sizeof *s;
    s->counter_bytes = sizeof(struct server_counters);
    s->workers = workers;
    s->cpu = spec->cpu;
    s->lifeline = -1;
    if (sched_getaffinity(getpid(), sizeof s->cpus, &s->cpus) < 0)
        CPU_ZERO(&s->cpus);
    if (s->cpu >= 0 && s->cpu < CPU_SETSIZE)
        CPU_SET(s->cpu, &s->cpus);
    snprintf(s->model, sizeof s->model, "%s", spec->model->id);
    s->params = spec->params;
    s->listen = spec->listen;
    return fd;
}

int shared_open(int fd, struct shared **out, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(e, "descriptor %d", fd);
    if (st.st_size < (off_t)sizeof(struct shared))
        return err_set(e, EINVAL, "descriptor %d is no server header", fd);
    struct shared *s = map(fd, (size_t)st.st_size);
    if (!s)
        return err_sys(e, "mapping descriptor %d", fd);
    bool fits = s->magic == MAGIC && s->version == VERSION && s->header_bytes == sizeof *s &&
                s->counter_bytes == sizeof(struct server_counters) && s->workers >= 1 &&
                s->workers <= WORKERS_MAX && st.st_size == (off_t)bytes_of(s->workers);
    if (!fits) {
        munmap(s, (size_t)st.st_size);
        return err_set(e, EINVAL, "the server header is of another version of iodash");
    }
    *out = s;
    return 0;
}

void shared_close(struct shared *s)
{
    if (s)
        munmap(s, bytes_of(s->workers));
}

void shared_set_state(struct shared *s, enum shared_state state)
{
    atomic_store_explicit(&s->state, state, memory_order_release);
}

enum shared_state shared_state_of(const struct shared *s)
{
    return atomic_load_explicit(&s->state, memory_order_acquire);
}

void shared_fail(struct shared *s, const struct err *why)
{
    s->error = *why;
    shared_set_state(s, SHARED_FAILED);
}

char *shared_trouble_begin(struct shared *s)
{
    uint64_t now = clock_ns(), last = atomic_load(&s->trouble_ns);
    if (last != 0 && now < last + NS_PER_S)
        return NULL;
    if (!atomic_compare_exchange_strong(&s->trouble_ns, &last, now))
        return NULL; /* another worker tells its own */
    return s->trouble[atomic_load(&s->troubles) % SHARED_TROUBLES];
}

void shared_trouble_end(struct shared *s)
{
    atomic_fetch_add(&s->troubles, 1);
}
