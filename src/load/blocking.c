/* SPDX-License-Identifier: MIT */
/* The blocking engine: a thread for each connection, as the old test clients did: send, recv, until
 * the reply is whole. Between requests a paced thread sleeps on the load's word with a time-out at
 * its next due time, so a stop wakes it at once. Threads count in a shard of the CPU they run on.
 * Only the owner may end a recv that nobody answers, by shutting the socket down; `waiting` and the
 * lock make sure that it is this request's socket. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/futex.h"
#include "load/dial.h"
#include "load/engine.h"

#define BLOCKING_MOST 4000
#define STACK 65536
#define BUFFER 16384
#define CPU_EVERY_NS (50 * NS_PER_MS)
#define LINGER_NS (20 * NS_PER_MS)

enum outcome { REPLY_RIGHT, REPLY_RESET, REPLY_TIMEOUT, REPLY_WRONG, NEVER_SENT };

struct blocker {
    struct load *load;
    int index;
    pthread_t thread;
    _Atomic uint32_t rest;
    _Atomic bool waiting; /* in a request */

    pthread_mutex_t lock; /* only around the change of fd and the owner's shutdown */
    int fd;

    /* the thread's own */
    uint32_t word, settings;
    bool done, in_turn, measuring, counting, tried;
    bool served, doubted, turned;
    uint64_t retry_ns; /* not connected: the next try; connected: keeps quiet until then */
    uint64_t cpu_at_ns;
    int64_t cpu_seen_ns;
    uint64_t offset_ns, measure_ns, sequence, size;
    struct pace pace;
    struct proto_check check;
    uint8_t ask[PROTO_ASK_MAX];
    uint8_t buffer[BUFFER];
};

static struct load_shard *shard(const struct blocker *b)
{
    const struct load *l = b->load;
    int cpu = sched_getcpu();
    return &l->shards[l->mux_limit + (cpu < 0 ? 0 : cpu) % (l->shard_count - l->mux_limit)];
}

/* --- the connection ----------------------------------------------------------------------------- */

static void set_fd(struct blocker *b, int fd)
{
    pthread_mutex_lock(&b->lock);
    b->fd = fd;
    pthread_mutex_unlock(&b->lock);
}

static void set_turned(struct blocker *b, bool turned)
{
    if (b->turned != turned)
        atomic_fetch_add_explicit(&b->load->turned_away, turned ? 1 : -1, memory_order_relaxed);
    b->turned = turned;
}

static bool called_off(void *ctx)
{
    const struct blocker *b = ctx;
    uint32_t word = word_get(b->load);
    return word != b->word && !phase_in_turn(word & WORD_PHASE);
}

static void connected(struct blocker *b, int fd)
{
    dial_blocking(fd, b->load->timeout_ns);
    set_fd(b, fd);
    counter_add_shared(&shard(b)->counts.connects, 1);
    atomic_fetch_add_explicit(&b->load->established, 1, memory_order_relaxed);
    b->served = false;
    b->retry_ns = b->doubted ? clock_ns() + PROBATION_NS : 0;
}

static void connect_now(struct blocker *b)
{
    const struct load_spec *spec = &b->load->spec;
    struct dial d = {&spec->target, spec->params.nodelay != 0, clock_ns() + b->load->timeout_ns,
                     called_off, b};
    int fd = dial(&d);
    b->tried = true;
    if (fd >= 0) {
        connected(b, fd);
        return;
    }
    b->retry_ns = clock_ns() + RETRY_NS;
    if (fd == -ECANCELED)
        return;
    load_note_trouble(b->load, -fd);
    if (b->counting)
        counter_add_shared(load_error_counter(&shard(b)->counts, -fd), 1);
}

static void shut(struct blocker *b)
{
    if (b->fd < 0)
        return;
    int fd = b->fd;
    set_fd(b, -1);
    net_close_reset(fd);
    counter_add_shared(&shard(b)->counts.closed, 1);
    atomic_fetch_sub_explicit(&b->load->established, 1, memory_order_relaxed);
}

