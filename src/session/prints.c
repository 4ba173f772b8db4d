/* SPDX-License-Identifier: MIT */
/* Looks at all servers of the row in turn, then waits a little, and again. A server that goes on
 * with the connections it has waits as it did before, so its row costs no time here. */
#include "session/prints.h"

#include <unistd.h>

#include "base/clock.h"

#define PROCESSES_MOST 256

static double connections(const struct rig_pane *p)
{
    return p->params.connections + p->params.idle;
}

static bool same_connections(const struct rig_pane *p)
{
    return p->print_connections == connections(p);
}

/* A place of a map takes less time than the looks would: there a new server is looked at only. */
static bool looked_at(const struct rig_pane *p)
{
    return p->print.taken && p->print_pid == server_pid(p->server) &&
           (same_connections(p) || row_asks_one(&p->params));
}

static struct fingerprint_taking *begin(struct rig_pane *p)
{
    struct net_addr at;
    pid_t pids[PROCESSES_MOST];
    if (!p->server || looked_at(p))
        return NULL;
    p->print_pid = server_pid(p->server);
    p->print_connections = connections(p);
    fingerprint_none(&p->print,
                     p->print_pid ? "it runs inside this program" : "its process is not known");
    if (p->print_pid == 0 || p->print_pid == getpid())
        return NULL;
    server_look(p->server);
    int n = server_processes(p->server, pids, PROCESSES_MOST);
    server_address(p->server, &at);
    return fingerprint_begin(n > 0 ? pids : &p->print_pid, n > 0 ? n : 1, net_addr_port(&at));
}

/* False: an order came. */
static bool look(struct session *s, struct fingerprint_taking **t, unsigned seen)
{
    bool stop = false;
    for (int k = 0; k < FINGERPRINT_LOOKS && !stop; k++) {
        if (k)
            stop = session_sleep(s, clock_ns() + FINGERPRINT_GAP_MS * NS_PER_MS, seen);
        for (int i = 0; i < s->rig.count && !stop; i++)
            if (t[i])
                fingerprint_look(t[i]);
    }
    return !stop;
}

void prints_take(struct session *s, struct row *row, unsigned seen)
{
    struct fingerprint_taking *t[LINEUP_MAX] = {0};
    bool any = false, whole = true;
    for (int i = 0; i < s->rig.count; i++) {
        t[i] = begin(&s->rig.panes[i]);
        any |= t[i] != NULL;
    }
    if (any)
        whole = look(s, t, seen);
    for (int i = 0; i < s->rig.count; i++) {
        struct rig_pane *p = &s->rig.panes[i];
        if (t[i])
            fingerprint_end(t[i], &p->print);
        p->print.taken &= whole;
        pthread_mutex_lock(&s->lock);
        row->panes[i].print = p->print;
        if (!same_connections(p))
            row->panes[i].print.watched = -1; /* it was others */
        pthread_mutex_unlock(&s->lock);
    }
}
