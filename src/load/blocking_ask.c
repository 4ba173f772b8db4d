/* SPDX-License-Identifier: MIT */
/* One connection of the blocking engine and one request over it. Threads count in a shard of the
 * CPU they run on, with atomic adds: rarely two at a time. They publish their CPU time each 50 ms,
 * so that reading the load's costs the same for 4000 threads as for one. */
#include <errno.h>
#include <sched.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "load/blocking.h"
#include "load/dial.h"

#define CPU_EVERY_NS (50 * NS_PER_MS)

enum outcome {
    REPLY_RIGHT,
    REPLY_LAST, /* right, and the server ends the connection */
    REPLY_NONE, /* none is waited for, and all is sent */
    REPLY_RESET,
    REPLY_TIMEOUT,
    REPLY_WRONG,
    NEVER_SENT,
    NO_CONNECTION
};

struct load_shard *blocker_shard(const struct blocker *b)
{
    const struct load *l = b->load;
    int cpu = sched_getcpu();
    return &l->shards[l->mux_limit + (cpu < 0 ? 0 : cpu) % (l->shard_count - l->mux_limit)];
}

/* --- the connection --------------------------------------------------------------------------- */

void blocker_set_fd(struct blocker *b, int fd)
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

static void note(bool *noted, _Atomic long *count)
{
    if (!*noted)
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    *noted = true;
}

void blocker_forget(struct blocker *b)
{
    blocker_set_turned(b, false);
    atomic_fetch_sub_explicit(&b->load->asked, b->asked, memory_order_relaxed);
    atomic_fetch_sub_explicit(&b->load->served, b->answered, memory_order_relaxed);
    b->asked = b->answered = false;
}

static bool called_off(void *ctx)
{
    const struct blocker *b = ctx;
    uint32_t word = word_get(b->load);
    return word != b->word && !phase_in_turn(word & WORD_PHASE);
}

void blocker_linked(struct blocker *b, bool linked)
{
    struct load_counters *counts = &blocker_shard(b)->counts;
    if (b->linked == linked)
        return;
    b->linked = linked;
    counter_add_shared(linked ? &counts->connects : &counts->closed, 1);
    atomic_fetch_add_explicit(&b->load->established, linked ? 1 : -1, memory_order_relaxed);
    b->served &= !linked;
}

static void connected(struct blocker *b, int fd)
{
    dial_blocking(fd, b->load->timeout_ns);
    net_buffers(fd, (int)b->load->spec.params.socket_buffer);
    blocker_set_fd(b, fd);
    blocker_linked(b, true);
    b->retry_ns = b->doubted ? clock_ns() + PROBATION_NS : 0;
}

static void not_connected(struct blocker *b, int code)
{
    b->retry_ns = clock_ns() + RETRY_NS;
    if (code == ECANCELED)
        return;
    load_note_trouble(b->load, code);
    if (b->counting)
        counter_add_shared(load_error_counter(&blocker_shard(b)->counts, code), 1);
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
    not_connected(b, -fd);
}

