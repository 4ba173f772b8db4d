/* SPDX-License-Identifier: MIT */
/* Verdicts and answers over rows made by hand: what a figure says, and when it may say it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/answers.h"
#include "net/protocol.h"
#include "session/opening.h"
#include "session/say.h"
#include "session/verdict.h"

struct made {
    struct rows rows;
    struct row *row;
    struct rig rig;
};

static struct row *add_row(struct made *m, double connections)
{
    struct params p;
    params_init(&p);
    p.workload = workload_find("transfer");
    p.connections = connections;
    workload_resolve(&p);
    struct row *r = rows_add(&m->rows, &p, 2);
    strcpy(r->panes[0].model, "select");
    strcpy(r->panes[1].model, "epoll-lt");
    r->state = ROW_DONE;
    m->row = r;
    m->rig.count = 2;
    m->rig.panes[0].usable = m->rig.panes[1].usable = 1;
    return r;
}

static void add_samples(struct row *r, int pane, int n, double cost, double cpu, double served)
{
    for (int i = 0; i < n; i++) {
        struct sample *s = pane_add(&r->panes[pane]);
        s->index = i + 1;
        s->kept = KEPT_YES;
        s->interval_s = 0.4;
        double wobble = 1 + 0.01 * ((i * 7) % 5 - 2);
        s->values.v[METRIC_cpu_us_per_request] = cost * wobble;
        s->values.v[METRIC_server_cpu_pct] = cpu;
        s->values.v[METRIC_requests_per_s] = served;
        s->values.v[METRIC_load_spare_pct] = 50;
        s->values.v[METRIC_errors] = s->values.v[METRIC_errors_reset] = 0;
        s->values.v[METRIC_looks_per_request] = pane ? 1 : 396;
        s->values.v[METRIC_events_per_wait] = 1.01;
        s->values.v[METRIC_response_p99_us] = 310;
    }
}

static int setup(void **state)
{
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    *state = calloc(1, sizeof(struct made));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    struct made *m = *state;
    rows_free(&m->rows);
    free(m);
    return 0;
}

static enum verdict judged(struct made *m, int pane)
{
    verdict_row(m->row, &m->rig);
    return m->row->panes[pane].verdict;
}

static void ok_ranks_the_cost(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 72.6, 83.5, 11500);
    add_samples(r, 1, 12, 14.5, 16.7, 11500);
    assert_int_equal(judged(m, 0), VERDICT_OK);
    assert_int_equal(judged(m, 1), VERDICT_OK);
    struct answer a;
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.answer, "select costs 5.0"));
    assert_non_null(strstr(a.answer, "times the CPU of epoll-lt"));
    assert_non_null(strstr(a.answer, "at 11.5k/s"));
    assert_non_null(strstr(a.why, "select looks at 396 sockets"));
    assert_non_null(strstr(a.trust, "ok"));
    assert_non_null(strstr(a.trust, "loopback"));
}

/* As a saved session may have one. */
static void a_row_left_in_its_warm_up_is_not_measured(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    struct answer a;
    r->state = ROW_RUNNING;
    answer_row(r, 1, &a);
    assert_string_equal(a.answer, "not yet");
    r->state = ROW_DONE;
    answer_row(r, 1, &a);
    assert_string_equal(a.answer, "not measured: no round was kept");
    assert_string_equal(a.trust, "not measured; loopback");
}

static void the_same_is_no_difference(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 14.5, 16.7, 11500);
    add_samples(r, 1, 12, 14.5, 16.7, 11500);
    judged(m, 0);
    struct answer a;
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.answer, "no difference"));
}

static void the_cheaper_first_pane_is_named(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 10, 16.7, 11500);
    add_samples(r, 1, 12, 20, 33, 11500);
    judged(m, 0);
    struct answer a;
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.answer, "epoll-lt costs 2.0"));
    assert_non_null(strstr(a.answer, "times the CPU of select"));
}

