/* SPDX-License-Identifier: MIT */
/* One self-pipe. A handler writes the signal's number and nothing else; a full pipe means that as
 * many are waiting already. A fatal signal is raised again with the action found at start (a
 * sanitizer's, or the default), so the program dies by what killed it. */
#include "ui/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static const int told[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS,    SIGFPE,  SIGILL,  SIGTRAP,
                            SIGSYS,  SIGXCPU, SIGPIPE,   SIGUSR1, SIGUSR2, SIGALRM,
                            SIGPROF, SIGPOLL, SIGVTALRM, SIGPWR,  SIGSTKFLT};
enum { TOLD = sizeof told / sizeof *told, FATAL = sizeof fatal / sizeof *fatal };

static struct sigaction told_before[TOLD], fatal_before[FATAL];
static int ends[2] = {-1, -1};
static void (*give_back)(void);

static void on_told(int sig)
{
    int saved = errno;
    unsigned char byte = (unsigned char)sig;
    if (write(ends[1], &byte, 1) < 0) {
        /* full: the loop will wake all the same */
    }
    errno = saved;
}

static void on_fatal(int sig)
{
    if (give_back)
        give_back();
    for (int i = 0; i < FATAL; i++)
        if (fatal[i] == sig)
            sigaction(sig, &fatal_before[i], NULL);
    raise(sig); /* blocked until this handler returns */
}

int signals_open(void (*restore)(void), struct err *e)
{
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_sys(e, "pipe for signals");
    give_back = restore;
    struct sigaction sa = {.sa_flags = SA_RESTART};
    sigfillset(&sa.sa_mask);
    sa.sa_handler = on_told;
    for (int i = 0; i < TOLD; i++)
        sigaction(told[i], &sa, &told_before[i]);
    sa.sa_handler = on_fatal;
    sa.sa_flags = SA_ONSTACK;
    for (int i = 0; i < FATAL; i++) {
        sigaction(fatal[i], NULL, &fatal_before[i]);
        if (fatal_before[i].sa_handler != SIG_IGN) /* whoever started this wanted that */
            sigaction(fatal[i], &sa, NULL);
    }
    return 0;
}

void signals_close(void)
{
    if (ends[0] < 0)
        return;
    for (int i = 0; i < TOLD; i++)
        sigaction(told[i], &told_before[i], NULL);
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &fatal_before[i], NULL);
    close(ends[0]);
    close(ends[1]);
    ends[0] = ends[1] = -1;
    give_back = NULL;
}

int signals_fd(void)
{
    return ends[0];
}

int signals_take(void)
{
    unsigned char byte;
    return ends[0] >= 0 && read(ends[0], &byte, 1) == 1 ? byte : 0;
}
