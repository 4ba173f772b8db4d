/* SPDX-License-Identifier: MIT */
/* The table of workloads. A sampled one is all rows and no code: the engines do what its parameters
 * say. */
#include "load/workloads.h"

#include <errno.h>
#include <string.h>

#include "load/burst.h"
#include "load/connect.h"
#include "load/idle_mix.h"
#include "load/senders.h"
#include "net/protocol.h"

/* What several of them heed. */
#define PARAMS_OF_SAMPLES                                                                          \
    PARAM_samples, PARAM_duration, PARAM_trim, PARAM_turn, PARAM_settle, PARAM_warmup,             \
        PARAM_timeout
#define PARAMS_OF_MUX PARAM_engine, PARAM_load_threads, PARAM_load_wait
#define PARAMS_OF_SERVER                                                                           \
    PARAM_workers, PARAM_backlog, PARAM_accept, PARAM_buffer, PARAM_socket_buffer, PARAM_events,   \
        PARAM_nodelay, PARAM_client_work

/* What every workload yields, last. */
#define METRICS_OF_ALL                                                                             \
    METRIC_pss_bytes, METRIC_descriptors, METRIC_threads, METRIC_processes,                        \
        METRIC_process_cpu_pct, METRIC_ui_cpu_pct, METRIC_errors, METRIC_errors_refused,           \
        METRIC_errors_reset, METRIC_errors_timeout, METRIC_errors_port, METRIC_errors_fd

static const enum param_id transfer_matters[] = {
    PARAM_connections, PARAM_idle, PARAM_rate, PARAM_size, PARAMS_OF_SAMPLES, PARAMS_OF_MUX,
    PARAMS_OF_SERVER, PARAM_keepalive, PARAM_close, PARAM_place, PARAM_pin, PARAM_protocol,
    PARAM_suffix, PARAM_seed, PARAM_COUNT,
};
static const enum metric_id transfer_yields[] = {
    METRIC_cpu_us_per_request, METRIC_server_cpu_pct, METRIC_mem_pct, METRIC_requests_per_s,
    METRIC_events_per_wait, METRIC_looks_per_request, METRIC_response_p50_us,
    METRIC_response_p90_us, METRIC_response_p99_us, METRIC_response_p999_us,
    METRIC_response_max_us, METRIC_latency_p50_us, METRIC_latency_p90_us, METRIC_latency_p99_us,
    METRIC_latency_p999_us, METRIC_latency_max_us, METRIC_latency_mean_us, METRIC_send_late_p99_us,
    METRIC_mib_per_s, METRIC_waits_per_s, METRIC_waits_per_request, METRIC_sleeps_per_request,
    METRIC_reads_per_request, METRIC_empty_reads_per_request, METRIC_writes_per_request,
    METRIC_controls_per_request, METRIC_switches_per_s, METRIC_run_wait_pct, METRIC_in_flight_pct,
    METRIC_delayed_pct, METRIC_retransmits, METRIC_tcp_mem_bytes, METRIC_server_user_pct,
    METRIC_server_sys_pct, METRIC_rss_bytes, METRIC_established, METRIC_accepted, METRIC_served,
    METRIC_never_answered, METRIC_refused, METRIC_load_cpu_pct, METRIC_load_spare_pct,
    METRICS_OF_ALL, METRIC_errors_bytes, METRIC_COUNT,
};
static const struct workload_preset transfer_presets[] = {
    {PARAM_connections, 400}, {PARAM_size, 1024}, {PARAM_rate, 11500}, {PARAM_samples, 12},
    {PARAM_COUNT, 0},
};