static void each_limit_has_its_verdict(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 2, 72.6, 83.5, 11500);
    add_samples(r, 1, 12, 14.5, 97, 11500);
    assert_int_equal(judged(m, 0), VERDICT_TOO_FEW);
    assert_int_equal(judged(m, 1), VERDICT_FULL);

    r = add_row(m, 500);
    add_samples(r, 0, 12, 72.6, 99, 9000);
    add_samples(r, 1, 12, 14.5, 17, 11500);
    assert_int_equal(judged(m, 0), VERDICT_BEHIND);
    assert_non_null(strstr(r->panes[0].reason, "9.00k/s of the 11.5k/s asked"));
    r->panes[1].unsteady = true;
    assert_int_equal(judged(m, 1), VERDICT_UNSTEADY);
    ((struct sample *)pane_at(&r->panes[1], 4))->values.v[METRIC_errors_reset] = 3;
    assert_int_equal(judged(m, 1), VERDICT_ERRORS);
    assert_non_null(strstr(r->panes[1].reason, "3 errors: 3 reset"));
    r->panes[1].died = true;
    assert_int_equal(judged(m, 1), VERDICT_DIED);
    m->rig.panes[1].skipped = true;
    assert_int_equal(judged(m, 1), VERDICT_SKIPPED);
}

static void a_load_without_room_is_named(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 10, 60, 11500);
    add_samples(r, 1, 12, 10, 60, 11500);
    for (int i = 0; i < 12; i++)
        ((struct sample *)pane_at(&r->panes[0], i))->values.v[METRIC_load_spare_pct] = 1;
    assert_int_equal(judged(m, 0), VERDICT_LOAD_FULL);
}

/* What a server says of itself, where a test has something to say for it. */
static const struct server_counts *says;
void __real_server_read(const struct server *s, struct server_counts *out);
void __wrap_server_read(const struct server *s, struct server_counts *out);
void __wrap_server_read(const struct server *s, struct server_counts *out)
{
    if (says)
        *out = *says;
    else
        __real_server_read(s, out);
}

uint64_t __real_server_troubles(const struct server *s, struct err *latest);
uint64_t __wrap_server_troubles(const struct server *s, struct err *latest);
uint64_t __wrap_server_troubles(const struct server *s, struct err *latest)
{
    return says ? 0 : __real_server_troubles(s, latest);
}

/* Of 1100 connections select took 1008; they close while the next row's 10 are there already. It
 * holds what it accepted less what it closed since its start: since this row's begin that would be
 * less than none. */
static void what_a_server_holds_is_counted_from_its_start(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 10);
    struct server_counts now = {.accepts = 1018, .closes = 1008, .refusals = 93};
    add_samples(r, 0, 12, 20, 20, 11500);
    add_samples(r, 1, 12, 20, 20, 11500);
    r->panes[0].io = io_model_table[io_model_find("select")];
    m->rig.panes[0].server = (struct server *)m; /* nobody looks into it */
    m->rig.panes[0].found = (struct server_counts){.accepts = 1008, .refusals = 92};
    says = &now;
    assert_int_equal(judged(m, 0), VERDICT_OK);
    now.closes = 1010;
    assert_int_equal(judged(m, 0), VERDICT_FD_LIMIT);
    assert_string_equal(r->panes[0].reason,
                        "select holds 8 of 10: its descriptors end at 1024");
    now.refusals = 92; /* none of this row */
    assert_int_equal(judged(m, 0), VERDICT_OK);
    now.accept_failures = 1;
    assert_int_equal(judged(m, 0), VERDICT_FD_LIMIT);
    says = NULL;
    m->rig.panes[0].server = NULL;
}

static void errors_withhold_the_answer(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 72.6, 83.5, 11500);
    add_samples(r, 1, 12, 14.5, 16.7, 11500);
    ((struct sample *)pane_at(&r->panes[1], 0))->values.v[METRIC_errors_bytes] = 1;
    judged(m, 1);
    struct answer a;
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.answer, "withheld: epoll-lt errors"));
    assert_non_null(strstr(a.trust, "1 error: 1 wrong replies"));
}

