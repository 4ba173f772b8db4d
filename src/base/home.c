/* SPDX-License-Identifier: MIT */
/* A variable counts only with an absolute path, as the XDG specification wants it. Folders are made
 * for this user alone. A pipe is refused before anything is read from it: nobody may ever write. */
#include "base/home.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *variable, *below;
} places[] = {
    [HOME_STATE] = {"XDG_STATE_HOME", ".local/state"},
    [HOME_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
    [HOME_CACHE] = {"XDG_CACHE_HOME", ".cache"},
};

int home_folder(enum home which, char *buf, size_t size, struct err *e)
{
    const char *xdg = getenv(places[which].variable), *home = getenv("HOME");
    int n;
    if (xdg && *xdg == '/')
        n = snprintf(buf, size, "%s/iodash", xdg);
    else if (home && *home == '/')
        n = snprintf(buf, size, "%s/%s/iodash", home, places[which].below);
    else
        return err_set(e, ENOENT, "there is no folder for it: neither %s nor HOME is set",
                       places[which].variable);
    return n >= (int)size ? err_set(e, ENAMETOOLONG, "the path of %s is too long",
                                    places[which].variable)
                          : 0;
}

int home_make(const char *folder, struct err *e)
{
    char *path = xstrdup(folder);
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    free(path);
    if (mkdir(folder, 0700) == 0 || errno == EEXIST)
        return 0;
    return err_sys(e, "make the folder %s", folder);
}

FILE *home_open(const char *path, const char *verb, struct err *e)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *f = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        if (S_ISREG(st.st_mode))
            f = fdopen(fd, "r");
        else
            errno = S_ISDIR(st.st_mode) ? EISDIR : EOPNOTSUPP;
    }
    if (f)
        return f;
    int code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
    if (code == EOPNOTSUPP)
        err_set(e, code, "%s %s: it is no regular file", verb, path);
    else
        err_sys(e, "%s %s", verb, path);
    errno = code;
    return NULL;
}
