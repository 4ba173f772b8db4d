/* SPDX-License-Identifier: MIT */
/* The list is a text file, a path a line, newest first. It is changed in place under a lock of the
 * file, so that several dashboards lose nothing of each other's; a lock that does not come soon is
 * done without. */
#include "session/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/home.h"

#define LIST_BYTES (STATE_RECENT * STATE_PATH)

bool state_folder(char *buf, size_t size)
{
    struct err none;
    return home_folder(HOME_STATE, buf, size, &none) == 0 && home_make(buf, &none) == 0;
}

static int state_open(const char *name, int flags)
{
    char folder[STATE_PATH], path[STATE_PATH + 32];
    if (!state_folder(folder, sizeof folder))
        return -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
}

bool state_first_start(void)
{
    int fd = state_open("seen", O_WRONLY | O_CREAT | O_EXCL);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno != EEXIST;
}

/* --- recent ---------------------------------------------------------------------------------- */

static void lock(int fd)
{
    for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0 && tries < 20; tries++)
        usleep(5000);
}

/* The whole list, NUL-terminated; "" where there is none. */
static char *read_list(int fd)
{
    char *text = xcalloc(LIST_BYTES + 1, 1);
    ssize_t n = pread(fd, text, LIST_BYTES, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* The next line of it into path, without what is no absolute path. False at the end. */
static bool next_path(char **at, char *path, size_t size)
{
    while (**at) {
        size_t n = strcspn(*at, "\n");
        bool good = **at == '/' && n < size;
        if (good)
            snprintf(path, size, "%.*s", (int)n, *at);
        *at += n + ((*at)[n] == '\n');
        if (good)
            return true;
    }
    return false;
}

int state_recent(struct recent out[STATE_RECENT])
{
    int fd = state_open("recent", O_RDONLY), n = 0;
    if (fd < 0)
        return 0;
    char *text = read_list(fd), *at = text;
    close(fd);
    while (n < STATE_RECENT && next_path(&at, out[n].path, sizeof out[n].path)) {
        struct stat st = {0};
        bool there = stat(out[n].path, &st) == 0;
        out[n].changed = st.st_mtime;
        snprintf(out[n].why_not, sizeof out[n].why_not, "%s",
                 there ? "" : errno == ENOENT ? "it is not there any more" : strerror(errno));
        n++;
    }
    free(text);
    return n;
}

void state_recent_add(const char *path)
{
    char line[STATE_PATH], *real = realpath(path, NULL);
    int fd = real && strlen(real) < STATE_PATH && !strchr(real, '\n')
                 ? state_open("recent", O_RDWR | O_CREAT)
                 : -1;
    if (fd >= 0) {
        lock(fd);
        char *old = read_list(fd), *at = old, *text = xcalloc(LIST_BYTES + 1, 1);
        size_t used = (size_t)snprintf(text, LIST_BYTES, "%s\n", real);
        for (int n = 1; n < STATE_RECENT && next_path(&at, line, sizeof line);)
            if (strcmp(line, real) != 0 && used + strlen(line) + 2 < LIST_BYTES) {
                used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s\n", line);
                n++;
            }
        if (pwrite(fd, text, used, 0) != (ssize_t)used || ftruncate(fd, (off_t)used) < 0)
            used = 0; /* a full disk: the list is not worth a word */
        free(old);
        free(text);
        close(fd);
    }
    free(real);
}
