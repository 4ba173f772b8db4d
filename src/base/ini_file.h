/* SPDX-License-Identifier: MIT */
/* An INI file, key by key; whoever reads one says what a key means. What is wrong is named with the
 * file and the line. Thread: any. */
#ifndef BASE_INI_FILE_H
#define BASE_INI_FILE_H

#include "base/err.h"

struct ini_key {
    int line;
    const char *section; /* "" before the first */
    const char *name, *value;
};

/* 0, or -EINVAL and what is wrong with it. */
typedef int (*ini_take_fn)(void *ctx, const struct ini_key *key, struct err *e);

/* Hands each key to take, until one is refused. `what` is the kind of file ("plan"). 0, -EINVAL
 * with "PATH, line N: ...", or -errno of reading. */
int ini_file_read(const char *path, const char *what, ini_take_fn take, void *ctx, struct err *e);

/* The files of a folder without their ".ini", sorted; none where there is no such folder. */
#define INI_NAMES 64
#define INI_NAME 32
struct ini_names {
    int count;
    char name[INI_NAMES][INI_NAME];
};
void ini_names(const char *folder, struct ini_names *out);

#endif
