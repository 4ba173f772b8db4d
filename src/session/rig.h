/* SPDX-License-Identifier: MIT */
/* The servers and loads that stand while rows are measured. Between two rows whatever both need
 * stays up and connected. Thread: the runner's. */
#ifndef SESSION_RIG_H
#define SESSION_RIG_H

#include "base/cpus.h"
#include "metrics/fingerprint.h"
#include "load/workloads.h"
#include "servers/server.h"
#include "session/plan.h"
#include "session/split.h"

struct rig_pane {
    struct server *server;
    struct load *load; /* NULL for a repeated workload */
    struct params params;
    char trouble[160]; /* why it does not serve; "" when it does */
    struct values opened; /* what the last opening of connections gave */
    bool opened_new;      /* no sample holds it yet */
    struct load_counts before; /* of the load when its last row ended */
    struct server_counts found; /* the server's before these connections came: others were before */
    bool skipped;      /* its model cannot run here */
    double usable;     /* CPUs of the load */
    struct split split; /* where its workers stood when the row began */
    struct fingerprint print; /* of this process, with so many connections */
    pid_t print_pid;
    double print_connections;
};

struct rig {
    int count;
    const _Atomic unsigned *orders; /* a start is called off once this is not `seen`; or NULL */
    unsigned seen;
    struct rig_pane panes[LINEUP_MAX];
};

/* Makes the rig fit `want`: starts, keeps or stops servers, and closes loads that cannot be
 * adjusted to it. A pane that cannot be had has its trouble line and no server; the others go
 * on. */
void rig_fit(struct rig *r, const struct plan_row *want, const struct cpu_plan *cpus);

/* Begins to open what a pane's load lacks; the load tells when that is done. Nothing for a repeated
 * workload or a pane without a server. */
void rig_load(struct rig_pane *p, const struct cpu_plan *cpus);

/* Can this pane be measured? It has a server, and a load if the workload keeps one. */
bool rig_ready(const struct rig_pane *p, const struct workload *w);

/* Closes what a dead server leaves, so that the next rig_fit() starts it again. */
void rig_drop(struct rig *r, int pane);
void rig_close(struct rig *r);

/* The load of a pane as connect and the others want it. */
void rig_load_spec(const struct rig_pane *p, const struct params *params,
                   const struct cpu_plan *cpus, struct load_spec *out);

#endif
