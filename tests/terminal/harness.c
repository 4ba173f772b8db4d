/* SPDX-License-Identifier: MIT */
/* The idea: test program - pty - shell (shell.c) - program under test. What comes out of the pty is
 * counted, kept as it came, and fed into libvterm, whose cells are the screen that a test looks at.
 * Nothing here sleeps without a bound. */
#include "terminal/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include "terminal/shell.h"
#include "terminal/tty.h"

#define TTY_MAX 8

static struct tty *open_ttys[TTY_MAX];

static void must(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "harness: %s: %s\n", what, strerror(errno));
        abort();
    }
}

long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* --- life ----------------------------------------------------------------------------------- */

static void take_report(struct tty *t)
{
    struct report r;
    if (read(t->reports, &r, sizeof r) != sizeof r)
        return;
    if (r.kind == REPORT_STARTED)
        t->pid = r.value;
    else
        t->marks_due++;
    if (r.kind == REPORT_STOPPED)
        t->stopped = true;
    if (r.kind == REPORT_ENDED)
        t->status = r.value;
}

static void remember(struct tty *t)
{
    for (int i = 0; i < TTY_MAX; i++)
        if (!open_ttys[i]) {
            open_ttys[i] = t;
            return;
        }
    must(false, "too many terminals are open");
}

static void fork_shell(struct tty *t, const struct tty_want *want)
{
    struct winsize size = {.ws_row = (unsigned short)t->rows, .ws_col = (unsigned short)t->cols};
    int reports[2], commands[2], slave;
    must(pipe2(reports, O_CLOEXEC) == 0 && pipe2(commands, O_CLOEXEC) == 0, "pipe");
    must(openpty(&t->master, &slave, NULL, NULL, &size) == 0, "openpty");
    must(tcgetattr(t->master, &t->before) == 0, "tcgetattr");
    t->shell = fork();
    must(t->shell >= 0, "fork");
    if (t->shell == 0) {
        close(t->master);
        close(commands[1]);
        close(reports[0]);
        login_tty(slave);
        shell_main(want, t->folder, reports[1], commands[0]);
    }
    close(slave);
    close(reports[1]);
    close(commands[0]);
    t->reports = reports[0];
    t->commands = commands[1];
    fcntl(t->master, F_SETFD, FD_CLOEXEC);
    fcntl(t->master, F_SETFL, O_NONBLOCK);
}

struct tty *tty_open(const struct tty_want *want)
{
    struct tty *t = calloc(1, sizeof *t);
    must(t, "memory");
    t->rows = want->rows ? want->rows : 24;
    t->cols = want->cols ? want->cols : 80;
    t->status = -1;
    must(mkdtemp(scratch_path(t->folder, "test-XXXXXX")), "mkdtemp");
    signal(SIGPIPE, SIG_IGN);
    fork_shell(t, want);
    if (!want->bare)
        emulator_open(t);
    remember(t);
    take_report(t);
    must(t->pid > 0, "the program did not start");
    return t;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
    (void)s, (void)kind, (void)f;
    return remove(path);
}

void tty_close(struct tty *t)
{
    if (t->status < 0)
        kill(t->pid, SIGKILL);
    tty_until_ended(t, 5000);
    close(t->commands);
    close(t->reports);
    if (t->master >= 0)
        close(t->master);
    kill(t->shell, SIGKILL);
    waitpid(t->shell, NULL, 0);
    if (t->vt)
        vterm_free(t->vt);
    nftw(t->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    for (int i = 0; i < TTY_MAX; i++)
        if (open_ttys[i] == t)
            open_ttys[i] = NULL;
    free(t->raw);
    free(t);
}

int tty_close_all(void **state)
{
    (void)state;
    for (int i = 0; i < TTY_MAX; i++)
        if (open_ttys[i])
            tty_close(open_ttys[i]);
    return 0;
}

/* --- input and output ------------------------------------------------------------------------ */

static void keep(struct tty *t, const char *bytes, size_t n)
{
    if (t->bytes + n + 1 > t->room) {
        t->room = 2 * (t->bytes + n + 1);
        t->raw = realloc(t->raw, t->room);
        must(t->raw, "memory");
    }
    memcpy(t->raw + t->bytes, bytes, n);
    t->bytes += n;
    t->raw[t->bytes] = 0;
}

/* Takes the shell's marks out of the bytes; returns how many are left. */
static size_t strip_marks(struct tty *t, char *bytes, size_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == SHELL_MARK)
            t->marks++;
        else
            bytes[left++] = bytes[i];
    return left;
}

