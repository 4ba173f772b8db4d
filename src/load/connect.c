/* SPDX-License-Identifier: MIT */
/* One pass of `connect`: N connections from the caller's thread, one after the other (the next
 * starts when the last returned, as the old test client did) or all at once. Both sides are
 * counted: with SYN cookies a client can be connected to a server that never accepts it, and what a
 * backlog drops shows as the kernel's timer of a second, not as the server's time. The pass is over
 * when both sides have N, or at the time-out. */
#include "load/connect.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "load/accept_drain.h"
#include "load/dial.h"
#include "load/engine.h"
#include "load/watch.h"

#define EVENTS 256
#define SLICE_MS 10
#define LOOK_NS (500 * NS_PER_US) /* between two looks at the server's counters */
#define CLEAR_NS (2 * NS_PER_S)   /* longest wait for the server's closes */
#define QUIET_NS (500 * NS_PER_MS) /* without an accept: the rest was lost */

struct pass {
    const struct load_spec *spec;
    struct watcher watcher;
    struct load_counters counts;
    struct server_counts before, now;
    uint64_t start_ns, deadline_ns, last_ns; /* last: the latest connection established */
    int n, tried, established, failed;
    bool hopeless; /* no descriptor or no port: those that follow would fail as well */
    int *fds;      /* -1: not open */
};

static long accepted(const struct pass *p)
{
    return (long)(p->now.accepts - p->before.accepts);
}

static long taken(const struct pass *p) /* with those that the server refused */
{
    return accepted(p) + (long)(p->now.refusals - p->before.refusals);
}

static void show(struct pass *p, uint64_t now_ns)
{
    load_pass_look(p->spec, &p->now);
    watcher_add(&p->watcher, now_ns, p->established, accepted(p));
}

/* False when the pass must end: time is up or somebody said so. */
static bool goes_on(struct pass *p)
{
    uint64_t now = clock_ns();
    if (watcher_due(&p->watcher, now))
        show(p, now);
    return now < p->deadline_ns && !watcher_stopped(&p->watcher);
}

/* While it waits for one connection, whose deadline is the pass's. */
static bool called_off(void *ctx)
{
    struct pass *p = ctx;
    goes_on(p);
    return watcher_stopped(&p->watcher);
}

static void established(struct pass *p)
{
    p->established++;
    p->last_ns = clock_ns();
    counter_add(&p->counts.connects, 1);
}

static void not_established(struct pass *p, int code)
{
    p->failed++;
    p->hopeless |= code == EMFILE || code == ENFILE || code == EADDRNOTAVAIL;
    if (code != ECANCELED)
        counter_add(load_error_counter(&p->counts, code), 1);
}

/* --- serial ----------------------------------------------------------------------------------- */

static void serial(struct pass *p)
{
    const struct params *params = &p->spec->params;
    struct dial d = {&p->spec->target, params->nodelay != 0, p->deadline_ns, called_off, p};
    for (int i = 0; i < p->n && !p->hopeless && goes_on(p); i++) {
        int fd = dial(&d);
        if (fd < 0) {
            not_established(p, -fd);
            continue;
        }
        p->fds[i] = fd;
        established(p);
    }
}

/* --- storm ------------------------------------------------------------------------------------ */

static void storm_one(struct pass *p, int epoll, int i)
{
    int fd = net_connect_start(&p->spec->target, p->spec->params.nodelay != 0);
    p->tried++;
    if (fd < 0) {
        not_established(p, -fd);
        return;
    }
    struct epoll_event ev = {.events = EPOLLOUT | EPOLLET, .data.u32 = (uint32_t)i};
    p->fds[i] = fd;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
        not_established(p, errno);
}

static void storm_event(struct pass *p, int epoll, int i)
{
    int fd = p->fds[i], result = net_connect_result(fd);
    epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL); /* what happens to it later is not looked at */
    if (result == 0 || dial_was_connected(result))
        established(p);
    else
        not_established(p, -result);
}

static void storm_collect(struct pass *p, int epoll, int wait_ms)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(epoll, events, EVENTS, wait_ms);
    for (int i = 0; i < n; i++)
        storm_event(p, epoll, (int)events[i].data.u32);
}

static int storm(struct pass *p, struct err *e)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0)
        return err_sys(e, "epoll set of the load");
    for (int i = 0; i < p->n && !p->hopeless && goes_on(p); i++) {
        storm_one(p, epoll, i);
        if (i % 64 == 63)
            storm_collect(p, epoll, 0);
    }
    while (p->established + p->failed < p->tried && goes_on(p))
        storm_collect(p, epoll, SLICE_MS);
    close(epoll);
    return 0;
}

/* --- the pass --------------------------------------------------------------------------------- */

static void pause_ns(uint64_t ns)
{
    clock_sleep_until(clock_ns() + ns);
}

/* Until the server has taken all that are established. */
static void wait_accepted(struct pass *p)
{
    if (!p->spec->server_read)
        return;
    load_pass_look(p->spec, &p->now);
    while (taken(p) < p->established && goes_on(p)) {
        pause_ns(LOOK_NS);
        load_pass_look(p->spec, &p->now);
    }
}

