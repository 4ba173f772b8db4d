/* SPDX-License-Identifier: MIT */
/* Every worker is a thread that pins itself, opens its model, loops and closes again. With several,
 * each has a listener of its own (SO_REUSEPORT) and the kernel spreads connections by their hash;
 * so that two servers cannot share a port by accident, the port is first tried without that. A
 * worker that fails ends all of them: half a server would be measured as a slow one. */
#include "servers/crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/fds.h"
#include "base/limits.h"
#include "base/thread.h"
#include "net/sock.h"

#define CONNS_MAX (1 << 20)

int crew_init(struct crew *c, struct shared *s, struct err *e)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    c->shared = s;
    c->workers = s->workers;
    c->wake = -1;
    for (int i = 0; i < WORKERS_MAX; i++)
        c->listeners[i] = -1;
    int model = io_model_find(s->model), protocol = shared_count(s->params.protocol, 0);
    if (model < 0)
        return err_set(e, EINVAL, "no model '%s'", s->model);
    if (protocol >= protocol_count)
        return err_set(e, EINVAL, "no protocol %d", protocol);
    c->model = io_model_table[model];
    c->listening = c->model->caps & CAP_POOL ? 1 : c->workers;
    c->protocol = protocol_get(protocol, shared_count(s->params.suffix, 0) != 0);
    return 0;
}

/* --- listening -------------------------------------------------------------------------------- */

static int port_is_free(const struct net_addr *addr, const struct net_listen *how, struct err *e)
{
    struct net_listen alone = *how;
    alone.shared = false;
    int fd = net_listen(addr, &alone, e);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

int crew_listen(struct crew *c, struct err *e)
{
    const struct params *p = &c->shared->params;
    struct net_addr addr = c->shared->listen;
    struct net_listen how = {.backlog = shared_count(p->backlog, 1024),
                             .nodelay = shared_count(p->nodelay, 1) != 0,
                             .shared = c->listening > 1,
                             .buffers = shared_count(p->socket_buffer, 0)};
    c->wake = net_wake_open(e);
    if (c->wake < 0)
        return c->wake;
    if (how.shared && net_addr_port(&addr) != 0) {
        int rc = port_is_free(&addr, &how, e);
        if (rc < 0)
            return rc;
    }
    for (int i = 0; i < c->listening; i++) {
        c->listeners[i] = net_listen(&addr, &how, e);
        if (c->listeners[i] < 0)
            return c->listeners[i];
        net_addr_set_port(&addr, net_local_port(c->listeners[i]));
    }
    c->shared->port = net_addr_port(&addr);
    return 0;
}

static void close_listening(struct crew *c)
{
    for (int i = 0; i < c->listening; i++) {
        if (c->listeners[i] < 0)
            continue;
        /* Ends it even while another descriptor table still holds a copy. */
        shutdown(c->listeners[i], SHUT_RDWR);
        close(c->listeners[i]);
        c->listeners[i] = -1;
    }
    if (c->wake >= 0)
        close(c->wake);
    c->wake = -1;
}

/* --- a worker's thread ------------------------------------------------------------------------ */

static void note(struct crew *c, bool opened, int rc, const struct err *e)
{
    pthread_mutex_lock(&c->lock);
    c->opened += opened;
    if (rc < 0 && !c->failed) {
        c->failed = true;
        c->error = *e;
    }
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (rc < 0)
        crew_stop(c);
}

/* Worker i goes to the i-th CPU from the server's; where it may not, it stays on the server's, as
 * the thread that started it. So do all of a model that decides itself how many it has: nobody
 * asked for the load's CPUs. */
static void pin(const struct crew *c, int worker)
{
    const struct shared *s = c->shared;
    int cpu = s->cpu + (c->model->caps & CAP_OWN_WORKERS ? 0 : worker);
    if (s->cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &s->cpus))
        cpus_pin_one(cpu, NULL);
}

