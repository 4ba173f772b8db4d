/* SPDX-License-Identifier: MIT */
/* Level-triggered and simple: one request is outstanding on a connection, so each has at most one
 * reply, due at a time. Late replies are looked for each millisecond. */
#include "fake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/protocol.h"

struct peer {
    bool open, due;
    long nth;
    uint64_t due_ns;
    size_t got;
    uint8_t in[64];
    _Alignas(8) uint8_t state[PROTO_STATE];
};

struct fake {
    struct fake_manners manners;
    struct server_counters counts;
    const struct protocol *protocol;
    struct net_addr address;
    pthread_t thread;
    int listener, epoll;
    _Atomic bool listening;
    _Atomic bool stop;
    _Atomic long open, stamp_count;
    uint64_t requests, late, next_accept_ns;
    struct peer peers[FAKE_FDS];
    struct fake_stamp stamps[FAKE_STAMPS];
};

static void gone(struct fake *f, int fd)
{
    struct peer *p = &f->peers[fd];
    f->late -= p->due;
    p->open = p->due = false;
    counter_add(&f->counts.closes, 1);
    atomic_fetch_sub(&f->open, 1);
}

static void drop(struct fake *f, int fd)
{
    net_close_reset(fd);
    gone(f, fd);
}

static bool every(uint64_t n, uint64_t count)
{
    return n && count % n == 0;
}

static void corrupt(uint8_t *bytes)
{
    bytes[0] ^= 0x55;
}

/* Sends what is due, waiting for room: tests' replies are small or read at once. */
static void reply(struct fake *f, int fd)
{
    struct peer *p = &f->peers[fd];
    const uint8_t *bytes;
    bool wrong = every(f->manners.wrong_every, f->requests), whole = false;
    size_t n;
    p->due = false;
    while (!whole && (n = f->protocol->due(p->state, &bytes))) {
        uint8_t first = bytes[0];
        if (wrong)
            corrupt(&first);
        ssize_t sent = wrong ? send(fd, &first, 1, MSG_NOSIGNAL) : send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            usleep(200);
            continue;
        }
        if (sent < 0) {
            drop(f, fd);
            return;
        }
        wrong = false;
        whole = f->protocol->sent(p->state, (size_t)sent);
    }
    counter_add(&f->counts.requests, 1);
    if (every(f->manners.hang_up_every, f->requests))
        drop(f, fd);
}

static void stamp(struct fake *f, int fd)
{
    long i = atomic_load(&f->stamp_count);
    if (i == FAKE_STAMPS)
        return;
    f->stamps[i] = (struct fake_stamp){clock_ns(), fd, f->peers[fd].nth};
    atomic_store(&f->stamp_count, i + 1);
}

static void request(struct fake *f, int fd)
{
    struct peer *p = &f->peers[fd];
    uint64_t delay_ns = f->manners.delay_ns;
    f->requests++;
    stamp(f, fd);
    if (f->manners.silent || (f->manners.serves && p->nth > f->manners.serves))
        return;
    if (every(f->manners.reset_every, f->requests)) {
        drop(f, fd);
        return;
    }
    if (every(f->manners.slow_every, f->requests))
        delay_ns = f->manners.slow_ns;
    if (!delay_ns) {
        reply(f, fd);
        return;
    }
    p->due = true;
    p->due_ns = clock_ns() + delay_ns;
    f->late++;
}

static void readable(struct fake *f, int fd)
{
    struct peer *p = &f->peers[fd];
    ssize_t n = recv(fd, p->in + p->got, sizeof p->in - p->got, 0);
    if (n == 0) { /* as its peer: no reset */
        close(fd);
        gone(f, fd);
    } else if (n < 0 && errno != EAGAIN) {
        drop(f, fd);
    }
    if (n <= 0)
        return;
    p->got += (size_t)n;
    ssize_t used = f->protocol->take(p->state, p->in, p->got);
    if (used < 0) {
        drop(f, fd);
    } else if (used > 0) {
        p->got = 0;
        request(f, fd);
    }
}

