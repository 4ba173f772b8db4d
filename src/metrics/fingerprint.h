/* SPDX-License-Identifier: MIT */
/* What a server waits with, read and not believed: the system calls that its threads sleep in, the
 * flags of its epoll sets, its accept queue and its connections, as the kernel shows them. For
 * models of ours and for servers that are not. It is taken while the server is parked: a look is
 * one reading of each thread, and some looks a few ms apart are better than one. What this user may
 * not see is -1 or "", with the reason. Sources: proc(5), pidfd_getfd(2), process_vm_readv(2),
 * tcp(7), sock_diag(7). Thread: one at a time. */
#ifndef METRICS_FINGERPRINT_H
#define METRICS_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whole numbers; -1: not known. X(id, sentence): a column seen_ID. */
#define FINGERPRINT_COUNTS(X)                                                                      \
    X(waiting, "threads that wait for sockets so")                                                 \
    X(threads, "threads of all its processes")                                                     \
    X(processes, "processes")                                                                      \
    X(watched, "descriptors in the sets that are waited on")                                       \
    X(rings, "io_uring descriptors")                                                               \
    X(backlog, "most connections that its accept queue holds")                                     \
    X(queue, "connections in it when it was looked at")

/* Words; "": not known. */
#define FINGERPRINT_WORDS(X)                                                                       \
    X(waits, "what it waits with: select, poll, epoll level, epoll edge, epoll one-shot, "         \
             "io_uring, accept, recv ...")                                                         \
    X(nagle, "Nagle's algorithm on its connections: on, off, some")                                \
    X(unknown, "what could not be read, and why")

struct fingerprint {
    bool taken; /* false: nobody looked */
#define X(id, help) int id;
    FINGERPRINT_COUNTS(X)
#undef X
#define X(id, help) char id[128];
    FINGERPRINT_WORDS(X)
#undef X
};

/* Nothing of it is known, for this reason. */
void fingerprint_none(struct fingerprint *out, const char *why);

#define FINGERPRINT_LOOKS 5
#define FINGERPRINT_GAP_MS 20

struct fingerprint_taking;

/* Of these processes, which serve this port. fingerprint_end() frees it. */
struct fingerprint_taking *fingerprint_begin(const pid_t *pids, int count, int port);
void fingerprint_look(struct fingerprint_taking *t);
void fingerprint_end(struct fingerprint_taking *t, struct fingerprint *out);

/* "select, 1 thread, backlog 100, Nagle on"; "" when nobody looked. Returns buf. */
char *fingerprint_text(const struct fingerprint *f, char *buf, size_t size);

#endif