/* What happened once stands in the singular. */
static void one_is_said_as_one(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    double *v[2];
    add_samples(r, 0, 12, 20, 20, 11500);
    add_samples(r, 1, 12, 20, 20, 11500);
    for (int i = 0; i < 2; i++)
        v[i] = ((struct sample *)pane_at(&r->panes[i], 0))->values.v;
    r->params.keepalive = KEEPALIVE_OFF;
    v[0][METRIC_refused] = v[1][METRIC_errors_port] = 1;
    assert_int_equal(judged(m, 0), VERDICT_FD_LIMIT);
    assert_non_null(strstr(r->panes[0].reason, "select refused 1 connection:"));
    assert_int_equal(judged(m, 1), VERDICT_PORT_LIMIT);
    assert_non_null(strstr(r->panes[1].reason, "no local port (client), once"));
    v[0][METRIC_refused] = v[1][METRIC_errors_port] = 0;
    v[1][METRIC_errors_fd] = 2;
    assert_int_equal(judged(m, 1), VERDICT_FD_LIMIT);
    assert_string_equal(r->panes[1].reason, "the load found no descriptor 2 times");
}

/* What a model cannot be measured for is said whatever the verdict is. */
static void a_note_stands_behind_the_reason(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 72.6, 83.5, 11500);
    add_samples(r, 1, 2, 14.5, 16.7, 11500);
    for (int i = 0; i < 2; i++)
        strcpy(r->panes[i].note, "no gate");
    assert_int_equal(judged(m, 0), VERDICT_OK);
    assert_string_equal(r->panes[0].reason, "no gate");
    assert_int_equal(judged(m, 1), VERDICT_TOO_FEW);
    assert_string_equal(r->panes[1].reason, "2 used: values, no interval; no gate");
}

static struct row *running(struct made *m, int n, double a, double b)
{
    struct row *r = add_row(m, 400);
    r->state = ROW_RUNNING;
    add_samples(r, 0, n, a, 30, 11500);
    add_samples(r, 1, n, b, 15, 11500);
    return r;
}

static void warmup(struct row *r, int rounds)
{
    for (int pane = 0; pane < 2; pane++)
        for (int i = 0; i < rounds; i++)
            r->panes[pane].first->samples[i].kept = KEPT_WARMUP;
}

static void few_rounds_are_a_first_guess(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = running(m, 2, 20, 10);
    warmup(r, 2);
    judged(m, 0);
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.answer, "first guess over 2 rounds of warm-up: select costs 2.0"));
    assert_string_equal(a.why, "-");
    assert_non_null(strstr(a.trust, "not yet: 0 of 12 rounds kept"));
    assert_true(row_undecided(r, 1, METRIC_cpu_us_per_request));
    r->state = ROW_DONE; /* what is finished is not guessed at */
    judged(m, 0);
    answer_row(r, 1, &a);
    assert_null(strstr(a.answer, "guess"));
    assert_non_null(strstr(a.answer, "withheld: select and epoll-lt too-few"));
    assert_non_null(strstr(a.trust, "A too-few"));
    assert_non_null(strstr(a.trust, "B too-few"));
}

static void a_first_guess_of_no_difference(void **state)
{
    struct made *m = *state;
    struct row *r = running(m, 2, 20.1, 20);
    judged(m, 0);
    struct answer a;
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.answer, "first guess: no difference, select / epoll-lt is 1.0"));
}

/* The panes, the ratio and the guess are of the same rounds. */
static void a_guess_is_of_the_kept_rounds(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = running(m, 4, 15, 10);
    warmup(r, 2);
    for (int i = 0; i < 2; i++)
        r->panes[0].first->samples[i].values.v[METRIC_cpu_us_per_request] = 40;
    judged(m, 0);
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.answer, "first guess: select costs 1.50 times"));
}