static struct conn *conns_new(int n)
{
    void *p = mmap(NULL, (size_t)n * sizeof(struct conn), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void conns_free(struct conn *conns, int n)
{
    if (conns)
        munmap(conns, (size_t)n * sizeof *conns);
}

/* Each of several workers gets a descriptor table of its own: a server then holds as many
 * connections a worker as one table has room for. Not those that share what they opened. */
static struct conn *take_table(struct worker *w)
{
    const struct crew *c = w->crew;
    if (c->workers == 1 || c->model->caps & (CAP_POOL | CAP_OWN_WORKERS))
        return NULL;
    struct conn *own = conns_new(c->conn_max);
    if (!own || fds_own_table((int[]){w->listener, w->wake}, 2) < 0) {
        conns_free(own, c->conn_max);
        return NULL;
    }
    w->listener = fds_lower(w->listener);
    w->wake = fds_lower(w->wake);
    w->conns = own;
    return own;
}

/* Its connections end in the thread whose descriptors they are. */
static void leave_table(struct worker *w, struct conn *own)
{
    if (!own)
        return;
    worker_drop_all(w);
    w->conns = w->crew->conns;
    conns_free(own, w->crew->conn_max);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct err e = {""};
    clockid_t clock;
    struct timespec t;
    pin(w->crew, w->index);
    thread_never_cancelled();
    struct conn *own = take_table(w);
    if (pthread_getcpuclockid(pthread_self(), &clock) == 0)
        atomic_store(&w->clock, clock);
    atomic_store(&w->crew->shared->tids[w->index], (int)gettid());
    int rc = w->model->open(w, &e);
    note(w->crew, true, rc, &e);
    if (rc == 0) {
        rc = w->model->loop(w, &e);
        note(w->crew, false, rc, &e);
    }
    w->model->close(w);
    leave_table(w, own);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    atomic_store(&w->cpu_ns, t.tv_sec * 1000000000ll + t.tv_nsec);
    return NULL;
}

static void prepare(struct crew *c, int i)
{
    const struct params *p = &c->shared->params;
    struct worker *w = &c->worker[i];
    w->model = c->model;
    w->protocol = c->protocol;
    w->reply_size = (uint64_t)shared_count(p->size, 1024);
    w->crew = c;
    w->index = i;
    w->listener = c->listeners[i < c->listening ? i : 0];
    w->wake = c->wake;
    w->accept_one = shared_count(p->accept, ACCEPT_DRAIN) == ACCEPT_ONE;
    w->events = shared_count(p->events, 256);
    w->buffer = (size_t)shared_count(p->buffer, 16384);
    w->client_work_ns = (uint64_t)shared_count(p->client_work, 0) * 1000;
    w->conns = c->conns;
    w->fd_limit = c->conn_max;
    w->count = &c->shared->counters[i];
    w->gate = &c->shared->gate;
    w->state = xcalloc(1, c->model->state_size);
    w->input = xrealloc(NULL, 1, c->protocol->request_max + w->buffer);
    atomic_store(&w->cpu_ns, -1);
}

/* Address space for every descriptor there can be; memory comes with use. */
static int map_conns(struct crew *c, struct err *e)
{
    long most = limits_nofile_soft();
    c->conn_max = most < 0 || most > CONNS_MAX ? CONNS_MAX : (int)most;
    c->conns = conns_new(c->conn_max);
    return c->conns ? 0 : err_sys(e, "address space for %d connections", c->conn_max);
}

static void wait_opened(struct crew *c, int n)
{
    pthread_mutex_lock(&c->lock);
    while (c->opened < n)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

/* 0, or the error of the thread that cannot be made: then all are told to stop. */
static int start_threads(struct crew *c, struct err *e)
{
    int rc = 0;
    for (; c->started < c->workers && rc == 0; c->started += rc == 0) {
        if (c->started == 1 && c->model->caps & CAP_POOL)
            wait_opened(c, 1);
        rc = -pthread_create(&c->threads[c->started], NULL, worker_main, &c->worker[c->started]);
    }
    if (rc == 0)
        return 0;
    crew_stop(c);
    return err_set(e, -rc, "cannot start thread %d of the server: %s", c->started + 1,
                   strerror(-rc));
}

int crew_start(struct crew *c, struct err *e)
{
    int rc = map_conns(c, e);
    if (rc < 0)
        return rc;
    size_t bytes = (size_t)c->workers * sizeof *c->worker;
    c->worker = aligned_alloc(_Alignof(struct worker), bytes);
    if (!c->worker)
        die("out of memory (%zu bytes)", bytes);
    memset(c->worker, 0, bytes);
    c->threads = xcalloc((size_t)c->workers, sizeof *c->threads);
    for (int i = 0; i < c->workers; i++)
        prepare(c, i);
    pin(c, 0);
    rc = start_threads(c, e);
    if (rc < 0)
        return rc;
    wait_opened(c, c->workers);
    pthread_mutex_lock(&c->lock);
    if (c->failed)
        rc = err_set(e, EIO, "%s", c->error.text);
    pthread_mutex_unlock(&c->lock);
    return rc;
}

void crew_let_go(struct crew *c)
{
    atomic_store(&c->stopping, true);
    gate_set(&c->shared->gate, GATE_OPEN);
}

void crew_stop(struct crew *c)
{
    crew_let_go(c);
    net_wake_signal(c->wake);
}

bool crew_stopping(const struct crew *c)
{
    return atomic_load_explicit(&c->stopping, memory_order_relaxed);
}

bool crew_join(struct crew *c, struct err *why)
{
    for (int i = 0; i < c->started; i++)
        pthread_join(c->threads[i], NULL);
    /* Here, not in the threads: each looks through the table that those without their own use. */
    for (int i = 0; i < c->started; i++)
        worker_drop_all(&c->worker[i]);
    c->started = 0;
    close_listening(c);
    if (c->failed && why)
        *why = c->error;
    return !c->failed;
}

void crew_fini(struct crew *c)
{
    for (int i = 0; c->worker && i < c->workers; i++) {
        free(c->worker[i].state);
        free(c->worker[i].input);
    }
    free(c->worker);
    free(c->threads);
    conns_free(c->conns, c->conn_max);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
}

struct shared *crew_shared(const struct crew *c)
{
    return c->shared;
}

/* Of the worker's own thread. */
static int64_t thread_cpu_ns(const struct worker *w)
{
    struct timespec t;
    int64_t all = atomic_load(&w->cpu_ns);
    int clock = atomic_load(&w->clock);
    if (all >= 0)
        return all;
    if (clock == 0)
        return 0;
    if (clock_gettime(clock, &t) == 0)
        return t.tv_sec * 1000000000ll + t.tv_nsec;
    all = atomic_load(&w->cpu_ns); /* it ended in between */
    return all >= 0 ? all : 0;
}

int64_t crew_worker_cpu_ns(const struct crew *c, int worker)
{
    const struct worker *w = &c->worker[worker];
    return thread_cpu_ns(w) + (w->model->cpu_ns ? w->model->cpu_ns(w) : 0);
}

int64_t crew_cpu_ns(const struct crew *c)
{
    int64_t sum = 0;
    for (int i = 0; c->worker && i < c->workers; i++)
        sum += crew_worker_cpu_ns(c, i);
    return sum;
}
