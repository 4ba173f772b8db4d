/* SPDX-License-Identifier: MIT */
/* The commands of the command line: one row in main.c, one file each. Each returns the exit status
 * (0 done, 1 the system says no, 2 wrong usage, 3 a condition failed, 130 interrupted) and is the
 * only place that prints. argv[0] is the command's word. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "params/args.h"

struct command_line {
    const char *word;      /* "run"; "" is the dashboard */
    const char *synopsis;  /* "run [PARAM...] [-o FILE.csv]" */
    const char *summary;   /* one sentence */
    struct args_rules rules;
    int (*run)(const struct args *a);
    const char *notes;     /* more for its --help, in whole lines; NULL: nothing */
};

extern const struct command_line cli_table[];
extern const int cli_count;

int cli_dash(const struct args *a);
int cli_run(const struct args *a);
int cli_serve(const struct args *a);
int cli_load(const struct args *a);
int cli_list(const struct args *a);
int cli_claims(const struct args *a);
int cli_open(const struct args *a);
int cli_compare(const struct args *a);
int cli_plot(const struct args *a);
int cli_doctor(const struct args *a);

/* "models, targets, ...": all that `list` can print. Returns buf. */
char *cli_list_tables(char *buf, size_t size);

/* A first word that is no command but a part of the program started by itself ("--server-child"):
 * runs it, before anything else of this process, and returns true with its exit status. */
bool cli_child(int argc, char **argv, int *status);

/* Binds the tables to the parameters (params_bind), sets the locale, raises the descriptors. */
void cli_start(void);

/* The whole command line: picks the command, parses, runs it. Returns the exit status. */
int cli_main(int argc, char **argv);

/* "iodash: TEXT" on stderr, one line of printable text; returns status. */
int cli_fail(int status, const char *text);

/* Exit status of a -errno from args, plan or csv: EINVAL is 2, everything else 1. */
int cli_status(int error);

/* Flushes stdout: status, or 1 with a line when it could not be written (a full disk). */
int cli_flush(int status);

/* Can the locale show what is not ASCII? */
bool cli_utf8(void);

/* The soft descriptor limit before cli_start() raised it. */
long cli_nofile_before(void);

#endif
