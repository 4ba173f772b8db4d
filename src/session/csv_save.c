/* SPDX-License-Identifier: MIT */
/* Two files or none, and never over another: both are written under names of this process, flushed
 * to the disk, and only then moved to their own by a call that refuses an existing one (renameat2
 * NOREPLACE; link where a file system has no such flag). The tables go first, so that where the
 * samples stand (what `open` needs) both do. */
#include "session/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/csv_write.h"

#define NAMES_A_SECOND 1000

enum { TABLES, SAMPLES, FILES };

struct target {
    char *folder;
    char *name[FILES], *temp[FILES]; /* temp NULL: there is none */
};

/* Fills folder and names; looks at nothing. */
static int target_of(const char *name, struct target *t, struct err *e)
{
    int n = (int)strnlen(name, PATH_MAX);
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

    *t = (struct target){0};
    if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return err_set(e, EISDIR, "cannot save '%s': that is no file name", name);
    int root = slash == name;
    t->folder = slash ? xasprintf("%.*s", (int)(slash - name) + root, name) : xstrdup(".");
    if (n > 4 && strcmp(name + n - 4, ".csv") == 0 && name[n - 5] != '/')
        n -= 4;
    t->name[SAMPLES] = xasprintf("%.*s.csv", n, name);
    t->name[TABLES] = xasprintf("%.*s-tables.csv", n, name);
    return 0;
}

static void target_free(struct target *t)
{
    for (int i = 0; i < FILES; i++) {
        if (t->temp[i])
            unlink(t->temp[i]);
        free(t->temp[i]);
        free(t->name[i]);
    }
    free(t->folder);
}

static int no_such_name(const struct target *t, struct err *e)
{
    for (int i = FILES - 1; i >= 0; i--) {
        struct stat st;

        if (lstat(t->name[i], &st) == 0) /* lstat: a link to nowhere is a name, too */
            return err_set(e, EEXIST, "cannot save %s: it exists already", t->name[i]);
        if (errno != ENOENT)
            return err_sys(e, "cannot save %s", t->name[i]);
    }
    return 0;
}

/* Opens a new file in the folder. Returns its descriptor or -errno. */
static int temp_open(struct target *t, int i, struct err *e)
{
    static _Atomic unsigned number;
    int fd = -1;

    for (int tries = 0; tries < 100; tries++) {
        t->temp[i] = xasprintf("%s/.iodash-%ld-%u.tmp", t->folder, (long)getpid(),
                               atomic_fetch_add(&number, 1));
        fd = open(t->temp[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        int code = errno;
        free(t->temp[i]);
        t->temp[i] = NULL;
        errno = code;
        if (code != EEXIST)
            break; /* another machine's process may have this number on a shared folder */
    }
    return err_sys(e, "cannot save in folder %s", t->folder);
}

static int write_all(int fd, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, s, n);
        if (done == 0 || (done < 0 && errno != EINTR))
            return -1;
        if (done > 0) {
            s += done;
            n -= (size_t)done;
        }
    }
    return fsync(fd);
}

static int temp_write(struct target *t, int i, const char *s, size_t n, struct err *e)
{
    int fd = temp_open(t, i, e);

    if (fd < 0)
        return fd;
    int status = write_all(fd, s, n) < 0 ? err_sys(e, "cannot save %s", t->name[i]) : 0;
    if (close(fd) < 0 && status == 0)
        status = err_sys(e, "cannot save %s", t->name[i]);
    return status;
}

static int move_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return -1;
    if (link(from, to) != 0)
        return -1;
    unlink(from);
    return 0;
}

static int move_both(struct target *t, struct err *e)
{
    for (int i = 0; i < FILES; i++) {
        if (move_new(t->temp[i], t->name[i]) < 0) {
            int status = errno == EEXIST ? err_set(e, EEXIST, "cannot save %s: it exists already",
                                                   t->name[i])
                                         : err_sys(e, "cannot save %s", t->name[i]);
            if (i > 0)
                unlink(t->name[0]);
            return status;
        }
        free(t->temp[i]);
        t->temp[i] = NULL;
    }
    return 0;
}

static void folder_flush(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd); /* not every file system can; the files themselves are flushed */
        close(fd);
    }
}

int csv_image_save(const struct csv_image *image, const char *name, struct err *e)
{
    struct target t;
    int status = target_of(name, &t, e);

    if (status == 0)
        status = no_such_name(&t, e);
    if (status == 0)
        status = temp_write(&t, SAMPLES, image->samples, image->samples_size, e);
    if (status == 0)
        status = temp_write(&t, TABLES, image->tables, image->tables_size, e);
    if (status == 0)
        status = move_both(&t, e);
    if (status == 0)
        folder_flush(t.folder);
    target_free(&t);
    return status;
}

int csv_image_save_new(const struct csv_image *image, char *name, size_t size, struct err *e)
{
    char stamp[32];
    int status = -EEXIST;

    clock_stamp(stamp, sizeof stamp);
    for (int i = 0; status == -EEXIST && i < NAMES_A_SECOND; i++) {
        snprintf(name, size, i ? "iodash-%s-%d.csv" : "iodash-%s.csv", stamp, i);
        status = csv_image_save(image, name, e);
    }
    return status;
}

/* Makes and removes a file: only the attempt tells what quotas, mounts and rights allow. */
int csv_check(const char *name, struct err *e)
{
    struct target t;
    int status = target_of(name, &t, e);

    if (status == 0)
        status = no_such_name(&t, e);
    if (status == 0) {
        int fd = temp_open(&t, SAMPLES, e);
        status = fd < 0 ? fd : close(fd);
    }
    target_free(&t);
    return status;
}

/* --- images ---------------------------------------------------------------------------------- */

static void into_memory(int (*fn)(const struct csv_session *, FILE *), const struct csv_session *s,
                        char **text, size_t *size)
{
    FILE *f = open_memstream(text, size);

    if (!f || fn(s, f) < 0 || fclose(f) != 0)
        die("out of memory for the CSV");
}

void csv_image_make(const struct csv_session *s, struct csv_image *out)
{
    *out = (struct csv_image){0};
    into_memory(csv_samples, s, &out->samples, &out->samples_size);
    into_memory(csv_tables, s, &out->tables, &out->tables_size);
}

void csv_image_free(struct csv_image *i)
{
    free(i->samples);
    free(i->tables);
    *i = (struct csv_image){0};
}

int csv_save(const struct csv_session *s, const char *name, struct err *e)
{
    struct csv_image i;

    csv_image_make(s, &i);
    int status = csv_image_save(&i, name, e);
    csv_image_free(&i);
    return status;
}

int csv_save_new(const struct csv_session *s, char *name, size_t size, struct err *e)
{
    struct csv_image i;

    csv_image_make(s, &i);
    int status = csv_image_save_new(&i, name, size, e);
    csv_image_free(&i);
    return status;
}

int csv_save_memory(const struct csv_session *s, struct err *e)
{
    char *text;
    size_t size;
    int fd = memfd_create("iodash-session", MFD_CLOEXEC);

    if (fd < 0)
        return err_sys(e, "make a copy of the session");
    into_memory(csv_samples, s, &text, &size);
    int status = write_all(fd, text, size) < 0 ? err_sys(e, "make a copy of the session") : 0;
    free(text);
    if (status == 0)
        return fd;
    close(fd);
    return status;
}
