/* SPDX-License-Identifier: MIT */
/* A fatal signal that another thread gets while the screen's draws on: nothing is drawn after the
 * terminal was given back, however long what comes then takes (a sanitizer's report, say). */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ui/signals.h"

enum { ENDED = 7, LONG_MS = 100, GIVES_UP_MS = 10000 };

static int out; /* 'x' drawn, 'R' given back, '!' what the signal did before */

static void put(char c)
{
    if (write(out, &c, 1) != 1)
        _exit(1);
}

static void restore(void)
{
    put('R');
}

static void found_at_start(int sig)
{
    (void)sig;
    put('!');
    usleep(LONG_MS * 1000);
    _exit(ENDED);
}

static void *raise_it(void *sig)
{
    usleep(5000);
    raise((int)(intptr_t)sig);
    return NULL;
}

/* Draws until it ends, threads others of which get the signal. None: it gets it itself. */
static void child(int sig, int threads)
{
    pthread_t t;
    struct sigaction sa = {.sa_handler = found_at_start};
    sigaction(sig, &sa, NULL);
    if (signals_open(restore, NULL) < 0)
        _exit(2);
    put('x');
    for (int i = 0; i < threads; i++)
        if (pthread_create(&t, NULL, raise_it, (void *)(intptr_t)sig) != 0)
            _exit(3);
    for (int ms = 0; ms < GIVES_UP_MS; ms++) {
        put('x');
        usleep(1000);
        if (threads == 0 && ms == 5)
            raise(sig);
    }
    _exit(4);
}

static void ends(int sig, int threads)
{
    static char said[2 * GIVES_UP_MS];
    int pipes[2], status;
    ssize_t n, size = 0;
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        out = pipes[1];
        child(sig, threads);
    }
    close(pipes[1]);
    while ((n = read(pipes[0], said + size, sizeof said - 1 - (size_t)size)) > 0)
        size += n;
    close(pipes[0]);
    said[size] = '\0';
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ENDED);
    size_t drawn = strspn(said, "x");
    assert_true(drawn > 0); /* the first before any thread began */
    assert_int_equal(said[drawn], 'R');
    size_t ended = strspn(said + drawn + 1, "!"); /* of each thread that was late for the first */
    assert_true(ended > 0);
    assert_string_equal(said + drawn + 1 + ended, "");
}

static void nothing_is_drawn_after_it(void **state)
{
    (void)state;
    static const int deadly[] = {SIGSEGV, SIGABRT, SIGUSR1, SIGTRAP};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        for (int threads = 0; threads <= 3; threads++)
            ends(deadly[i], threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_drawn_after_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