static void count_unfinished(struct pass *p)
{
    int left = p->n - p->established - p->failed;
    if (left > 0 && !p->hopeless && clock_ns() >= p->deadline_ns)
        counter_add(&p->counts.errors_timeout, (uint64_t)left);
}

/* SYNs that the kernel sent again for these connections: nothing else was sent over them. (Its own
 * counter, TCPSynRetrans, also has the other side's SYN-ACKs and everybody else's.) */
static long syn_retransmits(const struct pass *p)
{
    long sum = 0;
    for (int i = 0; i < p->n; i++) {
        struct tcp_info info;
        socklen_t len = sizeof info;
        if (p->fds[i] >= 0 && !getsockopt(p->fds[i], IPPROTO_TCP, TCP_INFO, &info, &len))
            sum += info.tcpi_total_retrans;
    }
    return sum;
}

/* Closes all with a reset, and waits until the server has noticed: the next pass starts from none.
 * It may go on accepting what is closed already, so accepts must have come to an end too. */
static void clear(struct pass *p)
{
    uint64_t end = clock_ns() + CLEAR_NS, changed = clock_ns();
    long seen = -1;
    for (int i = 0; i < p->n; i++)
        if (p->fds[i] >= 0)
            net_close_reset(p->fds[i]);
    counter_add(&p->counts.closed, (uint64_t)p->established);
    while (p->spec->server_read && clock_ns() < end) {
        load_pass_look(p->spec, &p->now);
        if (taken(p) != seen)
            changed = clock_ns();
        seen = taken(p);
        bool all = seen >= p->established || clock_ns() - changed > QUIET_NS;
        if (all && p->now.closes - p->before.closes >= p->now.accepts - p->before.accepts)
            return;
        pause_ns(LOOK_NS);
    }
}

static void results(const struct pass *p, struct repeat_result *out)
{
    double connect_s = (double)(p->last_ns - p->start_ns) / 1e9;
    double *v = out->values.v;
    memset(out, 0, sizeof *out);
    values_clear(&out->values);
    out->duration_s = (double)(clock_ns() - p->start_ns) / 1e9;
    if (p->established == p->n) {
        v[METRIC_connect_s] = connect_s;
        v[METRIC_connections_per_s] = connect_s > 0 ? p->n / connect_s : METRIC_NONE;
    }
    if (accepted(p) >= p->n && p->now.last_accept_ns > p->start_ns)
        v[METRIC_accepted_s] = (double)(p->now.last_accept_ns - p->start_ns) / 1e9;
    v[METRIC_established] = p->established;
    v[METRIC_accepted] = (double)accepted(p);
    v[METRIC_syn_retransmits] = (double)syn_retransmits(p);
    v[METRIC_timer_s] = v[METRIC_syn_retransmits]; /* the kernel's first timer is 1 s */
}

static int run(struct pass *p, struct err *e)
{
    int failed = 0;
    load_pass_look(p->spec, &p->before);
    p->now = p->before;
    p->start_ns = p->last_ns = clock_ns();
    p->deadline_ns = p->start_ns + (uint64_t)(p->spec->params.timeout * 1e9);
    watcher_start(&p->watcher, p->watcher.watch, p->start_ns);
    show(p, p->start_ns);
    if (p->spec->params.arrival == ARRIVAL_STORM)
        failed = storm(p, e);
    else
        serial(p);
    if (!failed)
        wait_accepted(p);
    show(p, clock_ns());
    count_unfinished(p);
    return failed;
}

int connect_repeat(const struct load_spec *spec, struct load_watch *watch,
                   struct repeat_result *out, struct err *e)
{
    struct pass p = {.spec = spec, .watcher.watch = watch, .n = (int)spec->params.connections};
    int64_t cpu_ns = clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    load_pass_measured(p.spec, true);
    p.fds = xcalloc((size_t)p.n + 1, sizeof *p.fds);
    for (int i = 0; i < p.n; i++)
        p.fds[i] = -1;
    int failed = run(&p, e);
    results(&p, out);
    out->load_cpu_ns = clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    load_pass_measured(p.spec, false);
    clear(&p);
    if (p.established == p.n && accepted(&p) >= p.n)
        out->values.v[METRIC_accept_drain_per_s] =
            accept_drain_per_s(spec, watch ? &watch->stop : NULL, out->note, sizeof out->note);
    load_counts_add(&out->counts, &p.counts);
    free(p.fds);
    return failed;
}

/* A connect that meets a full accept queue waits for the kernel's timer of 1 s; one accept a wake
 * falls behind an unbroken stream of connects, as measured with a backlog of 20 (some 22 ms a
 * connection past ten backlogs, mean of select and epoll). */
double connect_seconds(const struct params *p, bool walks)
{
    double n = p->connections, s = 0.1 + n * 60e-6;
    (void)walks;
    if (p->arrival == ARRIVAL_SERIAL && p->accept == ACCEPT_ONE && n > 10 * p->backlog)
        s += (n - 10 * p->backlog) * 0.022;
    if (p->arrival == ARRIVAL_STORM && n > p->backlog)
        s += 1;
    return fmin(s, p->timeout);
}
