/* SPDX-License-Identifier: MIT */
#include "ui/fake_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct claims_run *last;

struct claims_run *fake_claims(void)
{
    return last;
}

static struct claim_try *find(const char *name)
{
    for (int i = 0; i < last->claims->count; i++)
        if (!strcmp(last->claims->list[i]->name, name))
            return &last->tries[i];
    die("no claim is called %s", name);
}

void fake_claim(const char *name, enum claim_verdict v, const char *brief, const char *figures)
{
    struct claim_try *t = find(name);
    *t = (struct claim_try){.state = TRY_RESTS, .tried = true, .result.verdict = v};
    snprintf(t->result.brief, sizeof t->result.brief, "%s", brief);
    snprintf(v == CLAIM_NOT_MEASURED ? t->result.reason : t->result.figures,
             sizeof t->result.reason, "%s", figures);
}

void fake_claim_state(const char *name, enum try_state state)
{
    find(name)->state = state;
}

/* --- claims_run.h ----------------------------------------------------------------------------- */

struct claims_run *claims_run_new(struct session *s, const struct claims *c)
{
    struct claims_run *r = xcalloc(1, sizeof *r);
    (void)s;
    r->claims = c;
    r->tries = xcalloc((size_t)c->count + 1, sizeof *r->tries);
    r->wanted = xcalloc((size_t)c->count + 1, sizeof *r->wanted);
    last = r;
    return r;
}

void claims_run_free(struct claims_run *r)
{
    if (!r)
        return;
    free(r->tries);
    free(r->wanted);
    free(r);
    last = NULL;
}

double claims_seconds(const struct claims *c, const bool *wanted)
{
    double seconds = 0;
    for (int i = 0; i < c->count; i++)
        seconds += !wanted || wanted[i] ? 8 : 0;
    return seconds;
}

bool claims_run_start(struct claims_run *r, const bool *wanted)
{
    if (r->running)
        return false;
    memcpy(r->wanted, wanted, (size_t)r->claims->count * sizeof *wanted);
    for (int i = 0; i < r->claims->count; i++)
        r->tries[i].state = wanted[i] ? TRY_WAITS : TRY_RESTS;
    r->running = true;
    r->starts++;
    return true;
}

void claims_run_stop(struct claims_run *r)
{
    r->stops++;
    r->running = false;
    for (int i = 0; i < r->claims->count; i++)
        r->tries[i].state = TRY_RESTS;
}

bool claims_run_wait(struct claims_run *r, uint64_t timeout_ns)
{
    (void)timeout_ns;
    return !r->running;
}

void claims_run_read(struct claims_run *r, struct claim_try *out)
{
    memcpy(out, r->tries, (size_t)r->claims->count * sizeof *out);
}
