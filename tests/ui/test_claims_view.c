/* SPDX-License-Identifier: MIT */
/* The claims view: entering it starts nothing, what is asked for is tried, results stand with their
 * mark, and one claim goes live. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"
#include "ui/fake_claims.h"
#include "golden.h"
#include "ui/show.h"

static struct app a;
static struct fake_orders *got;

static void open_at(int w, int h, enum term_charset charset)
{
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, w, h, charset);
    fake_rounds(a.session, fake_row(a.session, &want), 3, 9);
    got = fake_orders(a.session);
    app_take(&a);
    show_keys(&a, "6");
}

static void close_it(void)
{
    show_fini(&a);
}

/* The claim of this name comes into focus. */
static void focus(const char *name)
{
    a.claims.at = 0;
    while (strcmp(a.claims.all.list[a.claims.at]->name, name) != 0) {
        int before = a.claims.at;
        show_keys(&a, "<down>");
        if (a.claims.at == before)
            fail_msg("no claim is called %s", name);
    }
}

/* As it may look when some are done. */
static void half_way(void)
{
    fake_claim("burst-30", CLAIM_FALSE, "send() 0.746, drain 0.98 times",
               "select/epoll-lt.send_ns: 0.746 (0.702 to 0.791)");
    fake_claim("connect-84s", CLAIM_DEPENDS, "backlog 20: 28 SYNs lost, 4.02 s",
               "select.syn_retransmits at backlog=20: 28; "
               "select.connect_s at backlog=1024: 0.0149");
    fake_claim("cpu-400", CLAIM_DEPENDS, "5.01 at 2k/s, 1.02 flat out",
               "select/epoll-lt.cpu_us_per_request at rate=2k: 5.01 (4.81 to 5.21); "
               "select/epoll-lt.cpu_us_per_request at rate=11.5k: 4.4 (4.2 to 4.6); "
               "select/epoll-lt.cpu_us_per_request at rate=max: 1.02 (0.99 to 1.05)");
    fake_claim("idle-none", CLAIM_NOT_MEASURED, "",
               "cannot tell: the figures lie between what would make it true and false");
    fake_claim("select-1024", CLAIM_TRUE, "1016 taken, 84 refused", "select.accepted: 1016");
    fake_claim_state("idle-power", TRY_RUNS);
    fake_claim_state("rearm-free", TRY_WAITS);
    fake_claims()->running = true;
    fake_now(a.session)->plan_count = 38;
    fake_now(a.session)->plan_done = 11;
    fake_now(a.session)->plan_left_s = 40;
}

static void golden(const char *name)
{
    char *screen = show_screen(&a);
    char path[64];
    snprintf(path, sizeof path, "ui/golden/%s", name);
    golden_is(path, screen);
    free(screen);
}

static void screens(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    golden("claims-80x24-first");
    half_way();
    show_keys(&a, "<down><down>");
    golden("claims-80x24");
    for (int i = 0; i < 14; i++)
        show_keys(&a, "<down>");
    golden("claims-80x24-last");
    close_it();
    open_at(80, 24, CHARSET_ASCII);
    half_way();
    golden("claims-80x24-ascii");
    close_it();
    open_at(60, 15, CHARSET_BRAILLE);
    half_way();
    golden("claims-60x15");
    close_it();
    open_at(160, 50, CHARSET_BRAILLE);
    half_way();
    show_keys(&a, "<down><down>");
    golden("claims-160x50");
    close_it();
}

static void entering_starts_nothing(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    assert_int_equal(fake_claims()->starts, 0);
    assert_int_equal(got->plans, 0);
    assert_true(show_has(&a, "p tries all 15, about 2 min"));
    show_keys(&a, "<up>");
    assert_int_equal(a.claims.at, 0);
    close_it();
}

