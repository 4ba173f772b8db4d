/* SPDX-License-Identifier: MIT */
/* A server that is not ours: a recipe by which it is started, or where it listens already and, if
 * that is known, which process it is; and what is asked of it. In a lineup it stands as a model
 * whose id is "target:NAME" or its address; server_start() on that model starts the recipe, or
 * nothing, and gives a handle with no counters, and with CPU and memory only where the process is
 * known. Plain data, frozen once parsed; whoever made it keeps it longer than the handle. Thread:
 * the owner's. */
#ifndef SERVERS_TARGET_H
#define SERVERS_TARGET_H

#include <sys/types.h>

#include "net/protocol.h"
#include "net/sock.h"
#include "servers/io_models.h"

struct recipe; /* servers/recipe.h */

struct target {
    struct io_model model; /* its `target` is this */
    char id[32];           /* "HOST:PORT" as typed, or as much of it; "target:NAME" */
    const struct recipe *recipe; /* starts it; NULL: it runs already, at addr */
    bool sized;            /* size is a part of its start */
    struct net_addr addr;
    int protocol;          /* index in protocol_table; of several the first, -1: none is known */
    unsigned speaks;       /* all of them, as bits */
    size_t request_length; /* 0: what is asked is the protocol's own request */
    char request[PROTO_ASK_MAX];
    bool knock;            /* its start looks whether anybody listens there */
    pid_t pid;             /* 0: not known */
    uint64_t start_ticks;  /* with pid: the process */
    char name[64];         /* of its program */
    char doubt[160];       /* why the CPU of that process is not measured; "" */
    const char *path;      /* what lies between: "loopback", "netns" or "network" */
};

/* Parses "http://HOST:PORT/PATH?QUERY" (no port: 80), "fetch://HOST:PORT", "echo://", "discard://"
 * or "HOST:PORT[/PATH]" (http) and resolves the name. 0; -EINVAL with what is wrong; -ENOENT: no
 * such name. */
int target_parse(const char *url, struct target *out, struct err *e);

/* HTTP: asks for a number of bytes, as of our own server, in place of the path. -EINVAL when a path
 * was given. */
int target_by_size(struct target *t, struct err *e);

/* The process behind it. -EINVAL: no number; -ESRCH: no such process; -EPERM: not visible to this
 * user; -EHOSTUNREACH: the address is not one of this machine. */
int target_process(struct target *t, const char *pid, struct err *e);

/* Of one that is attached to: as target_process(), but what cannot be read, or is not the process
 * that listens there, is no failure: no CPU is measured, and `doubt` says why. -EINVAL, -ESRCH. */
int target_attach_process(struct target *t, const char *pid, struct err *e);

/* Can it be started, or reached, here? 0 or -errno and why not. */
int target_probe(const struct target *t, struct err *e);

/* Local ports that a connection to it cannot take now: those of sockets in TIME_WAIT towards it,
 * where the kernel does not use them again after a second. */
long target_busy_ports(const struct target *t);

/* Does anybody listen there? One connection, closed at once; waits 5 s at most. */
int target_reach(const struct target *t, struct err *e);

#endif
