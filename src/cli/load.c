/* SPDX-License-Identifier: MIT */
/* `iodash load`: the workloads against a server that is not ours, on this machine or another. To
 * the session it is a model like any other, with what it does not tell left "not measured"; the
 * rest is `run`'s. What people ask of a load generator stands below the table: percentiles over all
 * of the measured time (a table's are means of its samples, so a pause of one second is trimmed off
 * there), and counts that can be held against the server's own log. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/units.h"
#include "cli/run.h"
#include "load/workloads.h"
#include "servers/target.h"
#include "session/measure.h"

#define DURATION_S 10
#define WARMUP_S 1

static struct target target; /* of the process: main thread */

/* --- before ----------------------------------------------------------------------------------- */

/* The first workload that speaks so by itself; -1: none does. */
static int workload_speaking(const char *protocol)
{
    for (int i = 0; i < workload_count; i++)
        if (workload_table[i].protocol && !strcmp(workload_table[i].protocol, protocol))
            return i;
    return -1;
}

/* What `load` takes where the workload or the table says something else. */
static void defaults(struct args *a)
{
    struct params *p = &a->params;
    const struct protocol *speaks = protocol_table[target.protocol];
    int sends = speaks->one_way ? workload_speaking(speaks->id) : -1;
    p->protocol = target.protocol;
    if (sends >= 0 && !a->given[PARAM_workload])
        p->workload = sends;
    if (isnan(p->rate))
        p->rate = PARAM_MAX;
    if (!a->given[PARAM_duration] && !a->given[PARAM_samples])
        p->duration = DURATION_S;
    if (!a->given[PARAM_warmup] && !workload_of(p)->next_step)
        p->warmup = WARMUP_S;
}

/* A connection takes a local port; only towards IPv4 loopback there are more addresses to take them
 * from. */
static int check_ports(const struct plan *p, struct err *e)
{
    long ports = limits_local_ports();
    struct net_addr other;
    if (ports < 0 || net_source(&target.addr, LONG_MAX / 2, &other))
        return 0;
    ports -= target_busy_ports(&target);
    for (int i = 0; i < p->count; i++) {
        double wanted = p->rows[i].params.connections + p->rows[i].params.idle;
        if (wanted > (double)ports)
            return err_set(e, EADDRNOTAVAIL,
                           "%.0f connections to one address take as many local ports: at most %ld "
                           "are possible now",
                           wanted, ports);
    }
    return 0;
}

static int find_target(const struct args *a, struct err *e)
{
    if (a->operand_count == 0)
        return err_set(e, EINVAL, "load: needs a server, as in load http://127.0.0.1:8080/");
    int rc = target_parse(a->operand[0], &target, e);
    if (rc == 0 && a->given[PARAM_size])
        rc = target_by_size(&target, e);
    if (rc == 0 && a->options.pid)
        rc = target_process(&target, a->options.pid, e);
    return rc;
}

static int make_plan(const struct args *a, struct plan *out, struct err *e)
{
    struct lineup lineup = {.count = 1, .models = {&target.model}};
    struct args asked = *a;
    int rc = find_target(a, e);
    if (rc < 0)
        return rc;
    defaults(&asked);
    rc = plan_for(&asked, &lineup, out, e);
    for (int i = 0; rc == 0 && i < out->count && target.request_length; i++)
        out->rows[i].params.size = 0; /* the server decides */
    return rc < 0 ? rc : check_ports(out, e);
}

static int somebody_listens(struct err *e)
{
    return target_reach(&target, e);
}

/* --- after ------------------------------------------------------------------------------------ */

static void percentile_line(FILE *out, const char *word, const struct values *v,
                            const enum metric_id *ids, const char *note)
{
    static const char *const names[SPAN_PERCENTILES] = {"p50", "p90", "p99", "p99.9", "max"};
    fprintf(out, "%-12s", word);
    if (isnan(v->v[ids[0]]))
        fputc('-', out);
    for (int i = 0; i < SPAN_PERCENTILES && !isnan(v->v[ids[0]]); i++) {
        char text[24];
        fprintf(out, "%s%s %s", i ? "  " : "", names[i],
                units_us(text, sizeof text, v->v[ids[i]], !cli_utf8()));
    }
    fprintf(out, "  (%s)\n", note);
}

