/* SPDX-License-Identifier: MIT */
/* Every worker is a thread that pins itself, opens its model, loops and closes again. The first is
 * whoever starts them, so that a server of one worker has no second thread: with one, the kernel
 * counts the users of the socket in and out at every call. With several, each has a listener of its
 * own (SO_REUSEPORT) and the kernel spreads connections by their hash; so that two servers cannot
 * share a port by accident, the port is first tried without that. A worker that fails ends all of
 * them: half a server would be measured as a slow one. */
#include "servers/crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
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

/* --- a worker --------------------------------------------------------------------------------- */

static void note(const struct worker *w, bool opened, int rc, const struct err *e)
{
    struct crew *c = w->crew;
    pthread_mutex_lock(&c->lock);
    c->opened += opened;
    if (rc < 0 && !c->failed) {
        c->failed = true;
        c->error = *e;
    }
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (rc == 0)
        return;
    crew_let_go(c);
    net_wake_signal(w->wake);
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

/* Each of several workers has a descriptor table of its own: a server then holds as many
 * connections a worker as one table has room for. Not those that share what they opened; and the
 * first keeps the table that the others leave. */
static void take_table(struct worker *w)
{
    const struct crew *c = w->crew;
    if (w->index == 0 || c->model->caps & (CAP_POOL | CAP_OWN_WORKERS))
        return;
    struct conn *own = conns_new(c->conn_max);
    if (!own || fds_own_table((int[]){w->listener, w->wake}, 2) < 0) {
        conns_free(own, c->conn_max);
        return;
    }
    w->listener = fds_lower(w->listener);
    w->wake = fds_lower(w->wake);
    w->conns = own;
}

/* Its connections end in the thread whose descriptors they are. */
static void leave_table(struct worker *w)
{
    struct conn *own = w->conns;
    if (own == w->crew->conns)
        return;
    worker_drop_all(w);
    w->conns = w->crew->conns;
    conns_free(own, w->crew->conn_max);
}

static int begin(struct worker *w)
{
    struct err e = {""};
    clockid_t clock;
    pin(w->crew, w->index);
    thread_never_cancelled();
    take_table(w);
    if (pthread_getcpuclockid(pthread_self(), &clock) == 0)
        atomic_store(&w->clock, clock);
    atomic_store(&w->crew->shared->tids[w->index], (int)gettid());
    int rc = w->model->open(w, &e);
    note(w, true, rc, &e);
    return rc;
}

static void work(struct worker *w)
{
    struct err e = {""};
    int rc = w->model->loop(w, &e);
    note(w, false, rc, &e);
}

static void end(struct worker *w)
{
    w->model->close(w);
    leave_table(w);
    atomic_store(&w->cpu_ns, clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    if (begin(w) == 0)
        work(w);
    end(w);
    return NULL;
}

/* --- all of them ------------------------------------------------------------------------------ */

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

/* 0, or the error of the thread that cannot be made: then all are told to stop. */
static int start_threads(struct crew *c, struct err *e)
{
    for (; c->started < c->workers; c->started++) {
        int i = c->started;
        int rc = pthread_create(&c->threads[i], NULL, worker_main, &c->worker[i]);
        if (rc == 0)
            continue;
        crew_stop(c);
        return err_set(e, rc, "cannot start thread %d of the server: %s", i + 1, strerror(rc));
    }
    return 0;
}

static int wait_opened(struct crew *c, struct err *e)
{
    int rc = 0;
    pthread_mutex_lock(&c->lock);
    while (c->opened < c->started)
        pthread_cond_wait(&c->changed, &c->lock);
    if (c->failed)
        rc = err_set(e, EIO, "%s", c->error.text);
    pthread_mutex_unlock(&c->lock);
    return rc;
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
    c->started = 1;
    if (begin(c->worker) == 0)
        rc = start_threads(c, e);
    int opened = wait_opened(c, e);
    return rc < 0 ? rc : opened;
}

void crew_work(struct crew *c)
{
    work(c->worker);
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
    if (c->started > 0)
        end(c->worker);
    for (int i = 1; i < c->started; i++)
        pthread_join(c->threads[i], NULL);
    /* Not before all have ended: each looks through the table that those without their own use. */
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
    int64_t all = atomic_load(&w->cpu_ns);
    int clock = atomic_load(&w->clock);
    if (all < 0 && clock != 0)
        all = clock_cpu_ns(clock);
    if (all < 0)
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
