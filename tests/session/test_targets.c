/* SPDX-License-Identifier: MIT */
/* Rows of a server that is not ours: what is known of it decides the main figure, the verdict, the
 * words and the cells. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "servers/target.h"
#include "session/answers.h"
#include "session/measure.h"
#include "session/same.h"
#include "session/sample_rows.h"
#include "session/table.h"
#include "session/verdict.h"

static struct target target;

/* Six seconds of it; cpu below 0: its process is not known. */
static struct row *row_of(struct rows *rows, double cpu, double spare)
{
    struct params p = rows_params("transfer");
    assert_int_equal(target_parse("http://127.0.0.1:8080/a", &target, NULL), 0);
    p.rate = PARAM_MAX;
    p.size = 0;
    p.protocol = target.protocol;
    struct row *r = rows_add(rows, &p, 1);
    r->state = ROW_DONE;
    r->path = row_paths[2];
    r->panes[0].io = &target.model;
    strcpy(r->panes[0].model, target.model.id);
    for (int i = 0; i < 6; i++) {
        struct sample *s = rows_sample(r, 0, METRIC_requests_per_s, 5000 + i);
        s->interval_s = 1;
        s->values.v[METRIC_latency_p99_us] = 400;
        s->values.v[METRIC_load_spare_pct] = spare;
        s->values.v[METRIC_server_cpu_pct] = cpu < 0 ? METRIC_NONE : cpu;
        s->values.v[METRIC_cpu_us_per_request] = cpu < 0 ? METRIC_NONE : cpu / 100 * 200;
    }
    struct rig rig = {0};
    verdict_row(r, &rig);
    return r;
}

static void main_figure(void **state)
{
    (void)state;
    struct rows rows = {0};
    assert_int_equal(row_main(row_of(&rows, -1, 50)), METRIC_requests_per_s);
    assert_int_equal(row_main(row_of(&rows, 40, 50)), METRIC_cpu_us_per_request);
    struct params p = rows_params("transfer");
    assert_int_equal(row_main(rows_add(&rows, &p, 1)), METRIC_cpu_us_per_request); /* nothing yet */
    rows_free(&rows);
}

static void says(double cpu, double spare, enum verdict verdict, const char *trust)
{
    struct rows rows = {0};
    struct answer a;
    struct row *r = row_of(&rows, cpu, spare);
    answer_row(r, 0, &a);
    assert_int_equal(r->panes[0].verdict, verdict);
    if (trust && !strstr(a.trust, trust))
        fail_msg("'%s' does not say '%s'", a.trust, trust);
    assert_non_null(strstr(a.trust, "; network"));
    assert_non_null(strstr(a.answer, cpu < 0 ? "127.0.0.1:8080: 5003" : "127.0.0.1:8080: "));
    assert_non_null(strstr(a.answer, "requests/s"));
    assert_non_null(strstr(a.why, "not ours: what it waits with is not known"));
    fingerprint_none(&r->panes[0].print, "nobody may look");
    answer_row(r, 0, &a);
    assert_non_null(strstr(a.why, "is not known, nobody may look"));
    fingerprint_none(&r->panes[0].print, "");
    snprintf(r->panes[0].print.waits, sizeof r->panes[0].print.waits, "select");
    r->panes[0].print.threads = r->panes[0].print.waiting = 1;
    answer_row(r, 0, &a);
    assert_non_null(strstr(a.why, "not ours: select, 1 thread"));
    rows_free(&rows);
}

static void what_limited_it(void **state)
{
    (void)state;
    double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    says(-1, 50, VERDICT_OK, "50 % to spare: the limit was the server or the way to it");
    says(40, 50, VERDICT_OK, "whose process used 40 % of a CPU");
    says(-1, 2, VERDICT_LOAD_FULL, "load full: 2 % to spare");
    says(97, 50, VERDICT_FULL, "server full: 97 %");
    says(100 * cpus, 50, VERDICT_FULL, "server full");
    if (cpus > 1)
        says(130, 50, VERDICT_OK, "whose process used 130 % of a CPU"); /* several threads work */
}

static void behind_without_its_cpu(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct rig rig = {0};
    struct row *r = row_of(&rows, -1, 50);
    r->params.rate = 20000;
    verdict_row(r, &rig);
    assert_int_equal(r->panes[0].verdict, VERDICT_BEHIND);
    rows_free(&rows);
}

static void of_a_sweep(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct answer a;
    row_of(&rows, -1, 50)->params.connections = 100;
    answer_sweep(&rows, row_of(&rows, -1, 50), 0, &a);
    assert_string_equal(a.why, "127.0.0.1:8080 is not ours: its counts are not known");
    rows_free(&rows);
}

