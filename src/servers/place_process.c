/* SPDX-License-Identifier: MIT */
/* A server as a child process of this binary. It is spawned, not forked, so that it starts from a
 * clean image whatever this process holds; it finds its header as descriptor 3 and the lifeline as
 * 4. The lifeline tells both ways: a byte from the child says that it listens, the end of file
 * (however the owner ended) that it must stop. shutdown() ends it even if another descriptor table
 * of ours holds a copy. A child that ended stays a zombie until server_stop(), so that its pid is
 * nobody else's. Sources: posix_spawn(3), waitid(2), pidfd_open(2). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "metrics/proc.h"
#include "servers/place.h"

#define START_MS 5000
#define STOP_MS 800
#define CHILD_MEMFD 3
#define CHILD_LIFELINE 4

static bool can_be_child; /* set before there are threads */

bool server_child(int argc, char **argv, int *status)
{
    can_be_child = true;
    if (argc < 2 || strcmp(argv[1], "--server-child"))
        return false;
    *status = server_child_main(argc, argv);
    return true;
}

const char *server_exe(void)
{
    const char *exe = getenv("IODASH_EXE");
    if (exe && *exe)
        return exe;
    return can_be_child ? "/proc/self/exe" : NULL;
}

/* --- how it ended ----------------------------------------------------------------------------- */

static void describe_end(struct server *s, const siginfo_t *info)
{
    const char *name = NULL;
    const struct err *told = &s->shared->error;
    if (info->si_code == CLD_EXITED) {
        bool text = shared_state_of(s->shared) == SHARED_FAILED && told->text[0];
        err_set(&s->why, EIO, "exit %d%s%s", info->si_status, text ? ": " : "",
                text ? told->text : "");
        return;
    }
    name = sigabbrev_np(info->si_status);
    if (name)
        err_set(&s->why, EIO, "killed by SIG%s", name);
    else
        err_set(&s->why, EIO, "killed by signal %d", info->si_status);
}

/* Looks whether the child ended, and leaves it a zombie. */
static bool has_ended(struct server *s)
{
    siginfo_t info = {0};
    int rc;
    if (atomic_load(&s->ended))
        return true;
    do
        rc = waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    while (rc < 0 && errno == EINTR);
    if (rc == 0 && info.si_pid == 0)
        return false;
    if (rc < 0)
        err_set(&s->why, EIO, "it ended and somebody else took its status");
    else
        describe_end(s, &info);
    atomic_store(&s->ended, true);
    return true;
}

/* Waits at most ms for the end of the child. */
static bool wait_ended(struct server *s, int ms)
{
    uint64_t end = clock_ns() + (uint64_t)ms * NS_PER_MS;
    while (!has_ended(s)) {
        uint64_t now = clock_ns();
        if (now >= end)
            return false;
        struct pollfd p = {.fd = s->pidfd, .events = POLLIN};
        /* Without a pidfd (negative: passed over) this only sleeps. */
        poll(&p, 1, s->pidfd >= 0 ? (int)((end - now) / NS_PER_MS) + 1 : 2);
    }
    return true;
}

/* --- start ------------------------------------------------------------------------------------ */

static int set_up_child(posix_spawn_file_actions_t *files, posix_spawnattr_t *attr, int memfd,
                        int lifeline)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(files, memfd, CHILD_MEMFD);
    posix_spawn_file_actions_adddup2(files, lifeline, CHILD_LIFELINE);
    posix_spawnattr_setpgroup(attr, 0);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
}

static int spawn(pid_t *pid, int memfd, int lifeline, struct err *e)
{
    extern char **environ;
    char number[16], flag[] = "--server-child", name[] = "iodash";
    char *argv[] = {name, flag, number, NULL};
    const char *exe = server_exe();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    if (!exe)
        return err_set(e, ENOEXEC, "this program cannot be its own server: IODASH_EXE names one");
    snprintf(number, sizeof number, "%d", CHILD_MEMFD);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    int rc = set_up_child(&files, &attr, memfd, lifeline);
    if (rc == 0)
        rc = posix_spawn(pid, exe, &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc == 0 ? 0 : err_set(e, rc, "cannot start %s: %s", exe, strerror(rc));
}

/* Both above the numbers that they get in the child, so that one dup2 does not hit the other. */
static int spawn_with_lifeline(struct server *s, int memfd, struct err *e)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(e, "socketpair");
    int header = fcntl(memfd, F_DUPFD_CLOEXEC, 10), theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
    close(pair[1]);
    s->lifeline = pair[0];
    s->shared->lifeline = CHILD_LIFELINE;
    int rc = header < 0 || theirs < 0 ? err_sys(e, "descriptors of a server")
                                      : spawn(&s->pid, header, theirs, e);
    if (header >= 0)
        close(header);
    if (theirs >= 0)
        close(theirs);
    if (rc < 0)
        close(s->lifeline);
    return rc;
}

/* 0 once the child said that it listens. */
static int wait_ready(struct server *s, struct err *e)
{
    uint64_t end = clock_ns() + START_MS * NS_PER_MS;
    for (;;) {
        struct pollfd p = {.fd = s->lifeline, .events = POLLIN};
        uint64_t now = clock_ns();
        int rc = now < end ? poll(&p, 1, (int)((end - now) / NS_PER_MS) + 1) : 0;
        if (rc < 0 && errno == EINTR)
            continue;
        char byte;
        if (rc == 1 && recv(s->lifeline, &byte, 1, 0) == 1)
            return 0;
        if (rc == 0)
            return err_set(e, ETIMEDOUT, "the server did not listen within %d s", START_MS / 1000);
        break;
    }
    if (!wait_ended(s, STOP_MS))
        return err_set(e, EIO, "the server closed its lifeline");
    if (shared_state_of(s->shared) == SHARED_FAILED && s->shared->error.text[0])
        return err_set(e, EIO, "%s", s->shared->error.text);
    return err_set(e, EIO, "the server ended at its start: %s", s->why.text);
}

static void process_stop(struct server *s)
{
    shutdown(s->lifeline, SHUT_RDWR);
    close(s->lifeline);
    if (!wait_ended(s, STOP_MS))
        kill(s->pid, SIGKILL);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (s->pidfd >= 0)
        close(s->pidfd);
}

static int process_start(struct server *s, int memfd, struct err *e)
{
    int rc = spawn_with_lifeline(s, memfd, e);
    close(memfd);
    if (rc < 0)
        return rc;
    s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0); /* close-on-exec by itself */
    rc = wait_ready(s, e);
    if (rc < 0)
        process_stop(s);
    return rc;
}

static bool process_alive(struct server *s, struct err *why)
{
    if (!has_ended(s))
        return true;
    if (why)
        *why = s->why;
    return false;
}

static int64_t process_cpu_ns(const struct server *s)
{
    return atomic_load(&s->ended) ? -1 : proc_cpu_ns(s->pid);
}

/* Another process's thread has no clock that we could read; the first figure of its schedstat is
 * the same in ns. */
static int64_t process_worker_cpu_ns(const struct server *s, int worker)
{
    char path[64], text[96];
    int tid = atomic_load(&s->shared->tids[worker]);
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)s->pid, tid);
    if (tid == 0 || atomic_load(&s->ended) || limits_read_file(path, text, sizeof text) <= 0)
        return -1;
    return strtoll(text, NULL, 10);
}

const struct placement place_process = {
    .start = process_start,
    .stop = process_stop,
    .alive = process_alive,
    .cpu_ns = process_cpu_ns,
    .worker_cpu_ns = process_worker_cpu_ns,
};