static void no_guess_where_a_verdict_withholds(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = running(m, 2, 20, 10);
    r->panes[0].died = true;
    strcpy(r->panes[0].reason, "killed by SIGKILL");
    judged(m, 0);
    assert_false(row_undecided(r, 1, METRIC_cpu_us_per_request));
    answer_row(r, 1, &a);
    assert_string_equal(a.answer, "withheld: select died");
    assert_non_null(strstr(a.trust, "A died: killed by SIGKILL; B not yet: 2 of 12 rounds kept"));
}

static void all_that_withhold_are_named(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = running(m, 12, 20, 10);
    r->state = ROW_DONE;
    judged(m, 0);
    r->panes[0].verdict = r->panes[1].verdict = VERDICT_NOISY;
    answer_row(r, 1, &a);
    assert_string_equal(a.answer, "withheld: select and epoll-lt noisy");
    r->panes[1].verdict = VERDICT_ERRORS;
    answer_row(r, 1, &a);
    assert_string_equal(a.answer, "withheld: select noisy, epoll-lt errors");
    strcpy(r->panes[1].model, "select");
    answer_row(r, 1, &a);
    assert_string_equal(a.answer, "withheld: A select noisy, B select errors");
}

/* Repeats are kept and yet too few when the trim leaves one. */
static void a_trim_that_leaves_one_is_not_yet_ok(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = running(m, 3, 20, 10);
    r->params.trim = 1;
    judged(m, 0);
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.trust, "not yet: 3 of 12 rounds kept, 1 after the trim"));
    assert_null(strstr(a.trust, "ok"));
}

static void a_figure_that_a_model_lacks(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = running(m, 5, 20, 10);
    for (int i = 0; i < 5; i++)
        r->panes[1].first->samples[i].values.v[METRIC_cpu_us_per_request] = METRIC_NONE;
    strcpy(r->panes[1].note, "no gate");
    r->state = ROW_DONE;
    judged(m, 0);
    answer_row(r, 1, &a);
    assert_string_equal(a.answer, "withheld: CPU a request of epoll-lt is not measured");
    assert_non_null(strstr(a.trust, "B too-few: CPU a request is not measured; no gate"));
}

static void a_steps_rounds_are_those_of_its_length(void **state)
{
    struct made *m = *state;
    struct row *r = running(m, 1, 20, 10);
    r->params.turn = 0.25;
    r->params.duration = 5;
    assert_int_equal(row_asked(r), 5);
    judged(m, 0);
    struct answer a;
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.trust, "not yet: 1 of 5 rounds kept"));
}

static void an_interval_may_be_too_wide(void **state)
{
    (void)state;
    char buf[64] = "";
    struct text t = {buf, sizeof buf, 0};
    say_range(&t, 0.00002, 26164936841.0);
    say_range(&t, NAN, NAN);
    say_range(&t, 2, 3);
    assert_string_equal(buf, " (interval too wide to say) (2.00 to 3.00)");
}

/* The slabs are the machine's: what others did to them is no figure of a connection. */
static void memory_that_others_moved(void **state)
{
    (void)state;
    const char *why;
    assert_float_equal(opening_kernel_each(1000, 8001000, 1000, &why), 8000, 1);
    assert_string_equal(why, "");
    assert_true(isnan(opening_kernel_each(1 << 30, 1 << 20, 1000, &why)));
    assert_string_equal(why, "others gave memory back meanwhile");
    assert_true(isnan(opening_kernel_each(0, 1 << 30, 1000, &why)));
    assert_string_equal(why, "others took memory meanwhile");
    assert_true(isnan(opening_kernel_each(-1, 1 << 30, 1000, &why)));
    assert_string_equal(why, "/proc/slabinfo is for root");
    assert_true(isnan(opening_kernel_each(0, 8000, 1, &why)));
    assert_string_equal(why, "it takes 1000 connections");
}

