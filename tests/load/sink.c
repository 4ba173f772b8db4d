/* SPDX-License-Identifier: MIT */
/* Level-triggered; one read an event. It stands at its gate before its wait, as servers do. */
#include "sink.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/protocol.h"

#define FDS 8192
#define EVENTS 64
#define CPU_NS 123456789 /* what it says of its CPU time, and how much more each time */

struct sink {
    struct sink_manners manners;
    struct server_counters counts;
    struct net_addr address;
    pthread_t thread;
    int listener, epoll;
    bool open[FDS];
    _Atomic uint64_t came[FDS];
    bool late; /* the gap before the first read is still to come */
    uint64_t reads, bytes_before;
    _Atomic bool stop;
    _Atomic uint32_t gate, standing;
    _Atomic uint64_t passed_ns, drained_ns, drained;
    _Atomic int64_t cpu_ns;
    struct sink_marks marks; /* the pass's thread */
    char buffer[65536];
};

static void drop(struct sink *s, int fd, bool reset)
{
    s->open[fd] = false;
    if (reset)
        net_close_reset(fd);
    else
        close(fd);
    counter_add(&s->counts.closes, 1);
}

static void take(struct sink *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    assert_true(fd < FDS);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};
    s->open[fd] = true;
    atomic_store(&s->came[fd], 0);
    counter_add(&s->counts.accepts, 1);
    counter_set(&s->counts.last_accept_ns, clock_ns());
    epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static void sleep_ns(uint64_t ns)
{
    if (ns)
        clock_sleep_until(clock_ns() + ns);
}

static void readable(struct sink *s, int fd)
{
    const struct sink_manners *m = &s->manners;
    if (m->silent) {
        sleep_ns(NS_PER_MS);
        return;
    }
    sleep_ns(m->gap_ns + (s->late ? m->first_gap_ns : 0));
    s->late = false;
    if (m->reset_every && ++s->reads % m->reset_every == 0) {
        drop(s, fd, true);
        return;
    }
    ssize_t n = recv(fd, s->buffer, m->read_most, 0);
    counter_add(&s->counts.reads, 1);
    if (n > 0)
        counter_add(&s->came[fd], (uint64_t)n);
    if (n > 0)
        counter_add(&s->counts.bytes_in, (uint64_t)n);
    else if (n == 0 || errno != EAGAIN)
        drop(s, fd, n < 0);
}

static void at_gate(struct sink *s)
{
    uint64_t bytes = counter_get(&s->counts.bytes_in);
    if (atomic_load(&s->gate) == GATE_SHUT && !s->manners.passes) {
        atomic_store(&s->standing, 1);
        while (atomic_load(&s->gate) == GATE_SHUT && !atomic_load(&s->stop))
            sleep_ns(NS_PER_MS / 10);
        atomic_store(&s->standing, 0);
        atomic_store(&s->passed_ns, clock_ns());
        s->bytes_before = bytes;
        s->late = true;
    } else if (atomic_load(&s->gate) == GATE_STAMPS && bytes != s->bytes_before) {
        atomic_store(&s->drained_ns, clock_ns());
        atomic_fetch_add(&s->drained, bytes - s->bytes_before);
        s->bytes_before = bytes;
    }
}

static void *serve(void *arg)
{
    struct sink *s = arg;
    struct epoll_event events[EVENTS];
    while (!atomic_load(&s->stop)) {
        at_gate(s);
        int n = epoll_wait(s->epoll, events, EVENTS, 20);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == s->listener)
                take(s);
            else if (s->open[events[i].data.fd])
                readable(s, events[i].data.fd);
        }
    }
    return NULL;
}

struct sink *sink_start(void)
{
    struct sink *s = aligned_alloc(_Alignof(struct sink), sizeof *s);
    struct err e = {""};
    struct net_listen how = {.backlog = 1024, .nodelay = true, .buffers = 131072};
    assert_non_null(s);
    memset(s, 0, sizeof *s);
    s->manners.read_most = sizeof s->buffer;
    assert_int_equal(net_addr_parse("127.0.0.1:0", true, &s->address, &e), 0);
    s->listener = net_listen(&s->address, &how, &e);
    assert_true(s->listener >= 0);
    net_addr_set_port(&s->address, net_local_port(s->listener));
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = s->listener};
    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener, &ev);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
    return s;
}

void sink_stop(struct sink *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    for (int fd = 0; fd < FDS; fd++)
        if (s->open[fd])
            net_close_reset(fd);
    close(s->listener);
    close(s->epoll);
    free(s);
}

struct sink_manners *sink_manners(struct sink *s)
{
    return &s->manners;
}

void sink_shares(struct sink *s, uint64_t *least, uint64_t *most)
{
    *least = UINT64_MAX;
    *most = 0;
    for (int fd = 0; fd < FDS; fd++) {
        uint64_t n = counter_get(&s->came[fd]);
        if (!n)
            continue;
        *least = n < *least ? n : *least;
        *most = n > *most ? n : *most;
    }
}

struct sink_marks sink_marks(struct sink *s)
{
    return s->marks;
}

/* --- what a pass asks ------------------------------------------------------------------------- */

static void read_counts(void *ctx, struct server_counts *out)
{
    struct sink *s = ctx;
    memset(out, 0, sizeof *out);
    server_counts_add(out, &s->counts);
}

struct server_counts sink_counts(struct sink *s)
{
    struct server_counts c;
    read_counts(s, &c);
    return c;
}

static void mark(void *ctx, bool begins)
{
    struct sink *s = ctx;
    uint64_t bytes = counter_get(&s->counts.bytes_in);
    if (begins) {
        s->marks.begins++;
        s->marks.begin_bytes = bytes;
    } else {
        s->marks.ends++;
        s->marks.end_bytes = bytes;
    }
}

static void gate_set(void *ctx, enum gate_word word)
{
    struct sink *s = ctx;
    if (word == GATE_SHUT) {
        atomic_store(&s->passed_ns, 0);
        atomic_store(&s->drained_ns, 0);
        atomic_store(&s->drained, 0);
    }
    atomic_store(&s->gate, word);
}

static void gate_read(void *ctx, struct gate_reading *out)
{
    struct sink *s = ctx;
    uint64_t drained = atomic_load(&s->drained);
    *out = (struct gate_reading){
        .workers = 1,
        .standing = (int)atomic_load(&s->standing),
        .passes = s->manners.passes ? GATE_PASSES_READS | GATE_PASSES_ACCEPTS : 0,
        .passed_ns = atomic_load(&s->passed_ns),
        .drained_ns = atomic_load(&s->drained_ns),
        .drained = drained,
    };
}

static int64_t cpu_ns(void *ctx)
{
    struct sink *s = ctx;
    return atomic_fetch_add(&s->cpu_ns, CPU_NS);
}

struct load_spec sink_spec(struct sink *s, const char *workload, int connections)
{
    struct load_spec spec = {.cpu_count = 1, .target = s->address, .server_ctx = s,
                             .server_read = read_counts, .measured = mark, .gate_set = gate_set,
                             .gate_read = gate_read, .server_cpu_ns = cpu_ns};
    params_init(&spec.params);
    spec.params.workload = workload_find(workload);
    spec.params.connections = connections;
    spec.params.load_threads = 1;
    spec.params.timeout = 10;
    workload_resolve(&spec.params);
    return spec;
}