/* Beside one of ours: the why view's line, and a column of each in the table. */
static void what_they_wait_with(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("transfer");
    struct row *r = rows_make(&rows, &p, (const char *const[]){"epoll-lt", "poll"}, 2);
    struct cpu_plan cpus = {0};
    struct same s;
    struct table t;
    same_of(r, 1, &cpus, &s);
    assert_string_equal(s.waits, ""); /* nobody looked */
    fingerprint_none(&r->panes[0].print, "");
    snprintf(r->panes[0].print.waits, sizeof r->panes[0].print.waits, "epoll level");
    r->panes[0].print.threads = 2;
    r->panes[0].print.waiting = 1;
    r->panes[0].print.watched = 402;
    fingerprint_none(&r->panes[1].print, "its process is not known");
    same_of(r, 1, &cpus, &s);
    assert_string_equal(s.waits, "A epoll level in 1 of 2 threads, watches 402; "
                                 "B waits unknown, its process is not known");
    table_make(&rows, r, &t);
    assert_string_equal(t.column[t.columns - 2].head[1], "waits with");
    assert_string_equal(t.row[0].cell[t.columns - 2], "epoll level");
    assert_string_equal(t.row[0].cell[t.columns - 1], "-");
    table_free(&t);
    rows_free(&rows);
}

static void cells(void **state)
{
    (void)state;
    char folder[SCRATCH_PATH], note[200];
    struct rows rows = {0}, back = {0};
    struct environment env = rows_environment();
    struct csv_session s = {&rows, &env, "s"};
    folder_enter(folder);
    row_of(&rows, -1, 50);
    assert_int_equal(csv_save(&s, "x.csv", NULL), 0);
    assert_true(csv_open("x.csv", &back, &env, note, NULL) > 0);
    const struct row *r = back.first;
    assert_string_equal(r->panes[0].model, "127.0.0.1:8080");
    assert_string_equal(r->path, "network");
    assert_int_equal(row_main(r), METRIC_requests_per_s);
    assert_true(r->params.size == 0);
    static const enum param_id unknown[] = {PARAM_workers, PARAM_backlog, PARAM_accept,
                                            PARAM_buffer,  PARAM_events,  PARAM_client_work,
                                            PARAM_place};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_false(pane_honours(&rows.first->panes[0], unknown[i]));
    assert_true(pane_honours(&rows.first->panes[0], PARAM_connections));
    struct table t;
    table_make(&rows, rows.first, &t);
    assert_non_null(strstr(t.title, "network"));
    assert_null(strstr(t.title, " B "));
    table_free(&t);
    folder_leave(folder);
    rows_free(&rows);
    rows_free(&back);
}

/* Counters that mean nothing give no figures, whatever stands in them. */
static void zeros_are_no_figures(void **state)
{
    (void)state;
    struct server_spec spec = {.cpu = -1};
    struct target t;
    assert_int_equal(target_parse("fetch://127.0.0.1:1", &t, NULL), 0);
    params_init(&spec.params);
    spec.model = &t.model;
    struct server *server = server_start(&spec, NULL);
    assert_non_null(server);
    struct edge from = {0}, to = {0};
    struct span span;
    struct span_hists none = {0};
    struct values v;
    edge_read(server, NULL, 0, &from);
    edge_read(server, NULL, 0, &to);
    to.t_ns = from.t_ns + 1000000000;
    to.load.replies = from.load.replies + 10;
    span_clear(&span);
    span_add(&span, &from, &to);
    span_values(&span, &none, 1 << 30, &v);
    static const enum metric_id empty[] = {METRIC_accepted,           METRIC_refused,
                                           METRIC_accepts_per_s,      METRIC_waits_per_s,
                                           METRIC_events_per_wait,    METRIC_looks_per_request,
                                           METRIC_server_cpu_pct,     METRIC_server_user_pct,
                                           METRIC_rss_bytes,          METRIC_mem_pct,
                                           METRIC_cpu_us_per_request, METRIC_others_pct,
                                           METRIC_steal_pct,          METRIC_listen_drops,
                                           METRIC_reads_per_s,        METRIC_waits_per_request,
                                           METRIC_writes_per_request};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        if (!isnan(v.v[empty[i]]))
            fail_msg("%s is %g", metric_table[empty[i]].id, v.v[empty[i]]);
    assert_true(v.v[METRIC_requests_per_s] > 9.99 && v.v[METRIC_requests_per_s] < 10.01);
    server_stop(server);
}

/* Ticks of the CPU less ticks of the server, whatever its clock says; without ticks, less that. */
static void others_by_ticks(void **state)
{
    (void)state;
    struct edge from = {.counted = true}, to = {.t_ns = 1000000000, .counted = true};
    struct span span;
    struct span_hists none = {0};
    struct values v;
    to.cpu.busy_ns = 50000000;
    to.server_cpu_ns = 145000000; /* seen by a quarter of the ticks */
    to.server_tick_ns = 37000000;
    span_clear(&span);
    span_add(&span, &from, &to);
    span_values(&span, &none, 1 << 30, &v);
    assert_true(fabs(v.v[METRIC_others_pct] - 1.3) < 1e-9);
    assert_true(fabs(v.v[METRIC_server_cpu_pct] - 14.5) < 1e-9);
    from.server_tick_ns = to.server_tick_ns = -1;
    span_clear(&span);
    span_add(&span, &from, &to);
    span_values(&span, &none, 1 << 30, &v);
    assert_true(fabs(v.v[METRIC_others_pct] + 9.5) < 1e-9);
}