static void memory_not_measured_has_its_reason(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct params p;
    params_init(&p);
    p.workload = workload_find("hold");
    workload_resolve(&p);
    struct row *r = rows_add(&m->rows, &p, 2);
    for (int i = 0; i < 2; i++) {
        strcpy(r->panes[i].model, i ? "epoll-lt" : "select");
        add_samples(r, i, 1, 1, 1, 1);
        r->panes[i].first->samples[0].values.v[METRIC_accepted] = 1018;
    }
    r->panes[1].first->samples[0].values.v[METRIC_kernel_per_connection] = 8764;
    strcpy(r->panes[0].no_kernel, "it refused connections");
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.why, "select: kernel memory not measured (it refused connections); "
                                  "epoll-lt: 8764 B of kernel memory"));
}

static void nothing_measured_is_said(void **state)
{
    struct made *m = *state;
    struct row *r = running(m, 0, 0, 0);
    judged(m, 0);
    struct answer a;
    answer_row(r, 1, &a);
    assert_string_equal(a.answer, "not yet");
    answer_row(r, 0, &a);
    assert_string_equal(a.answer, "not yet");
    r->state = ROW_DONE;
    judged(m, 0);
    answer_row(r, 1, &a);
    assert_null(strstr(a.answer, "not yet"));
    assert_null(strstr(a.answer, "nan"));
}

static void a_sweep_has_one_answer(void **state)
{
    struct made *m = *state;
    struct row *r = NULL;
    for (int n = 100; n <= 300; n += 100) {
        r = add_row(m, n);
        add_samples(r, 0, 12, 14.5 * n / 50, 60, 11500);
        add_samples(r, 1, 12, 14.5, 16.7, 11500);
        judged(m, 0);
    }
    struct answer a;
    answer_sweep(&m->rows, r, 1, &a);
    assert_string_equal(a.answer,
                        "at 11.5k/s epoll-lt is cheaper at every count, 2.00 to 6.00 times");
}

/* Rows that differ in more than one parameter are one sweep, too. */
static struct row *grid(struct made *m, double a, double b)
{
    struct row *r = NULL;
    for (int i = 0; i < 4; i++) {
        r = add_row(m, i % 2 ? 20 : 50);
        r->params.size = i / 2 ? 1000 : 100;
        add_samples(r, 0, 12, a * (i + 1), 60, 11500);
        add_samples(r, 1, 12, b, 16.7, 11500);
        judged(m, 0);
    }
    return r;
}

static void a_grid_has_one_answer(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = grid(m, 20, 10);
    answer_sweep(&m->rows, r, 1, &a);
    assert_string_equal(a.answer, "epoll-lt is cheaper in all 4 rows, 2.00 to 8.00 times");
    r->panes[1].verdict = VERDICT_NOISY;
    answer_sweep(&m->rows, r, 1, &a);
    assert_non_null(strstr(a.answer, "cheaper at 3, withheld at 1 of 4 rows"));
    assert_non_null(strstr(a.trust, "B noisy at 20/1000 B"));
}

static void a_sweep_of_one_model_speaks_of_all_rows(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = grid(m, 20, 10);
    for (struct row *x = m->rows.first; x; x = x->next)
        x->pane_count = 1;
    m->rows.first->panes[0].verdict = VERDICT_NOISY;
    answer_sweep(&m->rows, r, 0, &a);
    assert_string_equal(a.answer, "select: 20.0 to 79.8 µs CPU a request over 4 rows");
    assert_string_equal(a.why, "select looks at 396 sockets for a request");
    assert_non_null(strstr(a.trust, "A noisy at 50/100 B; loopback"));
    for (struct row *x = m->rows.first; x; x = x->next)
        x->panes[0].verdict = VERDICT_NOISY;
    answer_sweep(&m->rows, r, 0, &a);
    assert_non_null(strstr(a.trust, "A noisy in all 4 rows; loopback"));
    r->state = ROW_RUNNING; /* what speaks of one row says of which */
    for (int i = 0; i < 12; i++)
        r->panes[0].first->samples[i].kept = KEPT_WARMUP;
    judged(m, 0);
    answer_sweep(&m->rows, r, 0, &a);
    assert_string_equal(a.answer, "at 20/1000 B: not yet");
    assert_non_null(strstr(a.trust, "at 20/1000 B: not yet: 0 of 12 rounds kept"));
}