/* Closed with nothing outstanding. */
static void closed(struct blocker *b)
{
    if (!b->served)
        set_turned(b, true);
    b->doubted = !b->served;
    b->retry_ns = b->served ? 0 : clock_ns() + TURNED_AWAY_NS;
    shut(b);
}

static bool still_open(const struct blocker *b)
{
    char c;
    ssize_t n = recv(b->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* --- one request -------------------------------------------------------------------------------- */

static bool timed_out(const struct blocker *b, uint64_t sent_ns)
{
    return clock_ns() - sent_ns >= b->load->timeout_ns;
}

static enum outcome send_all(struct blocker *b, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = send(b->fd, b->ask + at, len - at, MSG_NOSIGNAL);
        if (n > 0)
            at += (size_t)n;
        else if (errno == EAGAIN)
            return REPLY_TIMEOUT;
        else if (errno != EINTR)
            return at ? REPLY_RESET : NEVER_SENT;
    }
    return REPLY_RIGHT;
}

static enum outcome receive_all(struct blocker *b, uint64_t sent_ns)
{
    for (;;) {
        ssize_t n = recv(b->fd, b->buffer, sizeof b->buffer, 0);
        if (n > 0) {
            int whole = b->load->protocol->check(&b->check, b->buffer, (size_t)n);
            if (whole)
                return whole > 0 ? REPLY_RIGHT : REPLY_WRONG;
            if (timed_out(b, sent_ns))
                return REPLY_TIMEOUT;
        } else if (n < 0 && errno == EAGAIN) {
            return REPLY_TIMEOUT;
        } else if (n == 0 || errno != EINTR) {
            return REPLY_RESET;
        }
    }
}

static void publish_cpu(struct blocker *b, uint64_t now_ns)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    int64_t ns = (int64_t)ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
    atomic_fetch_add_explicit(&shard(b)->cpu_ns, ns - b->cpu_seen_ns, memory_order_relaxed);
    b->cpu_seen_ns = ns;
    b->cpu_at_ns = now_ns;
}

static void take_word(struct blocker *b);

/* After each reply: the one comparison. */
static void look_at_word(struct blocker *b)
{
    uint32_t word = word_get(b->load), phase = word & WORD_PHASE;
    if (word != b->word && (phase_in_turn(phase) || phase == LOAD_STOP))
        take_word(b);
}

struct request {
    uint64_t due_ns, sent_ns;
    bool timed;
};

static void answered(struct blocker *b, const struct request *r)
{
    uint64_t now = clock_ns();
    bool paced = b->pace.count;
    look_at_word(b);
    struct load_shard *s = shard(b);
    if (b->measuring) {
        counter_add_shared(&s->counts.replies, 1);
        counter_add_shared(&s->counts.reply_bytes, b->check.got);
    }
    if (r->timed) {
        counter_add_shared(&s->counts.answered, 1);
        hist_add_shared(s->hists[LOAD_LATENCY], now - r->sent_ns);
        if (paced)
            hist_add_shared(s->hists[LOAD_RESPONSE], now - r->due_ns);
    }
    b->served = true;
    b->doubted = false;
    set_turned(b, false);
    if (now - b->cpu_at_ns >= CPU_EVERY_NS)
        publish_cpu(b, now);
}

/* A drain that was given up ends the wait by a shutdown: a time-out. The end of the load likewise:
 * no error. */
static void not_answered(struct blocker *b, enum outcome why)
{
    struct load_counters *counts = &shard(b)->counts;
    uint32_t phase = word_get(b->load) & WORD_PHASE;
    if (phase == LOAD_PARKED)
        why = REPLY_TIMEOUT;
    if (phase != PHASE_CLOSE)
        counter_add_shared(why == REPLY_WRONG ? &counts->errors_bytes
                           : why == REPLY_TIMEOUT ? &counts->errors_timeout
                                                  : &counts->errors_reset, 1);
    b->doubted = !b->served && why != REPLY_TIMEOUT;
    b->retry_ns = b->doubted ? clock_ns() + RETRY_NS : 0;
    shut(b);
}

