/* SPDX-License-Identifier: MIT */
/* It is spawned, not forked, so that it starts from a clean image. The lifeline tells both ways: a
 * byte from the child says that it is ready, the end of file that it must stop. shutdown() ends it
 * even if another descriptor table of ours holds a copy. Sources: posix_spawn(3), waitid(2),
 * pidfd_open(2). */
#include "servers/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "servers/server.h"

static int set_up(posix_spawn_file_actions_t *files, posix_spawnattr_t *attr, int memfd,
                  int lifeline)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(files, memfd, SPAWN_MEMFD);
    posix_spawn_file_actions_adddup2(files, lifeline, SPAWN_LIFELINE);
    posix_spawnattr_setpgroup(attr, 0);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
}

static int start(pid_t *pid, const char *flag, int memfd, int lifeline, struct err *e)
{
    extern char **environ;
    char number[16], word[32], name[] = "iodash";
    char *argv[] = {name, word, number, NULL};
    const char *exe = server_exe();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    if (!exe)
        return err_set(e, ENOEXEC, "this program cannot be its own server: IODASH_EXE names one");
    snprintf(number, sizeof number, "%d", SPAWN_MEMFD);
    snprintf(word, sizeof word, "%s", flag);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    int rc = set_up(&files, &attr, memfd, lifeline);
    if (rc == 0)
        rc = posix_spawn(pid, exe, &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc == 0 ? 0 : err_set(e, rc, "cannot start %s: %s", exe, strerror(rc));
}

/* Both above the numbers that they get in the child, so that one dup2 does not hit the other. */
int spawn(const char *flag, int memfd, struct spawned *out, struct err *e)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(e, "socketpair");
    int header = fcntl(memfd, F_DUPFD_CLOEXEC, 10), theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
    close(pair[1]);
    out->lifeline = pair[0];
    int rc = header < 0 || theirs < 0 ? err_sys(e, "descriptors of a server")
                                      : start(&out->pid, flag, header, theirs, e);
    if (header >= 0)
        close(header);
    if (theirs >= 0)
        close(theirs);
    if (rc < 0)
        close(out->lifeline);
    else
        out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0); /* close-on-exec by itself */
    return rc;
}

bool spawned_ended(const struct spawned *s, siginfo_t *info)
{
    int rc;
    *info = (siginfo_t){0};
    do
        rc = waitid(P_PID, (id_t)s->pid, info, WEXITED | WNOHANG | WNOWAIT);
    while (rc < 0 && errno == EINTR);
    return rc < 0 || info->si_pid != 0;
}

bool spawned_wait(const struct spawned *s, int ms)
{
    uint64_t end = clock_ns() + (uint64_t)ms * NS_PER_MS;
    siginfo_t info;
    while (!spawned_ended(s, &info)) {
        uint64_t now = clock_ns();
        if (now >= end)
            return false;
        struct pollfd p = {.fd = s->pidfd, .events = POLLIN};
        /* Without a pidfd (negative: passed over) this only sleeps. */
        poll(&p, 1, s->pidfd >= 0 ? (int)((end - now) / NS_PER_MS) + 1 : 2);
    }
    return true;
}

bool spawned_stop(struct spawned *s, int ms)
{
    shutdown(s->lifeline, SHUT_RDWR);
    close(s->lifeline);
    bool late = !spawned_wait(s, ms);
    if (late)
        kill(s->pid, SIGKILL);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (s->pidfd >= 0)
        close(s->pidfd);
    return late;
}

char *spawn_end_text(int code, int status, char *buf, size_t size)
{
    const char *name = code == CLD_EXITED ? NULL : sigabbrev_np(status);
    if (code == CLD_EXITED)
        snprintf(buf, size, "exit %d", status);
    else if (name)
        snprintf(buf, size, "killed by SIG%s", name);
    else
        snprintf(buf, size, "killed by signal %d", status);
    return buf;
}