/* All that was written before the last stop or end has arrived. */
static bool complete(const struct tty *t)
{
    return t->master < 0 || t->marks >= t->marks_due;
}

/* One piece of output or one report, waiting at most ms. False when there was nothing. */
static bool step(struct tty *t, int ms)
{
    char piece[16384];
    struct pollfd p[2] = {{.fd = t->master, .events = POLLIN},
                          {.fd = t->reports, .events = POLLIN}};
    if (t->status >= 0)
        p[1].fd = -1;
    if (poll(p, 2, ms) <= 0)
        return false;
    ssize_t n = read(t->master, piece, sizeof piece);
    if (n > 0) {
        size_t left = strip_marks(t, piece, (size_t)n);
        keep(t, piece, left);
        emulator_feed(t, piece, left);
        return true;
    }
    if (p[1].revents)
        take_report(t);
    return p[1].revents != 0;
}

void tty_pump(struct tty *t, int ms)
{
    long long end = now_ms() + ms;
    for (long long left = ms; left > 0; left = end - now_ms())
        step(t, (int)left);
}

bool tty_until(struct tty *t, tty_fn fn, void *arg, int ms)
{
    long long end = now_ms() + ms;
    while (!fn(t, arg)) {
        long long left = end - now_ms();
        if (left <= 0)
            return false;
        if (!step(t, left < 20 ? (int)left : 20) && t->status >= 0 && complete(t))
            return fn(t, arg);
    }
    return true;
}

static bool text_there(struct tty *t, void *arg)
{
    return tty_shows(t, arg);
}

static bool text_gone(struct tty *t, void *arg)
{
    return !tty_shows(t, arg);
}

static bool ended(struct tty *t, void *arg)
{
    (void)arg;
    return t->status >= 0 && complete(t);
}

static bool stopped(struct tty *t, void *arg)
{
    (void)arg;
    return t->stopped && complete(t);
}

bool tty_until_text(struct tty *t, const char *text, int ms)
{
    return tty_until(t, text_there, (void *)text, ms);
}

bool tty_until_gone(struct tty *t, const char *text, int ms)
{
    return tty_until(t, text_gone, (void *)text, ms);
}

bool tty_until_ended(struct tty *t, int ms)
{
    return tty_until(t, ended, NULL, ms);
}

bool tty_until_stopped(struct tty *t, int ms)
{
    return tty_until(t, stopped, NULL, ms);
}

void tty_keys(struct tty *t, const char *bytes)
{
    ssize_t n = write(t->master, bytes, strlen(bytes));
    must(n == (ssize_t)strlen(bytes) || errno == EAGAIN, "write to the terminal");
}

void tty_resize(struct tty *t, int rows, int cols)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    t->rows = rows;
    t->cols = cols;
    if (t->vt)
        vterm_set_size(t->vt, rows, cols);
    ioctl(t->master, TIOCSWINSZ, &size);
}

void tty_signal(struct tty *t, int number)
{
    if (t->status < 0)
        kill(t->pid, number);
}

void tty_hang_up(struct tty *t)
{
    close(t->master);
    t->master = -1;
}

void tty_foreground(struct tty *t)
{
    t->stopped = false;
    must(write(t->commands, "f", 1) == 1, "write to the shell");
}

/* --- looks ----------------------------------------------------------------------------------- */

pid_t tty_pid(const struct tty *t)
{
    return t->pid;
}

const char *tty_folder(const struct tty *t)
{
    return t->folder;
}

int tty_status(const struct tty *t)
{
    return t->status;
}

size_t tty_bytes(const struct tty *t)
{
    return t->bytes;
}

const char *tty_raw(const struct tty *t)
{
    return t->raw ? t->raw : "";
}

bool tty_modes_restored(const struct tty *t)
{
    struct termios now;
    return tcgetattr(t->master, &now) == 0 && now.c_iflag == t->before.c_iflag &&
           now.c_oflag == t->before.c_oflag && now.c_cflag == t->before.c_cflag &&
           now.c_lflag == t->before.c_lflag &&
           memcmp(now.c_cc, t->before.c_cc, sizeof now.c_cc) == 0;
}
