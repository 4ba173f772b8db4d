/* SPDX-License-Identifier: MIT */
/* Why a process of its own: only a child subreaper becomes the parent of what daemonises, so that
 * nothing of the server escapes, and only a parent learns the CPU time of children that ended. It
 * sleeps in poll() on its lifeline, the output and SIGCHLD; it is one thread, so that fork() is
 * safe. Sources: prctl(2) (PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG), signalfd(2),
 * getrusage(2). */
#include "servers/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fds.h"
#include "servers/spawn.h"
#include "servers/tree.h"

#define MAGIC 0x494f444bu /* "IODK" */
#define PIPE_BYTES (1 << 20) /* what a process without rights may have */
#define PAUSE_NS_A_BYTE 20u  /* of the pipe: 50 MB/s can be said without waiting */

/* --- the memory ------------------------------------------------------------------------------- */

static struct keeper *map(int fd)
{
    void *p = mmap(NULL, sizeof(struct keeper), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

int keeper_new(struct keeper **out, struct err *e)
{
    int fd = memfd_create("iodash-keeper", MFD_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "memfd_create");
    if (ftruncate(fd, sizeof **out) < 0 || !(*out = map(fd))) {
        int rc = err_sys(e, "shared memory of a keeper");
        close(fd);
        return rc;
    }
    (*out)->magic = MAGIC;
    (*out)->bytes = sizeof **out;
    return fd;
}

void keeper_free(struct keeper *k)
{
    if (k)
        munmap(k, sizeof *k);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    remove(path);
    return 0;
}

void keeper_clear(const struct keeper *k)
{
    if (k->folder[0] == '/')
        nftw(k->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static size_t text_used(const struct keeper *k)
{
    size_t n = 0;
    for (int i = 0; i < k->build_words + k->words; i++)
        n += strlen(k->text + n) + 1;
    return n;
}

bool keeper_add_word(struct keeper *k, const char *word, bool of_build)
{
    size_t used = text_used(k), n = strlen(word) + 1;
    int32_t *count = of_build ? &k->build_words : &k->words;
    if (*count == KEEPER_WORDS || n > sizeof k->text - used)
        return false;
    memcpy(k->text + used, word, n);
    ++*count;
    return true;
}

/* --- what it said ----------------------------------------------------------------------------- */

static void keep_output(struct keeper *k, const char *bytes, size_t n)
{
    uint64_t said = atomic_load(&k->said);
    for (size_t i = n > KEEPER_SAID ? n - KEEPER_SAID : 0; i < n; i++)
        k->output[(said + i) % KEEPER_SAID] = bytes[i];
    atomic_store(&k->said, said + n);
}

/* Runs of blanks count as one, as dumps of a crash have many. The keeper may write on meanwhile: a
 * line may then be a mixture, which harms nobody. */
char *keeper_last_lines(const struct keeper *k, char *buf, size_t size)
{
    uint64_t end = atomic_load(&k->said), from = end > KEEPER_SAID ? end - KEEPER_SAID : 0;
    size_t n = 0;
    bool gap = false;
    char *all = xcalloc(1, 3 * KEEPER_SAID + 1); /* a line's end becomes " / " */
    for (uint64_t i = from; i < end; i++) {
        unsigned char c = (unsigned char)k->output[i % KEEPER_SAID];
        if (c == '\n' || c == '\r') {
            n -= n > 0 && all[n - 1] == ' ';
            gap = n > 0;
            continue;
        }
        if (c == '\t')
            c = ' ';
        if (c == ' ' && (gap || n == 0 || all[n - 1] == ' '))
            continue;
        if (gap)
            memcpy(all + n, " / ", 3), n += 3;
        gap = false;
        all[n++] = c < ' ' || c > '~' ? '?' : (char)c;
    }
    const char *tail = n < size ? all : all + n - (size - 1);
    const char *line = n < size ? NULL : strstr(tail, " / ");
    snprintf(buf, size, "%s", line ? line + 3 : tail);
    free(all);
    return buf;
}

/* --- the keeper's process --------------------------------------------------------------------- */

struct keeping {
    struct keeper *k;
    int lifeline, signals, output, output_in;
    uint64_t pause_ns, pause_end_ns; /* between two readings of the output */
    pid_t pid;  /* of what was started last */
    bool ended; /* that one */
    bool building, stop;
};

static const char *word_at(const struct keeper *k, int i)
{
    const char *at = k->text;
    while (i-- > 0)
        at += strlen(at) + 1;
    return at;
}

static _Noreturn void become(struct keeping *g, bool build)
{
    char *argv[KEEPER_WORDS + 1];
    const struct keeper *k = g->k;
    int first = build ? 0 : k->build_words, n = build ? k->build_words : k->words;
    sigset_t none;
    for (int i = 0; i < n; i++)
        argv[i] = (char *)word_at(k, first + i);
    argv[n] = NULL;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (k->cpu_count && !build)
        sched_setaffinity(0, sizeof k->cpus, &k->cpus);
    dup2(g->output_in, STDOUT_FILENO);
    dup2(g->output_in, STDERR_FILENO);
    if (chdir(k->folder) == 0)
        execvp(argv[0], argv);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* As much as the pipe may hold, then not again at once: one that prints every request would have
 * this process woken by every line, on a CPU that is measured. */
static void read_output(struct keeping *g)
{
    static char bytes[1 << 16];
    ssize_t n;
    for (int i = 0; i < 16 && (n = read(g->output, bytes, sizeof bytes)) > 0; i++)
        keep_output(g->k, bytes, (size_t)n);
    g->pause_end_ns = clock_ns() + g->pause_ns;
}

static void start(struct keeping *g, bool build)
{
    g->building = build;
    g->ended = false;
    g->pid = fork();
    if (g->pid == 0)
        become(g, build);
    if (g->pid < 0) {
        dprintf(g->output_in, "cannot fork: %s\n", strerror(errno));
        g->ended = true;
        atomic_store(&g->k->code, CLD_EXITED);
        atomic_store(&g->k->status, 127);
    }
    atomic_store(&g->k->group, g->pid > 0 ? g->pid : 0);
    atomic_store(&g->k->pid, g->pid > 0 && !build ? g->pid : 0);
    if (g->ended)
        read_output(g); /* the reason comes before the news */
    if (g->ended || !build)
        atomic_store(&g->k->state, !g->ended ? KEEPER_RUNS : build ? KEEPER_FAILED : KEEPER_ENDED);
}

static int64_t ended_cpu_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * (int64_t)NS_PER_S +
           ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* Takes leave of all that ended; true when no child is left. */
static bool reap(struct keeping *g)
{
    siginfo_t info;
    for (;;) {
        info.si_pid = 0;
        int rc = waitid(P_ALL, 0, &info, WEXITED | WNOHANG);
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc < 0 || info.si_pid == 0)
            return rc < 0;
        atomic_store(&g->k->ended_cpu_ns, ended_cpu_ns());
        if (info.si_pid != g->pid)
            continue;
        g->ended = true;
        atomic_store(&g->k->code, info.si_code);
        atomic_store(&g->k->status, info.si_status);
    }
}

static bool ended_well(const struct keeping *g)
{
    return atomic_load(&g->k->code) == CLD_EXITED && atomic_load(&g->k->status) == 0;
}

/* What is built stays built as long as nothing beside it is newer. */
static void after_build(struct keeping *g)
{
    if (!ended_well(g)) {
        atomic_store(&g->k->state, KEEPER_FAILED);
        return;
    }
    int fd = open(g->k->built, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0)
        close(fd);
    start(g, false);
}

/* One that started a daemon and ended well is that daemon. */
static void children_ended(struct keeping *g)
{
    bool none = reap(g);
    if (!g->ended || atomic_load(&g->k->state) >= KEEPER_FAILED)
        return;
    read_output(g); /* its last words come before the news */
    if (g->building)
        after_build(g);
    else if (none || !ended_well(g))
        atomic_store(&g->k->state, KEEPER_ENDED);
}

static void take_signals(struct keeping *g)
{
    struct signalfd_siginfo info;
    while (read(g->signals, &info, sizeof info) == (ssize_t)sizeof info)
        g->stop |= info.ssi_signo != SIGCHLD;
    children_ended(g);
}

static void wait_more(struct keeping *g, int ms)
{
    uint64_t now = clock_ns();
    bool paused = now < g->pause_end_ns;
    if (paused) {
        int left = (int)((g->pause_end_ns - now) / NS_PER_MS) + 1;
        ms = ms < 0 || left < ms ? left : ms;
    }
    struct pollfd p[3] = {{.fd = g->signals, .events = POLLIN},
                          {.fd = paused ? -1 : g->output, .events = POLLIN},
                          {.fd = g->stop ? -1 : g->lifeline, .events = POLLIN}};
    if (poll(p, 3, ms) <= 0)
        return;
    g->stop |= p[2].revents != 0;
    if (p[1].revents)
        read_output(g);
    if (p[0].revents)
        take_signals(g);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void signal_all(int signal)
{
    static pid_t pids[4096];
    int n = tree_find(getpid(), pids, sizeof pids / sizeof *pids);
    for (int i = 0; i < n; i++)
        kill(pids[i], signal);
}

/* What one forks while it is told comes with the next telling. False: some are left. */
static bool end_by(struct keeping *g, int signal, int ms, int every_ms)
{
    uint64_t now = clock_ns(), end = now + (uint64_t)ms * NS_PER_MS, again = now;
    for (; !reap(g); now = clock_ns()) {
        if (now >= end)
            return false;
        if (now >= again) {
            signal_all(signal);
            again = now + (uint64_t)every_ms * NS_PER_MS;
        }
        wait_more(g, 10);
    }
    return true;
}

static void end_all(struct keeping *g)
{
    g->stop = true;
    if (!end_by(g, SIGTERM, KEEPER_GRACE_MS, 2 * KEEPER_GRACE_MS))
        end_by(g, SIGKILL, 10 * KEEPER_GRACE_MS, 50);
    keeper_clear(g->k);
}

static bool set_up(struct keeping *g)
{
    int pipes[2];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    g->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return false;
    g->output = pipes[0];
    g->output_in = pipes[1];
    fcntl(g->output, F_SETFL, O_NONBLOCK);
    fcntl(g->output, F_SETPIPE_SZ, PIPE_BYTES);
    int bytes = fcntl(g->output, F_GETPIPE_SZ);
    g->pause_ns = bytes > 0 ? (uint64_t)bytes * PAUSE_NS_A_BYTE : 0;
    return g->signals >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

int keeper_main(int argc, char **argv)
{
    int fd = argc > 2 ? atoi(argv[2]) : -1;
    prctl(PR_SET_NAME, "iodash-keeper");
    struct keeping g = {.k = fd == SPAWN_MEMFD ? map(fd) : NULL, .lifeline = SPAWN_LIFELINE};
    if (!g.k || g.k->magic != MAGIC || g.k->bytes != sizeof *g.k)
        return 2;
    fds_keep_only((int[]){SPAWN_LIFELINE}, 1);
    fcntl(SPAWN_LIFELINE, F_SETFD, FD_CLOEXEC);
    if (!set_up(&g))
        return 1;
    start(&g, g.k->build_words > 0);
    while (!g.stop)
        wait_more(&g, -1);
    end_all(&g);
    return 0;
}
