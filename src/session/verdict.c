/* SPDX-License-Identifier: MIT */
/* Verdicts: one table of tests in the order in which they win, each a function that knows its
 * reason. They judge what was measured, so a row that still runs has one too (too-few, mostly). */
#include "session/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/cpus.h"
#include "base/units.h"
#include "net/protocol.h"
#include "session/say.h"

struct seen { /* what a test looks at */
    const struct row *row;
    int index;
    const struct pane *pane;
    const struct rig_pane *rig;
    char *reason; /* sizeof pane->reason */
};

#define REASON (sizeof((struct pane *)0)->reason)

static double mean(const struct seen *s, enum metric_id m)
{
    return row_summary(s->row, s->index, m).mean;
}

/* Measured seconds of the kept samples. */
static double measured_s(const struct seen *s)
{
    double sum = 0;
    for (int i = 0; i < s->pane->count; i++) {
        const struct sample *x = pane_at(s->pane, i);
        sum += x->kept == KEPT_YES ? x->interval_s : 0;
    }
    return sum;
}

static bool above(double v, double limit) /* false for "not measured" */
{
    return v > limit;
}

static bool is_skipped(const struct seen *s)
{
    if (!s->rig || !s->rig->skipped)
        return false;
    snprintf(s->reason, REASON, "%s", s->rig->trouble);
    return true;
}

static bool is_died(const struct seen *s)
{
    if (s->rig && s->rig->trouble[0] && !s->pane->died) { /* it never started */
        snprintf(s->reason, REASON, "%s", s->rig->trouble);
        return true;
    }
    if (s->pane->died)
        snprintf(s->reason, REASON, "%s", s->pane->reason);
    return s->pane->died;
}

/* Connections last as long as a request: how many there are at a moment says nothing. */
static bool is_fresh(const struct seen *s)
{
    return s->row->params.keepalive == KEEPALIVE_OFF;
}

/* What the server did; of it what it could not do is counted for this row's connections, because
 * those of the load before may still be closing. */
static void server_did(const struct seen *s, struct server_counts *out)
{
    *out = (struct server_counts){0};
    if (!s->rig || !s->rig->server)
        return;
    server_read(s->rig->server, out);
    out->refusals -= s->rig->found.refusals;
    out->accept_failures -= s->rig->found.accept_failures;
}

/* Those of an earlier stretch of the row stand in its samples. */
static double refusals(const struct seen *s)
{
    struct server_counts did;
    server_did(s, &did);
    return fmax(mean(s, METRIC_refused), (double)did.refusals);
}

/* Whoever looks from outside knows that it closes them, not for want of what. */
static bool turns_away(const struct seen *s)
{
    const struct load *l = s->rig ? s->rig->load : NULL;
    bool outside = s->pane->io && s->pane->io->target;
    double wanted = s->row->params.connections + s->row->params.idle;
    const char *trouble = l && outside && !is_fresh(s) ? load_trouble(l) : "";
    if (!trouble[0] || load_trouble_code(l) || load_established(l) >= (long)wanted)
        return false;
    snprintf(s->reason, REASON, "%s", trouble);
    return true;
}

/* What it could not do for want of descriptors, and why. */
static void say_refused(const struct seen *s, const char *what)
{
    bool narrow = s->pane->io && s->pane->io->caps & CAP_FD_LIMIT;
    struct err told = {""};
    if (s->rig && s->rig->server)
        server_troubles(s->rig->server, &told);
    snprintf(s->reason, REASON, "%s %.45s: %.80s", s->pane->model, what,
             narrow ? "its descriptors end at 1024" : told.text);
}

/* A server that refused some and yet holds all that is asked for now has no limit here; what it
 * holds is all that it ever accepted less all that it closed. */
static bool lacks_descriptors(const struct seen *s)
{
    double wanted = s->row->params.connections + s->row->params.idle, refused = refusals(s);
    struct server_counts did;
    char what[64];
    server_did(s, &did);
    bool repeat = s->row->workload->repeat, fresh = is_fresh(s);
    double held = repeat ? mean(s, METRIC_accepted) : (double)did.accepts - (double)did.closes;
    bool lacks = fresh || repeat ? refused > 0 : refused > 0 && held < wanted;
    if (!lacks && !(!fresh && did.accept_failures > 0 && held < wanted))
        return false;
    if (fresh)
        snprintf(what, sizeof what, "refused %.0f connection%s", refused,
                 refused == 1 ? "" : "s");
    else
        snprintf(what, sizeof what, "holds %.0f of %.0f", held, wanted);
    say_refused(s, what);
    return true;
}