static const enum param_id connect_matters[] = {
    PARAM_connections, PARAM_arrival, PARAM_backlog, PARAM_accept, PARAM_repeats, PARAM_trim,
    PARAM_timeout, PARAM_workers, PARAM_events, PARAM_nodelay, PARAM_place, PARAM_pin, PARAM_COUNT,
};
static const enum metric_id connect_yields[] = {
    METRIC_connect_s, METRIC_accepted_s, METRIC_connections_per_s, METRIC_syn_retransmits,
    METRIC_accept_drain_per_s, METRIC_timer_s, METRIC_established, METRIC_accepted, METRIC_refused,
    METRIC_listen_drops, METRIC_accept_queue,
    METRIC_server_cpu_pct, METRIC_load_cpu_pct, METRIC_waits_per_s, METRIC_events_per_wait,
    METRIC_rss_bytes,
    METRICS_OF_ALL, METRIC_errors_bytes, METRIC_COUNT,
};
static const struct workload_preset connect_presets[] = {
    {PARAM_connections, 1000}, {PARAM_size, 1024}, {PARAM_repeats, 11}, {PARAM_COUNT, 0},
};

static const enum param_id idle_mix_matters[] = {
    PARAM_connections, PARAM_idle, PARAM_requests, PARAM_active_at, PARAM_size, PARAM_repeats,
    PARAM_trim, PARAM_timeout, PARAMS_OF_MUX, PARAMS_OF_SERVER, PARAM_keepalive, PARAM_close,
    PARAM_place, PARAM_pin, PARAM_protocol, PARAM_COUNT,
};
static const enum metric_id idle_mix_yields[] = {
    METRIC_exchange_s, METRIC_cpu_us_per_request, METRIC_requests_per_s, METRIC_looks_per_request,
    METRIC_events_per_wait, METRIC_waits_per_s, METRIC_server_cpu_pct, METRIC_rss_bytes,
    METRIC_established, METRIC_accepted, METRIC_served, METRIC_never_answered, METRIC_refused,
    METRIC_load_cpu_pct,
    METRICS_OF_ALL, METRIC_errors_bytes, METRIC_COUNT,
};
static const struct workload_preset idle_mix_presets[] = {
    {PARAM_connections, 10}, {PARAM_size, 1024}, {PARAM_repeats, 11}, {PARAM_COUNT, 0},
};

static const enum param_id ramp_matters[] = {
    PARAM_connections, PARAM_until, PARAM_step_length, PARAM_keepalive, PARAM_close, PARAM_rate,
    PARAM_size, PARAM_trim, PARAM_turn, PARAM_settle, PARAM_timeout, PARAMS_OF_MUX,
    PARAMS_OF_SERVER, PARAM_place, PARAM_pin, PARAM_protocol, PARAM_suffix, PARAM_seed, PARAM_COUNT,
};
static const enum metric_id ramp_yields[] = {
    METRIC_requests_per_s, METRIC_latency_p50_us, METRIC_latency_p99_us,
    METRIC_collapse_connections, METRIC_cpu_us_per_request, METRIC_server_cpu_pct,
    METRIC_latency_p90_us, METRIC_latency_p999_us, METRIC_latency_max_us, METRIC_latency_mean_us,
    METRIC_response_p50_us, METRIC_response_p99_us, METRIC_connections_per_s,
    METRIC_events_per_wait, METRIC_waits_per_s, METRIC_server_user_pct, METRIC_server_sys_pct,
    METRIC_rss_bytes, METRIC_refused, METRIC_accept_queue, METRIC_load_cpu_pct,
    METRIC_load_spare_pct,
    METRICS_OF_ALL, METRIC_errors_bytes, METRIC_COUNT,
};
static const struct workload_preset ramp_presets[] = {
    {PARAM_connections, 50}, {PARAM_keepalive, KEEPALIVE_OFF}, {PARAM_rate, PARAM_MAX},
    {PARAM_duration, PARAM_AUTO}, {PARAM_warmup, 0}, {PARAM_COUNT, 0},
};

/* +50, past 500 by a tenth. */
static double ramp_next_step(double clients)
{
    return clients < 500 ? clients + 50 : round(clients * 1.1);
}

