/* SPDX-License-Identifier: MIT */
/* The table of a sweep cell by cell, the published figures beside it, what is withheld, and the
 * environment in the CSV. */
#include <string.h>

#include "base/check.h"
#include "session/published.h"
#include "session/sample_rows.h"
#include "session/table.h"

static const char *const two[] = {"select", "epoll-lt"};

static int column(const struct table *t, const char *group, const char *title)
{
    for (int i = 0; i < t->columns; i++)
        if (strcmp(t->column[i].head[0], group) == 0 && strcmp(t->column[i].head[1], title) == 0)
            return i;
    fail_msg("no column '%s' '%s'", group, title);
    return 0;
}

static bool has_column(const struct table *t, const char *title)
{
    for (int i = 0; i < t->columns; i++)
        if (strcmp(t->column[i].head[1], title) == 0)
            return true;
    return false;
}

static void cell_is(const struct table *t, int row, const char *group, const char *title,
                    const char *text)
{
    assert_string_equal(t->row[row].cell[column(t, group, title)], text);
}

/* A row whose B costs a fifth of A, 12 samples each. */
static struct row *measured(struct rows *r, struct params p, const char *const *models, int panes)
{
    struct row *row = rows_make(r, &p, models, panes);

    for (int i = 0; i < 12; i++)
        for (int k = 0; k < panes; k++) {
            double cost = (70 + (i == 3) * 20 + (i == 8) * -20) / (k ? 5.0 : 1);
            struct sample *s = rows_sample(row, k, METRIC_cpu_us_per_request, cost);

            s->values.v[METRIC_server_cpu_pct] = cost * 1.15;
            s->values.v[METRIC_requests_per_s] = 11500;
            s->values.v[METRIC_response_p99_us] = 310;
            s->values.v[METRIC_latency_p99_us] = 77;
        }
    return row;
}

static void a_sweep_cell_by_cell(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("transfer");
    struct table t;

    p.connections = 800;
    measured(&rows, p, two, 2)->panes[0].verdict = VERDICT_FULL;
    p.connections = 100;
    measured(&rows, p, two, 2);
    p.connections = 400;
    struct row *like = measured(&rows, p, two, 2);
    measured(&rows, p, (const char *const[]){"select", "poll"}, 2);     /* another lineup, */
    measured(&rows, p, two, 2)->state = ROW_DROPPED;                    /* a dropped row, */
    struct params c = rows_params("connect");
    rows_make(&rows, &c, two, 2);                                       /* another workload */

    table_make(&rows, like, &t);
    assert_int_equal(t.rows, 3);
    assert_string_equal(t.title, "transfer · 1024 B · 11.5k/s asked · 12 samples, drop 1+1, "
                                 "mean of 10 · loopback");
    cell_is(&t, 0, "", "conns", "100");
    cell_is(&t, 1, "", "conns", "400");
    cell_is(&t, 2, "", "conns", "800");
    assert_int_equal(column(&t, "", "conns"), 0);
    cell_is(&t, 0, "A select", "µs/rq", "70.0");
    cell_is(&t, 0, "A select", "cpu%", "80.5");
    cell_is(&t, 0, "B epoll-lt", "µs/rq", "14.0");
    cell_is(&t, 0, "A/B CPU a request", "ratio", "5.00");
    cell_is(&t, 0, "A/B CPU a request", "99 %", "5.00 .. 5.00");
    cell_is(&t, 0, "published (2.6.16)", "A cpu%", "28.1");
    cell_is(&t, 1, "published (2.6.16)", "B cpu%", "44.6");
    cell_is(&t, 1, "published (2.6.16)", "A/B", "1.33");
    assert_string_equal(t.published, "our verdict on the published figures: rate-unknown (requests per "
                                     "second are not given; CPU % of unequal work cannot rank)");
    cell_is(&t, 0, "B epoll-lt", "beside A", "cheaper");
    cell_is(&t, 0, "", "verdict", "");
    cell_is(&t, 2, "", "verdict", "A full");
    cell_is(&t, 2, "B epoll-lt", "beside A", "cheaper"); /* cost holds where A is full */
    cell_is(&t, 0, "A select", "p99µs", "310");
    cell_is(&t, 0, "A select", "svc p99", "77.0"); /* from the send */
    assert_true(column(&t, "", "verdict") < column(&t, "A select", "p99µs"));
    table_free(&t);
    rows_free(&rows);
}

