/* SPDX-License-Identifier: MIT */
/* The idea: what an interactive shell does around a command, and nothing more: a process group of
 * its own, the foreground given and taken back, waitpid for stops. It never touches the line
 * discipline, so what the program leaves behind is what the test reads. */
#include "terminal/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int job_signals[] = {SIGTTOU, SIGTTIN, SIGTSTP, SIGINT, SIGQUIT};

static void job_signals_are(void (*action)(int))
{
    for (size_t i = 0; i < sizeof job_signals / sizeof *job_signals; i++)
        signal(job_signals[i], action);
}

static void set_environment(const struct tty_want *want, const char *folder)
{
    static const char *const clean[] = {"NO_COLOR", "COLUMNS", "LINES", "LANG", "LC_CTYPE"};
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
        unsetenv(clean[i]);
    setenv("TERM", want->term ? want->term : "xterm-256color", 1);
    if (want->term && !want->term[0])
        unsetenv("TERM");
    setenv("LC_ALL", want->locale ? want->locale : "C.UTF-8", 1);
    setenv("NCURSES_GPM_TERMS", "none", 1); /* of a console; its library leaks */
    setenv("XDG_STATE_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    for (int i = 0; want->env && want->env[i]; i++)
        putenv((char *)want->env[i]);
}

static _Noreturn void program(const struct tty_want *want, const char *folder)
{
    const char *argv[32] = {want->program ? want->program : getenv("IODASH_EXE")};
    for (int i = 0; want->args && want->args[i] && i < 30; i++)
        argv[i + 1] = want->args[i];
    setpgid(0, 0);
    tcsetpgrp(0, getpid());
    job_signals_are(SIG_DFL);
    set_environment(want, folder);
    if (argv[0] && chdir(folder) == 0)
        execv(argv[0], (char **)argv);
    fprintf(stderr, "harness: cannot start %s: %s\n",
            argv[0] ? argv[0] : "($IODASH_EXE is not set)", strerror(errno));
    _exit(126);
}

static void mark_output(void)
{
    const char mark = SHELL_MARK;
    if (write(STDOUT_FILENO, &mark, 1) != 1) {
        /* the terminal is gone: nobody waits for the mark */
    }
}

static void tell(int fd, int kind, int value)
{
    struct report r = {kind, value};
    if (write(fd, &r, sizeof r) != sizeof r)
        _exit(1);
}

/* Until the program took the place of our fork, or failed to: signals from then on are its own. */
static pid_t start(const struct tty_want *want, const char *folder)
{
    int begun[2];
    char byte;
    if (pipe2(begun, O_CLOEXEC) < 0)
        _exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGHUP, SIG_DFL);
        program(want, folder);
    }
    close(begun[1]);
    while (read(begun[0], &byte, 1) > 0) {
    }
    close(begun[0]);
    setpgid(pid, pid);
    tcsetpgrp(0, pid);
    return pid;
}

_Noreturn void shell_main(const struct tty_want *want, const char *folder, int reports,
                          int commands)
{
    char byte;
    int status = 0;
    job_signals_are(SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    pid_t pid = start(want, folder);
    tell(reports, REPORT_STARTED, pid);
    while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
        tcsetpgrp(0, getpgrp());
        mark_output();
        tell(reports, REPORT_STOPPED, 0);
        if (read(commands, &byte, 1) != 1)
            break;
        tcsetpgrp(0, pid);
        kill(-pid, SIGCONT);
    }
    tcsetpgrp(0, getpgrp());
    mark_output();
    tell(reports, REPORT_ENDED, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    while (read(commands, &byte, 1) > 0) {
    }
    _exit(0);
}