static const enum param_id churn_matters[] = {
    PARAM_connections, PARAM_idle, PARAM_rate, PARAM_size, PARAM_close, PARAMS_OF_SAMPLES,
    PARAMS_OF_MUX, PARAMS_OF_SERVER, PARAM_place, PARAM_pin, PARAM_protocol, PARAM_seed,
    PARAM_COUNT,
};
static const enum metric_id churn_yields[] = {
    METRIC_connections_per_s, METRIC_latency_p50_us, METRIC_latency_p99_us,
    METRIC_cpu_us_per_request, METRIC_server_cpu_pct, METRIC_latency_p90_us,
    METRIC_latency_p999_us, METRIC_latency_max_us, METRIC_latency_mean_us, METRIC_response_p50_us,
    METRIC_response_p90_us, METRIC_response_p99_us, METRIC_response_p999_us,
    METRIC_response_max_us, METRIC_send_late_p99_us, METRIC_requests_per_s, METRIC_events_per_wait,
    METRIC_waits_per_s, METRIC_server_user_pct, METRIC_server_sys_pct, METRIC_rss_bytes,
    METRIC_refused, METRIC_accept_queue, METRIC_load_cpu_pct, METRIC_load_spare_pct,
    METRICS_OF_ALL, METRIC_errors_bytes, METRIC_COUNT,
};
static const struct workload_preset churn_presets[] = {
    {PARAM_connections, 100}, {PARAM_size, 1024}, {PARAM_rate, PARAM_MAX}, {PARAM_samples, 12},
    {PARAM_keepalive, KEEPALIVE_OFF}, {PARAM_COUNT, 0},
};

static const enum param_id stream_matters[] = {
    PARAM_connections, PARAM_idle, PARAM_rate, PARAM_size, PARAMS_OF_SAMPLES, PARAMS_OF_MUX,
    PARAMS_OF_SERVER, PARAM_place, PARAM_pin, PARAM_protocol, PARAM_seed, PARAM_COUNT,
};
static const enum metric_id stream_yields[] = {
    METRIC_messages_per_s, METRIC_cpu_us_per_request, METRIC_server_cpu_pct, METRIC_reads_per_s,
    METRIC_events_per_wait, METRIC_looks_per_request, METRIC_mib_per_s, METRIC_rss_bytes,
    METRIC_mem_pct, METRIC_waits_per_s, METRIC_send_late_p99_us, METRIC_server_user_pct,
    METRIC_server_sys_pct, METRIC_established, METRIC_accepted, METRIC_refused,
    METRIC_load_cpu_pct, METRIC_load_spare_pct,
    METRICS_OF_ALL, METRIC_errors_bytes, METRIC_COUNT,
};
static const struct workload_preset stream_presets[] = {
    {PARAM_connections, 1000}, {PARAM_size, 1024}, {PARAM_samples, 12},
    {PARAM_buffer, PRESET_AS_SIZE}, {PARAM_socket_buffer, 65536}, {PARAM_COUNT, 0},
};

static const enum param_id burst_matters[] = {
    PARAM_connections, PARAM_size, PARAM_repeats, PARAM_trim, PARAM_timeout, PARAMS_OF_SERVER,
    PARAM_place, PARAM_pin, PARAM_protocol, PARAM_COUNT,
};
static const enum metric_id burst_yields[] = {
    METRIC_drain_cpu_ns, METRIC_drain_ns, METRIC_send_ns, METRIC_send_min_ns, METRIC_send_max_ns,
    METRIC_send_ticks, METRIC_events_per_wait, METRIC_rearm_ns, METRIC_established,
    METRIC_accepted, METRIC_refused, METRIC_rss_bytes, METRIC_load_cpu_pct,
    METRICS_OF_ALL, METRIC_COUNT,
};
static const struct workload_preset burst_presets[] = {
    {PARAM_connections, 1000}, {PARAM_size, 65536}, {PARAM_repeats, 11},
    {PARAM_socket_buffer, 131072}, {PARAM_COUNT, 0},
};

