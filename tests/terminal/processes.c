/* SPDX-License-Identifier: MIT */
/* Looks at processes through /proc: whether one runs, and who has whom for a parent. A zombie has
 * ended; in a container nobody may ever wait for it. */
#include "terminal/harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State and parent from the part of stat that no name can disturb. */
static bool read_stat(pid_t pid, char *state, int *parent)
{
    char path[64], line[1024] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = 0;
    const char *after = strrchr(line, ')');
    return after && sscanf(after, ") %c %d", state, parent) == 2;
}

bool process_runs(pid_t pid)
{
    char state;
    int parent;
    return read_stat(pid, &state, &parent) && state != 'Z' && state != 'X';
}

static bool command_contains(pid_t pid, const char *word)
{
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    return n > 0 && memmem(line, n, word, strlen(word)) != NULL;
}

int children_of(pid_t parent, const char *word, pid_t *out, int max)
{
    int count = 0, its_parent;
    char state;
    DIR *d = opendir("/proc");
    for (struct dirent *e = d ? readdir(d) : NULL; e && count < max; e = readdir(d)) {
        pid_t pid = atoi(e->d_name);
        if (pid > 0 && read_stat(pid, &state, &its_parent) && its_parent == parent &&
            state != 'Z' && command_contains(pid, word))
            out[count++] = pid;
    }
    if (d)
        closedir(d);
    return count;
}