static void a_closed_loop_says_its_p99_once(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("transfer");
    struct table t;

    p.rate = PARAM_MAX;
    struct row *flat = measured(&rows, p, two, 2);
    table_make(&rows, flat, &t);
    assert_true(column(&t, "A select", "p99µs") >= 0);
    for (int i = 0; i < t.columns; i++)
        assert_string_not_equal(t.column[i].head[1], "svc p99");
    table_free(&t);
    p.rate = 1000;
    measured(&rows, p, two, 2);
    table_make(&rows, flat, &t);
    assert_true(column(&t, "A select", "svc p99") >= 0);
    table_free(&t);
    rows_free(&rows);
}

static void columns_are_as_wide_as_their_cells(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct row *like = measured(&rows, rows_params("transfer"), two, 2);
    struct table t;

    table_make(&rows, like, &t);
    assert_int_equal(t.column[column(&t, "A select", "µs/rq")].width, 5);
    assert_int_equal(t.column[column(&t, "A/B CPU a request", "99 %")].width, 12);
    assert_int_equal(t.column[column(&t, "A select", "cpu%")].pane, 0);
    assert_int_equal(t.column[column(&t, "B epoll-lt", "cpu%")].pane, 1);
    assert_int_equal(t.column[0].pane, -1);
    assert_false(t.column[0].text);
    assert_true(t.column[column(&t, "", "verdict")].text);
    for (int w = 0, i = 0; i < 10; i++) { /* the first ten fit into 80 columns */
        w += t.column[i].width + 1;
        assert_true(w < 80);
    }
    table_free(&t);
    rows_free(&rows);
}

static void what_may_not_rank_has_no_ratio(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct row *row = measured(&rows, rows_params("transfer"), two, 2);
    struct table t;

    row->panes[1].verdict = VERDICT_ERRORS;
    table_make(&rows, row, &t);
    cell_is(&t, 0, "A/B CPU a request", "ratio", "-");
    cell_is(&t, 0, "A/B CPU a request", "99 %", "-");
    cell_is(&t, 0, "B epoll-lt", "beside A", "withheld");
    cell_is(&t, 0, "", "verdict", "B errors");
    cell_is(&t, 0, "B epoll-lt", "µs/rq", "14.0");
    table_free(&t);
    row->panes[0].verdict = VERDICT_ERRORS;
    table_make(&rows, row, &t);
    cell_is(&t, 0, "", "verdict", "errors");
    table_free(&t);
    rows_free(&rows);
}

static void what_differs_becomes_a_column(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("transfer");
    struct row *like = NULL;
    struct table t;

    p.connections = 400;
    for (int rate = 0; rate < 3; rate++)
        for (int size = 2; size > 0; size--) {
            p.rate = rate == 2 ? PARAM_MAX : 1000 * (2 - rate);
            p.size = size;
            like = measured(&rows, p, (const char *const[]){"poll"}, 1);
        }
    table_make(&rows, like, &t);
    assert_int_equal(t.rows, 6);
    assert_string_equal(t.column[0].head[1], "rate");
    assert_string_equal(t.column[1].head[1], "size");
    assert_string_equal(t.row[0].cell[0], "1k/s");
    assert_string_equal(t.row[0].cell[1], "1 B");
    assert_string_equal(t.row[5].cell[0], "max");
    assert_false(has_column(&t, "conns"));
    assert_false(has_column(&t, "ratio"));
    cell_is(&t, 5, "A poll", "p99µs", "77.0");
    assert_null(strstr(t.title, "asked"));
    table_free(&t);
    rows_free(&rows);
}

