/* SPDX-License-Identifier: MIT */
/* iodash: a terminal laboratory for I/O models. A server's child process is this same binary; it
 * must not inherit what the program does at start (locale, limits), so it is told apart first. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    int status;
    if (cli_child(argc, argv, &status))
        return status;
    cli_start();
    return cli_main(argc, argv);
}
