/* SPDX-License-Identifier: MIT */
/* This binary as a child process: a clean image whatever we hold, with a memfd as descriptor 3 and
 * its end of a lifeline as 4. End of file on the lifeline, however we ended, tells it to stop. A
 * child that ended stays a zombie until spawned_reap(), so that its pid is nobody else's. Thread:
 * the owner's. */
#ifndef SERVERS_SPAWN_H
#define SERVERS_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define SPAWN_MEMFD 3
#define SPAWN_LIFELINE 4

struct spawned {
    pid_t pid;
    int lifeline, pidfd; /* pidfd below 0: the kernel has none */
};

/* Starts it with that flag and a copy of memfd. 0 or -errno with nothing left behind. */
int spawn(const char *flag, int memfd, struct spawned *out, struct err *e);

/* Has it ended? Then info says how; all zero: somebody else took its status. */
bool spawned_ended(const struct spawned *s, siginfo_t *info);

/* Waits at most ms for its end. */
bool spawned_wait(const struct spawned *s, int ms);

/* Closes the lifeline, kills it when it has not ended within ms, and reaps it. True: killed. */
bool spawned_stop(struct spawned *s, int ms);

/* "exit 3" or "killed by SIGSEGV", from a code and status of siginfo_t. Returns buf. */
char *spawn_end_text(int code, int status, char *buf, size_t size);

#endif