static void accept_one(struct fake *f)
{
    uint64_t now = clock_ns();
    if (now < f->next_accept_ns)
        return;
    f->next_accept_ns = now + f->manners.accept_gap_ns;
    int fd = accept4(f->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (fd >= FAKE_FDS || atomic_load(&f->open) >= f->manners.capacity) {
        net_close_reset(fd);
        counter_add(&f->counts.refusals, 1);
        return;
    }
    memset(&f->peers[fd], 0, sizeof f->peers[fd]);
    f->peers[fd].open = true;
    atomic_fetch_add(&f->open, 1);
    counter_set(&f->counts.last_accept_ns, clock_ns());
    counter_add(&f->counts.accepts, 1);
    f->peers[fd].nth = (long)counter_get(&f->counts.accepts);
    struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};
    epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static void send_late(struct fake *f)
{
    uint64_t now = clock_ns();
    for (int fd = 0; fd < FAKE_FDS && f->late; fd++)
        if (f->peers[fd].due && now >= f->peers[fd].due_ns) {
            f->late--;
            reply(f, fd);
        }
}

static void listen_or_not(struct fake *f)
{
    bool wanted = !f->manners.deaf && clock_ns() >= f->next_accept_ns;
    if (wanted == f->listening)
        return;
    struct epoll_event ev = {.events = wanted ? EPOLLIN : 0, .data.fd = f->listener};
    epoll_ctl(f->epoll, EPOLL_CTL_MOD, f->listener, &ev);
    f->listening = wanted;
}

static void *serve(void *arg)
{
    struct fake *f = arg;
    struct epoll_event events[64];
    while (!atomic_load(&f->stop)) {
        uint64_t pause_ns = atomic_exchange(&f->manners.pause_ns, 0);
        if (pause_ns)
            clock_sleep_until(clock_ns() + pause_ns);
        listen_or_not(f);
        int n = epoll_wait(f->epoll, events, 64, f->late || !f->listening ? 1 : 20);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == f->listener)
                accept_one(f);
            else if (f->peers[fd].open)
                readable(f, fd);
        }
        send_late(f);
    }
    return NULL;
}

struct fake *fake_start(int backlog)
{
    struct fake *f = xcalloc(1, sizeof *f);
    struct err e;
    struct net_listen how = {.backlog = backlog, .nodelay = true};
    f->protocol = protocol_table[protocol_find("fetch")];
    f->manners.capacity = FAKE_FDS;
    if (net_addr_parse("127.0.0.1:0", true, &f->address, &e) < 0)
        die("%s", e.text);
    f->listener = net_listen(&f->address, &how, &e);
    if (f->listener < 0)
        die("%s", e.text);
    net_addr_set_port(&f->address, net_local_port(f->listener));
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = f->listener};
    epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->listener, &ev);
    f->listening = true;
    if (pthread_create(&f->thread, NULL, serve, f))
        die("no thread for the fake server");
    return f;
}

void fake_stop(struct fake *f)
{
    atomic_store(&f->stop, true);
    pthread_join(f->thread, NULL);
    for (int fd = 0; fd < FAKE_FDS; fd++)
        if (f->peers[fd].open)
            net_close_reset(fd);
    close(f->listener);
    close(f->epoll);
    free(f);
}

struct fake_manners *fake_manners(struct fake *f)
{
    return &f->manners;
}

void fake_deafen(struct fake *f)
{
    f->manners.deaf = true;
    while (atomic_load(&f->listening))
        clock_sleep_until(clock_ns() + NS_PER_MS);
}

void fake_address(const struct fake *f, struct net_addr *out)
{
    *out = f->address;
}

void fake_read(void *fake, struct server_counts *out)
{
    struct fake *f = fake;
    memset(out, 0, sizeof *out);
    server_counts_add(out, &f->counts);
}

long fake_open(const struct fake *f)
{
    return atomic_load(&f->open);
}

long fake_stamps(const struct fake *f, const struct fake_stamp **out)
{
    *out = f->stamps;
    return atomic_load(&f->stamp_count);
}
