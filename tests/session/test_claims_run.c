/* SPDX-License-Identifier: MIT */
/* Claims tried in a real session: probes and rows give their results, rows bear the claim's name
 * and are nobody else's, what is stopped is not judged, and what was tried before stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "session/claims_run.h"
#include "session/sample_rows.h"

#define SECOND 1000000000u

static const char measured[] =
    "[claim]\ntitle = four are four\nsource = planted\nhow = Counted.\n"
    "brief = {epoll-lt.established} held\ntrue = epoll-lt.established>=4\n"
    "[rows]\nmodels = epoll-lt\nworkload = transfer\nconnections = 4\nrate = 500\nsamples = 3\n"
    "warmup = 0\nsettle = 0.01\n";
static const char probed[] =
    "[claim]\ntitle = closing is not enough\nsource = planted\nhow = Tried.\n"
    "true = probe.told_after_close>0\nfalse = probe.told_after_close<=0\nprobe = epoll_close\n";
static const char never[] =
    "[claim]\ntitle = a million\nsource = planted\nhow = Held.\ntrue = poll.accepted>900k\n"
    "[rows]\nmodels = poll\nworkload = hold\nconnections = 1000000\n";

enum { MEASURED, PROBED, NEVER, COUNT };
static char folder[SCRATCH_PATH];
static struct claims claims;
static struct session *session;
static struct claims_run *run;
static struct claim_try tries[COUNT];

static int enter(void **state)
{
    static const char *const names[] = {"measured.ini", "probed.ini", "never.ini"};
    struct session_options o = {.forever = true};
    struct err e = {{0}};
    (void)state;
    rows_params("transfer"); /* binds the tables */
    folder_enter(folder);
    file_write(names[MEASURED], measured, sizeof measured - 1);
    file_write(names[PROBED], probed, sizeof probed - 1);
    file_write(names[NEVER], never, sizeof never - 1);
    if (claims_read(names, COUNT, &claims, &e) < 0)
        fail_msg("%s", e.text);
    session = session_new(&o, &e);
    assert_non_null(session);
    run = claims_run_new(session, &claims);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    claims_run_free(run);
    session_free(session);
    claims_free(&claims);
    folder_leave(folder);
    return 0;
}

static int rows_of(const char *claim)
{
    int n = 0;
    session_lock(session);
    for (const struct row *r = session_rows(session)->first; r; r = r->next)
        n += !strcmp(r->claim, claim);
    session_unlock(session);
    return n;
}

static void each_comes_out(void **state)
{
    (void)state;
    assert_true(claims_run_start(run, NULL));
    assert_true(claims_run_wait(run, 60ull * SECOND));
    claims_run_read(run, tries);
    for (int i = 0; i < COUNT; i++)
        assert_true(tries[i].tried && tries[i].state == TRY_RESTS);
    if (tries[MEASURED].result.verdict != CLAIM_TRUE)
        fail_msg("%s; %s", tries[MEASURED].result.reason, tries[MEASURED].result.figures);
    assert_string_equal(tries[MEASURED].result.brief, "4 held");
    assert_int_equal(tries[PROBED].result.verdict, CLAIM_FALSE);
    assert_int_equal(tries[NEVER].result.verdict, CLAIM_NOT_MEASURED);
    assert_non_null(strstr(tries[NEVER].result.reason, "1000000"));
    assert_int_equal(rows_of("measured"), 1);
    assert_int_equal(rows_of("never"), 0);
}

/* Once more: a row of its own; stopped in the middle of it the result of before stands. */
static void half_a_claim_is_none(void **state)
{
    bool wanted[COUNT] = {[MEASURED] = true};
    struct session_now *now = session_now_new();
    (void)state;
    assert_true(claims_run_start(run, wanted));
    assert_false(claims_run_start(run, wanted));
    bool begun = false;
    for (int i = 0; i < 600 && !begun; i++) {
        assert_false(claims_run_wait(run, SECOND / 20));
        claims_run_read(run, tries);
        begun = rows_of("measured") == 2 && tries[MEASURED].state == TRY_RUNS;
    }
    assert_true(begun);
    assert_int_equal(tries[PROBED].state, TRY_RESTS);
    claims_run_stop(run);
    assert_true(claims_run_wait(run, 10ull * SECOND));
    claims_run_read(run, tries);
    assert_int_equal(tries[MEASURED].state, TRY_RESTS);
    assert_true(tries[MEASURED].tried && tries[MEASURED].result.verdict == CLAIM_TRUE);
    session_read(session, now);
    assert_int_equal(now->plan_row, 0); /* no table is that of a plan of claims */
    session_now_free(now);
}

/* The same asked for live is measured anew, in a row of one's own. */
static void its_rows_are_no_ones_else(void **state)
{
    struct plan_row want = claims.list[MEASURED]->plan.rows[0];
    (void)state;
    want.claim[0] = '\0';
    session_live(session, &want);
    for (int i = 0; i < 600 && rows_of("") == 0; i++)
        session_wait(session, SECOND / 20);
    assert_int_equal(rows_of(""), 1);
    session_lock(session);
    const struct row *first = session_rows(session)->first, *last = session_rows(session)->last;
    assert_true(row_same_lineup(first, last));
    assert_false(row_in_table(first, last));
    session_unlock(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_comes_out),
        cmocka_unit_test(half_a_claim_is_none),
        cmocka_unit_test(its_rows_are_no_ones_else),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
