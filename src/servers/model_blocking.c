/* SPDX-License-Identifier: MIT */
/* A thread a connection, asleep in recv(2) and send(2). The kernel's scheduler does what the other
 * models do themselves: who is ready is who was woken. An idle connection costs a thread (a stack
 * of which two or three pages are used, some 16 KiB of kernel memory, two mappings) and no time;
 * an event costs a wake-up and a switch, where the other models take several events from one wait.
 * It is bounded: when no thread can be made (pids limit, memory) the connection is refused.
 * Classic traps: a default stack of 8 MiB, threads that nobody wakes at the end, and one slow
 * reader that holds its thread in send for good. The server's own thread accepts, and waits for
 * that in poll(2). Sources: pthread_create(3), socket(7), W. R. Stevens, Unix Network Programming,
 * 30. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/thread.h"
#include "servers/models.h"
#include "servers/ready.h"
#include "servers/service.h"

/* Also holds the thread-local data of everything linked, and what a sanitizer needs. */
#define STACK_BYTES (192 * 1024)
#define SEND_WAIT_US 200000

/* One connection's thread. */
struct blocking_thread {
    struct worker view; /* the worker as it was, with input and counters of this thread's own */
    struct server_counters count; /* what the worker's counters do not have yet */
    struct conn *conn;
    struct worker *worker;

    /* Under the worker's lock: */
    struct blocking_thread *next, *prev;
    bool open; /* its socket may be shut down from outside */
    clockid_t clock;

    uint8_t input[];
};

enum { BLOCKING_WAKE, BLOCKING_LISTENER };

struct blocking_state {
    struct pollfd fds[2];
    pthread_attr_t attr;
    _Atomic bool opened; /* the rest may be used; from any thread */

    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct blocking_thread *first;
    int threads;
    int64_t ended_ns; /* CPU time of those that ended */
};

/* --- a connection's thread -------------------------------------------------------------------- */

static void blocking_begin(struct blocking_thread *t, struct blocking_state *s)
{
    pthread_mutex_lock(&s->lock);
    pthread_getcpuclockid(pthread_self(), &t->clock);
    t->next = s->first;
    if (s->first)
        s->first->prev = t;
    s->first = t;
    t->open = true;
    pthread_mutex_unlock(&s->lock);
}

/* From here on nobody else touches its descriptor, whose number is free in a moment. */
static void blocking_take_socket(struct blocking_thread *t, struct blocking_state *s)
{
    pthread_mutex_lock(&s->lock);
    t->open = false;
    pthread_mutex_unlock(&s->lock);
}

static void blocking_end(struct blocking_thread *t, struct blocking_state *s)
{
    pthread_mutex_lock(&s->lock);
    if (t->prev)
        t->prev->next = t->next;
    else
        s->first = t->next;
    if (t->next)
        t->next->prev = t->prev;
    s->ended_ns += clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    free(t);
    if (--s->threads == 0)
        pthread_cond_signal(&s->ended);
    pthread_mutex_unlock(&s->lock);
}

/* Adds what this thread counted to its worker's counters, which all its threads write. None of
 * these is written by the thread that accepts. */
static void blocking_publish(struct blocking_thread *t)
{
    struct server_counters *all = t->worker->count;
#define X(id, help)                                                                                \
    do {                                                                                           \
        uint64_t n = counter_get(&t->count.id);                                                    \
        if (n > 0) {                                                                               \
            counter_add_shared(&all->id, n);                                                       \
            counter_set(&t->count.id, 0);                                                          \
        }                                                                                          \
    } while (0);
    SERVER_COUNTERS(X)
#undef X
}

/* Sends until all is taken. A peer that reads nothing does not hold the thread past the server's
 * end: every send returns within SEND_WAIT_US. */
static int blocking_send(struct blocking_thread *t, const uint8_t *bytes, size_t n)
{
    struct worker *w = &t->view;
    while (n > 0 && !worker_stopping(w)) {
        ssize_t sent = send(t->conn->fd, bytes, n, MSG_NOSIGNAL);
        counter_add(&t->count.writes, 1);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        size_t went = sent > 0 ? (size_t)sent : 0;
        if (went > 0)
            service_sent(w, t->conn, went);
        bytes += went;
        n -= went;
        if (n > 0) {
            counter_add(&t->count.write_full, 1);
            blocking_publish(t);
        }
    }
    return 0;
}

/* Answers what came; false with why when the connection is over. */
static bool blocking_serve(struct blocking_thread *t, size_t n, enum drop *why)
{
    struct input in = service_came(t->conn, t->view.input, n);
    const uint8_t *bytes;
    ssize_t due;
    while ((due = service_next(&t->view, t->conn, &in, &bytes)) > 0) {
        *why = DROP_FAILED;
        if (blocking_send(t, bytes, (size_t)due) < 0)
            return false;
        *why = DROP_STOP;
        if (worker_stopping(&t->view))
            return false;
    }
    service_keep(t->conn, &in);
    *why = DROP_JUNK;
    return due == 0;
}