static void connect_shows_times_and_timers(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("connect");
    struct table t;

    p.repeats = 5;
    struct row *row = rows_make(&rows, &p, two, 2);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++) {
            struct sample *s = rows_sample(row, k, METRIC_connect_s, (k ? 4 : 32) + i * 0.01);
            s->values.v[METRIC_syn_retransmits] = k ? 4 : 32;
            s->values.v[METRIC_timer_s] = k ? 4 : 32;
        }
    row->panes[0].verdict = row->panes[1].verdict = VERDICT_ACCEPT_QUEUE;
    table_make(&rows, row, &t);
    cell_is(&t, 0, "", "conns", "1000");
    cell_is(&t, 0, "A select", "s", "32.0");
    cell_is(&t, 0, "A select", "accept s", "-");
    assert_int_equal(column(&t, "A select", "s"), 1); /* times first, CPU at the far end */
    assert_true(column(&t, "A select", "cpu%") > column(&t, "", "verdict"));
    cell_is(&t, 0, "B epoll-lt", "re-SYN", "4.00");
    cell_is(&t, 0, "B epoll-lt", "timer s", "4.00");
    cell_is(&t, 0, "published (2.6.16)", "A s", "84.0");
    assert_false(has_column(&t, "A/B")); /* 84 s over 0 s is no ratio */
    cell_is(&t, 0, "", "verdict", "accept-queue");
    cell_is(&t, 0, "B epoll-lt", "beside A", "cheaper"); /* the reason stands beside it */
    assert_non_null(strstr(t.title, "5 repeats, drop 1+1, mean of 3"));
    table_free(&t);
    rows.first->params.repeats = 1;
    table_make(&rows, rows.first, &t);
    assert_non_null(strstr(t.title, "1 repeat ·"));
    assert_null(strstr(t.title, "asked"));
    table_free(&t);
    rows_free(&rows);
}

/* The documents name no rate: what they say is beside the workload's own alone. */
static void published_figures_stand_beside_their_conditions(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("transfer");
    struct table t;

    p.connections = 100;
    measured(&rows, p, two, 2);
    p.rate = 2000;
    struct row *like = measured(&rows, p, two, 2);
    table_make(&rows, like, &t);
    assert_int_equal(t.rows, 2);
    assert_true(has_column(&t, "rate"));
    cell_is(&t, 0, "published (2.6.16)", "A cpu%", "-");
    cell_is(&t, 1, "published (2.6.16)", "A cpu%", "28.1");
    table_free(&t);
    rows_free(&rows);
    measured(&rows, p, two, 2);
    p.workers = 4;
    table_make(&rows, measured(&rows, p, two, 2), &t);
    assert_false(has_column(&t, "A cpu%"));
    table_free(&t);
    rows_free(&rows);
}

/* A figure over itself is no ratio that was published. */
static void two_that_are_one_to_the_document(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct table t;

    table_make(&rows, measured(&rows, rows_params("transfer"),
                               (const char *const[]){"epoll-lt", "epoll-et"}, 2), &t);
    assert_true(has_column(&t, "B cpu%"));
    assert_false(has_column(&t, "A/B"));
    table_free(&t);
    rows_free(&rows);
}

/* A message has a size, whether it is answered or not. */
static void a_stream_says_its_size(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct table t;

    table_make(&rows, measured(&rows, rows_params("stream"), two, 2), &t);
    assert_non_null(strstr(t.title, "1024 B"));
    table_free(&t);
    rows_free(&rows);
}

static void four_panes_and_no_samples_fit(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("transfer");
    struct row *row =
        rows_make(&rows, &p, (const char *const[]){"select", "poll", "epoll-lt", "epoll-et"}, 4);
    struct table t;

    for (int i = 0; i < 4; i++)
        row->panes[i].verdict = VERDICT_NONE;
    table_make(&rows, row, &t);
    assert_int_equal(t.rows, 1);
    cell_is(&t, 0, "D epoll-et", "cpu%", "-");
    cell_is(&t, 0, "D epoll-et", "beside A", "withheld");
    cell_is(&t, 0, "D epoll-et", "mem%", "-");
    cell_is(&t, 0, "", "verdict", "");
    assert_true(t.columns < TABLE_COLUMNS);
    table_free(&t);
    rows_free(&rows);
}

static double published_for(const char *workload, const char *model, double connections,
                            enum metric_id m)
{
    struct params p;
    params_init(&p);
    p.workload = workload_find(workload);
    p.connections = connections;
    workload_resolve(&p);
    return published_value(&p, model, m);
}

static void published_figures_need_the_same_set_up(void **state)
{
    (void)state;
    struct params p;
    params_init(&p);
    p.workload = workload_find("transfer");
    workload_resolve(&p);
    assert_near(published_value(&p, "select", METRIC_server_cpu_pct), 59.04, 0);
    p.idle = 5000;
    assert_nan(published_value(&p, "select", METRIC_server_cpu_pct));
    p.idle = 0;
    p.size = 4096;
    assert_nan(published_value(&p, "select", METRIC_server_cpu_pct));
    params_init(&p);
    p.workload = workload_find("stream");
    p.size = 4096;
    workload_resolve(&p);
    assert_near(published_value(&p, "epoll-et", METRIC_messages_per_s), 24000, 0);
    assert_nan(published_value(&p, "uring", METRIC_messages_per_s));
    params_init(&p);
    p.workload = workload_find("connect");
    p.arrival = ARRIVAL_STORM;
    workload_resolve(&p);
    assert_nan(published_value(&p, "select", METRIC_connect_s));
}

