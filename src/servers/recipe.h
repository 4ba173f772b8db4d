/* SPDX-License-Identifier: MIT */
/* How a server that is not ours is started: an INI file, assets/targets/NAME.ini, and a folder of
 * the same name beside it with its sources and templates (docs/targets.md has the format). Plain
 * data, frozen once read. */
#ifndef SERVERS_RECIPE_H
#define SERVERS_RECIPE_H

#include <limits.h>
#include <stdbool.h>

#include "params/params.h"
#include "servers/keeper.h"

struct recipe {
    char name[24], file[PATH_MAX], folder[PATH_MAX];
    char title[80], install[120], notes[400];
    char command[1024], build[1024], needs[1024]; /* as written */
    char files[256], data[64];
    int protocol;     /* index in protocol_table, of the first that it speaks */
    unsigned speaks;  /* all of them, as bits */
    int port;         /* one that it cannot be told to change; 0: any free one */
    double timeout_s; /* until it must listen */
    char problem[320]; /* of the file; "": none */
};

/* Reads PATH. What is wrong with it stands in `problem`, with file and line. */
void recipe_read(const char *path, struct recipe *out);

/* Does it say this placeholder ("{size}") in its command, or in a template of its? */
bool recipe_says(const struct recipe *r, const char *placeholder);

/* Can it be started here? 0, -EINVAL with the problem, or -ENOENT with what is missing and what to
 * install. */
int recipe_probe(const struct recipe *r, struct err *e);

/* recipe_fill.c: makes the folder of a server that is to listen on this port, with its files, and
 * gives the keeper its words. 0 or -errno with nothing left behind. */
int recipe_fill(const struct recipe *r, const struct params *p, int port, struct keeper *k,
                struct err *e);

/* The words of a command line: blanks part them, quotes hold them together ("..." with \" and \\ in
 * it, '...' as it stands). Fills words (they point into buf). Returns how many; -EINVAL: a quote
 * without its end, or more than KEEPER_WORDS. */
int recipe_words(const char *line, char *buf, size_t size, char **words);

/* What stands for a placeholder. */
struct recipe_values {
    int port, workers, backlog;
    long long size;
    const char *dir, *recipe, *targets, *cache, *protocol;
};

/* Writes text with its placeholders filled in. strict: one that is unknown is -EINVAL, else it
 * stays. -ENAMETOOLONG. */
int recipe_expand(const char *text, const struct recipe_values *v, bool strict, char *buf,
                  size_t size);

/* The path of a program, as exec would find it, also where administrators' programs are. False: it
 * is not there. */
bool recipe_program(const char *word, char *path, size_t size);

#endif