static void one_all_or_the_rest(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    struct claims_run *run = fake_claims();
    focus("cpu-400");
    show_keys(&a, "n");
    assert_int_equal(run->starts, 1);
    assert_true(run->wanted[a.claims.at] && !run->wanted[0]);
    assert_true(show_has(&a, "1 claim, about 8 s; Esc stops"));
    show_keys(&a, "n");
    assert_int_equal(run->starts, 1);
    assert_true(show_has(&a, "claims are being tried"));
    show_keys(&a, "<esc>");
    assert_int_equal(run->stops, 1);
    assert_int_equal(got->stops, 1);
    assert_int_equal(a.view, VIEW_CLAIMS);
    fake_claim("cpu-400", CLAIM_TRUE, "", "x: 1");
    show_keys(&a, "p");
    assert_true(show_has(&a, "about 2 min: 15 claims"));
    show_keys(&a, "<down><enter>"); /* those without a verdict */
    assert_true(run->wanted[0] && !run->wanted[a.claims.at]);
    show_keys(&a, "<esc>p<enter>");
    assert_true(run->wanted[0] && run->wanted[a.claims.at]);
    close_it();
}

/* Its models and its first row; what was varied is in brackets. */
static void a_claim_goes_live(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    focus("idle-epoll");
    show_keys(&a, "<enter>");
    assert_int_equal(a.view, VIEW_LIVE);
    assert_int_equal(got->live, 1);
    assert_string_equal(got->want.lineup.models[0]->id, "poll");
    assert_string_equal(got->want.claim, "");
    assert_true(got->want.params.idle == 0 && got->want.params.rate == 500);
    assert_int_equal(a.field, PARAM_idle);
    show_keys(&a, "<up>");
    assert_true(got->want.params.idle > 0);
    show_keys(&a, "6");
    focus("delete-before-close"); /* no row measures it */
    show_keys(&a, "<enter>");
    assert_int_equal(a.view, VIEW_CLAIMS);
    assert_int_equal(got->live, 2);
    assert_true(show_has(&a, "nothing of it is measured live"));
    close_it();
}

/* When the last one is done the log says how all came out. */
static void the_end_is_told(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    show_keys(&a, "n");
    fake_claims()->running = false;
    fake_claim("burst-30", CLAIM_FALSE, "", "x: 1");
    assert_true(show_has(&a, "tried so far: 0 true, 1 false, 0 depend, 0 not measured"));
    close_it();
}

static void a_running_plan_is_not_replaced(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    fake_now(a.session)->plan_count = 5;
    app_take(&a);
    show_keys(&a, "n<enter>p");
    assert_int_equal(fake_claims()->starts, 0);
    assert_int_equal(got->live, 0);
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_true(show_has(&a, "a plan runs; Esc stops it first"));
    close_it();
}

static void they_are_copied(void **state)
{
    (void)state;
    char folder[SCRATCH_PATH], home[256], line[400];
    glob_t names;
    open_at(80, 24, CHARSET_BRAILLE);
    assert_non_null(mkdtemp(scratch_path(folder, "claims-XXXXXX")));
    assert_non_null(getcwd(home, sizeof home));
    assert_int_equal(chdir(folder), 0);
    show_keys(&a, "y");
    assert_true(show_has(&a, "no claim is tried yet"));
    half_way();
    app_take(&a);
    show_keys(&a, "y");
    assert_true(show_has(&a, "saved as iodash-claims-"));
    assert_int_equal(glob("iodash-claims-*.md", 0, NULL, &names), 0);
    FILE *f = fopen(names.gl_pathv[0], "r");
    assert_non_null(f);
    int lines = 0, depends = 0;
    while (fgets(line, sizeof line, f)) {
        lines++;
        depends += strstr(line, "| depends |") != NULL;
    }
    fclose(f);
    assert_int_equal(lines, 2 + 5);
    assert_int_equal(depends, 2);
    unlink(names.gl_pathv[0]);
    globfree(&names);
    assert_int_equal(chdir(home), 0);
    assert_int_equal(rmdir(folder), 0);
    close_it();
}

/* Where none can be read the view says why, and no key does harm. */
static void no_claims_are_said(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    claims_free(&a.claims.all);
    snprintf(a.claims.why.text, sizeof a.claims.why.text, "no claims came: looked in /nowhere");
    assert_true(show_has(&a, "looked in /nowhere"));
    show_keys(&a, "<down><up>n<enter>yp<esc>");
    assert_int_equal(got->live, 0);
    close_it();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens),
        cmocka_unit_test(entering_starts_nothing),
        cmocka_unit_test(one_all_or_the_rest),
        cmocka_unit_test(a_claim_goes_live),
        cmocka_unit_test(the_end_is_told),
        cmocka_unit_test(a_running_plan_is_not_replaced),
        cmocka_unit_test(they_are_copied),
        cmocka_unit_test(no_claims_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