void blocker_shut(struct blocker *b)
{
    if (b->fd < 0)
        return;
    int fd = b->fd;
    blocker_set_fd(b, -1);
    net_close_reset(fd);
    blocker_linked(b, false);
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

/* Messages of a protocol without replies. */
static enum outcome flow_all(struct blocker *b, uint64_t messages)
{
    const uint8_t *bytes;
    size_t left;
    b->load->protocol->ask(&b->check, b->sequence, messages * b->size, b->ask);
    b->sequence += messages;
    while ((left = b->load->protocol->flow(&b->check, &bytes)) > 0) {
        ssize_t n = send(b->fd, bytes, left, MSG_NOSIGNAL);
        if (n > 0) {
            b->check.got += (uint64_t)n;
            counter_add_shared(&blocker_shard(b)->counts.sent_bytes, (uint64_t)n);
        } else if (errno == EAGAIN) {
            return REPLY_TIMEOUT;
        } else if (errno != EINTR) {
            return b->check.got || !b->pace.count ? REPLY_RESET : NEVER_SENT;
        }
    }
    return REPLY_NONE;
}

static enum outcome reply_outcome(struct blocker *b, int whole)
{
    if (whole < 0) {
        load_note_wrong(b->load, &b->check, true);
        return REPLY_WRONG;
    }
    return whole == PROTO_WHOLE_LAST ? REPLY_LAST : REPLY_RIGHT;
}

static enum outcome receive_all(struct blocker *b, uint64_t sent_ns)
{
    for (;;) {
        ssize_t n = recv(b->fd, b->buffer, sizeof b->buffer, 0);
        if (n > 0) {
            int whole = b->load->protocol->check(&b->check, b->buffer, (size_t)n);
            if (whole)
                return reply_outcome(b, whole);
            if (timed_out(b, sent_ns))
                return REPLY_TIMEOUT;
        } else if (n < 0 && errno == EAGAIN) {
            return REPLY_TIMEOUT;
        } else if (n == 0) {
            int whole = load_check_end(b->load, &b->check);
            return whole > 0 ? reply_outcome(b, whole) : REPLY_RESET;
        } else if (errno != EINTR) {
            return REPLY_RESET;
        }
    }
}

void blocker_publish_cpu(struct blocker *b, uint64_t now_ns)
{
    int64_t ns = clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
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
    counter_add_shared(&s->counts.got, 1);
    counter_add_shared(&s->counts.got_bytes, b->check.got);
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
    note(&b->answered, &b->load->served);
    if (--b->left == 0)
        load_note_spent(b->load, now);
    blocker_set_turned(b, false);
    if (b->load->fresh)
        fresh_leave(b);
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

/* Nothing comes back: a message that the socket has taken is done. */
static void flowed(struct blocker *b)
{
    uint64_t now = clock_ns();
    look_at_word(b);
    b->served = true;
    b->doubted = false;
    blocker_set_turned(b, false);
    if (now - b->cpu_at_ns >= CPU_EVERY_NS)
        blocker_publish_cpu(b, now);
}

static void count_sent(struct blocker *b, const struct request *r, uint64_t requests)
{
    struct load_shard *s = blocker_shard(b);
    if (!r->timed)
        return;
    counter_add_shared(&s->counts.sent, requests);
    if (b->pace.count)
        hist_add_shared(s->hists[LOAD_LATE], r->sent_ns - r->due_ns);
}

/* The connection of a request that began then. */
static enum outcome reach(struct blocker *b, uint64_t since_ns)
{
    int failed = b->load->fresh ? fresh_dial(b, since_ns) : 0;
    if (!failed)
        return REPLY_RIGHT;
    if (dial_was_connected(failed))
        return REPLY_RESET;
    if (failed == -ETIMEDOUT || failed == -ECANCELED)
        return REPLY_TIMEOUT;
    blocker_shut(b);
    not_connected(b, -failed);
    return NO_CONNECTION;
}

/* Sends a request and waits for its reply. */
static enum outcome ask(struct blocker *b, const struct request *r)
{
    size_t len = load_ask(b->load, &b->check, b->sequence++, b->size, b->ask);
    enum outcome o = reach(b, r->sent_ns);
    if (o == REPLY_RIGHT)
        o = send_all(b, len);
    if (o == NEVER_SENT && b->load->fresh)
        o = REPLY_RESET;
    if (o != REPLY_RIGHT)
        return o;
    note(&b->asked, &b->load->asked);
    counter_add_shared(&blocker_shard(b)->counts.asked, 1);
    count_sent(b, r, 1);
    return receive_all(b, r->sent_ns);
}

static enum outcome flow(struct blocker *b, const struct request *r)
{
    uint64_t messages = load_together(b->size, b->pace.count);
    enum outcome o = flow_all(b, messages);
    if (o == REPLY_NONE)
        count_sent(b, r, messages);
    return o;
}

/* False: the owner has called it off. After `waiting` is seen, or he would not know to
 * interrupt. */
static bool begin(struct blocker *b, struct request *r, uint64_t due_ns)
{
    atomic_store(&b->waiting, true);
    if (word_get(b->load) != b->word) {
        look_at_word(b);
        if (!b->in_turn || word_get(b->load) != b->word)
            return false;
    }
    r->sent_ns = clock_ns();
    r->due_ns = b->pace.count ? due_ns : r->sent_ns;
    r->timed = b->measuring && r->due_ns >= b->measure_ns;
    return true;
}

static void finish(struct blocker *b, const struct request *r, enum outcome o)
{
    if (o == REPLY_NONE)
        flowed(b);
    else if (o == REPLY_RIGHT || o == REPLY_LAST)
        answered(b, r);
    else if (o == NEVER_SENT)
        blocker_closed(b);
    else if (o != NO_CONNECTION)
        not_answered(b, o);
    if (o == REPLY_LAST && !b->load->fresh)
        blocker_closed(b);
}

void blocker_ask(struct blocker *b, uint64_t due_ns)
{
    struct request r;
    if (begin(b, &r, due_ns)) {
        enum outcome o = b->load->protocol->one_way ? flow(b, &r) : ask(b, &r);
        atomic_store(&b->waiting, false);
        finish(b, &r, o);
    }
    atomic_store(&b->waiting, false);
}
