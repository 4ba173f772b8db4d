/* SPDX-License-Identifier: MIT */
/* What the two engines share: the phase word that drives the threads, the pace's virtual clock, the
 * shards they count in, and how they come to rest. Only src/load includes this. */
#ifndef LOAD_ENGINE_H
#define LOAD_ENGINE_H

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "load/load.h"
#include "load/pace.h"
#include "net/protocol.h"

/* The word is a running number and a phase in its low bits, so that any order changes it. */
#define WORD_PHASE 7u
#define WORD_STEP 8u
enum { PHASE_CLOSE = LOAD_STOP + 1 };

#define RETRY_NS (100 * NS_PER_MS)      /* before a connection that failed is tried again */
#define TURNED_AWAY_NS (1 * NS_PER_S)   /* the same for one that the server closed at once */
#define PROBATION_NS (100 * NS_PER_MS)  /* a connection that failed before keeps quiet this long */

#define LOAD_HOUSEHOLD 64  /* descriptors of a table that are no connections */
#define LOAD_SHARED_PART 5 /* four models' loads and the household share one table */

struct load_shard {
    struct load_counters counts;
    _Atomic int64_t cpu_ns; /* blocking engine only */
    struct hist *hists[LOAD_HISTS];
};

/* What load_adjust() may change. */
struct load_want {
    uint32_t number;
    int connections, idle;
    double rate; /* PARAM_MAX: closed loop */
    uint64_t size;
};

struct mux;
struct mux_way;
struct blocker;

struct load {
    /* frozen after load_open() */
    struct load_spec spec;
    const struct protocol *protocol;
    uint64_t timeout_ns;
    bool blocking, spins;
    const struct mux_way *way; /* in which mux threads wait */
    /* keepalive off. Those that ask have no connection between two requests: when one is due they
     * connect, ask, check the reply, and end the connection by a reset or (fin) a FIN. Latency
     * counts from the connect(), which is the send then; so does the time-out. */
    bool fresh, fin;
    int mux_limit;   /* mux threads that may exist; their shards come first */
    int shard_count;
    bool own_tables; /* each mux thread has a descriptor table of its own */
    long queue_most; /* connections that may stand in the server's accept queue */
    uint64_t taken_before;
    struct load_shard *shards;

    /* the owner's */
    enum load_phase phase;
    uint64_t turn_ns; /* when the running turn began; 0: none runs */
    struct {
        uint64_t base, closed, seen, seen_ns;
    } unread; /* unread.c */
    struct mux **muxes;
    struct blocker **blockers;
    int mux_count, blocker_count;
    char said[128];

    /* under the lock */
    pthread_mutex_t lock;
    struct load_want want;
    double *phases; /* of the pace, by connection; NULL: closed loop */
    char trouble[128], wrong[80];
    int trouble_code;

    /* atomic. The first group is read after every reply and written a few times a turn. */
    _Alignas(128) _Atomic uint32_t word;
    _Atomic uint64_t virtual_ns; /* of the pace, at the start of this turn or the end of the last */
    _Atomic uint64_t offset_ns;  /* real minus virtual time in this turn */
    _Atomic uint64_t measure_ns; /* real time since when requests count; UINT64_MAX: they do not */
    _Atomic uint32_t threads;
    _Atomic uint32_t settings; /* running number of the settings in force */
    _Alignas(128) _Atomic uint64_t resting; /* word << 32 | threads that rest on it */
    _Atomic uint32_t all_rest;              /* the last word on which all came to rest */
    _Alignas(128) _Atomic long established;
    _Atomic long turned_away; /* connections that the server closed at once, now */
    _Atomic long begun;         /* connects that came or may come into the accept queue */
    _Atomic long asked, served; /* connections that ever asked; that ever got a right reply */
    _Atomic uint64_t spent_ns;  /* the latest end of a share of the budget */
};

static inline uint32_t word_get(const struct load *l)
{
    return atomic_load_explicit(&l->word, memory_order_acquire);
}

static inline bool phase_in_turn(uint32_t phase)
{
    return phase == LOAD_SETTLE || phase == LOAD_MEASURE;
}

