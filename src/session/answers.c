/* SPDX-License-Identifier: MIT */
/* ANSWER, WHY, TRUST. The answer ranks only what may be ranked; before three kept rounds it is
 * called a first guess; the reason is the counter that explains the main figure; the trust line
 * says what limited the figures and how small a difference could have been told. */
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

/* The ratio over rounds of the warm-up, while none of both was kept. */
static struct paired warmup_ratio(const struct row *r, int pane, enum metric_id by)
{
    double a[GUESS_ROUNDS], b[GUESS_ROUNDS];
    int n = 0;
    const struct pane *pa = &r->panes[0], *pb = &r->panes[pane];
    for (int i = 0; i < pa->count && i < pb->count && n < GUESS_ROUNDS; i++) {
        const struct sample *x = pane_at(pa, i), *y = pane_at(pb, i);
        if (x->index != y->index || x->kept != KEPT_WARMUP || y->kept != KEPT_WARMUP)
            continue;
        a[n] = x->values.v[by];
        b[n++] = y->values.v[by];
    }
    return stats_paired(a, b, n, 0);
}

static void say_ratio(struct text *t, const struct row *r, int pane, const struct paired *p,
                      enum metric_id by)
{
    bool a_dearer = p->ratio >= 1;
    struct name dear = pane_name(r, a_dearer ? 0 : pane), cheap = pane_name(r, a_dearer ? pane : 0);
    double ratio = a_dearer ? p->ratio : 1 / p->ratio;
    double low = a_dearer ? p->low : 1 / p->high, high = a_dearer ? p->high : 1 / p->low;
    const struct metric *m = &metric_table[by];
    say(t, "%s ", dear.s);
    if (m->cls == CLASS_COST)
        say(t, "costs %s times the CPU of %s", num(ratio).s, cheap.s);
    else if (m->better == BETTER_MORE)
        say(t, "does %s times the %s of %s", num(ratio).s, m->title, cheap.s);
    else if (m->cls == CLASS_TIME)
        say(t, "takes %s times as long as %s", num(ratio).s, cheap.s);
    else
        say(t, "has %s times the %s of %s", num(ratio).s, m->title, cheap.s);
    say_range(t, low, high);
    say(t, " %s", say_load(r).s);
}

/* How long one more pair takes: a repeated workload's passes last as long as they do. */
static double round_seconds(const struct row *r)
{
    double sum = 0;
    if (!r->workload->repeat)
        return row_round_s(&r->params, r->pane_count);
    for (int i = 0; i < r->pane_count; i++) {
        const struct sample *last = pane_at(&r->panes[i], r->panes[i].count - 1);
        sum += last ? last->interval_s : 0;
    }
    return sum;
}

/* What there is so far: the kept rounds where there are any, as everywhere else. */
static void answer_early(const struct row *r, int pane, struct text *t)
{
    enum metric_id by = row_compared(r, pane);
    struct paired p = row_ratio(r, pane, by);
    bool warmup = p.pairs == 0;
    if (warmup)
        p = warmup_ratio(r, pane, by);
    if (isnan(p.ratio)) {
        say(t, "not yet");
        return;
    }
    say(t, "first guess");
    if (warmup) /* while the panes show their last round */
        say(t, " over %d round%s of warm-up", p.pairs, p.pairs == 1 ? "" : "s");
    say(t, ": ");
    p.low = p.high = NAN;
    if (fabs(log(p.ratio)) < log(1.03))
        say(t, "no difference, %s / %s is %s %s", pane_name(r, 0).s, pane_name(r, pane).s,
            num(p.ratio).s, say_load(r).s);
    else
        say_ratio(t, r, pane, &p, by);
}

/* Which of the two has not what they are compared by, however long it is measured; -1: none. */
static int lacks(const struct row *r, int pane, enum metric_id by)
{
    for (int i = 0; i <= pane; i += pane)
        if (pane_kept(&r->panes[i]) > 0 && row_summary(r, i, by).taken == 0)
            return i;
    return -1;
}

/* Why these two do not rank: the same verdicts as in the table. */
static void say_withheld(const struct row *r, int pane, struct text *t, enum metric_id by)
{
    bool run = r->state == ROW_RUNNING, said = false;
    bool a = !pane_may_rank(r, 0, by) && !(run && !r->panes[0].verdict);
    bool b = !pane_may_rank(r, pane, by) && !(run && !r->panes[pane].verdict);
    say(t, "withheld: ");
    if (a && b && r->panes[0].verdict == r->panes[pane].verdict) {
        say(t, "%s and ", pane_name(r, 0).s);
        a = false;
    }
    for (int i = 0; i <= pane; i += pane) {
        enum verdict v = r->panes[i].verdict;
        if (!(i ? b : a))
            continue;
        say(t, "%s%s %s", said ? ", " : "", pane_name(r, i).s,
            v == VERDICT_OK && metric_table[by].cls == CLASS_RATE ? "not full" : verdict_words[v]);
        said = true;
    }
}

