/* SPDX-License-Identifier: MIT */
/* Figures from readings. A cost is server CPU over *server* requests, both read at the same
 * moments, so that what is in flight at an edge belongs to both or to neither; a rate is what
 * the load got. Whatever lacks a reading stays "not measured". */
#include "session/measure.h"

#include <string.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "net/protocol.h"

void edge_read(struct server *server, const struct load *load, int cpu, struct edge *out)
{
    out->t_ns = clock_ns();
    out->server_cpu_ns = server_cpu_ns(server);
    server_read(server, &out->server);
    out->load = (struct load_counts){0};
    out->load_cpu_ns = -1;
    if (load) {
        load_read(load, &out->load);
        out->load_cpu_ns = load_cpu_ns(load);
    }
    out->counted = server_counted(server);
    if (!out->counted)
        span_count_seen(&out->load, &out->server);
    if (out->server_cpu_ns < 0 || server_stat(server, &out->stat) < 0)
        out->stat.pid = 0;
    server_threads(server, &out->threads);
    if (!server_pinned(server))
        cpu = -1;
    out->khz = cpu < 0 ? -1 : cpus_khz(cpu);
    out->cpu = (struct proc_cpu){-1, -1, -1};
    out->server_tick_ns = -1;
    if (cpu >= 0) {
        out->server_tick_ns = server_tick_ns(server);
        proc_cpu_read(cpu, &out->cpu);
    }
}

static void read_queue(const struct server *server, struct listen_queue *out)
{
    struct net_addr at;
    server_address(server, &at);
    *out = (struct listen_queue){.waiting = -1};
    if (server_counted(server))
        diag_listener(net_addr_port(&at), out);
}

void edge_read_kernel(struct server *server, struct edge *out)
{
    int64_t came_ns = server_look(server);
    if (out->server_cpu_ns >= 0)
        out->server_cpu_ns += came_ns;
    if (out->server_tick_ns >= 0)
        out->server_tick_ns += came_ns;
    proc_net_read(&out->net);
    read_queue(server, &out->queue);
}

void span_count_seen(const struct load_counts *load, struct server_counts *server)
{
    server->requests = load->replies;
    server->bytes_in = load->sent_bytes;
}

void span_clear(struct span *s)
{
    memset(s, 0, sizeof *s);
    s->rss_bytes = -1;
    s->accept_queue = -1;
}

static void add_signed(int64_t *sum, int64_t from, int64_t to)
{
    if (*sum >= 0)
        *sum = from < 0 || to < from ? -1 : *sum + (to - from);
}

static void add_net(struct span *s, const struct proc_net *from, const struct proc_net *to)
{
    add_signed(&s->listen_drops, from->listen_drops, to->listen_drops);
    add_signed(&s->syn_cookies, from->syn_cookies_sent, to->syn_cookies_sent);
    add_signed(&s->retransmits, from->retransmits, to->retransmits);
    s->time_wait = to->time_wait;
    s->tcp_mem_bytes = to->mem_bytes;
}

/* It fills and empties within less than a look at it takes; but where it overflowed and a listener
 * of ours dropped somebody it was full, which is one more than the backlog (listen(2)). */
static void add_queue(struct span *s, const struct edge *from, const struct edge *to)
{
    bool both = from->queue.waiting >= 0 && to->queue.waiting >= 0;
    bool over = from->net.listen_overflows >= 0 &&
                to->net.listen_overflows > from->net.listen_overflows;
    int full = both && over && to->queue.drops > from->queue.drops ? to->queue.backlog + 1 : -1;
    int seen = from->queue.waiting > to->queue.waiting ? from->queue.waiting : to->queue.waiting;
    int deep = full > seen ? full : seen;
    s->accept_queue = deep > s->accept_queue ? deep : s->accept_queue;
}

void span_add(struct span *s, const struct edge *from, const struct edge *to)
{
    s->interval_s += (double)(to->t_ns - from->t_ns) / 1e9;
    add_signed(&s->server_cpu_ns, from->server_cpu_ns, to->server_cpu_ns);
    add_signed(&s->load_cpu_ns, from->load_cpu_ns, to->load_cpu_ns);
    bool stat = from->stat.pid && to->stat.pid;
    add_signed(&s->user_ns, stat ? (int64_t)from->stat.user_ns : -1, (int64_t)to->stat.user_ns);
    add_signed(&s->sys_ns, stat ? (int64_t)from->stat.sys_ns : -1, (int64_t)to->stat.sys_ns);
    add_signed(&s->busy_ns, from->cpu.busy_ns, to->cpu.busy_ns);
    add_signed(&s->server_tick_ns, from->server_tick_ns, to->server_tick_ns);
    add_signed(&s->steal_ns, from->cpu.steal_ns, to->cpu.steal_ns);
    add_signed(&s->sleeps, from->threads.sleeps, to->threads.sleeps);
    add_signed(&s->preempted, from->threads.preempted, to->threads.preempted);
    add_signed(&s->run_wait_ns, from->threads.run_wait_ns, to->threads.run_wait_ns);
    add_net(s, &from->net, &to->net);
    add_queue(s, from, to);

    struct server_counts server;
    struct load_counts load;
    server_counts_diff(&to->server, &from->server, &server);
    load_counts_diff(&to->load, &from->load, &load);
    server_counts_sum(&s->server, &server);
    load_counts_sum(&s->load, &load);

    s->counted = to->counted;
    s->khz = to->khz;
    if (to->stat.pid)
        s->rss_bytes = to->stat.rss_bytes;
    s->established = (long)(to->load.connects - to->load.closed);
    s->accepted = (long)(to->server.accepts - to->server.closes);
}