static void published_figures_stand_beside_ours(void **state)
{
    (void)state;
    const struct workload *transfer = &workload_table[workload_find("transfer")];
    const struct workload *connect = &workload_table[workload_find("connect")];
    enum metric_id cpu = METRIC_server_cpu_pct, time = METRIC_connect_s;
    const char *model, *reason;

    assert_near(published_for("transfer", "select", 400, cpu), 59.04, 0);
    assert_near(published_for("transfer", "epoll-et", 400, cpu), 44.55, 0);
    assert_near(published_for("transfer", "epoll-lt", 400, METRIC_mem_pct), 0.3, 0);
    assert_near(published_for("connect", "select", 1000, time), 84, 0);
    assert_near(published_for("connect", "epoll-lt", 600, time), 0.3, 0);
    /* Several runs of the same: their mean. */
    assert_near(published_for("burst", "epoll-lt", 1000, METRIC_send_ticks), 22344702, 0);
    assert_near(published_for("burst", "epoll-lt", 1000, METRIC_rearm_ns), 4506.1, 0);
    assert_nan(
        published_for("stream", "epoll-lt", 1000, METRIC_messages_per_s)); /* of 1024 bytes */
    assert_nan(published_for("transfer", "poll", 400, cpu));
    assert_nan(published_for("transfer", "select-wide", 400, cpu));
    assert_nan(published_for("transfer", "select", 401, cpu));
    assert_nan(published_for("transfer", "select", 400, METRIC_rss_bytes));
    assert_int_equal(published_metric(transfer), cpu);
    assert_int_equal(published_metric(connect), time);
    assert_int_equal(published_metric(NULL), METRIC_COUNT);
    assert_string_equal(published_label(transfer), "2.6.16");
    assert_non_null(strstr(published_machine(transfer), "Pentium 4"));
    assert_string_equal(published_verdict(transfer, 0, &model, &reason), "rate-unknown");
    assert_non_null(strstr(reason, "not given"));
    assert_string_equal(model, ""); /* of all */
    assert_string_equal(published_verdict(connect, 0, &model, &reason), "accept-queue");
    assert_string_equal(published_verdict(connect, 1, &model, &reason), "");
    assert_string_equal(published_verdict(NULL, 0, &model, &reason), "");
    const struct workload *burst = &workload_table[workload_find("burst")];
    assert_string_equal(published_verdict(burst, 0, &model, &reason), "sender");
    assert_string_equal(published_verdict(burst, 1, &model, &reason), "unit");
    assert_non_null(strstr(reason, "14 419.53 cycles at 3.2 GHz are 4.5 us"));
}

static void the_environment_is_one_line_each(void **state)
{
    (void)state;
    struct environment env;
    const char *text[] = {env.host, env.kernel, env.cpu, env.cpus, env.mitigations, env.nofile,
                          env.somaxconn, env.clock, env.version};

    environment_read(&env);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        assert_true(strlen(text[i]) < sizeof env.host);
        assert_null(strpbrk(text[i], "\r\n"));
    }
    assert_int_equal(strncmp(env.kernel, "Linux ", 6), 0);
    assert_true(env.cpu[0] && env.cpus[0] && env.nofile[0] && env.version[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_cell_by_cell),
        cmocka_unit_test(a_closed_loop_says_its_p99_once),
        cmocka_unit_test(columns_are_as_wide_as_their_cells),
        cmocka_unit_test(what_may_not_rank_has_no_ratio),
        cmocka_unit_test(what_differs_becomes_a_column),
        cmocka_unit_test(connect_shows_times_and_timers),
        cmocka_unit_test(published_figures_stand_beside_their_conditions),
        cmocka_unit_test(two_that_are_one_to_the_document),
        cmocka_unit_test(a_stream_says_its_size),
        cmocka_unit_test(four_panes_and_no_samples_fit),
        cmocka_unit_test(published_figures_stand_beside_ours),
        cmocka_unit_test(published_figures_need_the_same_set_up),
        cmocka_unit_test(the_environment_is_one_line_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
