/* SPDX-License-Identifier: MIT */
/* The table of workloads. A sampled one is all rows and no code: the engines do what its parameters
 * say. */
#include "load/workloads.h"

#include <errno.h>
#include <string.h>

#include "load/connect.h"
#include "net/protocol.h"

static const enum param_id transfer_matters[] = {
    PARAM_connections, PARAM_idle, PARAM_rate, PARAM_size, PARAM_samples, PARAM_duration,
    PARAM_trim, PARAM_turn, PARAM_settle, PARAM_warmup, PARAM_timeout, PARAM_engine,
    PARAM_load_threads, PARAM_load_wait, PARAM_workers, PARAM_backlog, PARAM_accept, PARAM_buffer,
    PARAM_events, PARAM_nodelay, PARAM_place, PARAM_pin, PARAM_protocol, PARAM_seed, PARAM_COUNT,
};
static const enum metric_id transfer_yields[] = {
    METRIC_cpu_us_per_request, METRIC_server_cpu_pct, METRIC_mem_pct, METRIC_requests_per_s,
    METRIC_events_per_wait, METRIC_looks_per_request, METRIC_response_p50_us,
    METRIC_response_p90_us, METRIC_response_p99_us, METRIC_response_p999_us,
    METRIC_response_max_us, METRIC_latency_p50_us, METRIC_latency_p90_us, METRIC_latency_p99_us,
    METRIC_latency_p999_us, METRIC_latency_max_us, METRIC_latency_mean_us, METRIC_send_late_p99_us,
    METRIC_mib_per_s, METRIC_waits_per_s, METRIC_server_user_pct, METRIC_server_sys_pct,
    METRIC_rss_bytes, METRIC_established, METRIC_accepted, METRIC_refused, METRIC_load_cpu_pct,
    METRIC_load_spare_pct, METRIC_process_cpu_pct, METRIC_ui_cpu_pct, METRIC_errors,
    METRIC_errors_refused, METRIC_errors_reset, METRIC_errors_timeout, METRIC_errors_port,
    METRIC_errors_fd, METRIC_errors_bytes, METRIC_COUNT,
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
    METRIC_timer_s, METRIC_established, METRIC_accepted, METRIC_refused, METRIC_listen_drops,
    METRIC_server_cpu_pct, METRIC_load_cpu_pct, METRIC_waits_per_s, METRIC_events_per_wait,
    METRIC_rss_bytes,
    METRIC_process_cpu_pct, METRIC_ui_cpu_pct, METRIC_errors, METRIC_errors_refused,
    METRIC_errors_reset, METRIC_errors_timeout, METRIC_errors_port, METRIC_errors_fd,
    METRIC_errors_bytes, METRIC_COUNT,
};
static const struct workload_preset connect_presets[] = {
    {PARAM_connections, 1000}, {PARAM_size, 1024}, {PARAM_repeats, 11}, {PARAM_COUNT, 0},
};

/* What neither the workload nor the parameter table says. */
static const struct workload_preset common_presets[] = {
    {PARAM_size, 1024}, {PARAM_rate, PARAM_MAX}, {PARAM_samples, 12}, {PARAM_repeats, 11},
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
        .repeat = connect_repeat,
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

static bool preset_from(const struct workload_preset *list, enum param_id id, double *out)
{
    for (; list->id != PARAM_COUNT; list++)
        if (list->id == id) {
            *out = list->value;
            return true;
        }
    return false;
}

static void resolve_one(const struct workload *w, enum param_id id, double *value)
{
    const char *preset = param_table[id].preset;
    if (!isnan(*value) || preset_from(w->presets, id, value))
        return;
    if (id == PARAM_workload)
        *value = (double)(w - workload_table);
    else if (id == PARAM_protocol)
        *value = protocol_find("fetch");
    else if (!*preset || params_parse(id, preset, value, NULL) < 0)
        preset_from(common_presets, id, value);
}

int workload_check(const struct params *p, struct err *e)
{
    const struct workload *w = workload_of(p);
    if (isnan(p->protocol) || w->repeat || !protocol_table[(int)p->protocol]->one_way)
        return 0;
    return err_set(e, EINVAL, "--protocol %s: it replies nothing, and %s waits for replies",
                   protocol_table[(int)p->protocol]->id, w->id);
}

void workload_resolve(struct params *p)
{
    const struct workload *w = workload_of(p);
    for (int i = 0; i < PARAM_COUNT; i++)
        resolve_one(w, (enum param_id)i, params_at(p, (enum param_id)i));
}
