/* SPDX-License-Identifier: MIT */
/* The life of one server: a model with its workers, in a child process of this binary or as threads
 * inside; or one that is not ours. The handle is the owner's; counters are read from any thread;
 * start, stop and check belong to one thread. */
#ifndef SERVERS_SERVER_H
#define SERVERS_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "metrics/counters.h"
#include "metrics/gate.h"
#include "metrics/proc.h"
#include "net/sock.h"
#include "params/params.h"
#include "servers/io_models.h"

struct server;

struct server_spec {
    const struct io_model *model;
    struct params params;   /* workers backlog accept buffer events nodelay place protocol */
    struct net_addr listen; /* port 0: any */
    int cpu;                /* first worker's CPU, the next ones follow; -1: not pinned */
    /* A start that takes long is called off once this is another number; NULL: never. */
    const _Atomic unsigned *orders;
    unsigned seen;
};

/* Starts it and waits until it listens (at most 5 s; a target as long as its recipe says); of a
 * target that was attached to (servers/target.h) it is only the handle. NULL with one
 * line: the address is in use, the model cannot run here, the child died. The caller ends it with
 * server_stop(). */
struct server *server_start(const struct server_spec *spec, struct err *e);

/* Stops it within a second (a child that does not listen to its lifeline is killed), joins or reaps
 * it and frees the handle. NULL is fine. */
void server_stop(struct server *s);

const struct io_model *server_model(const struct server *s);
void server_address(const struct server *s, struct net_addr *out); /* with its real port */
pid_t server_pid(const struct server *s); /* our own when inside; 0: not known */

/* True while it runs. False with why ("killed by SIGKILL", "exit 1: TEXT") once it ended. */
bool server_alive(struct server *s, struct err *why);

/* Looks for processes of one that is not ours that have come since the last look, which takes some
 * ms: before and after what is measured. Returns the CPU time that those used already: it belongs
 * to the reading before. The owner's thread, as the next. */
int64_t server_look(struct server *s);

/* What its processes hold. -1 each inside, where it is ours too. */
void server_extent(struct server *s, struct proc_extent *out);

/* Pids of its processes as the last look found them, at most `most`; 0: not known. */
int server_processes(const struct server *s, pid_t *out, int most);

/* The process below which all of one that is not ours run: its keeper, or the topmost of them; 0:
 * there is none. */
pid_t server_root(const struct server *s);

/* Does it run on the CPU of its spec? One that was there before is where it likes. */
bool server_pinned(const struct server *s);

/* Has it counters? One that is not ours has none: what is read then are zeros. */
bool server_counted(const struct server *s);

/* Sum over its workers, at this moment. */
void server_read(const struct server *s, struct server_counts *out);
int server_workers(const struct server *s);
void server_read_worker(const struct server *s, int worker, struct server_counts *out);

/* How many troubles it told that did not end it (out of descriptors, a connection refused: one text
 * a second at most), and the latest text. latest may be NULL. Any thread. */
uint64_t server_troubles(const struct server *s, struct err *latest);

/* CPU time so far in ns: the child's CPU clock; inside, the sum of its threads' clocks; of one that
 * is not ours all its processes'. -1 when it is gone. */
int64_t server_cpu_ns(const struct server *s);

/* The same as ticks saw it (proc_tick_ns(); of children that ended exactly). -1: gone, or threads
 * of this process. */
int64_t server_tick_ns(const struct server *s);

/* The same of one worker's thread; -1 when it is not known. */
int64_t server_worker_cpu_ns(const struct server *s, int worker);

/* The stat file of its process. 0 or -errno: it is gone. The owner's thread, as the next. */
int server_stat(struct server *s, struct proc_stat *out);

/* What the scheduler did to its workers' threads, summed; -1 each where one of them cannot be read,
 * where they are too many to look at them between two turns, and for models that make threads of
 * their own. */
void server_threads(struct server *s, struct proc_thread *out);

/* Its gate (metrics/gate.h): sets the word; looks how it stands. A worker that sleeps in its wait
 * stands at a shut gate only once something woke it: a connection, say. Any one thread. */
void server_gate(struct server *s, enum gate_word word);
void server_gate_read(const struct server *s, struct gate_reading *out);

/* What main() asks first. True: this is the process of a server ("--server-child FD") or the keeper
 * of one that is not ours, which has run; *status is to be its exit status. Nothing is printed;
 * errors go into the shared header. */
bool server_child(int argc, char **argv, int *status);
int server_child_main(int argc, char **argv);

/* The binary to spawn: $IODASH_EXE, else this program where its main() asks server_child(). NULL:
 * another program, which would start itself anew without end. */
const char *server_exe(void);

#endif
