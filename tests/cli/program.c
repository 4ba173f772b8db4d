/* SPDX-License-Identifier: MIT */
/* Two pipes and poll(2). */
#include "cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

static void become(const struct program_want *want, int out[2], int err[2])
{
    char *argv[40] = {"iodash"};
    int n = 1, null = open("/dev/null", O_RDONLY);
    int file = want->out ? open(want->out, O_WRONLY) : out[1];
    for (; want->words[n - 1] && n < 39; n++)
        argv[n] = (char *)want->words[n - 1];
    for (const char *const *e = want->env; e && *e; e++)
        putenv((char *)*e);
    if (null < 0 || file < 0 || dup2(null, 0) < 0 || dup2(file, 1) < 0 || dup2(err[1], 2) < 0)
        _exit(111);
    close_range(3, ~0u, 0);
    execv(getenv("IODASH_EXE"), argv);
    _exit(112);
}

void program_start(struct program *p, const struct program_want *want)
{
    int out[2], err[2];
    memset(p, 0, sizeof *p);
    if (!getenv("IODASH_EXE"))
        die("IODASH_EXE is not set");
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || (p->pid = fork()) < 0)
        die("cannot start a process: %s", strerror(errno));
    if (!p->pid)
        become(want, out, err);
    close(out[1]);
    close(err[1]);
    p->pipes[0] = out[0];
    p->pipes[1] = err[0];
}

static void take(struct program *p, int which)
{
    char *text = which ? p->err : p->out;
    size_t room = PROGRAM_TEXT - 1 - p->length[which];
    ssize_t n = read(p->pipes[which], text + p->length[which], room);
    if (n > 0) {
        p->length[which] += (size_t)n;
    } else {
        close(p->pipes[which]);
        p->pipes[which] = -1;
    }
}

/* One look; false when both ends are closed or nothing came for so long. */
static bool pump(struct program *p, int ms)
{
    struct pollfd fds[2] = {{.fd = p->pipes[0], .events = POLLIN},
                            {.fd = p->pipes[1], .events = POLLIN}};
    if ((p->pipes[0] < 0 && p->pipes[1] < 0) || poll(fds, 2, ms) <= 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (fds[i].revents)
            take(p, i);
    return true;
}

static int left_ms(uint64_t end)
{
    uint64_t now = clock_ns();
    return now < end ? (int)((end - now) / NS_PER_MS) + 1 : 0;
}

bool program_says(struct program *p, const char *text, int ms)
{
    uint64_t end = clock_ns() + (uint64_t)ms * NS_PER_MS;
    while (!strstr(p->err, text))
        if (!left_ms(end) || !pump(p, left_ms(end)))
            return strstr(p->err, text) != NULL;
    return true;
}

static void reap(struct program *p)
{
    int status = 0;
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    p->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    p->pid = 0;
    for (int i = 0; i < 2; i++)
        if (p->pipes[i] >= 0)
            close(p->pipes[i]);
    p->pipes[0] = p->pipes[1] = -1;
}

bool program_ends(struct program *p, int ms)
{
    uint64_t end = clock_ns() + (uint64_t)ms * NS_PER_MS;
    while (pump(p, left_ms(end)))
        ;
    bool ended = p->pipes[0] < 0 && p->pipes[1] < 0;
    if (!ended)
        kill(p->pid, SIGKILL);
    reap(p);
    return ended;
}

void program_stop(struct program *p)
{
    if (!p->pid)
        return;
    kill(p->pid, SIGKILL);
    reap(p);
}

int program_run(struct program *p, const struct program_want *want)
{
    program_start(p, want);
    return program_ends(p, 20000) ? p->status : -1;
}

int lines_of(const char *text)
{
    int n = 0;
    for (; *text; n++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return n;
}
