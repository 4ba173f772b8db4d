/* SPDX-License-Identifier: MIT */
/* A server as a child process of this binary (spawn.h). It finds its header in the memfd, and says
 * by a byte on the lifeline that it listens. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "metrics/proc.h"
#include "servers/keeper.h"
#include "servers/place.h"

#define START_MS 10000
#define STOP_MS 800

static bool can_be_child; /* set before there are threads */

bool server_child(int argc, char **argv, int *status)
{
    can_be_child = true;
    if (argc < 2)
        return false;
    bool server = !strcmp(argv[1], "--server-child"), keeper = !strcmp(argv[1], KEEPER_FLAG);
    if (server || keeper)
        *status = server ? server_child_main(argc, argv) : keeper_main(argc, argv);
    return server || keeper;
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
    char how[48];
    const struct err *told = &s->shared->error;
    bool text = info->si_code == CLD_EXITED && told->text[0] &&
                shared_state_of(s->shared) == SHARED_FAILED;
    spawn_end_text(info->si_code, info->si_status, how, sizeof how);
    err_set(&s->why, EIO, "%s%s%s", how, text ? ": " : "", text ? told->text : "");
}

/* Looks whether the child ended, and leaves it a zombie. */
static bool has_ended(struct server *s)
{
    siginfo_t info;
    if (atomic_load(&s->ended))
        return true;
    if (!spawned_ended(&s->child, &info))
        return false;
    if (info.si_pid == 0)
        err_set(&s->why, EIO, "it ended and somebody else took its status");
    else
        describe_end(s, &info);
    atomic_store(&s->ended, true);
    return true;
}

/* --- start ------------------------------------------------------------------------------------ */

/* 0 once the child said that it listens. */
static int wait_ready(struct server *s, struct err *e)
{
    uint64_t end = clock_ns() + START_MS * NS_PER_MS;
    for (;;) {
        struct pollfd p = {.fd = s->child.lifeline, .events = POLLIN};
        uint64_t now = clock_ns();
        int rc = now < end ? poll(&p, 1, (int)((end - now) / NS_PER_MS) + 1) : 0;
        if (rc < 0 && errno == EINTR)
            continue;
        char byte;
        if (rc == 1 && recv(s->child.lifeline, &byte, 1, 0) == 1)
            return 0;
        if (rc == 0)
            return err_set(e, ETIMEDOUT, "the server did not listen within %d s", START_MS / 1000);
        break;
    }
    if (!spawned_wait(&s->child, STOP_MS) || !has_ended(s))
        return err_set(e, EIO, "the server closed its lifeline");
    if (shared_state_of(s->shared) == SHARED_FAILED && s->shared->error.text[0])
        return err_set(e, EIO, "%s", s->shared->error.text);
    return err_set(e, EIO, "the server ended at its start: %s", s->why.text);
}

static void process_stop(struct server *s)
{
    spawned_stop(&s->child, STOP_MS);
}

static int process_start(struct server *s, int memfd, struct err *e)
{
    s->shared->lifeline = SPAWN_LIFELINE;
    int rc = spawn("--server-child", memfd, &s->child, e);
    close(memfd);
    if (rc < 0)
        return rc;
    s->pid = s->child.pid;
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
