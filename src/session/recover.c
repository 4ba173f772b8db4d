/* SPDX-License-Identifier: MIT */
/* A file whose lock can be had has no owner any more. It is moved to a name of its own by a call
 * that one alone can win, so of several dashboards that start after a crash one says what it
 * found. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "session/autosave.h"

#define OWN "autosave-"
#define FOUND "recovered-"

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), tail = strlen(end);
    return n >= tail && strcmp(name + n - tail, end) == 0;
}

static bool abandoned(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool free_to_take = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return free_to_take;
}

/* Moves one; true when it was ours to take. */
static bool take(const char *folder, const char *name, char *to, size_t size)
{
    char from[800];
    snprintf(from, sizeof from, "%s/%s", folder, name);
    bool is_saved = ends(name, ".csv.saved"), is_temp = ends(name, ".tmp");
    if (!abandoned(from))
        return false;
    if (is_saved || is_temp) {
        unlink(from);
        return false;
    }
    snprintf(to, size, "%s/" FOUND "%s", folder, name + strlen(OWN));
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0;
}

static bool is_ours(const char *name)
{
    bool own = strncmp(name, OWN, strlen(OWN)) == 0;
    return (own && (ends(name, ".csv") || ends(name, ".csv.saved"))) ||
           (strncmp(name, "." OWN, strlen("." OWN)) == 0 && ends(name, ".tmp"));
}

int autosave_recover(const char *folder, char *path, size_t size)
{
    char to[800];
    int n = 0;
    DIR *d = opendir(folder);
    *path = '\0';
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!is_ours(e->d_name) || !take(folder, e->d_name, to, sizeof to))
            continue;
        if (n++ == 0 || strcmp(to, path) > 0) /* the name begins with the time */
            snprintf(path, size, "%s", to);
    }
    if (d)
        closedir(d);
    return n;
}

bool autosave_when(const char *path, char *buf, size_t size)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct tm tm = {0}, now;
    time_t t = time(NULL);
    if (strncmp(name, FOUND, strlen(FOUND)) != 0 ||
        !strptime(name + strlen(FOUND), "%Y%m%d-%H%M%S", &tm))
        return false;
    localtime_r(&t, &now);
    bool today = tm.tm_year == now.tm_year && tm.tm_yday == now.tm_yday;
    return strftime(buf, size, today ? "%H:%M" : "%d %b %H:%M", &tm) > 0;
}
