/* SPDX-License-Identifier: MIT */
/* Bills of made-up counts and prices: each model pays for what its calls do, the sums are right,
 * and what is not known is not taken for 0. */
#include "session/bill.h"

#include <string.h>

#include "base/check.h"
#include "session/same.h"
#include "session/sample_rows.h"

static struct rows rows;
static struct prices prices;

static int set_up(void **state)
{
    (void)state;
    rows = (struct rows){0};
    prices_clear(&prices);
    prices.ns[PRICE_call] = 1000;
    prices.ns[PRICE_wait] = 1100;
    prices.ns[PRICE_look] = 70;
    prices.ns[PRICE_look_sleep] = 150;
    prices.ns[PRICE_poll_look] = 80;
    prices.ns[PRICE_poll_look_sleep] = 160;
    prices.ns[PRICE_recv] = 1500;
    prices.ns[PRICE_recv_empty] = 1200;
    prices.ns[PRICE_send] = 5000;
    prices.ns[PRICE_kib] = 500;
    prices.ns[PRICE_mod] = 1300;
    prices.ns[PRICE_accept] = 9000;
    prices.ns[PRICE_close] = 1000;
    prices.ns[PRICE_sleep] = 4000;
    prices.ns[PRICE_ring_wait] = 1300;
    prices.ns[PRICE_ring_recv] = 800;
    prices.ns[PRICE_ring_send] = 4500;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rows_free(&rows);
    return 0;
}

/* Three equal samples of a server that waits, sleeps so often, reads and writes once a request. */
static struct row *row_of(const char *model, double looks, double sleeps, double measured)
{
    struct params p = rows_params("transfer");
    struct row *r = rows_make(&rows, &p, &model, 1);
    r->params.trim = 0;
    for (int i = 0; i < 3; i++) {
        struct sample *s = rows_sample(r, 0, METRIC_cpu_us_per_request, measured);
        s->values.v[METRIC_waits_per_request] = 1;
        s->values.v[METRIC_sleeps_per_request] = sleeps;
        s->values.v[METRIC_looks_per_request] = looks;
        s->values.v[METRIC_reads_per_request] = 1;
        s->values.v[METRIC_empty_reads_per_request] = 0;
        s->values.v[METRIC_writes_per_request] = 1;
        s->values.v[METRIC_controls_per_request] = 0;
        s->values.v[METRIC_requests_per_s] = 11500;
        s->values.v[METRIC_mib_per_s] = 11500 / 1024.0;
        s->values.v[METRIC_accepts_per_s] = 0;
    }
    return r;
}

static void set(struct row *r, enum metric_id m, double v)
{
    for (int i = 0; i < r->panes[0].count; i++)
        r->panes[0].first->samples[i].values.v[m] = v;
}

static struct bill bill(const struct row *r)
{
    struct bill b;
    bill_of(r, 0, &prices, &b);
    return b;
}

#define NEAR(is, expected) assert_near(is, expected, 0.001)

static void who_scans_pays_for_each_descriptor(void **state)
{
    (void)state;
    struct bill b = bill(row_of("select", 400, 1, 75));
    NEAR(b.line[BILL_WAIT].us, 1 + 400 * 0.150);
    assert_string_equal(b.line[BILL_WAIT].price, "1.00+400×0.150");
    NEAR(b.line[BILL_SLEEP].us, 4);
    NEAR(b.line[BILL_READ].us, 1.5);
    NEAR(b.line[BILL_WRITE].us, 5);
    NEAR(b.line[BILL_REST].us, 75 - 71.5);
    NEAR(b.rest_pct, 100 * 3.5 / 75);
    /* It slept in half of its waits, and in some more it was woken before it could. */
    double twice = 0.5 * exp(11500 * 400 * 80e-9 / 2);
    NEAR(bill(row_of("poll", 400, 0.5, 75)).line[BILL_WAIT].us,
         1 + 400 * (twice * 0.160 + (1 - twice) * 0.080));
    /* It found something at once, on average half way through the set, up to which it had
     * entered the wait queues: 10 ns each. With nine ready ones that is a tenth. */
    struct row *r = row_of("select-wide", 400, 0, 75);
    NEAR(bill(r).line[BILL_WAIT].us, 1 + 400 * 0.075);
    set(r, METRIC_events_per_wait, 9);
    NEAR(bill(r).line[BILL_WAIT].us, 1 + 400 * 0.071);
    /* The idle ones behind those that ask are not entered, those before them all are. */
    r->params.connections = 40;
    r->params.idle = 360;
    NEAR(bill(r).line[BILL_WAIT].us, 1 + 400 * 0.0701);
    r->params.active_at = ACTIVE_LAST;
    NEAR(bill(r).line[BILL_WAIT].us, 1 + 400 * (0.070 + 0.010 * 0.91));
    r->params.active_at = ACTIVE_SPREAD;
    NEAR(bill(r).line[BILL_WAIT].us, 1 + 400 * 0.071);
    /* More sleeps than waits (a sleep elsewhere) are no more than all of them. */
    NEAR(bill(row_of("select", 400, 1.5, 75)).line[BILL_WAIT].us, 1 + 400 * 0.150);
}