void span_count_messages(struct span *s, const struct params *p)
{
    if (!protocol_table[(int)p->protocol]->one_way)
        return;
    s->message_bytes = p->size;
    s->server.requests = (uint64_t)((double)s->server.bytes_in / p->size);
}

static double pct_of(int64_t cpu_ns, double interval_s)
{
    return cpu_ns < 0 || interval_s <= 0 ? METRIC_NONE : (double)cpu_ns / 1e7 / interval_s;
}

static double per(double a, double b)
{
    return b > 0 ? a / b : METRIC_NONE;
}

/* What others used of the server's CPU: what its ticks saw less what they saw of the server. Of
 * threads of this process the clock must do, so a short span may come out below none. */
static double others_pct(const struct span *s)
{
    int64_t server_ns = s->server_tick_ns < 0 ? s->server_cpu_ns : s->server_tick_ns;
    if (s->busy_ns < 0 || server_ns < 0 || s->interval_s <= 0)
        return METRIC_NONE;
    return (double)(s->busy_ns - server_ns) / 1e7 / s->interval_s;
}

const enum metric_id span_latency_ids[] = {METRIC_latency_p50_us, METRIC_latency_p90_us,
                                           METRIC_latency_p99_us, METRIC_latency_p999_us,
                                           METRIC_latency_max_us};
const enum metric_id span_response_ids[] = {METRIC_response_p50_us, METRIC_response_p90_us,
                                            METRIC_response_p99_us, METRIC_response_p999_us,
                                            METRIC_response_max_us};

static void percentile_values(const struct hist_copy *h, const enum metric_id *ids,
                              struct values *out)
{
    static const double pct[] = {50, 90, 99, 99.9};
    double ns[4];
    if (!h)
        return;
    hist_percentiles(h, pct, 4, ns);
    for (int i = 0; i < 4; i++)
        out->v[ids[i]] = ns[i] / 1e3;
    out->v[ids[4]] = hist_max(h) / 1e3;
}

void span_latency(const struct span_hists *h, struct values *out)
{
    percentile_values(h->latency, span_latency_ids, out);
    percentile_values(h->response, span_response_ids, out);
    if (h->latency)
        out->v[METRIC_latency_mean_us] = hist_mean(h->latency) / 1e3;
    if (h->latency && h->latency->count > 0)
        out->v[METRIC_delayed_pct] = 100 * (double)hist_between(h->latency, 38000000, 46000000) /
                                     (double)h->latency->count;
    if (h->late)
        out->v[METRIC_send_late_p99_us] = hist_percentile(h->late, 99) / 1e3;
}

static double known(int64_t v)
{
    return v < 0 ? METRIC_NONE : (double)v;
}

/* What the server's threads did for one request. Without a wait of its own (a thread a connection)
 * there is nothing to say about waits. */
static void call_values(const struct span *s, struct values *out)
{
    double n = (double)s->server.requests;
    if (s->server.waits > 0)
        out->v[METRIC_waits_per_request] = per((double)s->server.waits, n);
    out->v[METRIC_sleeps_per_request] = per(known(s->sleeps), n);
    out->v[METRIC_reads_per_request] = per((double)s->server.reads, n);
    out->v[METRIC_empty_reads_per_request] = per((double)s->server.read_empty, n);
    out->v[METRIC_writes_per_request] = per((double)s->server.writes, n);
    out->v[METRIC_controls_per_request] = per((double)s->server.controls, n);
    out->v[METRIC_switches_per_s] = per(known(s->sleeps) + known(s->preempted), s->interval_s);
    out->v[METRIC_load_sleeps_per_request] = per((double)s->load.sleeps, (double)s->load.replies);
    out->v[METRIC_run_wait_pct] = pct_of(s->run_wait_ns, s->interval_s);
}

static void message_values(const struct span *s, struct values *out)
{
    double bytes = (double)s->server.bytes_in, t = s->interval_s;
    out->v[METRIC_messages_per_s] = per(bytes / s->message_bytes, t);
    out->v[METRIC_mib_per_s] = per(bytes / 1048576.0, t);
    out->v[METRIC_requests_per_s] = METRIC_NONE;
}

static void net_values(const struct span *s, struct values *out)
{
    out->v[METRIC_listen_drops] = known(s->listen_drops);
    out->v[METRIC_syn_cookies] = known(s->syn_cookies);
    out->v[METRIC_retransmits] = known(s->retransmits);
    out->v[METRIC_time_wait] = known(s->time_wait);
    out->v[METRIC_accept_queue] = known(s->accept_queue);
    out->v[METRIC_tcp_mem_bytes] = known(s->tcp_mem_bytes);
}