static void a_sweep_that_lost_nothing_says_so(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct params p;
    struct row *r = NULL;
    for (int n = 100; n <= 200; n += 100) {
        params_init(&p);
        p.workload = workload_find("connect");
        p.connections = n;
        workload_resolve(&p);
        r = rows_add(&m->rows, &p, 2);
        r->state = ROW_DONE;
        for (int pane = 0; pane < 2; pane++) {
            strcpy(r->panes[pane].model, pane ? "epoll-lt" : "select");
            r->panes[pane].verdict = VERDICT_OK;
            add_samples(r, pane, 12, 1, 1, 1);
            for (int i = 0; i < 12; i++) {
                double *v = r->panes[pane].first->samples[i].values.v;
                v[METRIC_connect_s] = 1 + pane;
                v[METRIC_syn_retransmits] = pane ? n / 50 : 0;
            }
        }
    }
    answer_sweep(&m->rows, r, 1, &a);
    assert_string_equal(a.why,
                        "select lost no SYN; epoll-lt lost 2 to 4 SYNs, a timer of 1 s each");
}

static void set_all(struct row *r, int pane, enum metric_id m, double v)
{
    for (int i = 0; i < r->panes[pane].count; i++)
        r->panes[pane].first->samples[i].values.v[m] = v;
}

/* Both panes are judged: what was compared ran at two speeds. */
static void a_clock_that_changed(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 72.6, 83.5, 11500);
    add_samples(r, 1, 12, 14.5, 16.7, 11500);
    set_all(r, 0, METRIC_server_mhz, 3000);
    set_all(r, 1, METRIC_server_mhz, 2900);
    assert_int_equal(judged(m, 0), VERDICT_OK);
    set_all(r, 1, METRIC_server_mhz, 2800);
    assert_int_equal(judged(m, 0), VERDICT_CLOCK);
    assert_int_equal(judged(m, 1), VERDICT_CLOCK);
    assert_non_null(strstr(r->panes[0].reason, "from 2800 to 3000 MHz"));
    assert_false(row_may_rank(r, 1, METRIC_cpu_us_per_request));
    assert_true(row_may_rank(r, 1, METRIC_looks_per_request));
}

static void more_workers_than_cpus(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    r->params.workers = 200;
    add_samples(r, 0, 12, 72.6, 83.5, 11500);
    add_samples(r, 1, 12, 14.5, 16.7, 11500);
    assert_int_equal(judged(m, 0), VERDICT_CPUS);
    assert_non_null(strstr(r->panes[0].reason, "200 workers"));
    assert_true(row_may_rank(r, 1, METRIC_cpu_us_per_request));
    assert_false(row_may_rank(r, 1, METRIC_server_cpu_pct));
}

/* What others use of a server's CPU is known where it is tied to one; else it may wait for it. */
static void a_load_on_the_servers_cpu(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 72.6, 40, 11500);
    add_samples(r, 1, 12, 14.5, 16.7, 11500);
    set_all(r, 0, METRIC_run_wait_pct, 3);
    set_all(r, 1, METRIC_run_wait_pct, 31);
    assert_int_equal(judged(m, 0), VERDICT_OK);
    assert_int_equal(judged(m, 1), VERDICT_CPUS);
    assert_non_null(strstr(r->panes[1].reason, "it waited 65 % of its time for a CPU"));
    set_all(r, 1, METRIC_others_pct, 1);
    assert_int_equal(judged(m, 1), VERDICT_OK);
}

