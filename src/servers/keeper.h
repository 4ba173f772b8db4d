/* SPDX-License-Identifier: MIT */
/* The process between us and a server that is not ours: it starts it, adopts what of it daemonises
 * (a child subreaper), keeps the end of its output and counts the CPU of what ended. However we
 * end, end of file on its lifeline makes it end all of them: TERM, then KILL. This memory is shared
 * with it: the owner's before the start, the keeper's afterwards. */
#ifndef SERVERS_KEEPER_H
#define SERVERS_KEEPER_H

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define KEEPER_FLAG "--keeper"
#define KEEPER_TEXT 8192 /* all words of its commands */
#define KEEPER_WORDS 64  /* of one command */
#define KEEPER_SAID 8192 /* the end of its output that is kept */
#define KEEPER_GRACE_MS 1000 /* between TERM and KILL */

enum keeper_state {
    KEEPER_BUILDS, /* or has not begun */
    KEEPER_RUNS,
    KEEPER_FAILED, /* the build did */
    KEEPER_ENDED   /* the server did: nothing of it is left, or what was started ended badly */
};

struct keeper {
    uint32_t magic, bytes;
    int32_t cpu_count; /* 0: its CPUs are ours */
    cpu_set_t cpus;    /* the server's */
    char folder[PATH_MAX]; /* of its files: it runs there; removed at the end */
    char built[PATH_MAX];  /* touched when the build is done */
    int32_t build_words, words; /* in `text`, those of the build first, each with its NUL */
    char text[KEEPER_TEXT];

    _Atomic int32_t state;
    _Atomic int32_t pid;          /* of what was started; 0: not yet */
    _Atomic int32_t group;        /* the process group of that, and of a build before it */
    _Atomic int32_t code, status; /* of its end, as in siginfo_t */
    _Atomic int64_t ended_cpu_ns; /* of all that ended and were waited for */
    _Atomic uint64_t said;        /* bytes of output so far; the last of them are kept */
    char output[KEEPER_SAID];
};

/* Makes one. Returns its memfd (close-on-exec) or -errno; keeper_free() unmaps it. */
int keeper_new(struct keeper **out, struct err *e);
void keeper_free(struct keeper *k);

/* Removes the folder of its server's files, for who starts no keeper. */
void keeper_clear(const struct keeper *k);

/* Appends a word. False: there is no room. */
bool keeper_add_word(struct keeper *k, const char *word, bool of_build);

/* The last lines of the output, printable, joined by " / ", as many as fit; "" when it said
 * nothing. Returns buf. */
char *keeper_last_lines(const struct keeper *k, char *buf, size_t size);

/* main() of `iodash --keeper FD`. */
int keeper_main(int argc, char **argv);

#endif
