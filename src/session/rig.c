/* SPDX-License-Identifier: MIT */
/* Keeps servers and connections between rows. Which parameters a server or a load cannot change
 * while it stands is in their table; everything else is adjusted in place. */
#include "session/rig.h"

#include <stdio.h>
#include <string.h>

#include "servers/target.h"

static bool same(const struct params *a, const struct params *b, enum param_renews what)
{
    for (int id = 0; id < PARAM_COUNT; id++)
        if (param_table[id].renews & what && params_get(a, id) != params_get(b, id))
            return false;
    return true;
}

static void server_counts_of(void *server, struct server_counts *out)
{
    server_read(server, out);
}

void rig_load_spec(const struct rig_pane *p, const struct params *params,
                   const struct cpu_plan *cpus, struct load_spec *out)
{
    *out = (struct load_spec){
        .params = *params,
        .cpus = cpus->load,
        .cpu_count = cpus->load_count,
        .own_cpus = cpus->pinned,
        .server_read = server_counts_of,
        .server_ctx = p->server,
    };
    server_address(p->server, &out->target);
    const struct target *t = server_model(p->server)->target;
    if (t) {
        out->server_read = NULL;
        out->request = t->request;
        out->request_length = t->request_length;
    }
}

static void pane_close(struct rig_pane *p)
{
    load_close(p->load);
    server_stop(p->server);
    memset(p, 0, sizeof *p);
}

static void pane_start(const struct rig *r, struct rig_pane *p, const struct io_model *model,
                       const struct params *want, const struct cpu_plan *cpus)
{
    struct err e = {{0}};
    if (io_model_probe(model, &e) < 0) {
        p->skipped = true;
        snprintf(p->trouble, sizeof p->trouble, "%.150s", e.text);
        return;
    }
    struct server_spec spec = {
        .model = model, .params = *want, .cpu = cpus->pinned ? cpus->server : -1,
        .orders = r->orders, .seen = r->seen};
    net_addr_parse("127.0.0.1:0", true, &spec.listen, NULL);
    p->server = server_start(&spec, &e);
    if (!p->server)
        snprintf(p->trouble, sizeof p->trouble, "%.150s", e.text);
}

void rig_load(struct rig_pane *p, const struct cpu_plan *cpus)
{
    struct err e = {{0}};
    struct load_spec spec;
    if (!p->server)
        return;
    if (!p->load || p->params.keepalive == KEEPALIVE_OFF)
        server_read(p->server, &p->found);
    if (workload_of(&p->params)->repeat)
        return;
    if (p->load) {
        load_adjust(p->load, &p->params);
        return;
    }
    rig_load_spec(p, &p->params, cpus, &spec);
    p->load = load_open(&spec, &e);
    p->before = (struct load_counts){0};
    if (!p->load)
        snprintf(p->trouble, sizeof p->trouble, "%.150s", e.text);
}

/* A pane whose ramp is over needs neither server nor load. */
static void pane_over(struct rig_pane *p)
{
    pane_close(p);
    p->skipped = true;
    snprintf(p->trouble, sizeof p->trouble, "its ramp ended with fewer clients");
}

static void pane_fit(const struct rig *r, struct rig_pane *p, const struct io_model *model,
                     const struct params *want, const struct cpu_plan *cpus)
{
    struct err why;
    bool sized = model->target && model->target->sized;
    bool keep = p->server && server_model(p->server) == model &&
                same(&p->params, want, RENEWS_SERVER) &&
                (!sized || params_same(p->params.size, want->size)) &&
                server_alive(p->server, &why);
    if (!keep)
        pane_close(p);
    bool loaded = workload_of(want)->repeat == NULL;
    if (p->load && (!loaded || !same(&p->params, want, RENEWS_LOAD) || !load_fits(p->load, want))) {
        load_close(p->load);
        p->load = NULL;
    }
    p->trouble[0] = '\0';
    p->skipped = false;
    p->usable = cpus->usable;
    if (!p->server)
        pane_start(r, p, model, want, cpus);
    p->params = *want;
}

void rig_fit(struct rig *r, const struct plan_row *want, const struct cpu_plan *cpus)
{
    for (int i = want->lineup.count; i < r->count; i++)
        pane_close(&r->panes[i]);
    r->count = want->lineup.count;
    for (int i = 0; i < r->count; i++)
        if (want->over & 1u << i)
            pane_over(&r->panes[i]);
        else
            pane_fit(r, &r->panes[i], want->lineup.models[i], &want->params, cpus);
}

bool rig_ready(const struct rig_pane *p, const struct workload *w)
{
    return p->server && (w->repeat || p->load);
}

void rig_drop(struct rig *r, int pane)
{
    pane_close(&r->panes[pane]);
}

void rig_close(struct rig *r)
{
    for (int i = 0; i < LINEUP_MAX; i++)
        pane_close(&r->panes[i]);
    r->count = 0;
}