/* So many of a kind; those that are a verdict of their own are left to it. */
static double errors_of(const struct seen *s, enum metric_id kind)
{
    bool own = kind == METRIC_errors_port || kind == METRIC_errors_fd;
    double n = mean(s, kind);
    return own || !above(n, 0) ? 0 : n;
}

static bool is_errors(const struct seen *s)
{
    static const enum metric_id kinds[] = {
#define X(id, help) METRIC_##id,
        LOAD_ERRORS(X)
#undef X
    };
    double sum = 0, reset = mean(s, METRIC_errors_reset);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        sum += errors_of(s, kinds[i]);
    if (sum <= 0)
        return turns_away(s);
    if (refusals(s) > 0 && sum == reset)
        return false; /* refused for want of a descriptor: fd-limit says it better */
    if (sum == reset + errors_of(s, METRIC_errors_timeout) && lacks_descriptors(s))
        return false; /* likewise, never accepted */
    int n = snprintf(s->reason, REASON, "%.0f error%s:", sum, sum == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (errors_of(s, kinds[i]) > 0 && n < (int)REASON)
            n += snprintf(s->reason + n, REASON - (size_t)n, " %.0f %s", errors_of(s, kinds[i]),
                          metric_table[kinds[i]].title);
    const char *wrong = s->rig && s->rig->load ? load_wrong(s->rig->load) : "";
    if (wrong[0] && n < (int)REASON)
        snprintf(s->reason + n, REASON - (size_t)n, " (%s)", wrong);
    return true;
}

static struct num times(double n)
{
    struct num t;
    snprintf(t.s, sizeof t.s, n == 1 ? "once" : "%.0f times", n);
    return t;
}

static bool is_fd_limit(const struct seen *s)
{
    double wanted = s->row->params.connections + s->row->params.idle;
    if (lacks_descriptors(s))
        return true;
    if (above(mean(s, METRIC_errors_fd), 0)) {
        snprintf(s->reason, REASON, "the load found no descriptor %s",
                 times(mean(s, METRIC_errors_fd)).s);
        return true;
    }
    const char *trouble = s->rig && s->rig->load ? load_trouble(s->rig->load) : "";
    bool ports = trouble[0] && load_trouble_code(s->rig->load) == EADDRNOTAVAIL;
    if (trouble[0] && !ports && !is_fresh(s) && load_established(s->rig->load) < (long)wanted) {
        snprintf(s->reason, REASON, "%s", trouble);
        return true;
    }
    return false;
}

static bool is_port_limit(const struct seen *s)
{
    if (!above(mean(s, METRIC_errors_port), 0))
        return false;
    struct values last = s->pane->last->samples[s->pane->last->count - 1].values;
    double wanted = s->row->params.connections + s->row->params.idle;
    int n = is_fresh(s) ? snprintf(s->reason, REASON, "no local port (client), %s",
                                   times(mean(s, METRIC_errors_port)).s)
                        : snprintf(s->reason, REASON,
                                   "no local port (client) for %.0f of %.0f connections",
                                   wanted - last.v[METRIC_established], wanted);
    long busy = limits_time_wait();
    if (busy > 0)
        snprintf(s->reason + n, REASON - (size_t)n, "; %ld sockets are in TIME_WAIT", busy);
    return true;
}

static bool is_accept_queue(const struct seen *s)
{
    if (!workload_yields(s->row->workload, METRIC_syn_retransmits) && !is_fresh(s))
        return false; /* its connections are open before it measures */
    double lost = mean(s, METRIC_syn_retransmits), drops = mean(s, METRIC_listen_drops);
    double cookies = mean(s, METRIC_syn_cookies), waited = mean(s, METRIC_accept_queue);
    if (!above(lost, 0.5) && !above(drops, 0.5) && !above(cookies, 0.5))
        return false;
    char n[16], b[16];
    if (!above(lost, 0.5) && !above(drops, 0.5)) {
        snprintf(s->reason, REASON, "the kernel sent %s SYN cookies in place of queueing",
                 units_number(n, sizeof n, cookies));
        return true;
    }
    int used = snprintf(s->reason, REASON, "%s SYNs lost, the accept queue of %s was full",
                        units_number(n, sizeof n, above(lost, 0) ? lost : drops),
                        params_print(PARAM_backlog, s->row->params.backlog, b, sizeof b));
    if (above(waited, 0.5))
        used += snprintf(s->reason + used, REASON - (size_t)used, ", %s waited in it",
                         units_number(n, sizeof n, waited));
    double ghosts =
        mean(s, METRIC_established) - mean(s, METRIC_accepted) - mean(s, METRIC_refused);
    if (above(ghosts, 0.5)) /* by SYN cookies */
        snprintf(s->reason + used, REASON - (size_t)used, "; %s connected and never accepted",
                 units_number(n, sizeof n, ghosts));
    return true;
}

/* The load lost its CPU while it had to send: bursts where an even pace was asked. Only a spinning
 * load can tell: it wants all of its CPUs all the time. */
static bool load_was_robbed(const struct seen *s)
{
    const struct load *l = s->rig ? s->rig->load : NULL;
    double used = mean(s, METRIC_load_cpu_pct);
    if (!l || s->row->workload->holds || !load_spins(l) || !(used < 97.0 * load_threads(l)))
        return false;
    snprintf(s->reason, REASON, "other programs took %.0f %% of the load's CPU",
             100 - used / load_threads(l));
    return true;
}

static bool is_behind(const struct seen *s)
{
    const struct params *p = &s->row->params;
    if (s->row->workload->repeat || p->rate == PARAM_MAX)
        return false;
    bool one_way = protocol_table[(int)p->protocol]->one_way;
    struct summary served = row_summary(s->row, s->index, one_way ? METRIC_messages_per_s
                                                                  : METRIC_requests_per_s);
    if (row_summary(s->row, s->index, row_main(s->row)).used < 1)
        return false;
    /* Each connection's schedule is cut at both ends of each turn: half a request of it, by
     * chance. */
    double seconds = measured_s(s);
    double slack =
        3 * sqrt(served.used * 2 * fmin(p->connections, p->rate * p->turn)) / 2 / seconds;
    if (served.mean >= 0.98 * p->rate - slack)
        return false;
    char got[16], asked[24];
    snprintf(s->reason, REASON, "served %s/s of the %s asked",
             units_si(got, sizeof got, served.mean),
             params_show(PARAM_rate, p->rate, asked, sizeof asked));
    return true;
}

bool verdict_behind(const struct row *row, int pane, char *reason, size_t size)
{
    char text[REASON] = "";
    struct seen s = {row, pane, &row->panes[pane], NULL, text};
    bool behind = is_behind(&s);
    if (behind)
        snprintf(reason, size, "%s", text);
    return behind;
}

static bool is_noisy(const struct seen *s)
{
    struct summary others = row_summary(s->row, s->index, METRIC_others_pct);
    double steal = mean(s, METRIC_steal_pct), share = mean(s, METRIC_server_cpu_pct) / 100;
    if (load_was_robbed(s))
        return true;
    if (others.used < 3)
        return false;
    /* Ticks are a sample of what ran: three deviations of theirs, over the 2 % that matter. Where
     * each request has a connection of its own, threads of the kernel free what was closed. */
    double ticks = measured_s(s) * 100;
    double chance = 300 * sqrt(fmax(share * (1 - share), 0.01) / ticks);
    double usual = s->row->params.keepalive == KEEPALIVE_OFF ? 5 : 2;
    if (others.mean > usual + chance)
        snprintf(s->reason, REASON, "others used %.0f %% of the server's CPU", others.mean);
    else if (steal > 1)
        snprintf(s->reason, REASON, "the hypervisor took %.0f %% of the server's CPU", steal);
    else
        return false;
    return true;
}

/* Whatever was compared ran at two speeds. Only where the kernel says the clock. */
static bool is_clock(const struct seen *s)
{
    double low = INFINITY, high = 0;
    for (int i = 0; i < s->row->pane_count; i++) {
        struct summary mhz = row_summary(s->row, i, METRIC_server_mhz);
        low = mhz.used ? fmin(low, mhz.min) : low;
        high = mhz.used ? fmax(high, mhz.max) : high;
    }
    if (!(high > low * 1.05))
        return false;
    snprintf(s->reason, REASON, "the clock of the server's CPU went from %.0f to %.0f MHz", low,
             high);
    return true;
}

/* Where the server is not tied to a CPU nobody can say what others use of it; but it can be ready
 * and have none. */
static bool shares_its_cpu(const struct seen *s)
{
    double waited = mean(s, METRIC_run_wait_pct), ran = mean(s, METRIC_server_cpu_pct);
    double share = 100 * waited / (waited + ran); /* waking takes some of it, also alone */
    if (row_summary(s->row, s->index, METRIC_others_pct).used > 0 || !above(waited, 1) ||
        !above(share, 25))
        return false;
    snprintf(s->reason, REASON, "it waited %.0f %% of its time for a CPU that load or others had",
             share);
    return true;
}

static bool is_cpus(const struct seen *s)
{
    double workers = s->row->params.workers, cpus = s->rig ? s->rig->usable : cpus_usable();
    if (!pane_honours(s->pane, PARAM_workers) || !(workers > cpus))
        return shares_its_cpu(s);
    snprintf(s->reason, REASON, "%.0f workers share %.3g CPU%s with the load", workers, cpus,
             cpus == 1 ? "" : "s");
    return true;
}

/* A server that batches its replies wakes a load that sleeps less often, and pays less for it. */
static bool is_wake_ups(const struct seen *s)
{
    double mine = mean(s, METRIC_load_sleeps_per_request), least = mine;
    for (int i = 0; i < s->row->pane_count; i++)
        least = fmin(least, row_summary(s->row, i, METRIC_load_sleeps_per_request).mean);
    if (s->row->workload->repeat || !(mine > 1.2 * least + 0.05))
        return false;
    char a[16], b[16];
    snprintf(s->reason, REASON,
             "it woke a sleeping load %s times a request, another model %s times",
             units_number(a, sizeof a, mine), units_number(b, sizeof b, least));
    return true;
}

static bool is_unsteady(const struct seen *s)
{
    if (s->pane->unsteady)
        snprintf(s->reason, REASON, "its figures never became steady in 15 rounds of warm-up");
    return s->pane->unsteady;
}

static bool is_too_few(const struct seen *s)
{
    struct summary main = row_summary(s->row, s->index, row_main(s->row));
    if (main.used >= 3)
        return false;
    if (main.used == 0 && pane_kept(s->pane) > 0)
        snprintf(s->reason, REASON, "%s is not measured", metric_table[row_main(s->row)].title);
    else
        snprintf(s->reason, REASON, "%d used: values, no interval", main.used);
    return true;
}

/* Nobody told how many threads of a server that is not ours work: one, or one on each CPU. */
static bool uses_all(const struct seen *s, double cpu)
{
    double all = s->row->params.workers;
    if (s->pane->io && s->pane->io->target && !pane_honours(s->pane, PARAM_workers))
        all = cpu <= 105 ? 1 : (double)sysconf(_SC_NPROCESSORS_ONLN);
    return above(cpu, 95 * all - 1e-9);
}

static bool is_full(const struct seen *s)
{
    double cpu = mean(s, METRIC_server_cpu_pct);
    if (s->row->workload->repeat || !uses_all(s, cpu))
        return false;
    snprintf(s->reason, REASON, "server full: %.0f %% of its CPU", cpu);
    return true;
}

static bool is_load_full(const struct seen *s)
{
    double spare = mean(s, METRIC_load_spare_pct);
    if (s->row->workload->repeat || !(spare < 5))
        return false;
    snprintf(s->reason, REASON, "load full: %.0f %% to spare", spare);
    return true;
}

static bool is_ok(const struct seen *s)
{
    s->reason[0] = '\0';
    return true;
}

static bool (*const tests[])(const struct seen *s) = {
    NULL, /* VERDICT_NONE */
#define VERDICT(id, word, test, ends, holds, meaning) is_##test,
#include "session/verdicts.def"
#undef VERDICT
};

enum verdict verdict_past_few(const struct row *row, int pane, char *reason, size_t size)
{
    char text[REASON] = "";
    struct seen s = {row, pane, &row->panes[pane], NULL, text};
    enum verdict v = VERDICT_TOO_FEW + 1;
    while (!tests[v](&s))
        v++;
    snprintf(reason, size, "%s", text);
    return v;
}

/* Whatever the verdict is: what could not be measured of this model, behind the reason. */
static void add_note(const struct pane *p, char *reason)
{
    size_t n = strlen(reason);
    if (p->note[0])
        snprintf(reason + n, REASON - n, "%s%s", n ? "; " : "", p->note);
}

void verdict_row(struct row *row, const struct rig *rig)
{
    for (int i = 0; i < row->pane_count; i++) {
        char reason[REASON] = "";
        struct pane *pane = &row->panes[i];
        struct seen s = {row, i, pane, i < rig->count ? &rig->panes[i] : NULL, reason};
        enum verdict v = VERDICT_NONE + 1;
        while (!tests[v](&s))
            v++;
        /* A row that still runs is not short of rounds: it has no verdict yet. */
        bool early = v == VERDICT_TOO_FEW && row->state == ROW_RUNNING;
        pane->verdict = early ? VERDICT_NONE : v;
        if (early)
            reason[0] = '\0';
        add_note(pane, reason);
        memcpy(pane->reason, reason, sizeof reason);
    }
}
