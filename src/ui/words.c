/* SPDX-License-Identifier: MIT */
/* How figures are said. Units come from the metric table, so a new metric needs nothing here. */
#include "ui/views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "params/axis.h"

static bool unit_is(enum metric_id m, const char *unit)
{
    return !strcmp(metric_table[m].unit, unit);
}

char *words_count(double v, char *buf, size_t size)
{
    if (isfinite(v) && fabs(v) < 1e6 && fabs(v - round(v)) < 0.005)
        return units_fixed(buf, size, v, 0);
    return units_number(buf, size, v);
}

/* 0.02, 4.3, 83.5, 396 */
static char *percent(double v, char *buf, size_t size)
{
    return units_fixed(buf, size, v, v < 1 ? 2 : v < 99.95 ? 1 : 0);
}

char *words_figure(enum metric_id m, double v, bool ascii, char *buf, size_t size)
{
    char text[32];
    if (isnan(v))
        snprintf(buf, size, "-");
    else if (unit_is(m, "us"))
        units_us(buf, size, v, ascii);
    else if (unit_is(m, "ns"))
        units_us(buf, size, v / 1e3, ascii);
    else if (unit_is(m, "s") && v > 0 && v < 0.9995)
        units_us(buf, size, v * 1e6, ascii);
    else if (unit_is(m, "s") && v < 0.01)
        units_span(buf, size, v);
    else if (unit_is(m, "ticks"))
        snprintf(buf, size, "%s ticks", units_si(text, sizeof text, v));
    else if (unit_is(m, "B"))
        units_bytes(buf, size, v);
    else if (unit_is(m, "/s"))
        snprintf(buf, size, "%s/s", units_si(text, sizeof text, v));
    else if (unit_is(m, "%"))
        snprintf(buf, size, "%s %%", percent(v, text, sizeof text));
    else if (unit_is(m, ""))
        words_count(v, buf, size);
    else
        snprintf(buf, size, "%s %s", units_number(text, sizeof text, v), metric_table[m].unit);
    return buf;
}

char *words_cell(enum metric_id m, double v, char *buf, size_t size)
{
    if (isnan(v))
        snprintf(buf, size, "-");
    else if (unit_is(m, "B"))
        units_bytes(buf, size, v);
    else if (unit_is(m, "/s"))
        units_si(buf, size, v);
    else if (unit_is(m, "%"))
        percent(v, buf, size);
    else if (unit_is(m, "us"))
        units_si(buf, size, v < 999.5 ? v : round(v));
    else if (unit_is(m, ""))
        words_count(v, buf, size);
    else if (unit_is(m, "ns")) /* in ms, as its head says */
        units_number(buf, size, v / 1e6);
    else if (unit_is(m, "ticks"))
        units_si(buf, size, v);
    else if (unit_is(m, "s") && v > 0 && v < 0.1)
        snprintf(buf, size, "%.4f", v); /* a unit would not fit */
    else
        units_number(buf, size, v);
    return buf;
}

/* Of times the largest unit that the scale has one of: fractions of it do not fit beside the axis,
 * and figures below a second are said in smaller units, too. */
struct unit words_unit(enum metric_id m, const struct scale *s, bool ascii)
{
    static const struct unit of_seconds[] = {{"s", 1}, {"ms", 1e3}, {"µs", 1e6}, {"ns", 1e9}};
    const char *unit = metric_table[m].unit;
    double own = unit_is(m, "s") ? 1 : unit_is(m, "ns") ? 1e-9 : 0;
    for (int i = 0; own > 0; i++)
        if (i == 3 || s->high * own * of_seconds[i].per >= 0.999)
            return (struct unit){i == 2 && ascii ? "us" : of_seconds[i].word,
                                 own * of_seconds[i].per};
    bool said = *unit == '/' || unit_is(m, "MiB/s");
    return (struct unit){said ? "" : unit_is(m, "us") && !ascii ? "µs" : unit, 1};
}

char *words_in(enum metric_id m, struct unit u, double v, char *buf, size_t size)
{
    if (isnan(v) || !(unit_is(m, "s") || unit_is(m, "ns")))
        return words_cell(m, v, buf, size);
    return units_number(buf, size, v * u.per);
}