/* The kernel's own threads free what was closed: that disturbs no row that closes a lot. */
static void others_beside_new_connections(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 12, 1, 11500);
    add_samples(r, 1, 12, 12, 1, 11500);
    set_all(r, 1, METRIC_others_pct, 4);
    assert_int_equal(judged(m, 1), VERDICT_NOISY);
    assert_string_equal(r->panes[1].reason, "others used 4 % of the server's CPU");
    r->params.keepalive = KEEPALIVE_OFF;
    assert_int_equal(judged(m, 1), VERDICT_OK);
    set_all(r, 1, METRIC_others_pct, 7);
    assert_int_equal(judged(m, 1), VERDICT_NOISY);
}

/* A new connection for each request: the queue may be full, and its depth is known. */
static void an_accept_queue_beside_requests(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    r->params.backlog = 20;
    for (int p = 0; p < 2; p++) {
        add_samples(r, p, 12, 14.5, 16.7, 11500);
        set_all(r, p, METRIC_listen_drops, 70);
    }
    set_all(r, 1, METRIC_accept_queue, 21);
    assert_int_equal(judged(m, 1), VERDICT_OK); /* others' connections, not these */
    r->params.keepalive = KEEPALIVE_OFF;
    assert_int_equal(judged(m, 0), VERDICT_ACCEPT_QUEUE);
    assert_string_equal(r->panes[0].reason, "70.0 SYNs lost, the accept queue of 20 was full");
    assert_string_equal(r->panes[1].reason,
                        "70.0 SYNs lost, the accept queue of 20 was full, 21.0 waited in it");
}

static void what_ends_a_ramp_and_a_search(void **state)
{
    (void)state;
    assert_true(verdict_ends(VERDICT_PORT_LIMIT, ENDS_RAMP));
    assert_true(verdict_ends(VERDICT_PORT_LIMIT, ENDS_SEARCH));
    assert_false(verdict_ends(VERDICT_ERRORS, ENDS_RAMP)); /* a collapse has errors, and goes on */
    assert_true(verdict_ends(VERDICT_ERRORS, ENDS_SEARCH));
    assert_false(verdict_ends(VERDICT_NOISY, ENDS_RAMP | ENDS_SEARCH));
    assert_false(verdict_ends(VERDICT_NONE, ENDS_RAMP | ENDS_SEARCH));
}

static void a_load_that_is_woken_more_by_one(void **state)
{
    struct made *m = *state;
    struct row *r = add_row(m, 400);
    add_samples(r, 0, 12, 72.6, 83.5, 11500);
    add_samples(r, 1, 12, 14.5, 16.7, 11500);
    set_all(r, 0, METRIC_load_sleeps_per_request, 0.03); /* it spins: now and then it rests */
    set_all(r, 1, METRIC_load_sleeps_per_request, 0.001);
    assert_int_equal(judged(m, 0), VERDICT_OK);
    set_all(r, 0, METRIC_load_sleeps_per_request, 0.4);
    set_all(r, 1, METRIC_load_sleeps_per_request, 1);
    assert_int_equal(judged(m, 0), VERDICT_OK);
    assert_int_equal(judged(m, 1), VERDICT_WAKE_UPS);
    assert_false(row_may_rank(r, 1, METRIC_cpu_us_per_request));
}

static void one_connection_is_no_bare_number(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = add_row(m, 1);
    r->workload = workload_table + workload_find("connect");
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < 5; i++) {
            add_samples(r, p, 1, 1, 1, 1);
            struct sample *s = (struct sample *)pane_at(&r->panes[p], i);
            s->index = i + 1;
            s->values.v[row_main(r)] = p + 1;
        }
    judged(m, 0);
    answer_row(r, 0, &a);
    if (!strstr(a.answer, " for 1 connection"))
        fail_msg("%s", a.answer);
}

