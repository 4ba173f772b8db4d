/* SPDX-License-Identifier: MIT */
/* The real binary ($IODASH_EXE) as a subprocess, with what it says kept apart by stream and every
 * wait bounded. Thread: one. */
#ifndef TESTS_CLI_PROGRAM_H
#define TESTS_CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROGRAM_TEXT (1 << 17)

struct program {
    pid_t pid;  /* 0: ended */
    int status; /* exit status, or 128 + signal */
    int pipes[2];
    size_t length[2];
    char out[PROGRAM_TEXT], err[PROGRAM_TEXT]; /* stdout, stderr so far; NUL-terminated */
};

/* Starts it with these words (NULL-ended) and, NULL or so too, these NAME=VALUE on top of the
 * environment. stdin is /dev/null; stdout goes to the file `out` unless that is NULL. Dies when it
 * cannot. */
struct program_want {
    const char *const *words, *const *env;
    const char *out;
};
void program_start(struct program *p, const struct program_want *want);

/* Takes what it says until text stands in stderr; false when ms passed or it ended first. */
bool program_says(struct program *p, const char *text, int ms);

/* Takes what it says until it ends; false when ms passed first (and it was killed). */
bool program_ends(struct program *p, int ms);

/* Kills it if it still runs. */
void program_stop(struct program *p);

/* Starts and waits for the end; returns the exit status, -1 after 20 s. */
int program_run(struct program *p, const struct program_want *want);

/* Lines of a text; a last one without line break counts. */
int lines_of(const char *text);

#endif
