/* SPDX-License-Identifier: MIT */
/* The machine under the figures: read once at start, the same in every line of a CSV. */
#ifndef SESSION_ENVIRON_H
#define SESSION_ENVIRON_H

#include "metrics/prices.h"

/* ENVIRONMENT(id, sentence): a text column env_ID. "" where it could not be read. */
#define ENVIRONMENT(X)                                                                             \
    X(host, "host name")                                                                           \
    X(kernel, "uname -sr")                                                                         \
    X(cpu, "CPU model")                                                                            \
    X(cpus, "CPUs this process may use")                                                           \
    X(mitigations, "CPU vulnerabilities with mitigations in force, in short")                      \
    X(nofile, "descriptor limit")                                                                  \
    X(somaxconn, "net.core.somaxconn")                                                             \
    X(clock, "current clocksource")                                                                \
    X(version, "version of iodash")

struct environment {
#define X(id, help) char id[128];
    ENVIRONMENT(X)
#undef X
    struct prices prices; /* of calls; the session fills them in */
};

/* All but the prices, which are not measured. */
void environment_read(struct environment *out);

#endif
