/* SPDX-License-Identifier: MIT */
/* Drawing: the picture's name is reserved by making the file, script and data are written beside
 * it, gnuplot runs in their folder with all three as plain names there, and script and data go when
 * the picture has come. Every name begins with "./" for gnuplot: one that began with | or < would
 * be a command to it. */
#include "session/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assets.h"
#include "base/clock.h"

#define MOST_NS (60 * NS_PER_S)
#define NAMES 100

enum { PICTURE, SCRIPT, DATA, FILES };

struct plot_job {
    char *folder, *name[FILES]; /* names with their folder */
    bool made[FILES];
    pid_t pid;
    int said; /* what gnuplot writes */
    uint64_t begun_ns;
};

static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static void unmake(struct plot_job *j, int file)
{
    if (j->made[file])
        unlink(j->name[file]);
    j->made[file] = false;
}

static void job_free(struct plot_job *j)
{
    for (int i = 0; i < FILES; i++)
        free(j->name[i]);
    if (j->said >= 0)
        close(j->said);
    free(j->folder);
    free(j);
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *ending(const char *name)
{
    size_t n = strlen(base_of(name));
    const char *end = name + strlen(name) - 4;
    return n > 4 && (!strcmp(end, ".svg") || !strcmp(end, ".png")) ? end + 1 : NULL;
}

static int check_name(const char *name, struct err *e)
{
    char echo[64];
    params_echo(name, echo, sizeof echo);
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return err_set(e, EINVAL, "cannot draw %s: a control character is in the name", echo);
    if (!ending(name) || strlen(name) >= PATH_MAX)
        return err_set(e, EINVAL, "cannot draw %s: the name must end in .svg or .png", echo);
    return 0;
}

static int make_file(struct plot_job *j, int file, struct err *e)
{
    int fd = open(j->name[file], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return err_set(e, EEXIST, "cannot save %s: it exists already", j->name[file]);
    if (fd < 0)
        return err_sys(e, "cannot save %s", j->name[file]);
    j->made[file] = true;
    return fd;
}

static int write_file(struct plot_job *j, int file, const char *what, struct err *e)
{
    int fd = make_file(j, file, e);
    size_t left = strlen(what);
    if (fd < 0)
        return fd;
    for (ssize_t n; left > 0; what += n, left -= (size_t)n) {
        n = write(fd, what, left);
        if (n < 0 && errno != EINTR)
            break;
        n = n < 0 ? 0 : n;
    }
    int status = left > 0 ? err_sys(e, "cannot save %s", j->name[file]) : 0;
    if (close(fd) < 0 && status == 0)
        status = err_sys(e, "cannot save %s", j->name[file]);
    return status;
}

/* Script and data under the picture's name, or with a number behind where that is taken. */
static void name_beside(struct plot_job *j, int number)
{
    int stem = (int)strlen(j->name[PICTURE]) - 4;
    char more[16] = "";
    if (number)
        snprintf(more, sizeof more, "-%d", number);
    for (int i = SCRIPT; i <= DATA; i++) {
        free(j->name[i]);
        j->name[i] = xasprintf("%.*s%s%s", stem, j->name[PICTURE], more,
                               i == DATA ? ".dat" : ".gp");
    }
}

/* --- the script ------------------------------------------------------------------------------- */

static int append(FILE *to, const char *file, struct err *e)
{
    char path[PATH_MAX + 64], part[4096];
    snprintf(path, sizeof path, "%s/plots/%s.gp", assets_folder(), file);
    FILE *f = fopen(path, "re");
    if (!f)
        return err_sys(e, "%s", path);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        fwrite(part, 1, n, to);
    int status = ferror(f) ? err_sys(e, "%s", path) : 0;
    fclose(f);
    return status;
}

/* In single quotes only a quote is special: doubled it stands for itself. */
static void put_name(FILE *f, const char *variable, const char *name)
{
    fprintf(f, "%s = './", variable);
    for (; *name; name++) {
        if (*name == '\'')
            fputc('\'', f);
        fputc(*name, f);
    }
    fputs("'\n", f);
}

static char *script_of(const struct plot_job *j, const struct plot_text *t, struct err *e)
{
    char *all;
    size_t size;
    FILE *f = open_memstream(&all, &size);
    if (!f)
        die("out of memory for a script");
    fprintf(f, "# written by iodash; gnuplot runs it in this folder\npicture = '%s'\n",
            ending(j->name[PICTURE]));
    put_name(f, "output_name", base_of(j->name[PICTURE]));
    put_name(f, "data_name", base_of(j->name[DATA]));
    fputs(t->head, f);
    int status = append(f, "style", e);
    if (status == 0)
        status = append(f, plot_words[t->kind].id, e);
    if (fclose(f) != 0)
        die("out of memory for a script");
    if (status < 0) {
        free(all);
        return NULL;
    }
    return all;
}

static int write_both(struct plot_job *j, const struct plot_text *t, struct err *e)
{
    int status = -EEXIST;
    for (int i = 0; i < NAMES && status == -EEXIST; i++) {
        name_beside(j, i);
        char *script = script_of(j, t, e);
        if (!script)
            return -ENOENT;
        status = write_file(j, SCRIPT, script, e);
        if (status == 0)
            status = write_file(j, DATA, t->data, e);
        for (int k = SCRIPT; k <= DATA && status < 0; k++)
            unmake(j, k);
        free(script);
    }
    return status;
}

/* --- gnuplot ---------------------------------------------------------------------------------- */

static int spawn(struct plot_job *j)
{
    char *script = xasprintf("./%s", base_of(j->name[SCRIPT]));
    char *const argv[] = {"gnuplot", "-d", script, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, j->said, 1);
    posix_spawn_file_actions_adddup2(&files, j->said, 2);
    posix_spawn_file_actions_addchdir_np(&files, j->folder);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    int code = posix_spawnp(&j->pid, argv[0], &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    free(script);
    return -code;
}

static int left_beside(struct plot_job *j, int code, const char *why, struct err *e)
{
    unmake(j, PICTURE);
    return err_set(e, code, "%s; script and data are left beside: gnuplot %.90s draws it", why,
                   base_of(j->name[SCRIPT]));
}

static int begin(struct plot_job *j, const struct plot_text *t, struct err *e)
{
    int fd = make_file(j, PICTURE, e);
    if (fd < 0)
        return fd;
    close(fd);
    int status = write_both(j, t, e);
    if (status < 0)
        return status;
    j->said = memfd_create("gnuplot", MFD_CLOEXEC);
    j->begun_ns = clock_ns();
    int code = j->said < 0 ? -errno : spawn(j);
    if (code == -ENOENT)
        return left_beside(j, ENOENT, "gnuplot is not installed (apt-get install gnuplot-nox)", e);
    char why[120];
    snprintf(why, sizeof why, "gnuplot cannot be started: %s", strerror(-code));
    return code < 0 ? left_beside(j, -code, why, e) : 0;
}

struct plot_job *plot_start(const struct plot_text *t, const char *name, int *status,
                            struct err *e)
{
    const char *slash = strrchr(name, '/');
    *status = check_name(name, e);
    if (*status < 0)
        return NULL;
    struct plot_job *j = xcalloc(1, sizeof *j);
    j->said = -1;
    j->name[PICTURE] = xstrdup(name);
    int root = slash == name;
    j->folder = slash ? xasprintf("%.*s", (int)(slash - name) + root, name) : xstrdup(".");
    *status = begin(j, t, e);
    if (*status == 0)
        return j;
    unmake(j, PICTURE);
    job_free(j);
    return NULL;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The first line that says something. */
static const char *first_line(struct plot_job *j, char *buf, size_t size)
{
    ssize_t n = pread(j->said, buf, size - 1, 0);
    buf[n > 0 ? n : 0] = '\0';
    char *line = buf + strspn(buf, " \t\n^");
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static int judge(struct plot_job *j, int status, struct err *e)
{
    struct stat st;
    char said[160], why[240];
    bool there = stat(j->name[PICTURE], &st) == 0 && st.st_size > 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && there)
        return 0;
    if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "gnuplot was ended by signal %d", WTERMSIG(status));
    else
        snprintf(why, sizeof why, "gnuplot failed: %s", first_line(j, said, sizeof said));
    return left_beside(j, EIO, why, e);
}

int plot_end(struct plot_job *j, bool wait, struct err *e)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(j->pid, &status, WNOHANG)) == 0) {
        if (clock_ns() - j->begun_ns > MOST_NS)
            kill(j->pid, SIGKILL);
        else if (!wait)
            return 1;
        clock_sleep_until(clock_ns() + 10 * NS_PER_MS);
    }
    int result = ended < 0 ? left_beside(j, EIO, "gnuplot got lost", e) : judge(j, status, e);
    if (result == 0) {
        unmake(j, SCRIPT);
        unmake(j, DATA);
    }
    job_free(j);
    return result;
}

void plot_drop(struct plot_job *j)
{
    kill(j->pid, SIGKILL);
    while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < FILES; i++)
        unmake(j, i);
    job_free(j);
}

const char *plot_name(const struct plot_job *j)
{
    return j->name[PICTURE];
}
