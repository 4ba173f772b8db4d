/* SPDX-License-Identifier: MIT */
/* ANSWER, WHY, TRUST. The answer ranks only what may be ranked; before three kept rounds it is called
 * a first guess; the reason is the counter that explains the main figure; the trust line says what
 * limited the figures and how small a difference could have been told. */
#include "session/answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "servers/target.h"
#include "session/answers_hold.h"
#include "session/say.h"

#define GUESS_ROUNDS 15

static bool is_target(const struct pane *p)
{
    return p->io && p->io->target;
}

static double mean_of(const struct row *r, int pane, enum metric_id m)
{
    return row_summary(r, pane, m).mean;
}

/* The ratio over warm-up rounds, while there is nothing better. */
static struct paired guess(const struct row *r, int pane)
{
    double a[GUESS_ROUNDS], b[GUESS_ROUNDS];
    int n = 0;
    const struct pane *pa = &r->panes[0], *pb = &r->panes[pane];
    for (int i = 0; i < pa->count && i < pb->count && n < GUESS_ROUNDS; i++, n++) {
        a[n] = pane_at(pa, i)->values.v[row_main(r)];
        b[n] = pane_at(pb, i)->values.v[row_main(r)];
    }
    return stats_paired(a, b, n, 0);
}

static void say_ratio(struct text *t, const struct row *r, int pane, const struct paired *p,
                      enum metric_id by)
{
    bool a_dearer = p->ratio >= 1;
    const char *dear = r->panes[a_dearer ? 0 : pane].model;
    const char *cheap = r->panes[a_dearer ? pane : 0].model;
    double ratio = a_dearer ? p->ratio : 1 / p->ratio;
    double low = a_dearer ? p->low : 1 / p->high, high = a_dearer ? p->high : 1 / p->low;
    const struct metric *m = &metric_table[by];
    say(t, "%s ", dear);
    if (m->cls == CLASS_COST)
        say(t, "costs %s times the CPU of %s", num(ratio).s, cheap);
    else if (m->better == BETTER_MORE)
        say(t, "does %s times the %s of %s", num(ratio).s, m->title, cheap);
    else if (m->cls == CLASS_TIME)
        say(t, "takes %s times as long as %s", num(ratio).s, cheap);
    else
        say(t, "has %s times the %s of %s", num(ratio).s, m->title, cheap);
    if (!isnan(low))
        say(t, " (%s to %s)", num(low).s, num(high).s);
    say(t, " %s", say_load(r).s);
}

/* How long one more pair takes: a repeated workload's passes last as long as they do. */
static double round_seconds(const struct row *r)
{
    double sum = 0;
    if (!r->workload->repeat)
        return 2 * r->pane_count * r->params.turn;
    for (int i = 0; i < r->pane_count; i++) {
        const struct sample *last = pane_at(&r->panes[i], r->panes[i].count - 1);
        sum += last ? last->interval_s : 0;
    }
    return sum;
}

static void answer_pair(const struct row *r, int pane, struct text *t)
{
    enum metric_id by = row_compared(r, pane);
    struct paired p = row_ratio(r, pane, by);
    const char *a = r->panes[0].model, *b = r->panes[pane].model;
    bool early = r->panes[0].verdict == VERDICT_NONE || r->panes[pane].verdict == VERDICT_NONE;
    if (p.pairs < 3 || early) {
        struct paired g = guess(r, pane);
        if (isnan(g.ratio) || p.pairs + g.pairs == 0) {
            say(t, "not yet: nothing was measured of both");
            return;
        }
        say(t, "first guess: ");
        if (fabs(log(g.ratio)) < log(1.03)) {
            say(t, "no difference, %s / %s is %s %s", a, b, num(g.ratio).s, say_load(r).s);
            return;
        }
        g.low = g.high = NAN;
        say_ratio(t, r, pane, &g, row_main(r));
        return;
    }
    if (!row_may_rank(r, pane, by)) {
        const struct pane *bad = r->panes[pane].verdict < r->panes[0].verdict ? &r->panes[pane]
                                                                              : &r->panes[0];
        say(t, "withheld: %s %s", bad->model, verdict_words[bad->verdict]);
        return;
    }
    switch (p.outcome) {
    case OUTCOME_SAME:
        say(t, "no difference: %s / %s is %s (%s to %s) %s", a, b, num(p.ratio).s, num(p.low90).s,
            num(p.high90).s, say_load(r).s);
        return;
    case OUTCOME_CANNOT_TELL: {
        char span[24];
        say(t, "cannot tell: %s / %s is %s", a, b, num(p.ratio).s);
        if (!isnan(p.low))
            say(t, " (%s to %s)", num(p.low).s, num(p.high).s);
        say(t, " %s", say_load(r).s);
        if (p.pairs_needed > p.pairs) {
            double more = ceil((p.pairs_needed - p.pairs) * round_seconds(r));
            say(t, "; about %s more would", units_about(span, sizeof span, more));
        }
        return;
    }
    default:
        say_ratio(t, r, pane, &p, by);
    }
}