const char *words_head(enum metric_id m)
{
    switch (m) {
    case METRIC_server_cpu_pct:
        return "cpu%";
    case METRIC_mem_pct:
        return "mem%";
    case METRIC_cpu_us_per_request:
        return "µs/rq";
    case METRIC_latency_p50_us:
    case METRIC_response_p50_us:
        return "p50µs";
    case METRIC_latency_p99_us:
    case METRIC_response_p99_us:
        return "p99µs";
    case METRIC_requests_per_s:
        return "rq/s";
    case METRIC_events_per_wait:
        return "ev/wt";
    case METRIC_looks_per_request:
        return "looks";
    case METRIC_messages_per_s:
        return "msg/s";
    case METRIC_reads_per_s:
        return "rd/s";
    case METRIC_drain_cpu_ns:
        return "cpu ms";
    case METRIC_drain_ns:
        return "drn ms";
    case METRIC_send_ns:
        return "snd ms";
    case METRIC_send_ticks:
        return "ticks";
    case METRIC_exchange_s:
        return "exch s";
    case METRIC_established:
        return "held";
    case METRIC_accepts_per_s:
        return "acc/s";
    case METRIC_kernel_per_connection:
        return "kernel";
    case METRIC_rss_per_connection:
        return "RSS";
    case METRIC_collapse_connections:
        return "ends";
    case METRIC_connect_s:
        return "conn s";
    case METRIC_accepted_s:
        return "acc s";
    case METRIC_connections_per_s:
        return "conn/s";
    case METRIC_syn_retransmits:
        return "SYN+";
    case METRIC_timer_s:
        return "timers";
    default:
        return metric_table[m].title;
    }
}

char *words_param(enum param_id id, double v, char *buf, size_t size)
{
    char text[48];
    params_show(id, v, text, sizeof text);
    if (id == PARAM_connections || id == PARAM_idle)
        snprintf(buf, size, "%s %s", text, param_table[id].id);
    else if (id == PARAM_rate && isinf(v))
        snprintf(buf, size, "max rate");
    else if (id == PARAM_rate)
        snprintf(buf, size, "%s asked", text);
    else if (id == PARAM_size)
        snprintf(buf, size, "%s", text);
    else
        snprintf(buf, size, "%s %s", param_table[id].id, text);
    return buf;
}

char *words_sweep(const struct workload *w, char *buf, size_t size)
{
    struct axis axis;
    struct err e;
    char low[48], high[48];
    *buf = '\0';
    if (w->sweep_list && *w->sweep_list && axis_parse(w->sweep, w->sweep_list, &axis, &e) == 0)
        snprintf(buf, size, "%s to %s", params_show(w->sweep, axis.values[0], low, sizeof low),
                 params_show(w->sweep, axis.values[axis.count - 1], high, sizeof high));
    return buf;
}

/* The least established of the panes, the one that is waited for; no more than are asked for, also
 * while those of the row before are still being closed. */
static long least_established(const struct scene *s, double asked)
{
    long least = -1;
    for (int i = 0; i < s->pane_count; i++)
        if (least < 0 || s->now->panes[i].established < least)
            least = s->now->panes[i].established;
    return least < 0 ? 0 : least < asked ? least : (long)asked;
}

char *words_phase(const struct scene *s, char *buf, size_t size)
{
    const struct session_now *n = s->now;
    const struct params *p = &s->shown.params;
    const char *word = session_phase_words[n->phase];
    double asked = p->connections + (p->idle > 0 ? p->idle : 0);
    char left[24];
    if (n->phase == PHASE_CONNECTING)
        snprintf(buf, size, "%s %ld of %.0f", word, least_established(s, asked), asked);
    else if (n->phase == PHASE_WARMUP && n->taken > 0) /* a row that goes on after a stop */
        snprintf(buf, size, "%s again, %d kept so far", word, n->taken);
    else if (n->phase == PHASE_WARMUP && s->pane[0].taken > 0)
        snprintf(buf, size, "%s, round %d", word, s->pane[0].taken);
    else if (n->phase == PHASE_MEASURING && n->row_left_s >= 1)
        snprintf(buf, size, "%s %d of %d, %s left", word, n->taken, n->asked,
                 units_clock(left, sizeof left, n->row_left_s));
    else if (n->phase == PHASE_MEASURING)
        snprintf(buf, size, "%s %d of %d", word, n->taken, n->asked);
    else if (n->phase == PHASE_EXTRA)
        snprintf(buf, size, "%d of %d taken%s", n->taken, n->asked,
                 workload_of(p)->repeat ? "" : ", goes on");
    else
        snprintf(buf, size, "%s", word);
    return buf;
}

enum role words_role(int pane)
{
    return (enum role)(ROLE_PANE_A + pane % LINEUP_MAX);
}
