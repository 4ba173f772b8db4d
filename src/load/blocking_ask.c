/* SPDX-License-Identifier: MIT */
/* One connection of the blocking engine and one request over it. Threads count in a shard of the
 * CPU they run on, with atomic adds: rarely two at a time. They publish their CPU time each 50 ms,
 * so that reading the load's costs the same for 4000 threads as for one. */
#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>

#include "load/blocking.h"
#include "load/dial.h"

#define CPU_EVERY_NS (50 * NS_PER_MS)

enum outcome { REPLY_RIGHT, REPLY_RESET, REPLY_TIMEOUT, REPLY_WRONG, NEVER_SENT };

struct load_shard *blocker_shard(const struct blocker *b)
{
    const struct load *l = b->load;
    int cpu = sched_getcpu();
    return &l->shards[l->mux_limit + (cpu < 0 ? 0 : cpu) % (l->shard_count - l->mux_limit)];
}

/* --- the connection --------------------------------------------------------------------------- */

static void set_fd(struct blocker *b, int fd)
{
    pthread_mutex_lock(&b->lock);
    b->fd = fd;
    pthread_mutex_unlock(&b->lock);
}

void blocker_set_turned(struct blocker *b, bool turned)
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
    counter_add_shared(&blocker_shard(b)->counts.connects, 1);
    atomic_fetch_add_explicit(&b->load->established, 1, memory_order_relaxed);
    b->served = false;
    b->retry_ns = b->doubted ? clock_ns() + PROBATION_NS : 0;
}

void blocker_connect(struct blocker *b)
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
        counter_add_shared(load_error_counter(&blocker_shard(b)->counts, -fd), 1);
}

void blocker_shut(struct blocker *b)
{
    if (b->fd < 0)
        return;
    int fd = b->fd;
    set_fd(b, -1);
    net_close_reset(fd);
    counter_add_shared(&blocker_shard(b)->counts.closed, 1);
    atomic_fetch_sub_explicit(&b->load->established, 1, memory_order_relaxed);
}

/* Closed with nothing outstanding. */
void blocker_closed(struct blocker *b)
{
    if (!b->served)
        blocker_set_turned(b, true);
    b->doubted = !b->served;
    b->retry_ns = b->served ? 0 : clock_ns() + TURNED_AWAY_NS;
    blocker_shut(b);
}

bool blocker_still_open(const struct blocker *b)
{
    char c;
    ssize_t n = recv(b->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* --- one request ------------------------------------------------------------------------------ */

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

void blocker_publish_cpu(struct blocker *b, uint64_t now_ns)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    int64_t ns = (int64_t)ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
    atomic_fetch_add_explicit(&blocker_shard(b)->cpu_ns, ns - b->cpu_seen_ns, memory_order_relaxed);
    b->cpu_seen_ns = ns;
    b->cpu_at_ns = now_ns;
}

/* After each reply: the one comparison. */
static void look_at_word(struct blocker *b)
{
    uint32_t word = word_get(b->load), phase = word & WORD_PHASE;
    if (word != b->word && (phase_in_turn(phase) || phase == LOAD_STOP))
        blocker_take_word(b);
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
    struct load_shard *s = blocker_shard(b);
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
    blocker_set_turned(b, false);
    if (now - b->cpu_at_ns >= CPU_EVERY_NS)
        blocker_publish_cpu(b, now);
}

/* A drain that was given up ends the wait by a shutdown: a time-out. The end of the load likewise:
 * no error. */
static void not_answered(struct blocker *b, enum outcome why)
{
    struct load_counters *counts = &blocker_shard(b)->counts;
    uint32_t phase = word_get(b->load) & WORD_PHASE;
    if (phase == LOAD_PARKED)
        why = REPLY_TIMEOUT;
    if (phase != PHASE_CLOSE)
        counter_add_shared(why == REPLY_WRONG ? &counts->errors_bytes
                           : why == REPLY_TIMEOUT ? &counts->errors_timeout
                                                  : &counts->errors_reset, 1);
    b->doubted = !b->served && why != REPLY_TIMEOUT;
    b->retry_ns = b->doubted ? clock_ns() + RETRY_NS : 0;
    blocker_shut(b);
}

static void count_sent(struct blocker *b, const struct request *r)
{
    if (!r->timed)
        return;
    struct load_shard *s = blocker_shard(b);
    counter_add_shared(&s->counts.sent, 1);
    if (b->pace.count)
        hist_add_shared(s->hists[LOAD_LATE], r->sent_ns - r->due_ns);
}

void blocker_ask(struct blocker *b, uint64_t due_ns)
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
        blocker_closed(b);
    else
        not_answered(b, o);
}
