/* SPDX-License-Identifier: MIT */
/* Claims: what is wrong in a file is named with its line; rows made by hand give the verdict they
 * must, planted true and false ones among them; the probes see what they look for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "session/claims.h"
#include "session/sample_rows.h"

#define HEAD "[claim]\ntitle = t\nsource = s\nhow = h\n"
#define ROWS "[rows]\nmodels = select,epoll-lt\nworkload = transfer\nidle = 0,100,200,400,800\n"

static char folder[SCRATCH_PATH];

static int enter(void **state)
{
    (void)state;
    rows_params("transfer"); /* binds the tables */
    folder_enter(folder);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    folder_leave(folder);
    return 0;
}

static int read_text(const char *text, struct claims *out, struct err *e)
{
    static const char *const name[] = {"claim.ini"};
    file_write(*name, text, strlen(text));
    return claims_read(name, 1, out, e);
}

static void mistakes_are_named_with_their_line(void **state)
{
    static const struct {
        const char *text, *says[2];
    } wrong[] = {
        {HEAD "true = select.cpu_us_per_reqest<3\n" ROWS, {"line 5", "cpu_us_per_request?"}},
        {HEAD "true = selekt.cpu_us_per_request<3\n" ROWS, {"line 5", "did you mean select?"}},
        {HEAD "true = select/epol-lt.cpu_us_per_request<3\n" ROWS, {"line 5", "mean epoll-lt?"}},
        {HEAD "true = poll.cpu_us_per_request<3\n" ROWS, {"line 5", "not among the models"}},
        {HEAD "true = select.drain_ns<3\n" ROWS, {"line 5", "does not yield drain_ns"}},
        {HEAD "true = cpu_us_per_request<3\n" ROWS, {"line 5", "name its model"}},
        {HEAD "true = select.cpu_us_per_request\n" ROWS, {"line 5", "one of < <= > >="}},
        {HEAD "true = select.accepted<3 at idel=0\n" ROWS, {"line 5", "did you mean idle?"}},
        {HEAD "true = select.accepted<3 at idle=7\n" ROWS, {"line 5", "no such row"}},
        {HEAD "true = slope(select.accepted, size)>1\n" ROWS, {"line 5", "size is no list"}},
        {HEAD "true = slop(select.accepted, idle)>1\n" ROWS, {"line 5", "must be slope("}},
        {HEAD "tru = select.accepted<3\n" ROWS, {"line 5", "did you mean true?"}},
        {HEAD "probe = epol_close\n", {"line 5", "did you mean epoll_close?"}},
        {HEAD "probe = epoll_close\ntrue = probe.told>1\n", {"line 6", "told_after_close"}},
        {HEAD "true = probe.told>1\n" ROWS, {"line 5", "has no probe"}},
        {HEAD "true = select.accepted<3\n[rwos]\n" "idle = 1\n", {"line 7", "[claim] and [rows]"}},
        {HEAD "true = select.accepted<3\n" ROWS "iddle = 3\n", {"line 10", "did you mean idle?"}},
        {HEAD "true = select.accepted<3\nbrief = {select.acepted}\n" ROWS, {"line 6", "accepted?"}},
        {HEAD "true = select.accepted<3\nbrief = {select.accepted\n" ROWS, {"line 6", "its }"}},
        {HEAD ROWS, {"claim.ini", "has no true, false or depends"}},
        {HEAD "true = select.accepted<3\n", {"claim.ini", "neither rows nor a probe"}},
        {"[claim]\ntitle = t\n" "true = select.accepted<3\n" ROWS, {"claim.ini", "has no source"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct claims c;
        struct err e = {{0}};
        assert_int_equal(read_text(wrong[i].text, &c, &e), -EINVAL);
        for (int k = 0; k < 2; k++)
            if (!strstr(e.text, wrong[i].says[k]))
                fail_msg("%s: does not say '%s': %s", wrong[i].text, wrong[i].says[k], e.text);
    }
}

static void unknown_names_are_refused(void **state)
{
    struct claims c;
    struct err e;
    (void)state;
    assert_int_equal(claims_read((const char *const[]){"none"}, 1, &c, &e), -EINVAL);
    assert_non_null(strstr(e.text, "no such claim"));
    assert_int_equal(claims_read((const char *const[]){"none.ini"}, 1, &c, &e), -ENOENT);
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* select pays 10 + idle / 100 us for a request, epoll-lt 5, in rounds that scatter by `scatter`. */
static void measured(struct rows *r, const struct plan *p, double scatter)
{
    static const char *const two[] = {"select", "epoll-lt"};
    for (int i = 0; i < p->count; i++) {
        struct row *row = rows_make(r, &p->rows[i].params, two, 2);
        memcpy(row->claim, p->rows[i].claim, sizeof row->claim);
        for (int k = 0; k < 12; k++) {
            double off = (k % 2 ? 1 : -1) * scatter;
            double dear = 10 + row->params.idle / 100 + off;
            struct sample *s = rows_sample(row, 0, METRIC_cpu_us_per_request, dear);
            s->values.v[METRIC_accepted] = 400;
            s->values.v[METRIC_refused] = k == 5 ? 82 : 0;
            s->values.v[METRIC_sleeps_per_request] = 0.004 * row->params.idle + off / 100;
            s->values.v[METRIC_events_per_wait] = 9 - 0.004 * row->params.idle + off / 100;
            rows_sample(row, 1, METRIC_cpu_us_per_request, 5)->values.v[METRIC_accepted] = 400;
        }
    }
}

static struct claim_result judged(const char *rules, double scatter, enum verdict verdict)
{
    char text[1200];
    struct claims c;
    struct err e = {{0}};
    struct rows rows = {0};
    struct claim_result out;
    snprintf(text, sizeof text, HEAD "%s" ROWS, rules);
    if (read_text(text, &c, &e) < 0)
        fail_msg("%s", e.text);
    measured(&rows, &c.list[0]->plan, scatter);
    for (struct row *r = rows.first; r; r = r->next)
        r->panes[1].verdict = verdict;
    claim_judge(c.list[0], rows.first, NULL, &out);
    rows_free(&rows);
    claims_free(&c);
    return out;
}

static void verdict_is(const char *rules, enum claim_verdict want)
{
    struct claim_result r = judged(rules, 0.05, VERDICT_OK);
    if (r.verdict != want)
        fail_msg("%s: %s (%s; %s)", rules, claim_words[r.verdict], r.figures, r.reason);
}

static void planted_claims_come_out_as_they_are(void **state)
{
    (void)state;
    verdict_is("true = select/epoll-lt.cpu_us_per_request>1.9\n", CLAIM_TRUE);
    verdict_is("true = epoll-lt/select.cpu_us_per_request>1\n"
               "false = epoll-lt/select.cpu_us_per_request<1\n", CLAIM_FALSE);
    verdict_is("true = select/epoll-lt.cpu_us_per_request>2.5\n"
               "depends = select/epoll-lt.cpu_us_per_request>2.5 at idle=800 and "
               "select/epoll-lt.cpu_us_per_request<2.5 at idle=0\n", CLAIM_DEPENDS);
    verdict_is("true = slope(select.cpu_us_per_request, idle)>0.009\n", CLAIM_TRUE);
    verdict_is("true = slope(epoll-lt.cpu_us_per_request, idle)>0.001\n"
               "false = slope(epoll-lt.cpu_us_per_request, idle)<0.001\n", CLAIM_FALSE);
    verdict_is("true = exponent(select.cpu_us_per_request, idle)>1.5\n"
               "false = exponent(select.cpu_us_per_request, idle)<1.2 and "
               "exponent(select.cpu_us_per_request, idle)>0.8\n", CLAIM_FALSE);
    verdict_is("true = epoll-lt.accepted>=400 and select.accepted<=400\n", CLAIM_TRUE);
    verdict_is("true = select.refused>0 at idle=0\n", CLAIM_TRUE); /* in one of its samples */
}

static void doubt_is_no_verdict(void **state)
{
    (void)state;
    struct claim_result r = judged("true = select/epoll-lt.cpu_us_per_request>2.1 at idle=0\n"
                                   "false = select/epoll-lt.cpu_us_per_request<2.1 at idle=0\n",
                                   3, VERDICT_OK);
    assert_int_equal(r.verdict, CLAIM_NOT_MEASURED);
    assert_non_null(strstr(r.reason, "cannot tell"));
    assert_non_null(strstr(r.figures, "select/epoll-lt.cpu_us_per_request at idle=0: "));
}

/* Of 7, 13 and 7 us the trim leaves 7: that is no exact figure. */
static void few_values_reach_from_least_to_most(void **state)
{
    struct claims c;
    struct err e;
    struct rows rows = {0};
    struct claim_result out;
    (void)state;
    assert_int_equal(read_text(HEAD "true = select.cpu_us_per_request<10 at idle=0\n"
                               "false = select.cpu_us_per_request>6 at idle=0\n" ROWS, &c, &e), 0);
    measured(&rows, &c.list[0]->plan, 3);
    for (struct row *r = rows.first; r; r = r->next) {
        r->params.trim = 1;
        r->panes[0].verdict = VERDICT_TOO_FEW;
        for (int i = 3; i < r->panes[0].count; i++)
            ((struct sample *)pane_at(&r->panes[0], i))->kept = KEPT_EXTRA;
    }
    claim_judge(c.list[0], rows.first, NULL, &out);
    assert_int_equal(out.verdict, CLAIM_FALSE);
    assert_non_null(strstr(out.figures, "7.00 (7.00 to 13.0)"));
    rows_free(&rows);
    claims_free(&c);
}

/* A slope of 0.004 is no 0, and one below nothing is written, too. */
static void small_slopes_are_not_rounded_away(void **state)
{
    (void)state;
    struct claim_result r = judged("true = slope(select.sleeps_per_request, idle)>0.003\n"
                                   "false = slope(select.events_per_wait, idle)>0\n",
                                   0.05, VERDICT_OK);
    assert_int_equal(r.verdict, CLAIM_TRUE);
    assert_non_null(strstr(r.figures, "sleeps_per_request, idle): 0.00400"));
    assert_non_null(strstr(r.figures, "events_per_wait, idle): -0.00400"));
}

/* The figures in a few words; nothing at all where one of them is missing. */
static void a_brief_has_its_figures(void **state)
{
    (void)state;
    struct claim_result r = judged("true = select.accepted>0\n"
                                   "brief = {select/epoll-lt.cpu_us_per_request at idle=800}, \n"
                                   "  {slope(select.cpu_us_per_request, idle)} for "
                                   "{select.refused}\n",
                                   0.05, VERDICT_OK);
    assert_string_equal(r.brief, "3.60, 10.0 ns for 82");
    r = judged("true = select.accepted>0\n"
               "brief = {select/epoll-lt.cpu_us_per_request range} times\n", 0.05, VERDICT_OK);
    assert_non_null(strstr(r.brief, "2.00 ("));
    assert_non_null(strstr(r.brief, ") times"));
    r = judged("true = select.accepted>0\nbrief = {select.rss_bytes} B\n", 0.05, VERDICT_OK);
    assert_int_equal(r.verdict, CLAIM_TRUE);
    assert_string_equal(r.brief, "");
}

/* Rows of one's own, of another claim, and of an earlier time are not this claim's. */
static void only_its_newest_rows_are_judged(void **state)
{
    struct claims c;
    struct err e = {{0}};
    struct rows rows = {0};
    struct claim_result out;
    (void)state;
    if (read_text(HEAD "true = select/epoll-lt.cpu_us_per_request>1.9 at idle=0\n"
                       "false = select/epoll-lt.cpu_us_per_request<1.9 at idle=0\n" ROWS,
                  &c, &e) < 0)
        fail_msg("%s", e.text);
    const struct plan *p = &c.list[0]->plan;
    measured(&rows, p, 0.05);
    struct row *last = rows.last;
    measured(&rows, p, 0.05);
    for (struct row *r = last->next; r; r = r->next) /* as dear as epoll-lt, this time */
        for (int i = 0; i < 12; i++)
            r->panes[0].first->samples[i].values.v[METRIC_cpu_us_per_request] = 5;
    claim_judge(c.list[0], rows.first, NULL, &out);
    assert_int_equal(out.verdict, CLAIM_FALSE);
    for (struct row *r = last->next; r; r = r->next)
        snprintf(r->claim, sizeof r->claim, "other");
    claim_judge(c.list[0], rows.first, NULL, &out);
    assert_int_equal(out.verdict, CLAIM_TRUE);
    for (struct row *r = rows.first; r; r = r->next)
        r->claim[0] = '\0';
    claim_judge(c.list[0], rows.first, NULL, &out);
    assert_int_equal(out.verdict, CLAIM_NOT_MEASURED);
    rows_free(&rows);
    claims_free(&c);
}

static void rows_that_do_not_hold_give_none(void **state)
{
    (void)state;
    struct claim_result r = judged("true = select/epoll-lt.cpu_us_per_request>1\n"
                                   "false = select/epoll-lt.cpu_us_per_request<1\n",
                                   0.05, VERDICT_DIED);
    assert_int_equal(r.verdict, CLAIM_NOT_MEASURED);
    assert_non_null(strstr(r.reason, "epoll-lt died"));
    r = judged("true = select.rss_bytes>1\n", 0.05, VERDICT_OK);
    assert_int_equal(r.verdict, CLAIM_NOT_MEASURED); /* a figure that nobody took */
    assert_non_null(strstr(r.figures, "not measured"));
}

static void no_rows_give_none(void **state)
{
    struct claims c;
    struct err e;
    struct claim_result out;
    (void)state;
    assert_int_equal(read_text(HEAD "true = select.accepted>=0\n" ROWS, &c, &e), 0);
    claim_judge(c.list[0], NULL, NULL, &out);
    assert_int_equal(out.verdict, CLAIM_NOT_MEASURED);
    assert_string_not_equal(out.reason, "");
    claims_free(&c);
}

/* What a probe gave is said in words, not as 1 and 0 of an id. */
static void probes_speak_as_people_do(void **state)
{
    static const double gave[PROBE_FIGURES] = {0, 1, NAN, NAN};
    struct claims c;
    struct err e = {{0}};
    struct claim_result out;
    (void)state;
    if (read_text(HEAD "brief = lost: {probe.lost_when_emptied}, left: {probe.lost_when_left}\n"
                       "depends = probe.lost_when_emptied<=0 and probe.lost_when_left>0\n"
                       "true = probe.lost_when_left_and_mod>0\n"
                       "probe = epoll_edge\n",
                  &c, &e) < 0)
        fail_msg("%s", e.text);
    claim_judge(c.list[0], NULL, gave, &out);
    assert_int_equal(out.verdict, CLAIM_DEPENDS);
    assert_string_equal(out.brief, "lost: 0, left: yes");
    assert_string_equal(out.figures, "lost of 2000 events, all bytes read: 0; "
                                     "lost with bytes left unread: yes; "
                                     "the same after a MOD: not measured");
    claims_free(&c);
}

/* --- what is shipped -------------------------------------------------------------------------- */

static void all_shipped_claims_are_read(void **state)
{
    struct claims c;
    struct err e = {{0}};
    int probes = 0;
    double seconds = 0;
    (void)state;
    if (claims_read(NULL, 0, &c, &e) < 0)
        fail_msg("%s", e.text);
    assert_true(c.count >= 15);
    for (int i = 0; i < c.count; i++) {
        probes += c.list[i]->probe != NULL;
        seconds += c.list[i]->plan.seconds;
    }
    assert_int_equal(probes, claim_probe_count);
    assert_true(seconds < 180);
    for (int i = 0; i < c.count; i++)
        assert_true(c.list[i]->brief_count > 0);
    claims_free(&c);
}

/* What an event is there for is found in them; what the kernel documents comes out. */
static void probes_see_what_they_look_for(void **state)
{
    (void)state;
    for (int i = 0; i < claim_probe_count; i++) {
        double v[PROBE_FIGURES] = {NAN, NAN, NAN, NAN};
        struct err e = {{0}};
        if (!strcmp(claim_probes[i].name, "epoll_maps"))
            continue; /* it starts a server: the whole program tries it */
        assert_int_equal(claim_probes[i].run(v, &e), 0);
        for (int k = 0; claim_probes[i].figures[k].name; k++)
            assert_false(isnan(v[k]));
        assert_true(v[0] <= 0); /* closed is gone; emptied loses nothing: epoll(7) */
        assert_true(v[1] > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(few_values_reach_from_least_to_most),
        cmocka_unit_test(planted_claims_come_out_as_they_are),
        cmocka_unit_test(doubt_is_no_verdict),
        cmocka_unit_test(small_slopes_are_not_rounded_away),
        cmocka_unit_test(a_brief_has_its_figures),
        cmocka_unit_test(only_its_newest_rows_are_judged),
        cmocka_unit_test(rows_that_do_not_hold_give_none),
        cmocka_unit_test(no_rows_give_none),
        cmocka_unit_test(probes_speak_as_people_do),
        cmocka_unit_test(all_shipped_claims_are_read),
        cmocka_unit_test(probes_see_what_they_look_for),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
