/* SPDX-License-Identifier: MIT */
/* One self-pipe. A handler writes the signal's number and nothing else; a full pipe means that as
 * many are waiting already. A fatal signal is raised again with the action found at start (a
 * sanitizer's, or the default), so the program dies by what killed it. That may take a while, and
 * any thread may get it: so the one that draws is held first, or it would draw on what was given
 * back. Source: signal-safety(7). */
#include "ui/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const int told[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
enum { TOLD = sizeof told / sizeof *told };

static struct sigaction before[_NSIG];
static bool caught[_NSIG];
static int ends[2] = {-1, -1};
static void (*give_back)(void);
static pid_t drawer;      /* the thread that draws; 0: none */
static atomic_int leader; /* the thread whose fatal signal came first; 0: none */
static atomic_bool held;  /* the drawer draws no more */

static void on_told(int sig)
{
    int saved = errno;
    unsigned char byte = (unsigned char)sig;
    if (write(ends[1], &byte, 1) < 0) {
        /* full: the loop will wake all the same */
    }
    errno = saved;
}

static void hold_drawer(int sig)
{
    if (tgkill(getpid(), drawer, sig) == 0)
        while (!atomic_load(&held))
            poll(NULL, 0, 1);
}

static void on_fatal(int sig)
{
    int none = 0, me = gettid();
    if (!atomic_compare_exchange_strong(&leader, &none, me) && none != me) {
        if (me == drawer)
            atomic_store(&held, true);
        for (;;)
            pause(); /* the leader ends the program */
    }
    if (me != drawer)
        hold_drawer(sig);
    if (give_back)
        give_back();
    sigaction(sig, &before[sig], NULL);
    raise(sig); /* blocked until this handler returns */
}

/* Those that do nothing, stop the program or cannot be caught. All others end it, the real-time
 * ones too. */
static bool spares(int sig)
{
    static const int known[] = {SIGKILL, SIGSTOP, SIGTTIN, SIGTTOU, SIGCHLD, SIGURG};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == sig)
            return true;
    return false;
}

static void catch(int sig, const struct sigaction *with)
{
    if (!caught[sig] && sigaction(sig, with, &before[sig]) == 0)
        caught[sig] = true;
}

int signals_open(void (*restore)(void), struct err *e)
{
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_sys(e, "pipe for signals");
    give_back = restore;
    drawer = gettid();
    struct sigaction sa = {.sa_flags = SA_RESTART}, old;
    sigfillset(&sa.sa_mask);
    sa.sa_handler = on_told;
    for (int i = 0; i < TOLD; i++)
        catch(told[i], &sa);
    sa.sa_handler = on_fatal;
    sa.sa_flags = SA_ONSTACK;
    for (int sig = 1; sig < _NSIG; sig++) /* the library keeps some for itself and refuses them */
        if (!spares(sig) && sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            catch(sig, &sa); /* ignored: whoever started this wanted that */
    return 0;
}

void signals_close(void)
{
    if (ends[0] < 0)
        return;
    for (int sig = 1; sig < _NSIG; sig++)
        if (caught[sig])
            sigaction(sig, &before[sig], NULL);
    memset(caught, 0, sizeof caught);
    close(ends[0]);
    close(ends[1]);
    ends[0] = ends[1] = -1;
    give_back = NULL;
    drawer = 0;
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