static enum drop blocking_run(struct blocking_thread *t)
{
    struct worker *w = &t->view;
    while (!worker_stopping(w)) {
        enum drop why;
        size_t kept = service_prefix(t->conn, w->input);
        ssize_t n = recv(t->conn->fd, w->input + kept, w->buffer, 0);
        counter_add(&t->count.reads, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (worker_stopping(w))
            break;
        if (n <= 0)
            return n == 0 ? DROP_END : DROP_FAILED;
        counter_add(&t->count.bytes_in, (uint64_t)n);
        if (!blocking_serve(t, kept + (size_t)n, &why))
            return why;
        blocking_publish(t);
    }
    return DROP_STOP;
}

static void *blocking_main(void *arg)
{
    struct blocking_thread *t = arg;
    struct blocking_state *s = t->worker->state;
    thread_never_cancelled();
    blocking_begin(t, s);
    enum drop why = blocking_run(t);
    blocking_take_socket(t, s);
    worker_drop(&t->view, t->conn, why);
    blocking_publish(t);
    blocking_end(t, s);
    return NULL;
}

/* --- the thread that accepts ------------------------------------------------------------------ */

static struct blocking_thread *blocking_thread_new(struct worker *w, struct conn *c)
{
    size_t align = _Alignof(struct blocking_thread);
    size_t bytes = sizeof(struct blocking_thread) + w->protocol->request_max + w->buffer;
    struct blocking_thread *t = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (!t)
        return NULL;
    memset(t, 0, sizeof *t);
    t->view = *w;
    t->view.count = &t->count;
    t->view.input = t->input;
    t->conn = c;
    t->worker = w;
    return t;
}

static int blocking_add(struct worker *w, struct conn *c)
{
    struct blocking_state *s = w->state;
    pthread_t id;
    struct blocking_thread *t = blocking_thread_new(w, c);
    if (!t)
        return -ENOMEM;
    pthread_mutex_lock(&s->lock);
    s->threads++;
    pthread_mutex_unlock(&s->lock);
    int code = pthread_create(&id, &s->attr, blocking_main, t);
    if (code == 0)
        return 0;
    pthread_mutex_lock(&s->lock);
    s->threads--;
    pthread_mutex_unlock(&s->lock);
    free(t);
    return -code;
}

/* A negative descriptor is passed over. */
static void blocking_listen(struct worker *w, bool on)
{
    struct blocking_state *s = w->state;
    s->fds[BLOCKING_LISTENER].fd = on ? w->listener : -1;
}

static const struct ready_ops blocking_ops = {
    .blocks = true,
    .add = blocking_add,
    .listen = blocking_listen,
};

static int blocking_open(struct worker *w, struct err *e)
{
    struct blocking_state *s = w->state;
    struct timeval wait = {0, SEND_WAIT_US};
    ready_start(w, &blocking_ops);
    worker_passes_gate(w, GATE_PASSES_READS);
    s->fds[BLOCKING_WAKE] = (struct pollfd){.fd = w->wake, .events = POLLIN};
    s->fds[BLOCKING_LISTENER] = (struct pollfd){.fd = w->listener, .events = POLLIN};
    pthread_attr_init(&s->attr);
    pthread_attr_setstacksize(&s->attr, STACK_BYTES);
    pthread_attr_setdetachstate(&s->attr, PTHREAD_CREATE_DETACHED);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->ended, NULL);
    atomic_store(&s->opened, true);
    /* Accepted sockets inherit it. */
    if (setsockopt(w->listener, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0)
        return err_sys(e, "SO_SNDTIMEO");
    return 0;
}

/* Wakes every thread and waits until the last has closed its connection. No end is sent to the
 * peers: they get the reset that worker_drop() makes of DROP_STOP. */
static void blocking_stop(struct blocking_state *s)
{
    pthread_mutex_lock(&s->lock);
    for (struct blocking_thread *t = s->first; t; t = t->next)
        if (t->open)
            shutdown(t->conn->fd, SHUT_RD);
    while (s->threads > 0)
        pthread_cond_wait(&s->ended, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static int blocking_loop(struct worker *w, struct err *e)
{
    struct blocking_state *s = w->state;
    int rc = 0;
    while (rc == 0 && worker_goes_on(w)) {
        int n = poll(s->fds, 2, ready_timeout_ms(w));
        counter_add(&w->count->waits, 1);
        counter_add(&w->count->looks, 1u + (s->fds[BLOCKING_LISTENER].fd >= 0));
        if (n < 0 && errno != EINTR)
            rc = err_sys(e, "poll");
        if (n > 0)
            counter_add(&w->count->events, (uint64_t)n);
        if (n > 0 && s->fds[BLOCKING_LISTENER].revents)
            ready_accept(w);
        ready_after(w);
    }
    return rc;
}

static void blocking_close(struct worker *w)
{
    struct blocking_state *s = w->state;
    blocking_stop(s);
    pthread_attr_destroy(&s->attr);
}

static int64_t blocking_cpu_ns(const struct worker *w)
{
    struct blocking_state *s = w->state;
    if (!atomic_load(&s->opened))
        return 0;
    pthread_mutex_lock(&s->lock);
    int64_t sum = s->ended_ns;
    for (const struct blocking_thread *t = s->first; t; t = t->next)
        sum += clock_cpu_ns(t->clock);
    pthread_mutex_unlock(&s->lock);
    return sum;
}

const struct io_model model_blocking = {
    .id = "blocking",
    .label = "thread a connection",
    .summary = "a thread for each connection, asleep in recv and send",
    .group = GROUP_THREADS,
    .caps = CAP_OWN_WORKERS | CAP_BLOCKS,
    .policies = POLICY_ACCEPT | POLICY_BUFFER | POLICY_BACKLOG,
    .state_size = sizeof(struct blocking_state),
    .probe = model_always,
    .open = blocking_open,
    .loop = blocking_loop,
    .close = blocking_close,
    .cpu_ns = blocking_cpu_ns,
};