static void error_values(const struct load_counts *c, struct values *out)
{
    uint64_t sum = 0;
#define X(id, help) sum += c->id, out->v[METRIC_##id] = (double)c->id;
    LOAD_ERRORS(X)
#undef X
    out->v[METRIC_errors] = (double)sum;
}

/* Those that were never answered are in no latency; nor is one that is opened anew meanwhile, or
 * whose request fails. */
void span_in_flight(const struct span *s, const struct params *p, struct values *out)
{
    double answered = p->connections - out->v[METRIC_never_answered];
    bool reopened = p->keepalive != KEEPALIVE_OFF && (s->load.connects || s->load.closed);
    if (p->rate == PARAM_MAX && answered > 0 && !reopened && out->v[METRIC_errors] == 0)
        out->v[METRIC_in_flight_pct] =
            out->v[METRIC_requests_per_s] * out->v[METRIC_latency_mean_us] / 1e4 / answered;
}

void extent_values(struct server *server, struct values *out)
{
    struct proc_extent x;
    server_extent(server, &x);
    out->v[METRIC_pss_bytes] = known(x.pss_bytes);
    out->v[METRIC_descriptors] = known(x.descriptors);
    out->v[METRIC_threads] = known(x.threads);
    out->v[METRIC_processes] = known(x.processes);
}

/* What only the server's own counters and its machine tell. */
static void forget_counters(struct values *out)
{
    static const enum metric_id ids[] = {
        METRIC_accepted, METRIC_refused, METRIC_accepts_per_s, METRIC_waits_per_s,
        METRIC_events_per_wait, METRIC_looks_per_request, METRIC_reads_per_s,
        METRIC_waits_per_request, METRIC_reads_per_request, METRIC_empty_reads_per_request,
        METRIC_writes_per_request, METRIC_controls_per_request, METRIC_listen_drops,
        METRIC_syn_cookies};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        out->v[ids[i]] = METRIC_NONE;
}

/* No server takes a request with its two calls, or 64 KiB, for so little: somebody else did. */
static bool served_by_another(const struct span *s)
{
    double calls = (double)s->load.replies + (double)s->load.sent_bytes / 65536;
    return s->server_cpu_ns >= 0 && calls >= 1 && (double)s->server_cpu_ns < 200 * calls;
}

static void forget_process(struct values *out)
{
    static const enum metric_id ids[] = {METRIC_server_cpu_pct, METRIC_server_user_pct,
                                         METRIC_server_sys_pct, METRIC_cpu_us_per_request,
                                         METRIC_rss_bytes, METRIC_mem_pct};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        out->v[ids[i]] = METRIC_NONE;
}

void span_values(const struct span *s, const struct span_hists *h, int64_t mem_total,
                 struct values *out)
{
    double t = s->interval_s;
    values_clear(out);
    out->v[METRIC_server_cpu_pct] = pct_of(s->server_cpu_ns, t);
    out->v[METRIC_server_user_pct] = pct_of(s->user_ns, t);
    out->v[METRIC_server_sys_pct] = pct_of(s->sys_ns, t);
    out->v[METRIC_load_cpu_pct] = pct_of(s->load_cpu_ns, t);
    if (s->server_cpu_ns >= 0)
        out->v[METRIC_cpu_us_per_request] =
            per((double)s->server_cpu_ns / 1e3, (double)s->server.requests);
    out->v[METRIC_others_pct] = others_pct(s);
    out->v[METRIC_steal_pct] = pct_of(s->steal_ns, t);
    if (s->rss_bytes >= 0)
        out->v[METRIC_rss_bytes] = (double)s->rss_bytes;
    if (s->rss_bytes >= 0 && mem_total > 0)
        out->v[METRIC_mem_pct] = 100.0 * (double)s->rss_bytes / (double)mem_total;
    out->v[METRIC_established] = (double)s->established;
    out->v[METRIC_accepted] = (double)s->accepted;
    out->v[METRIC_refused] = (double)s->server.refusals;
    out->v[METRIC_accepts_per_s] = per((double)s->server.accepts, t);
    out->v[METRIC_requests_per_s] = per((double)s->load.replies, t);
    out->v[METRIC_mib_per_s] = per((double)s->load.reply_bytes / 1048576.0, t);
    out->v[METRIC_waits_per_s] = per((double)s->server.waits, t);
    out->v[METRIC_events_per_wait] = per((double)s->server.events, (double)s->server.waits);
    out->v[METRIC_looks_per_request] = per((double)s->server.looks, (double)s->server.requests);
    out->v[METRIC_reads_per_s] = per((double)s->server.reads, t);
    if (s->khz > 0)
        out->v[METRIC_server_mhz] = (double)s->khz / 1e3;
    call_values(s, out);
    net_values(s, out);
    error_values(&s->load, out);
    span_latency(h, out);
    if (s->message_bytes > 0)
        message_values(s, out);
    if (!s->counted)
        forget_counters(out);
    if (!s->counted && served_by_another(s))
        forget_process(out);
}
