/* SPDX-License-Identifier: MIT */
/* A walk over the parameters that are a server's: each is honoured by both, by one or by none. */
#include "session/same.h"

#include <stdio.h>
#include <string.h>

#include "session/say.h"

static const struct {
    enum param_id id;
    const char *lacks; /* what a model that does not honour it does instead */
} policies[] = {
    {PARAM_workers, "has threads of its own"},
    {PARAM_backlog, "has a backlog of its own"},
    {PARAM_accept, "accepts in its own way"},
    {PARAM_buffer, "has buffers of its own"},
    {PARAM_events, "takes all that its wait finds"},
    {PARAM_nodelay, ""},
};

static void list(struct text *t, const char *text)
{
    say(t, "%s%s", t->used ? ", " : "", text);
}

static void list_policy(struct text *t, const struct row *r, enum param_id id)
{
    char value[48], all[80];
    params_show(id, params_get(&r->params, id), value, sizeof value);
    if (id == PARAM_workers)
        snprintf(all, sizeof all, "%s worker%s", value, r->params.workers == 1 ? "" : "s");
    else
        snprintf(all, sizeof all, "%s %s", param_table[id].id, value);
    list(t, all);
}

static void lacks(struct text *t, const struct pane *p, const char *what)
{
    say(t, "%s%s %s", t->used ? "; " : "", p->model, what);
}

/* Both were told the same; a server that is not ours does as it likes. */
static bool nagle_on(const struct row *r, const struct pane *p)
{
    return r->params.nodelay == 1 && *p->print.nagle && strcmp(p->print.nagle, "off") != 0;
}

static bool nagle_differs(struct text *t, const struct row *r, int pane)
{
    bool a = nagle_on(r, &r->panes[0]), b = nagle_on(r, &r->panes[pane]);
    if (pane && a != b)
        lacks(t, &r->panes[a ? 0 : pane], "leaves Nagle's algorithm on");
    return a || b;
}

/* Work that only one of them does is not the price of its call. */
static void work(struct text *t, const struct row *r, int pane)
{
    for (int i = 0; i <= pane && r->params.client_work > 0; i += pane ? pane : 1) {
        const struct pane *p = &r->panes[i];
        if (p->io && p->io->policies & POLICY_CLIENT_WORK)
            say(t, "%s%s works %s µs on every client at every wake: work, not its call",
                t->used ? "; " : "", p->model, num_whole(r->params.client_work).s);
    }
}

static void say_waits(struct text *t, const struct row *r, int pane)
{
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        const struct fingerprint *f = &r->panes[i].print;
        char text[160];
        if (!f->taken)
            continue;
        say(t, "%s%c %s", t->used ? "; " : "", 'A' + i, fingerprint_text(f, text, sizeof text));
        if (f->watched >= 0)
            say(t, ", watches %d", f->watched);
    }
}

void same_of(const struct row *r, int pane, const struct cpu_plan *cpus, struct same *out)
{
    struct text same = {out->same, sizeof out->same, 0};
    struct text differs = {out->differs, sizeof out->differs, 0};
    struct text waits = {out->waits, sizeof out->waits, 0};
    char cpu[24];
    memset(out, 0, sizeof *out);
    if (cpus) {
        snprintf(cpu, sizeof cpu, cpus->pinned ? "CPU %d" : "not pinned", cpus->server);
        list(&same, cpu);
    }
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        enum param_id id = policies[i].id;
        bool a = pane_honours(&r->panes[0], id), b = pane_honours(&r->panes[pane], id);
        const struct pane *odd = &r->panes[a ? pane : 0]; /* where a != b */
        if (id == PARAM_nodelay && nagle_differs(&differs, r, pane))
            continue;
        if (a && b)
            list_policy(&same, r, id);
        else if (pane && a != b && !(id == PARAM_events && odd->io && odd->io->target))
            lacks(&differs, odd, policies[i].lacks); /* how many events others take is not seen */
    }
    work(&differs, r, pane);
    say_waits(&waits, r, pane);
}