static void latency_lines(FILE *out, const struct row *r, const struct pane *p)
{
    bool paced = isfinite(r->params.rate);
    percentile_line(out, "latency", &p->whole, span_latency_ids,
                    paced ? "paced, from the send; of completed requests"
                          : "closed loop, from the send; of completed requests");
    if (paced)
        percentile_line(out, "response", &p->whole, span_response_ids,
                        "from when each was due");
}

/* What the percentiles are of, and what was left out of them. */
static void measured_line(FILE *out, const struct pane *p)
{
    double kept = 0, warm = 0, rest = 0;
    for (int i = 0; i < p->count; i++) {
        const struct sample *s = pane_at(p, i);
        *(s->kept == KEPT_YES ? &kept : s->kept == KEPT_WARMUP ? &warm : &rest) += s->interval_s;
    }
    fprintf(out, "%-12s%.1f s", "measured", kept);
    if (warm > 0)
        fprintf(out, "; the first %.1f s left out (warm-up)", warm);
    if (rest > 0)
        fprintf(out, "; %.1f s left out (broken off)", rest);
    fputc('\n', out);
}

static void count_line(FILE *out, const struct load_counts *c)
{
    fprintf(out, "%-12s", "in all");
    if (c->asked && !c->sent_bytes)
        fprintf(out, "%llu requests sent, %llu answered, %llu bytes of replies, ",
                (unsigned long long)c->asked, (unsigned long long)c->got,
                (unsigned long long)c->got_bytes);
    if (c->sent_bytes)
        fprintf(out, "%llu bytes of messages sent, ", (unsigned long long)c->sent_bytes);
    fprintf(out, "%llu connections made\n", (unsigned long long)c->connects);
}

static uint64_t errors_of(const struct load_counts *c, char *text, size_t size)
{
    const struct {
        uint64_t count;
        enum metric_id metric;
    } kinds[] = {
#define X(id, help) {c->id, METRIC_##id},
        LOAD_ERRORS(X)
#undef X
    };
    uint64_t sum = 0;
    *text = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(text);
        if (kinds[i].count)
            snprintf(text + n, size - n, "%s%llu %s", n ? ", " : "",
                     (unsigned long long)kinds[i].count, metric_table[kinds[i].metric].title);
        sum += kinds[i].count;
    }
    return sum;
}

/* Nothing failed and nothing was answered, and yet they ended: it was the server. */
static uint64_t turned_away(const struct row *r)
{
    const struct load_counts *c = &r->panes[0].total;
    char text[200];
    bool asks = !r->workload->repeat && !r->workload->holds;
    return !asks || c->got || c->sent_bytes || errors_of(c, text, sizeof text) ? 0 : c->closed;
}

static void error_line(FILE *out, const struct row *r)
{
    const struct pane *p = &r->panes[0];
    char text[200];
    uint64_t sum = errors_of(&p->total, text, sizeof text), closed = turned_away(r);
    fprintf(out, "%-12s", "errors");
    if (sum)
        fprintf(out, "%llu in all: %s%s%s\n", (unsigned long long)sum, text,
                p->wrong[0] ? "; " : "", p->wrong);
    else if (closed)
        fprintf(out, "the server closed %llu of them without a reply\n",
                (unsigned long long)closed);
    else
        fputs("none\n", out);
}

static void connection_line(FILE *out, const struct row *r)
{
    double wanted = r->params.connections + r->params.idle;
    struct reached n;
    row_reached(r, 0, &n);
    if (isnan(n.served))
        return;
    fprintf(out, "%-12s%.0f of %.0f connected", "connections", n.connected, wanted);
    if (n.connected > n.made)
        fprintf(out, " (%.0f by the row before)", n.connected - n.made);
    if (!protocol_table[(int)r->params.protocol]->one_way)
        fprintf(out, ", %.0f served at least once, %.0f never answered", n.served, n.never);
    fputc('\n', out);
}