static const enum param_id hold_matters[] = {
    PARAM_connections, PARAM_workers, PARAM_samples, PARAM_duration, PARAM_trim, PARAM_turn,
    PARAM_settle, PARAM_timeout, PARAM_load_threads, PARAM_backlog, PARAM_accept, PARAM_events,
    PARAM_nodelay, PARAM_place, PARAM_pin, PARAM_COUNT,
};
static const enum metric_id hold_yields[] = {
    METRIC_established, METRIC_accepts_per_s, METRIC_kernel_per_connection,
    METRIC_rss_per_connection, METRIC_rss_bytes, METRIC_accepted, METRIC_refused,
    METRIC_server_cpu_pct, METRIC_waits_per_s, METRIC_mem_pct,
    METRICS_OF_ALL, METRIC_errors_bytes, METRIC_COUNT,
};
static const struct workload_preset hold_presets[] = {
    {PARAM_connections, 10000}, {PARAM_samples, 12}, {PARAM_warmup, 0}, {PARAM_COUNT, 0},
};

/* What neither the workload nor the parameter table says. */
static const struct workload_preset common_presets[] = {
    {PARAM_size, 1024}, {PARAM_rate, PARAM_MAX}, {PARAM_samples, 12}, {PARAM_repeats, 11},
    {PARAM_keepalive, KEEPALIVE_ON}, {PARAM_buffer, 16384}, {PARAM_socket_buffer, 0},
    {PARAM_COUNT, 0},
};

const struct workload workload_table[] = {
    {
        .id = "transfer",
        .label = "transfer",
        .summary = "each connection asks for a few bytes and reads them, again and again",
        .rule = "12 samples, drop 1+1, mean of 10",
        .matters = transfer_matters,
        .yields = transfer_yields,
        .presets = transfer_presets,
        .sweep = PARAM_connections,
        .sweep_list = "100..800:100",
        .draws = {.graph = METRIC_server_cpu_pct,
                  .says = "looks at {looks_per_request} socket{s} for a request"},
    },
    {
        .id = "connect",
        .label = "connect",
        .summary = "makes many connections, one after the other or all at once, and times them",
        .rule = "11 repeats, drop 1+1, mean of 9",
        .matters = connect_matters,
        .yields = connect_yields,
        .presets = connect_presets,
        .sweep = PARAM_connections,
        .sweep_list = "100..1000:100",
        .draws = {.series = {"established", "accepted"},
                  .reaches = PARAM_connections,
                  .beside = "accepted",
                  .says = "{syn_retransmits} SYN{s} sent again: {timer_s} s of timers"},
        .one_table = true,
        .seconds = connect_seconds,
        .repeat = connect_repeat,
    },
    {
        .id = "idle-mix",
        .label = "idle-mix",
        .summary =
            "a few connections ask, many more only stay open: time for a number of exchanges",
        .rule = "11 repeats, drop 1+1, mean of 9",
        .matters = idle_mix_matters,
        .yields = idle_mix_yields,
        .presets = idle_mix_presets,
        .sweep = PARAM_idle,
        .sweep_list = "0,10..10240*2",
        .draws = {.series = {"answered"},
                  .reaches = PARAM_requests,
                  .says = "looks at {looks_per_request} socket{s} for a request"},
        .seconds = idle_mix_seconds,
        .repeat = idle_mix_repeat,
    },
    {
        .id = "stream",
        .label = "stream",
        .summary = "each connection sends messages one way, as fast as the server takes them",
        .rule = "12 samples, drop 1+1, mean of 10",
        .matters = stream_matters,
        .yields = stream_yields,
        .presets = stream_presets,
        .protocol = "discard",
        .sweep = PARAM_size,
        .sweep_list = "100,512,1024,4096",
        .draws = {.graph = METRIC_server_cpu_pct,
                  .says = "{reads_per_s}/s reads, {events_per_wait} ready socket{s} a wait"},
    },
    {
        .id = "burst",
        .label = "burst",
        .summary = "threads at a barrier send 64 KiB each at once; then the server drains as much",
        .rule = "11 repeats, drop 1+1, mean of 9",
        .matters = burst_matters,
        .yields = burst_yields,
        .presets = burst_presets,
        .protocol = "discard",
        .sweep = PARAM_connections,
        .sweep_list = "100..1000:100",
        .draws = {.series = {"sent", "received"},
                  .reaches = PARAM_connections,
                  .says = "finds {events_per_wait} ready socket{s} a wait behind the gate"},
        .most = SENDERS_MOST,
        .one_table = true,
        .seconds = burst_seconds,
        .repeat = burst_repeat,
    },
    {
        .id = "ramp",
        .label = "ramp",
        .summary = "clients with a new connection for each request, more of them step by step, "
                   "until the server collapses",
        .rule = "one pass, ends by itself",
        .matters = ramp_matters,
        .yields = ramp_yields,
        .presets = ramp_presets,
        .sweep = PARAM_connections,
        .sweep_list = "",
        .protocol = "echo",
        .draws = {.graph = METRIC_requests_per_s,
                  .says = "{server_cpu_pct} % of a CPU, {events_per_wait} ready a wait"},
        .next_step = ramp_next_step,
    },
    {
        .id = "churn",
        .label = "churn",
        .summary = "connects, asks once, closes, and again",
        .rule = "12 samples, drop 1+1, mean of 10",
        .matters = churn_matters,
        .yields = churn_yields,
        .presets = churn_presets,
        .sweep = PARAM_connections,
        .sweep_list = "10,50,100..800*2",
        .draws = {.graph = METRIC_connections_per_s,
                  .says = "{cpu_us_per_request} µs CPU a connection, {events_per_wait} ready a "
                          "wait"},
    },
    {
        .id = "hold",
        .label = "hold",
        .summary = "opens many connections and keeps them: how fast, and what each costs",
        .rule = "12 samples, drop 1+1, mean of 10",
        .matters = hold_matters,
        .yields = hold_yields,
        .presets = hold_presets,
        .sweep = PARAM_connections,
        .sweep_list = "1250..10000*2",
        .draws = {.graph = METRIC_established,
                  .says = "{kernel_per_connection} in the kernel for each connection, both ends"},
        .holds = true,
    },
};
const int workload_count = sizeof workload_table / sizeof *workload_table;

