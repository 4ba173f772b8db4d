/* SPDX-License-Identifier: MIT */
/* Calls that fail, in programs linked with --wrap: as the environment variable TEST_FAULT says,
 * which a server's process inherits, "CALL:ERRNO:FROM:EVERY". */
#ifndef TESTS_SERVERS_FAULTS_H
#define TESTS_SERVERS_FAULTS_H

/* The error that this call of that name is to fail with, or 0. */
int fault(const char *name);

/* The call fails at its FROM-th time (from 0) and then every EVERY-th. */
void set_fault(const char *call, int code, int from, int every);

#endif
