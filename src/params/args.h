/* SPDX-License-Identifier: MIT */
/* Arguments of a command, from the parameter table, by getopt_long(3). Thread: main. */
#ifndef PARAMS_ARGS_H
#define PARAMS_ARGS_H

#include "params/axis.h"

#define ARGS_AXES 2
#define ARGS_TEXTS 32
#define ARGS_OPERANDS 64

struct args {
    struct params params;  /* one value each; an axis parameter holds its first value */
    struct options options; /* of one that was given several times the last */
    int text_count;         /* every option with a text, in the order given */
    struct option_text {
        enum option_id id;
        const char *text;
    } texts[ARGS_TEXTS];
    int axis_count;        /* 0 to 2 parameters were given as lists of more than one value */
    struct axis axes[ARGS_AXES];
    bool given[PARAM_COUNT];
    const char *operand[ARGS_OPERANDS]; /* words that are no options */
    int operand_count;
    int split; /* how many of them stand before "--"; all where there is none */
    bool help, version;
};

/* What a command takes. Lists of ids end with ""; NULL: all. */
struct args_rules {
    const char *const *accepts; /* options */
    bool no_params;
    int operands; /* most words that are no options */
    const char *const *params;
    const char *const *without; /* parameters that it does not take; NULL: none */
    bool one_value; /* parameters take no lists */
    const struct args_words *words; /* ends with id NULL; NULL: none */
};

/* What an option or a parameter is called in the help of a command for which the table's words are
 * wrong. */
struct args_words {
    const char *id, *argument, *help;
};

/* Parses argv[1..]. Returns 0 or -EINVAL with one line: unknown option (with the nearest), one that
 * this command does not take, bad value, a list too many, duration beside samples. Strings point
 * into argv. */
int args_parse(int argc, char **argv, const struct args_rules *rules, struct args *out,
               struct err *e);

/* Writes the option part of a --help: one or two lines an option, at most 100 columns, into a
 * malloc'd string that the caller frees. */
char *args_help(const struct args_rules *rules);

/* Can the option have this text? Only one whose argument is a choice refuses any. */
bool args_allows(enum option_id id, const char *text);

/* The text of an option by its id. */
const char **args_option(struct options *o, enum option_id option);

/* Does a command with these rules take this parameter? */
bool args_takes(const struct args_rules *rules, enum param_id id);

#endif