const char *workload_word(int i)
{
    return i >= 0 && i < workload_count ? workload_table[i].id : NULL;
}

int workload_find(const char *id)
{
    for (int i = 0; i < workload_count; i++)
        if (strcmp(workload_table[i].id, id) == 0)
            return i;
    return -1;
}

const struct workload *workload_of(const struct params *p)
{
    int i = isnan(p->workload) ? 0 : (int)p->workload;
    return &workload_table[i >= 0 && i < workload_count ? i : 0];
}

bool workload_yields(const struct workload *w, enum metric_id m)
{
    const enum metric_id *y = w->yields;
    while (*y != METRIC_COUNT && *y != m)
        y++;
    return *y == m && m != METRIC_COUNT;
}

bool workload_matters(const struct workload *w, enum param_id id)
{
    const enum param_id *m = w->matters;
    while (*m != PARAM_COUNT && *m != id)
        m++;
    return *m == id && id != PARAM_COUNT;
}

static bool preset_from(const struct workload_preset *list, enum param_id id, double *out)
{
    for (; list->id != PARAM_COUNT; list++)
        if (list->id == id) {
            *out = list->value;
            return true;
        }
    return false;
}

static double as_size(enum param_id id, double size)
{
    return fmin(fmax(size, param_table[id].low), param_table[id].high);
}

static void resolve_one(const struct workload *w, enum param_id id, struct params *p)
{
    const char *preset = param_table[id].preset;
    double *value = params_at(p, id);
    if (!isnan(*value))
        return;
    if (preset_from(w->presets, id, value)) {
        if (*value == PRESET_AS_SIZE) /* `size` stands before it in the table */
            *value = as_size(id, p->size);
        return;
    }
    if (id == PARAM_workload)
        *value = (double)(w - workload_table);
    else if (id == PARAM_protocol)
        *value = protocol_find(w->protocol ? w->protocol : "fetch");
    else if (!*preset || params_parse(id, preset, value, NULL) < 0)
        preset_from(common_presets, id, value);
}

