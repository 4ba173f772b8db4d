/* SPDX-License-Identifier: MIT */
/* Preloaded into iodash: burns CPU of a known amount where a figure must show it, so that what is
 * said of a server or a load can be held against the truth. The program itself knows nothing of it.
 *   PLANT_TICKET=FILE       the first server that starts makes it and is left alone: pane A's
 *   PLANT_SEND_PCT=5        servers after it: so much more CPU for each send() as since the last
 *   PLANT_SERVER_PCT=20     servers after it: a thread that burns this share of a CPU,
 *   PLANT_SERVER_CPU=0      on this one
 *   PLANT_LOAD_NS=40000     load threads after the first: so much CPU for each recv()
 *   PLANT_LOG=FILE          where it is appended at the end what was burned */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef ssize_t (*send_fn)(int, const void *, size_t, int);
typedef ssize_t (*recv_fn)(int, void *, size_t, int);

static double send_share, thread_share; /* of a server; 0: nothing is planted */
static int64_t load_ns;
static send_fn real_send;
static recv_fn real_recv;
static _Atomic int64_t base_ns, burned_ns; /* what sends took, what was burned beside them */
static int64_t began_ns;

static int64_t clock_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : 0;
}

/* --- in a server ------------------------------------------------------------------------------ */

/* Both servers read the clock, so that its price is in both; it is that of their CPU time, which
 * stands still while somebody else has the CPU. What is owed is kept in a sum: a spin
 * is never of exactly the length that it should be. */
ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    static _Thread_local int64_t last_ns, spun_ns, owed_ns;
    ssize_t sent = real_send(fd, bytes, n, flags);
    if (send_share < 0)
        return sent;
    int64_t now = clock_of(CLOCK_THREAD_CPUTIME_ID), took = last_ns ? now - last_ns - spun_ns : 0;
    last_ns = now;
    owed_ns += (int64_t)((double)took * send_share);
    for (spun_ns = 0; spun_ns < owed_ns;)
        spun_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) - now;
    owed_ns -= spun_ns;
    atomic_fetch_add_explicit(&base_ns, took, memory_order_relaxed);
    atomic_fetch_add_explicit(&burned_ns, spun_ns, memory_order_relaxed);
    return sent;
}

/* At times that have nothing to do with the kernel's ticks, which would else see all or none. */
static void *burn(void *arg)
{
    unsigned seed = 1;
    int64_t from = clock_of(CLOCK_MONOTONIC);
    (void)arg;
    for (;;) {
        int64_t due = (int64_t)((double)(clock_of(CLOCK_MONOTONIC) - from) * thread_share), used;
        while ((used = clock_of(CLOCK_THREAD_CPUTIME_ID)) < due)
            ;
        atomic_store(&burned_ns, used);
        struct timespec nap = {.tv_nsec = 2000000 + rand_r(&seed) % 9000000};
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static void start_burner(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET((int)number("PLANT_SERVER_CPU"), &cpu);
    pthread_attr_init(&attr);
    pthread_attr_setaffinity_np(&attr, sizeof cpu, &cpu);
    pthread_create(&thread, &attr, burn, NULL);
    pthread_attr_destroy(&attr);
}

/* --- in the load ------------------------------------------------------------------------------ */

static bool is_planted_load(void)
{
    static _Thread_local int order;
    static _Atomic int loads;
    char name[16] = "";
    if (!order) {
        prctl(PR_GET_NAME, name);
        order = strcmp(name, "load") ? -1 : atomic_fetch_add(&loads, 1) + 1;
    }
    return order > 1;
}

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
    ssize_t got = real_recv(fd, bytes, n, flags);
    if (load_ns > 0 && got > 0 && is_planted_load()) {
        int64_t from = clock_of(CLOCK_THREAD_CPUTIME_ID), now = from;
        while (now - from < load_ns)
            now = clock_of(CLOCK_THREAD_CPUTIME_ID);
        atomic_fetch_add(&burned_ns, now - from);
    }
    return got;
}

/* --- start and end ---------------------------------------------------------------------------- */

static bool is_server(void)
{
    char line[256] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && memmem(line, (size_t)n, "--server-child", strlen("--server-child"));
}

/* The first one makes the file. */
static bool is_first(void)
{
    const char *path = getenv("PLANT_TICKET");
    int fd = path ? open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

__attribute__((constructor)) static void begin(void)
{
    real_send = (send_fn)(intptr_t)dlsym(RTLD_NEXT, "send");
    real_recv = (recv_fn)(intptr_t)dlsym(RTLD_NEXT, "recv");
    began_ns = clock_of(CLOCK_MONOTONIC);
    send_share = -1;
    if (!is_server()) {
        load_ns = (int64_t)number("PLANT_LOAD_NS");
        return;
    }
    bool first = is_first();
    if (number("PLANT_SEND_PCT") > 0)
        send_share = first ? 0 : number("PLANT_SEND_PCT") / 100;
    thread_share = first ? 0 : number("PLANT_SERVER_PCT") / 100;
    if (thread_share > 0)
        start_burner();
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("PLANT_LOG");
    FILE *log = path && burned_ns > 0 ? fopen(path, "ae") : NULL;
    if (!log)
        return;
    fprintf(log, "%lld %lld %lld\n", (long long)base_ns, (long long)burned_ns,
            (long long)(clock_of(CLOCK_MONOTONIC) - began_ns));
    fclose(log);
}
