/* SPDX-License-Identifier: MIT */
/* The processes of a server that is not ours, by the parent that each has: those of a keeper, or a
 * process that was named and all below it. A process is its pid and its start time. Thread: one at
 * a time. */
#ifndef SERVERS_TREE_H
#define SERVERS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "metrics/proc.h"

#define TREE_MOST 256 /* processes; of more nothing is measured */

struct tree;

/* Everything below a process, and that one too if it belongs to it. */
struct tree_root {
    pid_t pid;
    bool itself;
    uint64_t start_ticks;            /* then its identity, with the pid */
    const _Atomic int64_t *ended_ns; /* CPU time of those that ended, as somebody counts it */
};
struct tree *tree_new(const struct tree_root *root);
void tree_free(struct tree *t);

/* Looks for members that have come, which takes some ms: outside of what is measured. Returns the
 * CPU time that those have used already. */
int64_t tree_look(struct tree *t);

/* CPU time of all members so far, and of their children that ended and were waited for; -1: there
 * are none, or too many. Never less than it was. */
int64_t tree_cpu_ns(struct tree *t);

/* The same by the ticks of those that live (proc_tick_ns()); it falls when one goes. */
int64_t tree_tick_ns(struct tree *t);

/* Sums over the members, as the stat file of one. 0 or -errno. */
int tree_stat(struct tree *t, struct proc_stat *out);

/* Sums over the members' threads; -1 each where they are too many to look at them. */
void tree_threads(struct tree *t, struct proc_thread *out);
void tree_extent(struct tree *t, struct proc_extent *out);

/* Pids of the members found by the last look, at most `most`. */
int tree_pids(const struct tree *t, pid_t *out, int most);

/* Kills the members that are still there. */
void tree_kill(struct tree *t);

/* Does the process that was named live? */
bool tree_lives(const struct tree *t);

/* All processes below a process now. Returns how many, at most `most`. */
int tree_find(pid_t root, pid_t *out, int most);

#endif