/* How much of the budget connection i of n has to get; UINT64_MAX: there is no budget. */
static inline uint64_t load_quota(const struct load *l, int i, int n)
{
    uint64_t all = l->spec.budget, of = (uint64_t)n;
    return all && of ? all / of + ((uint64_t)i < all % of) : UINT64_MAX;
}

/* Connections that the server has taken out of its accept queue since load_open(); UINT64_MAX: it
 * is not ours, and nobody knows. */
uint64_t load_taken(const struct load *l);

/* A thread has its share of the budget. */
void load_note_spent(struct load *l, uint64_t now_ns);

/* A thread has nothing to do under this word; sleeps until there is another one. `rest` is the
 * thread's own copy for the owner. */
void load_rest(struct load *l, _Atomic uint32_t *rest, uint32_t word);

/* The settings in force, and the pace of the connections first, first + stride ... (stride 0: of
 * that one alone), which takes the place of what p was. */
struct load_want load_settings(struct load *l, struct pace *p, int first, int stride);

/* Keeps the first failure to open a connection (code > 0) as text. */
void load_note_trouble(struct load *l, int code);

/* The next request into buf[PROTO_ASK_MAX], and what checks its reply. Returns its length. */
static inline size_t load_ask(const struct load *l, struct proto_check *c, uint64_t sequence,
                              uint64_t size, uint8_t *buf)
{
    size_t n = l->protocol->ask(c, sequence, size, buf);
    if (!l->spec.request_length)
        return n;
    memcpy(buf, l->spec.request, l->spec.request_length);
    return l->spec.request_length;
}

/* How many messages that nobody replies to go together in one send: flat out as many whole ones as
 * make 16 KiB. On loopback a send contains the receiver's half of TCP, so with a call for each the
 * load would be slower than any server, and so many small packets fill a receive buffer by what the
 * kernel needs beside their bytes, until it drops some. */
static inline uint64_t load_together(uint64_t size, bool paced)
{
    return paced || size > 16384 ? 1 : 16384 / size;
}

/* The server ended the connection with a reply due: what check() says of that. */
static inline int load_check_end(const struct load *l, struct proto_check *c)
{
    return l->protocol->check(c, (const uint8_t *)"", 0);
}

/* Keeps what was wrong with the first reply that was, as text. due: a reply was. */
void load_note_wrong(struct load *l, const struct proto_check *c, bool due);

/* The counter of an error of connecting. */
_Atomic uint64_t *load_error_counter(struct load_counters *c, int code);

/* Starts a thread on the load's CPUs (cpu >= 0: on the cpu-th of them), all signals blocked, with
 * the stack in bytes (0: usual). Returns 0 or an errno number. */
struct load_thread {
    void *(*main)(void *);
    void *arg;
    size_t stack;
    int cpu;
};
int load_start_thread(const struct load *l, pthread_t *out, const struct load_thread *how);
int load_start_thread_on(const struct load_spec *spec, pthread_t *out,
                         const struct load_thread *how);

/* First of all in a thread of the load: sleeps that end on time (its timer slack to the least),
 * calls that cost no more than they must. */
void load_thread_setup(void);
/* A descriptor table of its own, with these n of the shared one. */
void load_take_table(struct load *l, const int *keep, int n);

/* unread.c: messages that nobody replies to and that the server has not read yet. A turn begins,
 * with none; waits until there are none again, at most timeout_ns, false when there are. lost: some
 * may never be read. */
void unread_begin(struct load *l);
bool unread_wait(struct load *l, uint64_t timeout_ns, bool lost);

/* mux.c: few threads, each with many connections. */
struct mux *mux_start(struct load *l, int index, int of, struct err *e);
void mux_wake(struct mux *m, uint32_t old_word); /* unless it sleeps on the word */
void mux_join(struct mux *m);                    /* after PHASE_CLOSE; frees */
pthread_t mux_thread(const struct mux *m);

/* blocking.c: one thread a connection. blocking_resize() starts and ends threads while PARKED;
 * returns 0 or -errno with how many there could be. blocking_interrupt() ends the waits of threads
 * that do not rest; blocking_stop() ends and frees all. */
int blocking_resize(struct load *l, int connections, struct err *e);
void blocking_interrupt(struct load *l, uint32_t old_word);
void blocking_stop(struct load *l);

/* load.c: gives all threads a new word with this phase. */
void load_publish(struct load *l, uint32_t phase);

#endif
