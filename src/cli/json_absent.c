/* SPDX-License-Identifier: MIT */
/* In place of json_c.c where the library was not there at build. */
#include <errno.h>

#include "cli/json.h"

int json_missing(struct err *e)
{
    return err_set(e, EINVAL,
                   "--format json: this build has no JSON; install libjson-c-dev and build again");
}

_Noreturn static void absent(void)
{
    die("JSON was asked for in a build that has none");
}

struct json *json_new(const char *command)
{
    (void)command;
    absent();
}

struct sink *json_table(struct json *j, const char *name)
{
    (void)j;
    (void)name;
    absent();
}

void json_print(struct json *j, FILE *out)
{
    (void)j;
    (void)out;
    absent();
}