static void say_cannot_tell(const struct row *r, const struct paired *p, struct text *t)
{
    char span[24];
    say_range(t, p->low, p->high);
    say(t, " %s", say_load(r).s);
    if (p->pairs_needed > p->pairs) {
        double more = ceil((p->pairs_needed - p->pairs) * round_seconds(r));
        say(t, "; about %s more would", units_about(span, sizeof span, more));
    }
}

/* A row that was left in its warm-up, as a saved session may have one. */
static bool nothing_kept(const struct row *r, int pane)
{
    return r->state != ROW_RUNNING && row_kept(r) == 0 &&
           r->panes[0].verdict == VERDICT_NONE && r->panes[pane].verdict == VERDICT_NONE;
}

static void answer_pair(const struct row *r, int pane, struct text *t)
{
    enum metric_id by = row_compared(r, pane);
    struct paired p = row_ratio(r, pane, by);
    struct name a = pane_name(r, 0), b = pane_name(r, pane);
    int without = lacks(r, pane, by);
    if (without >= 0) {
        say(t, "withheld: %s of %s is not measured", metric_table[by].title,
            pane_name(r, without).s);
    } else if (row_undecided(r, pane, by)) {
        answer_early(r, pane, t);
    } else if (nothing_kept(r, pane)) {
        say(t, "not measured: no %s was kept", r->workload->repeat ? "repeat" : "round");
    } else if (!row_may_rank(r, pane, by)) {
        say_withheld(r, pane, t, by);
    } else if (p.pairs == 0) {
        say(t, "withheld: no round of both was kept");
    } else if (p.outcome == OUTCOME_SAME) {
        say(t, "no difference: %s / %s is %s", a.s, b.s, num(p.ratio).s);
        say_range(t, p.low90, p.high90);
        say(t, " %s", say_load(r).s);
    } else if (p.outcome == OUTCOME_CANNOT_TELL) {
        say(t, "cannot tell: %s / %s is %s", a.s, b.s, num(p.ratio).s);
        say_cannot_tell(r, &p, t);
    } else {
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
        bool more = r->state == ROW_RUNNING && pane_kept(&r->panes[0]) == 0;
        say(t, more ? "not yet" : "%s: %s is not measured", r->panes[0].model,
            metric_table[m].title);
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

/* Nobody counted them: what was read of its process is all there is. */
static void say_no_looks(struct text *t, const struct pane *p)
{
    char seen[200];
    if (!is_target(p))
        say(t, ": looks not measured");
    else if (*p->print.waits)
        say(t, " is not ours: %s", fingerprint_text(&p->print, seen, sizeof seen));
    else
        say(t, " is not ours: what it waits with is not known%s%s", *p->print.unknown ? ", " : "",
            p->print.unknown);
}

static void why_calls(const struct row *r, int pane, struct text *t)
{
    bool said = false;
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        const struct io_model *io = r->panes[i].io;
        double looks = mean_of(r, i, METRIC_looks_per_request);
        say(t, "%s%s", i ? "; " : "", pane_name(r, i).s);
        if (io && io->caps & CAP_BLOCKS) {
            say(t, ": a thread a connection, no wait");
            continue;
        }
        if (isnan(looks)) {
            say_no_looks(t, &r->panes[i]);
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

static struct num syns(double n)
{
    struct num t;
    snprintf(t.s, sizeof t.s, "%.15s SYN%s", num(n).s, !strcmp(num(n).s, "1") ? "" : "s");
    return t;
}

static void why_connect(const struct row *r, int pane, struct text *t)
{
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        double lost = mean_of(r, i, METRIC_syn_retransmits);
        say(t, "%s%s", i ? "; " : "", pane_name(r, i).s);
        if (isnan(lost))
            say(t, ": lost SYNs not measured");
        else if (lost < 0.5)
            say(t, " lost no SYN");
        else if (r->params.arrival == ARRIVAL_STORM) /* their timers run side by side */
            say(t, " lost %s: each waits for the kernel's timer of 1 s", syns(lost).s);
        else
            say(t, " lost %s: %s of its %s s are the kernel's timer", syns(lost).s,
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
        say(t, "%s%s ", i ? "; " : "", pane_name(r, i).s);
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
    struct reached n;
    row_reached(r, pane, &n);
    if (n.never > 0)
        say(t, "; %c: %.0f connected, %.0f served, %.0f never answered", 'A' + pane, n.connected,
            n.served, n.never);
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

/* Replies that took 40 ms: two waited for each other. Where most did, a server may just be so slow,
 * unless Nagle's algorithm is known to be on, or nobody knows. Where it was seen to be off at both
 * ends they were late for another reason. */
static void say_delayed(const struct row *r, int i, struct text *t)
{
    double share = mean_of(r, i, METRIC_delayed_pct);
    if (r->params.nodelay == 1 && !strcmp(r->panes[i].print.nagle, "off"))
        return;
    bool may = r->params.nodelay == 0 || is_target(&r->panes[i]);
    if (share >= 1 && (may || mean_of(r, i, METRIC_latency_p50_us) < 20000))
        say(t,
            "; %s %% of %s's replies took 40 ms: Nagle's algorithm and a delayed acknowledgement",
            num(share).s, pane_name(r, i).s);
}

/* In a closed loop rate times latency is the number of connections, but for the time that the load
 * itself spends on them: at most what it was busy. Else one of the two is measured wrong. What
 * waited for a request that failed later is in no latency. */
static void say_defect(const struct row *r, int i, struct text *t)
{
    double in_flight = mean_of(r, i, METRIC_in_flight_pct), turn_us = r->params.turn * 1e6;
    double busy =
        mean_of(r, i, METRIC_load_cpu_pct) * (1 - mean_of(r, i, METRIC_load_spare_pct) / 100);
    bool all = workload_yields(r->workload, METRIC_in_flight_pct) &&
               mean_of(r, i, METRIC_established) >= r->params.connections &&
               !(mean_of(r, i, METRIC_errors) > 0);
    if (mean_of(r, i, METRIC_latency_mean_us) > turn_us / 20)
        return; /* what is under way at both ends of a turn is much of it */
    if (all && (in_flight > 102 || in_flight < 98 - busy / r->params.connections))
        say(t, "; rate times latency of %s is %s %% of its connections: a defect of iodash",
            pane_name(r, i).s, num(in_flight).s);
}

/* How far a pane is from a verdict. */
static void say_waiting(const struct row *r, int pane, struct text *t)
{
    int kept = pane_kept(&r->panes[pane]), used = row_summary(r, pane, row_main(r)).used;
    say(t, "not yet: %d of %d %s kept", kept, row_asked(r),
        r->workload->repeat ? "repeats" : "rounds");
    if (used > 0 && used < kept)
        say(t, ", %d after the trim", used);
}

/* The same that the table has for a verdict, a clause a pane. True: something was said. */
static bool say_verdicts(const struct row *r, int pane, struct text *t)
{
    bool said = false, running = r->state == ROW_RUNNING;
    bool both = r->panes[0].verdict == VERDICT_NONE && r->panes[pane].verdict == VERDICT_NONE;
    for (int i = both ? pane : 0; i <= pane; i += pane ? pane : 1) {
        const struct pane *p = &r->panes[i];
        if (p->verdict == VERDICT_OK || (p->verdict == VERDICT_NONE && !running))
            continue;
        say(t, "%s", said ? "; " : "");
        if (!both)
            say(t, "%c ", 'A' + i);
        if (p->verdict == VERDICT_NONE)
            say_waiting(r, i, t);
        else
            say(t, "%s%s%s", verdict_words[p->verdict], p->reason[0] ? ": " : "", p->reason);
        said = true;
    }
    return said;
}

static void say_resolution(const struct row *r, int pane, struct text *t)
{
    struct paired p = row_ratio(r, pane, row_compared(r, pane));
    if (p.resolution_pct > 900)
        say(t, "; its scatter hides even great differences");
    else if (p.resolution_pct > 50)
        say(t, "; can tell only a factor above %s", num(1 + p.resolution_pct / 100).s);
    else if (!isnan(p.resolution_pct))
        say(t, "; can tell %.0f %% apart", ceil(p.resolution_pct));
}

static void trust(const struct row *r, int pane, struct text *t)
{
    bool said = say_verdicts(r, pane, t);
    if (!said && nothing_kept(r, pane))
        say(t, "not measured");
    else if (!said && r->params.rate != PARAM_MAX && !r->workload->repeat)
        say(t, "ok: %s served what was asked", pane ? "both" : "it");
    else if (!said)
        say(t, "ok");
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        const struct pane *p = &r->panes[i];
        bool fine = p->verdict == VERDICT_NONE || p->verdict == VERDICT_OK;
        if (fine && p->reason[0]) /* what was not measured, and why */
            say(t, "; %c: %s", 'A' + i, p->reason);
        say_never_answered(r, i, t);
        say_limit(r, i, t);
        say_delayed(r, i, t);
        say_defect(r, i, t);
    }
    if (pane && metric_table[row_main(r)].cls != CLASS_STATE)
        say_resolution(r, pane, t);
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
        say(&w, "-");
    else if (!r->workload->holds)
        why(r, pane, &w);
    trust(r, pane, &t);
}
