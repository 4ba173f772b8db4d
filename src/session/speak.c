/* SPDX-License-Identifier: MIT */
/* A server that is not ours speaks one protocol or few, so a lineup with one in it is asked in one
 * of those; ours beside it speak them all. */
#include <errno.h>

#include "load/workloads.h"
#include "net/protocol.h"
#include "servers/targets.h"
#include "session/plan.h"

int plan_speak(const struct lineup *l, struct params *p, struct err *e)
{
    bool asked = !isnan(p->protocol);
    struct params usual = *p;
    int theirs;

    workload_resolve(&usual);
    int rc = targets_protocol(l, (int)usual.protocol, &theirs, e);
    if (rc < 0 || theirs < 0)
        return rc;
    if (asked && (int)p->protocol != theirs)
        return err_set(e, EINVAL, "--protocol %s: a server that is not ours speaks %s",
                       protocol_table[(int)p->protocol]->id, protocol_table[theirs]->id);
    p->protocol = theirs;
    return 0;
}

static bool any_target(const struct lineup *l)
{
    for (int i = 0; i < l->count; i++)
        if (l->models[i]->target)
            return true;
    return false;
}

static bool fixed(double protocol)
{
    return !isnan(protocol) && protocol_table[(int)protocol]->fixed;
}

int plan_speak_after(struct plan_row *want, const struct plan_row *before,
                     const struct params *given, struct err *e)
{
    struct params *p = &want->params;
    double was = p->protocol;
    bool now = any_target(&want->lineup), then = any_target(&before->lineup);
    /* Another workload brings another protocol by itself. */
    bool typed = then && was != before->params.protocol && p->workload == before->params.workload;

    if (!now && !then)
        return 0;
    if (!typed)
        p->protocol = now ? PARAM_UNSET : given->protocol;
    int rc = plan_speak(&want->lineup, p, e);
    if (rc == 0 && p->protocol != was && (fixed(p->protocol) || fixed(was)))
        p->size = fixed(p->protocol) ? PARAM_UNSET : given->size;
    if (rc == 0)
        rc = workload_check(p, e);
    if (rc == 0)
        workload_resolve(p);
    return rc;
}
