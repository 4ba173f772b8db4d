/* SPDX-License-Identifier: MIT */
/* Arguments of a command, from the parameter table, by getopt_long(3). Thread: main. */
#ifndef PARAMS_ARGS_H
#define PARAMS_ARGS_H

#include "params/axis.h"

#define ARGS_AXES 2

struct args {
    struct params params;  /* one value each; an axis parameter holds its first value */
    struct options options;
    int axis_count;        /* 0 to 2 parameters were given as lists of more than one value */
    struct axis axes[ARGS_AXES];
    bool given[PARAM_COUNT];
    const char *operand[4]; /* words that are no options */
    int operand_count;
    bool help, version;
};

/* Parses argv[1..]. `accepts` lists the options this command takes (option ids, "" ends it; NULL:
 * all); parameters are always taken unless `no_params`. Returns 0 or -EINVAL with one line: unknown
 * option (with the nearest), bad value, a third list, duration beside samples. Strings point into
 * argv. */
struct args_rules {
    const char *const *accepts;
    bool no_params;
    int operands; /* most words that are no options */
};
int args_parse(int argc, char **argv, const struct args_rules *rules, struct args *out,
               struct err *e);

/* Writes the option part of a --help: one or two lines an option, at most 100 columns, into a
 * malloc'd string that the caller frees. */
char *args_help(const struct args_rules *rules);

#endif