static void who_is_told_pays_for_what_is_ready(void **state)
{
    (void)state;
    struct row *r = row_of("epoll-lt", 1, 1, 14);
    NEAR(bill(r).line[BILL_WAIT].us, 1.1);
    set(r, METRIC_waits_per_request, 0.1); /* ten events a wait */
    NEAR(bill(r).line[BILL_WAIT].us, 0.1 * (1 + 10 * 0.1));
    set(r, METRIC_controls_per_request, 2);
    NEAR(bill(r).line[BILL_CONTROL].us, 2.6);
}

static void a_ring_has_prices_of_its_own(void **state)
{
    (void)state;
    struct bill b = bill(row_of("uring", 1, 1, 12));
    NEAR(b.line[BILL_WAIT].us, 1.3);
    NEAR(b.line[BILL_READ].us, 0.8);
    NEAR(b.line[BILL_WRITE].us, 4.5);
    NEAR(b.line[BILL_REST].us, 12 - 1.3 - 0.8 - 4.5 - 4);
}

static void empty_reads_and_long_replies(void **state)
{
    (void)state;
    struct row *r = row_of("epoll-et", 1, 1, 14);
    set(r, METRIC_reads_per_request, 2);
    set(r, METRIC_empty_reads_per_request, 1);
    set(r, METRIC_mib_per_s, 11500.0 * 17 / 1024);
    struct bill b = bill(r);
    NEAR(b.line[BILL_READ].us, 1.5);
    NEAR(b.line[BILL_EMPTY].us, 1.2);
    NEAR(b.line[BILL_WRITE].us, 5 + 16 * 0.5);
    set(r, METRIC_accepts_per_s, 11500);
    NEAR(bill(r).line[BILL_ACCEPT].us, 10);
}

static void client_work_is_a_line_of_its_own(void **state)
{
    (void)state;
    struct row *r = row_of("poll", 400, 1, 900);
    r->params.client_work = 2;
    NEAR(bill(r).line[BILL_WORK].us, 800);
    r = row_of("epoll-lt", 1, 1, 14);
    r->params.client_work = 2;
    NEAR(bill(r).line[BILL_WORK].us, 0);
}

static void what_is_not_known_is_not_zero(void **state)
{
    (void)state;
    struct row *r = row_of("select", 400, 1, 75);
    prices.ns[PRICE_send] = NAN;
    struct bill b = bill(r);
    assert_true(isnan(b.line[BILL_WRITE].us));
    assert_string_equal(b.line[BILL_WRITE].price, "not measured");
    assert_true(isnan(b.line[BILL_REST].us) && isnan(b.rest_pct));
    prices.ns[PRICE_send] = 5000;
    prices.ns[PRICE_recv_empty] = NAN; /* of a call that was never made: nothing lacks */
    NEAR(bill(r).line[BILL_REST].us, 75 - 71.5);
    set(r, METRIC_sleeps_per_request, NAN);
    assert_true(isnan(bill(r).line[BILL_SLEEP].us) && isnan(bill(r).line[BILL_SLEEP].calls));
    assert_true(isnan(bill(r).line[BILL_WAIT].us)); /* how dear a look was hangs on the sleeps */
    set(r, METRIC_sleeps_per_request, 1);
    set(r, METRIC_looks_per_request, NAN);
    assert_true(isnan(bill(r).line[BILL_WAIT].us));
    prices_clear(&prices);
    b = bill(r);
    for (int i = 0; i < BILL_MEASURED; i++)
        assert_true(isnan(b.line[i].us) || b.line[i].calls == 0);
    NEAR(b.line[BILL_MEASURED].us, 75);
    assert_true(isnan(b.rest_pct));
}

