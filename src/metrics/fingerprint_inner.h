/* SPDX-License-Identifier: MIT */
/* What the files of the fingerprint share: in which call a thread sleeps, and what the descriptors
 * of its process are. */
#ifndef METRICS_FINGERPRINT_INNER_H
#define METRICS_FINGERPRINT_INNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* --- fingerprint_calls.c ---------------------------------------------------------------------- */

enum asleep_in {
    ASLEEP_ELSEWHERE, ASLEEP_SELECT, ASLEEP_POLL, ASLEEP_EPOLL, ASLEEP_RING, ASLEEP_AIO,
    ASLEEP_ACCEPT, ASLEEP_RECV, ASLEEP_SEND, ASLEEP_COUNT
};
extern const char *const asleep_words[ASLEEP_COUNT]; /* "", "select", "poll", "epoll", ... */

struct asleep {
    enum asleep_in in;
    unsigned long args[3];
};

/* Reads the text of a syscall file. False: the thread runs. */
bool asleep_parse(const char *text, struct asleep *out);

/* --- fingerprint_fds.c ------------------------------------------------------------------------ */

#define FDS_SEEN 65536 /* descriptors above are of no kind */

enum fd_kind { FD_UNKNOWN, FD_OTHER, FD_EPOLL, FD_LISTENER, FD_CONNECTION };

struct table { /* of descriptors: a process's, or of threads that have one of their own */
    pid_t pid, tid;
    int code; /* -errno of looking into it, 0 */
    uint8_t kinds[FDS_SEEN];
};

#define LISTENERS_MOST 64

struct sockets { /* what all processes' sockets say */
    int port;    /* that is served; 0: any */
    int rings;   /* io_uring descriptors */
    int backlog, queue; /* -1: no listener was found */
    int nagle_on, nagle_off; /* of so many connections */
    unsigned long listeners[LISTENERS_MOST]; /* inodes: a forked one is shared */
    int listener_count;
};

/* That of a thread, scanned; the caller frees. */
struct table *table_new(pid_t pid, pid_t tid, struct sockets *s);
bool table_shared(const struct table *t, pid_t tid); /* is it that thread's as well? */
/* Is this descriptor of the one the same open file as that of the other? */
bool table_same_file(const struct table *a, int fd_a, const struct table *b, int fd_b);

struct watched { /* a set of descriptors that a thread waits on */
    bool known;  /* could be read */
    bool epoll;  /* sockets stand in an epoll set, whatever waits for that */
    int count;
    int sockets; /* TCP sockets, and what could not be told */
    int shown, edge, once; /* of them no listener; with EPOLLET, with EPOLLONESHOT */
};
void table_watched(const struct table *t, const struct asleep *a, struct watched *out);

#endif