static void count_sent(struct blocker *b, const struct request *r)
{
    if (!r->timed)
        return;
    struct load_shard *s = shard(b);
    counter_add_shared(&s->counts.sent, 1);
    if (b->pace.count)
        hist_add_shared(s->hists[LOAD_LATE], r->sent_ns - r->due_ns);
}

static void ask(struct blocker *b, uint64_t due_ns)
{
    struct request r = {.due_ns = due_ns};
    size_t len = b->load->protocol->ask(&b->check, b->sequence++, b->size, b->ask);
    atomic_store(&b->waiting, true);
    if (word_get(b->load) != b->word) {
        look_at_word(b); /* after `waiting` is seen, or the owner would not know to interrupt */
        if (!b->in_turn || word_get(b->load) != b->word) {
            atomic_store(&b->waiting, false);
            return;
        }
    }
    r.sent_ns = clock_ns();
    r.due_ns = b->pace.count ? due_ns : r.sent_ns;
    r.timed = b->measuring && r.due_ns >= b->measure_ns;
    enum outcome o = send_all(b, len);
    if (o == REPLY_RIGHT) {
        count_sent(b, &r);
        o = receive_all(b, r.sent_ns);
    }
    atomic_store(&b->waiting, false);
    if (o == REPLY_RIGHT)
        answered(b, &r);
    else if (o == NEVER_SENT)
        closed(b);
    else
        not_answered(b, o);
}

/* --- turns -------------------------------------------------------------------------------------- */

/* What was due before t (virtual) and could not be sent counts as due, and is dropped. */
static void drop_due(struct blocker *b, uint64_t t_ns)
{
    while (b->pace.due_ns < t_ns) {
        if (b->measuring && b->pace.due_ns + b->offset_ns >= b->measure_ns)
            counter_add_shared(&shard(b)->counts.due, 1);
        pace_step(&b->pace);
    }
}

static void take_settings(struct blocker *b)
{
    struct load_want w = load_settings(b->load, &b->pace, b->index, 0);
    b->settings = w.number;
    b->size = w.size;
    b->done |= b->index >= w.connections;
}

static void take_word(struct blocker *b)
{
    struct load *l = b->load;
    b->word = word_get(l);
    uint32_t phase = b->word & WORD_PHASE;
    uint64_t virtual_ns = atomic_load_explicit(&l->virtual_ns, memory_order_relaxed);
    bool begins = !b->in_turn && phase_in_turn(phase);
    if (b->in_turn && !phase_in_turn(phase))
        drop_due(b, virtual_ns);
    b->in_turn = phase_in_turn(phase);
    b->measuring = phase == LOAD_MEASURE;
    b->counting = phase != LOAD_PARKED;
    b->done |= phase == PHASE_CLOSE;
    b->offset_ns = atomic_load_explicit(&l->offset_ns, memory_order_relaxed);
    b->measure_ns = atomic_load_explicit(&l->measure_ns, memory_order_relaxed);
    if (phase == LOAD_PARKED)
        b->tried = false;
    if (atomic_load(&l->settings) != b->settings)
        take_settings(b);
    if (!begins)
        return;
    pace_seek(&b->pace, virtual_ns);
    if (b->fd >= 0 && !still_open(b))
        closed(b);
}

static void sleep_until(struct blocker *b, uint64_t t_ns)
{
    uint64_t now = clock_ns();
    if (t_ns <= now)
        return;
    counter_add_shared(&shard(b)->counts.sleeps, 1);
    futex_wait(&b->load->word, b->word, t_ns - now);
}