/* Nobody looked while it was full, but it dropped some. */
static void a_queue_was_full(void **state)
{
    (void)state;
    struct edge from = {.queue = {.waiting = 0, .backlog = 5, .drops = 2}}, to = from;
    struct span span;
    span_clear(&span);
    span_add(&span, &from, &to);
    assert_int_equal(span.accept_queue, 0);
    to.queue.waiting = 3;
    span_add(&span, &from, &to);
    assert_int_equal(span.accept_queue, 3);
    to.queue.drops = 4; /* for another reason */
    span_add(&span, &from, &to);
    assert_int_equal(span.accept_queue, 3);
    to.net.listen_overflows = 1;
    span_add(&span, &from, &to);
    assert_int_equal(span.accept_queue, 6);
    from.queue.waiting = -1; /* not known: drops neither */
    span_clear(&span);
    to.queue.waiting = 1;
    span_add(&span, &from, &to);
    assert_int_equal(span.accept_queue, 1);
}

/* A second of 1000 answered requests, of a process that used `cpu_ns` meanwhile. */
static void second_of(int64_t cpu_ns, struct values *out)
{
    struct span span;
    struct span_hists none = {0};
    span_clear(&span);
    span.interval_s = 1;
    span.load.replies = span.server.requests = 1000;
    span.server_cpu_ns = cpu_ns;
    span.user_ns = span.sys_ns = cpu_ns / 2;
    span.rss_bytes = 1000000;
    span_values(&span, &none, 1 << 30, out);
}

static void another_process_served(void **state)
{
    static const int64_t idle[] = {0, 90000}; /* a parent that prints a line a second */
    (void)state;
    struct values v;
    for (int i = 0; i < 2; i++) {
        second_of(idle[i], &v);
        assert_true(isnan(v.v[METRIC_cpu_us_per_request]) && isnan(v.v[METRIC_server_cpu_pct]));
        assert_true(isnan(v.v[METRIC_rss_bytes]) && v.v[METRIC_requests_per_s] > 999);
    }
    second_of(2000000, &v);
    assert_true(v.v[METRIC_cpu_us_per_request] > 1.99 && v.v[METRIC_server_cpu_pct] > 0.19);
    struct rows rows = {0};
    struct row *r = row_of(&rows, -1, 50);
    struct answer a;
    target.pid = 4711;
    answer_row(r, 0, &a);
    assert_non_null(strstr(a.trust, "CPU not measured: process 4711"));
    assert_null(strstr(a.answer, "CPU"));
    rows_free(&rows);
}

/* Each reply was wrong and its connection was closed: none is open at the end. */
static void connected_and_never_answered(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct row *r = row_of(&rows, -1, 50);
    struct answer a;
    r->params.connections = 7;
    r->panes[0].total.connects = 90;
    for (int i = 0; i < r->panes[0].count; i++) {
        struct values *v = &((struct sample *)pane_at(&r->panes[0], i))->values;
        v->v[METRIC_established] = v->v[METRIC_served] = 0;
        v->v[METRIC_never_answered] = 7;
    }
    answer_row(r, 0, &a);
    assert_non_null(strstr(a.trust, "A: 7 connected, 0 served, 7 never answered"));
    rows_free(&rows);
}

static double in_flight(const struct params *p, uint64_t connects, uint64_t timeouts)
{
    struct span span;
    struct span_hists none = {0};
    struct values v;
    span_clear(&span);
    span.interval_s = 1;
    span.load.replies = 1000;
    span.load.connects = connects;
    span.load.errors_timeout = timeouts;
    span_values(&span, &none, 1 << 30, &v);
    v.v[METRIC_latency_mean_us] = 2000;
    v.v[METRIC_never_answered] = 1;
    span_in_flight(&span, p, &v);
    return v.v[METRIC_in_flight_pct];
}

/* While a connection is opened anew, or a request fails, nothing of it is in a latency. */
static void rate_times_latency(void **state)
{
    (void)state;
    struct params p = rows_params("transfer");
    p.connections = 3;
    p.rate = PARAM_MAX;
    assert_true(fabs(in_flight(&p, 0, 0) - 100) < 1e-6);
    assert_true(isnan(in_flight(&p, 5, 0)) && isnan(in_flight(&p, 0, 1)));
    p.keepalive = KEEPALIVE_OFF; /* there the connect is part of the latency */
    assert_true(fabs(in_flight(&p, 1000, 0) - 100) < 1e-6);
    p.rate = 1000;
    assert_true(isnan(in_flight(&p, 0, 0)));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(main_figure),
        cmocka_unit_test(what_limited_it),
        cmocka_unit_test(behind_without_its_cpu),
        cmocka_unit_test(of_a_sweep),
        cmocka_unit_test(what_they_wait_with),
        cmocka_unit_test(cells),
        cmocka_unit_test(zeros_are_no_figures),
        cmocka_unit_test(others_by_ticks),
        cmocka_unit_test(a_queue_was_full),
        cmocka_unit_test(another_process_served),
        cmocka_unit_test(connected_and_never_answered),
        cmocka_unit_test(rate_times_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