/* Which of the addresses of a name, and which process. */
static void server_line(FILE *out)
{
    char text[80];
    fprintf(out, "%-12s%s", "server", net_addr_print(&target.addr, text, sizeof text));
    if (target.pid)
        fprintf(out, ", process %d (%s)", (int)target.pid, target.name);
    fputc('\n', out);
}

/* As it was read of its process. */
static void waits_line(FILE *out, const struct row *r)
{
    char text[200];
    if (target.pid && r)
        fprintf(out, "%-12s%s\n", "seen",
                fingerprint_text(&r->panes[0].print, text, sizeof text));
}

/* Is there a row of these rows in which this parameter is another? */
static bool differs(const struct rows *rows, const struct row *than, enum param_id id)
{
    const struct row *r = rows->first;
    while (r && params_same(params_get(&r->params, id), params_get(&than->params, id)))
        r = r->next;
    return r != NULL;
}

/* By what it stands out in the table; what was tried again has no more than its turn. */
static void row_line(FILE *out, const struct rows *rows, const struct row *r)
{
    int tries = 0;
    fprintf(out, "%-12s%d", "row", r->number);
    for (int id = 0; id < PARAM_COUNT; id++) {
        char value[32];
        if (differs(rows, r, id))
            fprintf(out, ", %s %s", params_word(id),
                    params_show(id, params_get(&r->params, id), value, sizeof value));
    }
    for (const struct row *x = rows->first; x != r; x = x->next)
        tries += params_same_but(&x->params, &r->params, PARAM_COUNT);
    if (tries)
        fprintf(out, ", try %d", tries + 1);
    fputc('\n', out);
}

static void details(FILE *out, const struct rows *rows)
{
    server_line(out);
    waits_line(out, rows->first);
    for (const struct row *r = rows->first; r; r = r->next) {
        const struct pane *p = &r->panes[0];
        if (rows->count > 1)
            row_line(out, rows, r);
        if (!r->workload->repeat && workload_yields(r->workload, METRIC_latency_p50_us))
            latency_lines(out, r, p);
        if (!r->workload->repeat)
            measured_line(out, p);
        count_line(out, &p->total);
        connection_line(out, r);
        error_line(out, r);
        fputc('\n', out);
    }
}

/* Where nothing is asked the main figure is not measured, or zero, when nothing succeeded. */
static bool succeeded(const struct row *r)
{
    const struct load_counts *c = &r->panes[0].total;
    return c->asked && !c->sent_bytes ? c->got > 0 : row_summary(r, 0, row_main(r)).mean > 0;
}

static int judge(const struct rows *rows, struct err *e)
{
    bool any = !rows->last;
    char text[200];
    for (const struct row *r = rows->first; r; r = r->next) {
        if (r->panes[0].died)
            return err_set(e, ESRCH, "%s", r->panes[0].reason);
        any |= succeeded(r);
    }
    if (any)
        return 0;
    const struct pane *p = &rows->last->panes[0];
    uint64_t closed = turned_away(rows->last);
    errors_of(&p->total, text, sizeof text);
    if (closed)
        snprintf(text, sizeof text, "the server closed %llu connection%s without a reply",
                 (unsigned long long)closed, closed == 1 ? "" : "s");
    const char *why = *text ? text : p->reason[0] ? p->reason : "no reply in this time";
    return err_set(e, ENODATA, "nothing succeeded: %s%s%s", why, p->wrong[0] ? "; " : "", p->wrong);
}

int cli_load(const struct args *a)
{
    static const struct run_kind kind = {.command = "load",
                                         .plan = make_plan,
                                         .ready = somebody_listens,
                                         .details = details,
                                         .judge = judge};
    return run_command(a, &kind);
}