static void answer_alone(const struct row *r, struct text *t)
{
    enum metric_id m = row_main(r);
    struct summary main = row_summary(r, 0, m);
    const char *unit = metric_table[m].unit;
    bool ns = !strcmp(unit, "ns");
    char p99[24];
    if (main.used < 1) {
        say(t, "not yet: nothing was kept so far");
        return;
    }
    say(t, "%s: %s", r->panes[0].model,
        ns ? units_us(p99, sizeof p99, main.mean / 1e3, 0) : num(main.mean).s);
    if (*unit && *unit != '/' && !ns) /* "messages/s" says it */
        say(t, " %s", !strcmp(unit, "us") ? "µs" : unit);
    if (metric_table[m].cls != CLASS_TIME)
        say(t, " %s", metric_table[m].title);
    say(t, " %s", say_load(r).s);
    bool target = is_target(&r->panes[0]);
    if (target && m != METRIC_requests_per_s && !r->workload->repeat &&
        workload_yields(r->workload, METRIC_requests_per_s))
        say(t, ", %s requests/s", num(mean_of(r, 0, METRIC_requests_per_s)).s);
    if (!isnan(mean_of(r, 0, row_p99(r))) && !r->workload->repeat)
        say(t, ", p99 %s", units_us(p99, sizeof p99, mean_of(r, 0, row_p99(r)), 0));
}

static void why_calls(const struct row *r, int pane, struct text *t)
{
    bool said = false;
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        const struct io_model *io = r->panes[i].io;
        double looks = mean_of(r, i, METRIC_looks_per_request);
        say(t, "%s%s", i ? "; " : "", r->panes[i].model);
        if (io && io->caps & CAP_BLOCKS) {
            say(t, ": a thread a connection, no wait");
            continue;
        }
        if (isnan(looks)) {
            say(t, is_target(&r->panes[i]) ? " is not ours: what it waits with is not known"
                                    : ": looks not measured");
            continue;
        }
        bool one = fabs(looks - 1) < 0.005;
        say(t, said ? " at %s" : " looks at %s", one ? "1" : num(looks).s);
        if (!said)
            say(t, " socket%s for a request", one ? "" : "s");
        say(t, ", %s ready a wait", num(mean_of(r, i, METRIC_events_per_wait)).s);
        if (r->params.client_work > 0 && io && io->policies & POLICY_CLIENT_WORK)
            say(t, " and works %s µs a client at every wake", num(r->params.client_work).s);
        said = true;
    }
}

static void why_connect(const struct row *r, int pane, struct text *t)
{
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        double lost = mean_of(r, i, METRIC_syn_retransmits);
        say(t, "%s%s", i ? "; " : "", r->panes[i].model);
        if (isnan(lost))
            say(t, ": lost SYNs not measured");
        else if (lost < 0.5)
            say(t, " lost no SYN");
        else if (r->params.arrival == ARRIVAL_STORM) /* their timers run side by side */
            say(t, " lost %s SYNs: each waits for the kernel's timer of 1 s", num(lost).s);
        else
            say(t, " lost %s SYNs: %s of its %s s are the kernel's timer", num(lost).s,
                num(mean_of(r, i, METRIC_timer_s)).s, num(mean_of(r, i, METRIC_connect_s)).s);
    }
}

struct figures {
    const struct row *r;
    int pane;
};

static double figure(const void *ctx, enum metric_id m)
{
    const struct figures *f = ctx;
    return mean_of(f->r, f->pane, m);
}

/* The sentence of the workload, for each of the two. */
static void why_sentence(const struct row *r, int pane, struct text *t)
{
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        say(t, "%s%s ", i ? "; " : "", r->panes[i].model);
        if (!say_sentence(t, r->workload->draws.says, figure, &(struct figures){r, i}))
            say(t, is_target(&r->panes[i]) ? "is not ours: its counts are not known"
                                           : "(not measured)");
    }
}

/* The counter that explains the main figure, by what the workload yields. */
static const struct {
    enum metric_id yields;
    void (*say)(const struct row *r, int pane, struct text *t);
} whys[] = {
    {METRIC_looks_per_request, why_calls},
    {METRIC_syn_retransmits, why_connect},
};

static void why(const struct row *r, int pane, struct text *t)
{
    for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
        if (workload_yields(r->workload, whys[i].yields)) {
            whys[i].say(r, pane, t);
            return;
        }
    why_sentence(r, pane, t);
}

/* A server may hold connections that it does not serve: one with few workers, say. */
static void say_never_answered(const struct row *r, int pane, struct text *t)
{
    const struct sample *last = pane_at(&r->panes[pane], r->panes[pane].count - 1);
    if (last && last->values.v[METRIC_never_answered] > 0)
        say(t, "; %c: %.0f connected, %.0f served, %.0f never answered", 'A' + pane,
            last->values.v[METRIC_established], last->values.v[METRIC_served],
            last->values.v[METRIC_never_answered]);
}