/* What the trust line says of figures that cannot be, or should not. */
static void forty_milliseconds_and_a_law(void **state)
{
    struct made *m = *state;
    struct answer a;
    struct row *r = add_row(m, 400);
    r->params.rate = PARAM_MAX;
    for (int p = 0; p < 2; p++) {
        add_samples(r, p, 12, 3.5, 97, 270000);
        set_all(r, p, METRIC_established, 400);
        set_all(r, p, METRIC_load_cpu_pct, 100);
        set_all(r, p, METRIC_latency_p50_us, 1500);
        set_all(r, p, METRIC_in_flight_pct, 99.9);
        set_all(r, p, METRIC_delayed_pct, 0.2);
    }
    judged(m, 0);
    answer_row(r, 1, &a);
    assert_null(strstr(a.trust, "defect"));
    assert_null(strstr(a.trust, "Nagle"));
    set_all(r, 1, METRIC_in_flight_pct, 96);
    set_all(r, 0, METRIC_delayed_pct, 25);
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.trust, "25.0 % of select's replies took 40 ms: Nagle"));
    assert_non_null(strstr(a.trust, "rate times latency of epoll-lt is 96.0 % of its connections"));
    snprintf(r->panes[0].print.nagle, sizeof r->panes[0].print.nagle, "off"); /* it was seen */
    answer_row(r, 1, &a);
    assert_null(strstr(a.trust, "Nagle"));
    r->panes[0].print.nagle[0] = '\0';
    /* A turn of few replies: what is under way at its ends is much of it. */
    set_all(r, 1, METRIC_latency_mean_us, 30000);
    answer_row(r, 1, &a);
    assert_null(strstr(a.trust, "defect"));
    set_all(r, 1, METRIC_latency_mean_us, 1500);
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.trust, "defect"));
    /* All of them: so slow, or Nagle's algorithm is known to be on. */
    set_all(r, 0, METRIC_delayed_pct, 99);
    set_all(r, 0, METRIC_latency_p50_us, 41000);
    answer_row(r, 1, &a);
    assert_null(strstr(a.trust, "Nagle"));
    r->params.nodelay = 0;
    answer_row(r, 1, &a);
    assert_non_null(strstr(a.trust, "99.0 % of select's replies took 40 ms: Nagle"));
    /* A request that timed out is in no latency. */
    set_all(r, 1, METRIC_errors, 1);
    answer_row(r, 1, &a);
    assert_null(strstr(a.trust, "defect"));
    set_all(r, 1, METRIC_errors, 0);
    /* Beside few connections the load's own work is a share of each turn. */
    r->params.connections = 10;
    set_all(r, 0, METRIC_delayed_pct, 0);
    answer_row(r, 1, &a);
    assert_null(strstr(a.trust, "defect"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(one_connection_is_no_bare_number), T(ok_ranks_the_cost),
        T(a_row_left_in_its_warm_up_is_not_measured),
        T(the_same_is_no_difference),
        T(the_cheaper_first_pane_is_named),
        T(each_limit_has_its_verdict),
        T(a_load_without_room_is_named),
        T(what_a_server_holds_is_counted_from_its_start),
        T(errors_withhold_the_answer),
        T(one_is_said_as_one),
        T(few_rounds_are_a_first_guess),
        T(a_note_stands_behind_the_reason),
        T(errors_withhold_the_answer),
        T(a_first_guess_of_no_difference),
        T(a_guess_is_of_the_kept_rounds),
        T(no_guess_where_a_verdict_withholds),
        T(all_that_withhold_are_named),
        T(a_trim_that_leaves_one_is_not_yet_ok),
        T(a_figure_that_a_model_lacks),
        T(a_steps_rounds_are_those_of_its_length),
        T(an_interval_may_be_too_wide),
        T(memory_that_others_moved),
        T(others_beside_new_connections),
        T(a_grid_has_one_answer),
        T(a_sweep_of_one_model_speaks_of_all_rows),
        T(a_sweep_that_lost_nothing_says_so),
        T(memory_not_measured_has_its_reason),
        T(nothing_measured_is_said),
        T(a_sweep_has_one_answer),
        T(a_clock_that_changed),
        T(more_workers_than_cpus),
        T(a_load_on_the_servers_cpu),
        T(an_accept_queue_beside_requests),
        T(what_ends_a_ramp_and_a_search),
        T(a_load_that_is_woken_more_by_one),
        T(forty_milliseconds_and_a_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