/* Does it make connections as short as a request, and nothing else? */
static bool always_fresh(const struct workload *w)
{
    double keepalive = KEEPALIVE_ON;
    preset_from(w->presets, PARAM_keepalive, &keepalive);
    return keepalive == KEEPALIVE_OFF && !workload_matters(w, PARAM_keepalive);
}

static const struct protocol *protocol_for(const struct workload *w, const struct params *p)
{
    int by_default = protocol_find(w->protocol ? w->protocol : "fetch");
    return protocol_table[isnan(p->protocol) ? by_default : (int)p->protocol];
}

static int check_size(const struct workload *w, const struct params *p, struct err *e)
{
    const struct protocol *speaks = protocol_for(w, p);
    char size[32];
    if (!speaks->fixed || isnan(p->size) || p->size == (double)speaks->fixed)
        return 0;
    return err_set(e, EINVAL, "--size %s: %s has replies of %llu bytes, always",
                   params_print(PARAM_size, p->size, size, sizeof size), speaks->id,
                   (unsigned long long)speaks->fixed);
}

static int check_protocol(const struct workload *w, const struct params *p, struct err *e)
{
    bool one_way = w->protocol && protocol_table[protocol_find(w->protocol)]->one_way;
    bool asks = workload_yields(w, METRIC_requests_per_s);
    if (one_way && p->engine == ENGINE_MUX_URING)
        return err_set(e, EINVAL, "--engine mux-uring: %s sends by mux or blocking", w->id);
    if (isnan(p->protocol))
        return 0;
    const struct protocol *wanted = protocol_table[(int)p->protocol];
    if (asks && wanted->one_way)
        return err_set(e, EINVAL, "--protocol %s: it replies nothing, and %s waits for replies",
                       wanted->id, w->id);
    if (one_way && !wanted->one_way)
        return err_set(e, EINVAL, "--protocol %s: it replies, and %s waits for no reply",
                       wanted->id, w->id);
    return 0;
}

int workload_check(const struct params *p, struct err *e)
{
    const struct workload *w = workload_of(p);
    double c = p->connections;
    if (p->keepalive == KEEPALIVE_OFF && !always_fresh(w) && !workload_matters(w, PARAM_keepalive))
        return err_set(e, EINVAL, "--keepalive off: %s makes no requests one by one", w->id);
    if (p->keepalive == KEEPALIVE_ON && always_fresh(w))
        return err_set(e, EINVAL, "--keepalive on: %s makes a new connection for each request",
                       w->id);
    if (w->next_step && c > p->until)
        return err_set(e, EINVAL, "--until %.0f: below the %.0f connections to begin with",
                       p->until, c);
    if (w->most > 0 && c > w->most)
        return err_set(e, EINVAL, "--connections %.0f: %s has a thread for each, %.0f at most", c,
                       w->id, w->most);
    int r = check_size(w, p, e);
    return r < 0 ? r : check_protocol(w, p, e);
}

void workload_resolve(struct params *p)
{
    const struct workload *w = workload_of(p);
    if (isnan(p->size) && protocol_for(w, p)->fixed)
        p->size = (double)protocol_for(w, p)->fixed;
    for (int i = 0; i < PARAM_COUNT; i++)
        resolve_one(w, (enum param_id)i, p);
}

void workload_resize(struct params *p, double size_before)
{
    for (const struct workload_preset *x = workload_of(p)->presets; x->id != PARAM_COUNT; x++)
        if (x->value == PRESET_AS_SIZE && params_get(p, x->id) == as_size(x->id, size_before))
            *params_at(p, x->id) = as_size(x->id, p->size);
}