/* Flat out something is at its limit; of a server that is not ours it may be that only the load
 * says that it is not the one. */
static void say_limit(const struct row *r, int pane, struct text *t)
{
    const struct pane *p = &r->panes[pane];
    double spare = mean_of(r, pane, METRIC_load_spare_pct);
    double cpu = mean_of(r, pane, METRIC_server_cpu_pct);
    bool answered = mean_of(r, pane, METRIC_requests_per_s) > 0 ||
                    mean_of(r, pane, METRIC_messages_per_s) > 0;
    if (is_target(p) && p->io->target->pid && isnan(cpu) && answered)
        say(t, "; CPU not measured: process %d (%.40s) used none while requests were answered; "
               "is it the one that serves?", (int)p->io->target->pid, p->io->target->name);
    bool limited = p->verdict == VERDICT_OK || p->verdict == VERDICT_TOO_FEW;
    if (!is_target(p) || isfinite(r->params.rate) || !limited || !(spare >= 5))
        return;
    say(t, "; the load had %.0f %% to spare: the limit was the server or the way to it", spare);
    if (!isnan(cpu))
        say(t, ", whose process used %.0f %% of a CPU", cpu);
}

/* Replies that took 40 ms beside quick ones: two waited for each other. */
static void say_delayed(const struct row *r, int i, struct text *t)
{
    double share = mean_of(r, i, METRIC_delayed_pct);
    if (share >= 1 && mean_of(r, i, METRIC_latency_p50_us) < 20000)
        say(t, "; %s %% of %s's replies took 40 ms: Nagle's algorithm and a delayed acknowledgement",
            num(share).s, r->panes[i].model);
}

/* In a closed loop rate times latency is the number of connections, but for the time that the load
 * itself spends on them: at most what it was busy. Else one of the two is measured wrong. */
static void say_defect(const struct row *r, int i, struct text *t)
{
    double in_flight = mean_of(r, i, METRIC_in_flight_pct);
    double busy = mean_of(r, i, METRIC_load_cpu_pct) * (1 - mean_of(r, i, METRIC_load_spare_pct) / 100);
    bool all = workload_yields(r->workload, METRIC_in_flight_pct) &&
               mean_of(r, i, METRIC_established) >= r->params.connections;
    if (all && (in_flight > 102 || in_flight < 98 - busy / r->params.connections))
        say(t, "; rate times latency of %s is %s %% of its connections: a defect of iodash",
            r->panes[i].model, num(in_flight).s);
}

static void trust(const struct row *r, int pane, struct text *t)
{
    bool said = row_kept(r) < 3 && r->state == ROW_RUNNING;
    if (said)
        say(t, "not yet: %d of %.0f rounds kept", row_kept(r),
            r->workload->repeat ? r->params.repeats : r->params.samples);
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        const struct pane *p = &r->panes[i];
        if (p->verdict == VERDICT_OK || p->verdict == VERDICT_NONE)
            continue;
        say(t, "%s%c %s%s%s", said ? "; " : "", 'A' + i, verdict_words[p->verdict],
            p->reason[0] ? ": " : "", p->reason);
        said = true;
    }
    if (!said && r->params.rate != PARAM_MAX && !r->workload->repeat)
        say(t, "ok: %s served what was asked", pane ? "both" : "it");
    else if (!said)
        say(t, "ok");
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        say_never_answered(r, i, t);
        say_limit(r, i, t);
        say_delayed(r, i, t);
        say_defect(r, i, t);
    }
    if (pane && metric_table[row_main(r)].cls != CLASS_STATE) {
        struct paired p = row_ratio(r, pane, row_compared(r, pane));
        if (p.resolution_pct > 900)
            say(t, "; its scatter hides even great differences");
        else if (p.resolution_pct > 50)
            say(t, "; can tell %s times apart", num(1 + p.resolution_pct / 100).s);
        else if (!isnan(p.resolution_pct))
            say(t, "; can tell %.*f %% apart", p.resolution_pct < 1 ? 1 : 0, p.resolution_pct);
    }
    say(t, "; %s", r->path);
}

void answer_row(const struct row *r, int pane, struct answer *out)
{
    struct text a = {out->answer, sizeof out->answer, 0}, w = {out->why, sizeof out->why, 0},
                t = {out->trust, sizeof out->trust, 0};
    memset(out, 0, sizeof *out);
    if (pane >= r->pane_count)
        pane = r->pane_count - 1;
    if (r->workload->holds && row_kept(r) > 0)
        answer_hold(r, pane, &a, &w);
    else if (pane > 0)
        answer_pair(r, pane, &a);
    else
        answer_alone(r, &a);
    if (row_kept(r) == 0)
        say(&w, "no kept round yet");
    else if (!r->workload->holds)
        why(r, pane, &w);
    trust(r, pane, &t);
}