static void step(struct blocker *b)
{
    uint64_t now = clock_ns();
    if (now < b->retry_ns) {
        sleep_until(b, b->retry_ns);
        return;
    }
    if (b->fd < 0) {
        connect_now(b);
        drop_due(b, clock_ns() - b->offset_ns);
        return;
    }
    if (b->retry_ns) { /* the end of a probation */
        b->retry_ns = 0;
        b->doubted = false;
        if (still_open(b))
            set_turned(b, false);
        else
            closed(b);
        drop_due(b, now - b->offset_ns);
        return;
    }
    if (!b->pace.count) {
        ask(b, now);
        return;
    }
    uint64_t due_ns = b->pace.due_ns + b->offset_ns;
    if (now < due_ns) {
        sleep_until(b, due_ns);
        return;
    }
    if (b->measuring && due_ns >= b->measure_ns)
        counter_add_shared(&shard(b)->counts.due, 1);
    pace_step(&b->pace);
    ask(b, due_ns);
}

/* Opens the connection, and gives a server that refuses it the time to say so. */
static void parked(struct blocker *b)
{
    if ((b->word & WORD_PHASE) == LOAD_PARKED && b->fd < 0 && !b->tried) {
        connect_now(b);
        futex_wait(&b->load->word, b->word, LINGER_NS);
        if (b->fd >= 0 && !still_open(b))
            closed(b);
        return;
    }
    publish_cpu(b, clock_ns());
    load_rest(b->load, &b->rest, b->word);
}

static void *blocker_main(void *arg)
{
    struct blocker *b = arg;
    load_thread_setup();
    while (!b->done) {
        if (word_get(b->load) != b->word)
            take_word(b);
        else if (b->in_turn)
            step(b);
        else
            parked(b);
    }
    shut(b);
    set_turned(b, false);
    publish_cpu(b, clock_ns());
    return NULL;
}

/* --- the owner's side --------------------------------------------------------------------------- */

static void join(struct blocker *b)
{
    pthread_join(b->thread, NULL);
    pthread_mutex_destroy(&b->lock);
    pace_fini(&b->pace);
    free(b);
}

static int start(struct load *l, int index)
{
    struct blocker *b = xcalloc(1, sizeof *b);
    long least = PTHREAD_STACK_MIN;
    struct load_thread how = {blocker_main, b, least > STACK ? (size_t)least : STACK, -1};
    b->load = l;
    b->index = index;
    b->fd = -1;
    b->sequence = (uint64_t)(index + 1) << 40;
    b->pace.due_ns = UINT64_MAX;
    pthread_mutex_init(&b->lock, NULL);
    int failed = load_start_thread(l, &b->thread, &how);
    if (failed) {
        pthread_mutex_destroy(&b->lock);
        free(b);
        return failed;
    }
    l->blockers[l->blocker_count++] = b;
    return 0;
}

int blocking_resize(struct load *l, int connections, struct err *e)
{
    if (connections > BLOCKING_MOST)
        return err_set(e, EAGAIN, "%d blocking connections: at most %d, a thread each", connections,
                       BLOCKING_MOST);
    while (l->blocker_count > connections) /* they have seen the settings, and end */
        join(l->blockers[--l->blocker_count]);
    l->blockers = xrealloc(l->blockers, (size_t)connections + 1, sizeof(struct blocker *));
    while (l->blocker_count < connections) {
        int failed = start(l, l->blocker_count);
        if (failed)
            return err_set(e, failed, "only %d of %d blocking threads could be made: %s",
                           l->blocker_count, connections, strerror(failed));
    }
    return 0;
}

void blocking_interrupt(struct load *l, uint32_t old_word)
{
    for (int i = 0; i < l->blocker_count; i++) {
        struct blocker *b = l->blockers[i];
        if (atomic_load(&b->rest) == old_word || !atomic_load(&b->waiting))
            continue;
        pthread_mutex_lock(&b->lock);
        if (b->fd >= 0)
            shutdown(b->fd, SHUT_RDWR);
        pthread_mutex_unlock(&b->lock);
    }
}

void blocking_stop(struct load *l)
{
    while (l->blocker_count)
        join(l->blockers[--l->blocker_count]);
    free(l->blockers);
}
