/* SPDX-License-Identifier: MIT */
/* Runs a program in a terminal of any size and looks at it as a person does. The program gets a pty
 * and a small shell with job control above it (so Ctrl-Z works, and the terminal outlives the
 * program); libvterm turns what it writes into a screen. Every wait is bounded. Thread: one. */
#ifndef TERMINAL_HARNESS_H
#define TERMINAL_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/* Waits are longer where the program runs under a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 5
#else
#define SLOW 1
#endif

struct tty;

struct tty_want {
    const char *program;     /* NULL: $IODASH_EXE */
    int rows, cols;          /* 0: 24 and 80 */
    const char *term;        /* TERM; NULL: xterm-256color, "": unset */
    const char *locale;      /* LC_ALL; NULL: C.UTF-8 */
    const char *const *env;  /* more of NAME=VALUE, NULL-ended; or NULL */
    const char *const *args; /* its arguments, NULL-ended; or NULL */
    bool bare;               /* no emulator: sizes that libvterm cannot take */
};

/* Starts it in an empty folder of its own. Never NULL: dies when there is no pty. */
struct tty *tty_open(const struct tty_want *want);
/* Kills what still runs and removes the folder. tty_close_all: teardown of a test. */
void tty_close(struct tty *t);
int tty_close_all(void **state);

pid_t tty_pid(const struct tty *t);
const char *tty_folder(const struct tty *t);

void tty_keys(struct tty *t, const char *bytes);
void tty_resize(struct tty *t, int rows, int cols);
void tty_signal(struct tty *t, int number);
void tty_foreground(struct tty *t); /* fg, after it was stopped */

void tty_hang_up(struct tty *t);    /* the terminal is gone; only its end can be waited for */

/* Takes what the program writes for so long. */
void tty_pump(struct tty *t, int ms);

typedef bool (*tty_fn)(struct tty *t, void *arg);

/* Until fn is true (looked at after each piece of output); false when ms passed or it ended. */
bool tty_until(struct tty *t, tty_fn fn, void *arg, int ms);
bool tty_until_text(struct tty *t, const char *text, int ms); /* stands on the screen */
bool tty_until_gone(struct tty *t, const char *text, int ms); /* stands there no more */
bool tty_until_ended(struct tty *t, int ms);
bool tty_until_stopped(struct tty *t, int ms);

/* Exit status as of a shell (128 + signal); -1 while it runs. */
int tty_status(const struct tty *t);

/* The screen as UTF-8, a line each, without trailing blanks; heap, the caller frees. */
char *tty_screen(struct tty *t);
/* A part of it: columns x .. x+w-1 of lines y .. y+h-1. */
char *tty_part(struct tty *t, int x, int y, int w, int h);
bool tty_shows(struct tty *t, const char *text);

/* Cells whose colours are not the terminal's own; *highest: the highest number of a colour. */
int tty_coloured(struct tty *t, int *highest);
/* Where the text stands, from 0; false: it does not. */
bool tty_find(struct tty *t, const char *text, int *x, int *y);

bool tty_cursor_visible(const struct tty *t);
bool tty_alternate(const struct tty *t); /* the alternate screen is shown */

/* Everything written so far. */
size_t tty_bytes(const struct tty *t);
const char *tty_raw(const struct tty *t);

/* The line discipline as it is now, and as it was before the program started. */
bool tty_modes_restored(const struct tty *t);

/* Prints the screen on stderr: for a failing test. */
void tty_dump(struct tty *t, const char *why);

/* Milliseconds of a clock that only goes forward. */
long long now_ms(void);

/* Children of that process whose command line contains the word; at most max. Ended ones that were
 * not waited for do not count. */
int children_of(pid_t parent, const char *word, pid_t *out, int max);
bool process_runs(pid_t pid);

#endif