/* As in a file of a build that had no prices for rings. */
static void a_ring_without_prices_is_not_explained(void **state)
{
    (void)state;
    prices.ns[PRICE_ring_wait] = prices.ns[PRICE_ring_recv] = prices.ns[PRICE_ring_send] = NAN;
    struct bill b = bill(row_of("uring", 1, 1, 12));
    assert_string_equal(b.line[BILL_READ].price, "not measured");
    assert_true(isnan(b.line[BILL_WAIT].us) && isnan(b.line[BILL_REST].us) && isnan(b.rest_pct));
    NEAR(b.line[BILL_SLEEP].us, 4);
    NEAR(b.line[BILL_MEASURED].us, 12);
    NEAR(bill(row_of("epoll-lt", 1, 1, 14)).line[BILL_REST].us, 14 - 1.1 - 4 - 1.5 - 5);
}

/* A thread a connection has no wait that could be priced: its bill is whole all the same. */
static void without_a_wait_the_bill_is_whole(void **state)
{
    (void)state;
    struct row *r = row_of("blocking", 0, 1, 14);
    set(r, METRIC_waits_per_request, NAN);
    NEAR(bill(r).line[BILL_REST].us, 14 - 4 - 1.5 - 5);
}

/* They come as often as requests would, and wake a scan on its way as often. */
static void messages_one_way_arrive_too(void **state)
{
    (void)state;
    struct row *r = row_of("poll", 400, 0.5, 75);
    set(r, METRIC_requests_per_s, NAN);
    set(r, METRIC_messages_per_s, 11500);
    double twice = 0.5 * exp(11500 * 400 * 80e-9 / 2);
    NEAR(bill(r).line[BILL_WAIT].us, 1 + 400 * (twice * 0.160 + (1 - twice) * 0.080));
}

/* Connections accepted while nothing is asked belong to no request: no line is infinite. */
static void nothing_asked_is_not_billed(void **state)
{
    (void)state;
    struct row *r = row_of("select", 400, 1, NAN);
    set(r, METRIC_requests_per_s, 0);
    set(r, METRIC_accepts_per_s, 9000);
    struct bill b = bill(r);
    assert_true(isnan(b.line[BILL_ACCEPT].calls) && isnan(b.line[BILL_ACCEPT].us));
    for (int i = 0; i < BILL_ITEMS; i++)
        assert_false(isinf(b.line[i].us) || isinf(b.line[i].calls));
    assert_true(isnan(b.rest_pct));
}

static void same_and_differs(void **state)
{
    (void)state;
    struct params p = rows_params("transfer");
    struct cpu_plan cpus = {.pinned = true, .server = 3};
    struct same s;
    same_of(rows_make(&rows, &p, (const char *const[]){"epoll-lt", "epoll-et"}, 2), 1, &cpus, &s);
    assert_non_null(strstr(s.same, "CPU 3"));
    assert_non_null(strstr(s.same, "backlog 1024"));
    assert_non_null(strstr(s.same, "1 worker,"));
    assert_string_equal(s.differs, "");
    struct row *r = rows_make(&rows, &p, (const char *const[]){"select", "epoll-lt"}, 2);
    same_of(r, 1, &cpus, &s);
    assert_null(strstr(s.same, "events"));
    assert_non_null(strstr(s.differs, "select takes all that its wait finds"));
    r->params.client_work = 5;
    same_of(r, 1, &cpus, &s);
    assert_non_null(strstr(s.differs, "select works 5 µs on every client at every wake: work"));
    cpus.pinned = false;
    same_of(r, 0, &cpus, &s);
    assert_non_null(strstr(s.same, "not pinned"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(who_scans_pays_for_each_descriptor), CASE(who_is_told_pays_for_what_is_ready),
        CASE(a_ring_has_prices_of_its_own),       CASE(empty_reads_and_long_replies),
        CASE(client_work_is_a_line_of_its_own),   CASE(what_is_not_known_is_not_zero),
        CASE(nothing_asked_is_not_billed),        CASE(same_and_differs),
        CASE(a_ring_without_prices_is_not_explained),
        CASE(without_a_wait_the_bill_is_whole),   CASE(messages_one_way_arrive_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
