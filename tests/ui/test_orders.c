/* SPDX-License-Identifier: MIT */
/* Keys become orders to the session: once, with the number that the screen shows; and what would
 * cost minutes of measuring is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ui/show.h"
#include "scratch.h"

static struct app a;
static struct fake_orders *got;

static int setup(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    fake_rounds(a.session, fake_row(a.session, &want), 3, 9);
    got = fake_orders(a.session);
    app_take(&a);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    show_fini(&a);
    return 0;
}

static void the_number_in_brackets_steps(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double connections;
    } steps[] = {{"<up>", 500},   {"+", 1000}, {"-", 500}, {"<down>", 400},
                 {"<down>", 200}, {"=", 400},  {"c-", 200}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        show_keys(&a, steps[i].keys);
        assert_int_equal(got->live, i + 1);
        assert_true(got->want.params.connections == steps[i].connections);
    }
    assert_true(show_has(&a, "c [200 connections]  i 0 idle"));
    show_keys(&a, "i");
    assert_true(show_has(&a, "c 200 connections  i [0 idle]"));
    show_keys(&a, "-"); /* no fewer than none: no order */
    assert_int_equal(got->live, 7);
    assert_true(show_has(&a, "0 idle is the least"));
    show_keys(&a, "z+");
    assert_true(got->want.params.size > 1024);
    assert_true(got->want.params.idle == 0);
    show_keys(&a, "r----");
    assert_true(got->want.params.rate < 11500);
}

/* From as fast as it can to what the slower one can; no step goes past what was asked for at the
 * start. */
static void the_rate_steps_to_what_is_served(void **state)
{
    (void)state;
    struct pane_now *p = fake_now(a.session)->panes;
    a.want.params.rate = INFINITY;
    p[0].trace[p[0].trace_count - 1].v[METRIC_requests_per_s] = 63000;
    p[1].trace[p[1].trace_count - 1].v[METRIC_requests_per_s] = 81000;
    show_keys(&a, "r+");
    assert_int_equal(got->live, 0);
    assert_true(show_has(&a, "max rate is the most"));
    show_keys(&a, "-");
    assert_true(got->want.params.rate == 50000);
    a.given.rate = 33333;
    show_keys(&a, "-");
    assert_true(got->want.params.rate == 33333);
    show_keys(&a, "-+");
    assert_true(got->want.params.rate == 33333);
}

static void models_step_by_arrows(void **state)
{
    (void)state;
    show_keys(&a, "<right>");
    assert_string_equal(got->want.lineup.models[0]->id,
                        io_model_table[io_model_find("select") + 1]->id);
    show_keys(&a, "<left><tab><left>");
    assert_string_equal(got->want.lineup.models[0]->id, "select");
    assert_string_equal(got->want.lineup.models[1]->id, "poll");
    for (int i = 0; i < 2 * io_model_count; i++)
        show_keys(&a, "<right>"); /* round and round */
    assert_string_equal(got->want.lineup.models[1]->id, "poll");
}

static void panes_come_and_go(void **state)
{
    (void)state;
    show_keys(&a, "a");
    assert_int_equal(got->want.lineup.count, 3);
    assert_int_equal(a.pane, 2); /* the new one is in focus */
    const struct lineup *l = &got->want.lineup;
    assert_true(l->models[2] != l->models[0] && l->models[2] != l->models[1]);
    show_keys(&a, "aa");
    assert_int_equal(got->want.lineup.count, 4);
    assert_true(show_has(&a, "4 panes are the most"));
    show_keys(&a, "<tab>d"); /* A: the others move up */
    assert_int_equal(got->want.lineup.count, 3);
    assert_string_equal(got->want.lineup.models[0]->id, "epoll-lt");
    show_keys(&a, "ddd");
    assert_int_equal(got->want.lineup.count, 1);
    assert_true(show_has(&a, "one pane stays"));
    assert_int_equal(a.pane, 0);
}

static void f10_leaves_from_anywhere(void **state)
{
    (void)state;
    static const char *const keys[] = {"p7p", "m", "g", "<enter>", "<enter>7", "2", "?"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        a.quit = false;
        a.dialog = DIALOG_NONE;
        show_keys(&a, "1");
        show_keys(&a, keys[i]);
        assert_false(a.quit);
        show_keys(&a, "<f10>");
        if (!a.quit)
            fail_msg("F10 does not leave after %s", keys[i]);
    }
}

static void load_more_and_restart(void **state)
{
    (void)state;
    show_keys(&a, " ");
    assert_int_equal(got->loads, 1);
    assert_false(got->load_on);
    assert_true(show_has(&a, "○ load off"));
    assert_true(show_has(&a, "load off · space turns it on again"));
    assert_true(show_has(&a, "select costs 5.0 times")); /* what was measured stands */
    show_keys(&a, "n");
    assert_int_equal(got->more, 0);
    assert_true(show_has(&a, "the load is off"));
    show_keys(&a, " ");
    assert_true(got->load_on);
    show_keys(&a, "n");
    assert_int_equal(got->more, 1);
    show_keys(&a, "u");
    assert_int_equal(got->restarts, 0); /* it is up */
    struct pane_now *p = &fake_now(a.session)->panes[1];
    p->alive = false;
    snprintf(p->trouble, sizeof p->trouble, "killed by SIGKILL");
    assert_true(show_has(&a, "killed by SIGKILL"));
    assert_true(show_has(&a, "u starts it again"));
    show_keys(&a, "<tab>u");
    assert_int_equal(got->restarts, 1);
    assert_int_equal(got->restarted, 1);
}

static void a_plan_is_not_lost_by_a_slip(void **state)
{
    (void)state;
    show_keys(&a, "p<enter>");
    assert_int_equal(got->plans, 1);
    int before = got->live;
    show_keys(&a, "+-<left><right>ad<enter>wmp");
    assert_int_equal(got->live, before);
    assert_int_equal(got->plans, 1);
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_true(show_has(&a, "a plan runs; Esc stops it first"));
    show_keys(&a, "<esc>");
    assert_int_equal(got->stops, 1);
    assert_false(a.quit);
    show_keys(&a, "<esc>");
    assert_true(a.quit);
}

static void leaving_and_coming_back(void **state)
{
    (void)state;
    show_keys(&a, "2");
    assert_true(show_has(&a, "[2 table]"));
    show_keys(&a, "?");
    assert_true(show_has(&a, "keys of the table view"));
    show_keys(&a, "q");
    assert_int_equal(a.view, VIEW_TABLE);
    show_keys(&a, "<esc>");
    assert_int_equal(a.view, VIEW_LIVE);
    show_keys(&a, "hh");
    assert_int_equal(a.view, VIEW_LIVE);
    assert_false(a.quit);
    show_keys(&a, "q");
    assert_true(a.quit);
    a.quit = false;
    show_keys(&a, "2?<f10>");
    assert_true(a.quit);
}

static void a_frozen_picture_stands_still(void **state)
{
    (void)state;
    show_keys(&a, "f");
    char *before = show_screen(&a);
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    (void)want;
    fake_pass(a.session, 30);
    fake_now(a.session)->log_number++;
    char *after = show_screen(&a);
    assert_string_equal(before, after);
    show_keys(&a, "<left><left>");
    assert_true(show_has(&a, "frozen, 2 s before"));
    show_keys(&a, "2");
    assert_true(show_has(&a, "frozen: the table comes when the picture goes on"));
    show_keys(&a, "4");
    assert_true(show_has(&a, "frozen: the map comes when the picture goes on"));
    show_keys(&a, "1");
    assert_true(show_has(&a, ", in its turns"));
    assert_int_equal(got->live, 0); /* the arrows read off */
    show_keys(&a, "<right><right><right>");
    assert_int_equal(a.cursor, 0);
    show_keys(&a, "f");
    char *now = show_screen(&a);
    assert_string_not_equal(before, now);
    free(before);
    free(after);
    free(now);
}

/* Frozen, every pane is read off at the moment of the one in focus, whatever samples it lacks. */
static void all_panes_are_read_at_one_moment(void **state)
{
    (void)state;
    struct pane_now *b = &fake_now(a.session)->panes[1];
    for (int i = 0; i < b->trace_count; i++)
        b->trace[i].v[METRIC_server_cpu_pct] = 40 + i;
    int last = b->trace_count - 1; /* B misses its last but one */
    b->trace[last - 1] = b->trace[last];
    b->trace_t_s[last - 1] = b->trace_t_s[last];
    b->trace_count--;
    app_take(&a);
    char want[32];
    show_keys(&a, "f<left><left><left>"); /* A's sample 3 before its newest, B's 2 before */
    snprintf(want, sizeof want, "%d.0 │", 40 + last - 3);
    assert_true(show_has(&a, want));
    char *screen = show_screen(&a);
    int cursors = 0;
    for (const char *at = screen; (at = strstr(at, "│")); at += strlen("│"))
        cursors++;
    show_keys(&a, "ff");
    free(screen);
    screen = show_screen(&a);
    int newest = 0;
    for (const char *at = screen; (at = strstr(at, "│")); at += strlen("│"))
        newest++;
    assert_int_equal(cursors, newest); /* both panes have one in both */
    free(screen);
}

/* A row of the table becomes the live order. */
static void a_row_goes_live(void **state)
{
    (void)state;
    struct plan_row more = fake_want("transfer", "select,epoll-lt");
    more.params.connections = 700;
    fake_rounds(a.session, fake_row(a.session, &more), 0, 12);
    show_keys(&a, "2");
    assert_true(show_has(&a, "▶"));
    show_keys(&a, "<up><up><up>");
    int focus = a.table_row;
    show_keys(&a, "<enter>");
    assert_int_equal(a.view, VIEW_LIVE);
    assert_int_equal(focus, 1);
    assert_true(got->want.params.connections == 400);
    assert_true(show_has(&a, "[400 connections]"));
}

/* What a plan measured is what one sees of it when it is done; the arrows lead to the other
 * tables. */
static void each_lineup_has_its_table(void **state)
{
    (void)state;
    struct plan_row other = fake_want("connect", "poll,epoll-lt");
    struct row *r = fake_row(a.session, &other);
    fake_repeats(a.session, r, 5);
    struct plan_row live = fake_want("transfer", "select,epoll-lt");
    live.params.connections = 700;
    fake_rounds(a.session, fake_row(a.session, &live), 0, 12);
    fake_now(a.session)->plan_row = r->number;
    show_keys(&a, "2");
    assert_true(show_has(&a, "A poll"));
    assert_int_equal(a.scene->table.rows, 1);
    show_keys(&a, "<right>");
    assert_true(show_has(&a, "A poll"));
    assert_true(show_has(&a, "no other workload or lineup was measured after this one"));
    show_keys(&a, "<left>");
    assert_true(show_has(&a, "A select"));
    assert_int_equal(a.scene->table.rows, 2);
    show_keys(&a, "<right><enter>");
    assert_string_equal(got->want.lineup.models[0]->id, "poll");
}

/* Rows of a claim are nobody's own: they stand in a table of their own, which says so. */
static void a_claim_has_a_table_of_its_own(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    want.params.connections = 700;
    struct row *r = fake_row(a.session, &want);
    snprintf(r->claim, sizeof r->claim, "cpu-400");
    fake_rounds(a.session, r, 0, 12);
    r->state = ROW_DONE;
    want.params.connections = 400;
    fake_now(a.session)->row_number = 1;
    a.changed = true;
    show_keys(&a, "2");
    assert_int_equal(a.scene->table.rows, 1);
    assert_false(show_has(&a, "claim cpu-400"));
    show_keys(&a, "<right>");
    assert_int_equal(a.scene->table.rows, 1);
    assert_true(show_has(&a, "claim cpu-400 · transfer"));
}

/* A plan stopped in a row that had nothing yet shows those it had. */
static void a_dropped_row_is_stood_for(void **state)
{
    (void)state;
    struct plan_row more = fake_want("transfer", "select,epoll-lt");
    more.params.connections = 700;
    struct row *dropped = fake_row(a.session, &more);
    fake_now(a.session)->plan_row = dropped->number;
    dropped->state = ROW_DROPPED;
    show_keys(&a, "2");
    assert_int_equal(a.scene->table.rows, 1);
    assert_int_equal(a.scene->table_row, 1);
    struct plan_row other = fake_want("connect", "poll");
    struct row *alone = fake_row(a.session, &other); /* no row of its lineup was kept */
    fake_now(a.session)->plan_row = alone->number;
    alone->state = ROW_DROPPED;
    a.changed = true;
    assert_true(show_has(&a, "A select"));
    assert_int_equal(a.scene->table_row, 1);
}

static void columns_scroll(void **state)
{
    (void)state;
    show_keys(&a, "2[");
    assert_int_equal(a.table_column, 0);
    char *first = show_screen(&a);
    show_keys(&a, "]]]");
    char *later = show_screen(&a);
    assert_string_not_equal(first, later);
    for (int i = 0; i < 60; i++)
        show_keys(&a, "]");
    assert_true(show_has(&a, "[2 table]"));
    for (int i = 0; i < 60; i++)
        show_keys(&a, "[");
    char *back = show_screen(&a);
    assert_string_equal(first, back);
    free(first);
    free(later);
    free(back);
}

static void more_than_fits_is_refused_with_the_number(void **state)
{
    (void)state;
    show_keys(&a, "<enter>1000000<enter>");
    assert_int_equal(got->live, 0);
    assert_true(a.want.params.connections == 400);
    assert_true(show_has(&a, "descriptors"));
    assert_true(show_has(&a, "[400 connections]"));
}

/* --- saving ----------------------------------------------------------------------------------- */

static char folder[SCRATCH_PATH], home[SCRATCH_PATH];

static void into_folder(void)
{
    assert_non_null(mkdtemp(scratch_path(folder, "ui-XXXXXX")));
    assert_non_null(getcwd(home, sizeof home));
    assert_int_equal(chdir(folder), 0);
    setenv("XDG_STATE_HOME", folder, 1);
}

static void out_of_folder(void)
{
    char command[SCRATCH_PATH + 16];
    assert_int_equal(chdir(home), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void saving_says_where(void **state)
{
    (void)state;
    char parting[2048], first[256];
    into_folder();
    show_keys(&a, "s");
    assert_true(show_has(&a, "saved as iodash-"));
    strcpy(first, a.saved);
    assert_int_equal(access(first, R_OK), 0);
    show_keys(&a, "s"); /* within the same second */
    assert_string_not_equal(first, a.saved);
    app_part(&a, parting, sizeof parting);
    assert_non_null(strstr(parting, "ANSWER  select costs"));
    assert_non_null(strstr(parting, a.saved));
    a.canvas->w = 50; /* in a narrow terminal no word is broken, and no line too long */
    app_part(&a, parting, sizeof parting);
    assert_non_null(strstr(parting, "\nWHY     each select() finds 1.0 ready socket and\n"
                                    "        pays for all 400\nTRUST   "));
    a.canvas->w = 80;
    assert_null(strchr(a.saved, '/')); /* nothing new: not saved once more */
    out_of_folder();
}

static void leaving_loses_nothing(void **state)
{
    (void)state;
    char parting[2048];
    into_folder();
    app_part(&a, parting, sizeof parting);
    assert_non_null(strstr(parting, "saved as "));
    assert_non_null(strstr(parting, "/iodash/iodash-"));
    assert_int_equal(access(a.saved, R_OK), 0);
    out_of_folder();
}

static void an_unsaved_end_says_so(void **state)
{
    (void)state;
    char parting[2048];
    setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
    a.charset = CHARSET_ASCII;
    app_part(&a, parting, sizeof parting);
    assert_non_null(strstr(parting, "not saved: "));
    for (const char *p = parting; *p; p++)
        assert_true((unsigned char)*p < 0x80);
}

static void nothing_measured_nothing_saved(void **state)
{
    (void)state;
    static struct app b;
    char parting[64] = "x";
    struct plan_row want = fake_want("transfer", "select");
    show_init(&b, &want, 80, 24, CHARSET_BRAILLE);
    show_keys(&b, "s");
    assert_true(show_has(&b, "nothing is measured yet"));
    app_part(&b, parting, sizeof parting);
    assert_string_equal(parting, "");
    show_fini(&b);
}

int main(void)
{
#define FRESH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        FRESH(the_number_in_brackets_steps),
        FRESH(the_rate_steps_to_what_is_served),
        FRESH(models_step_by_arrows),
        FRESH(panes_come_and_go),
        FRESH(f10_leaves_from_anywhere),
        FRESH(load_more_and_restart),
        FRESH(a_plan_is_not_lost_by_a_slip),
        FRESH(leaving_and_coming_back),
        FRESH(a_frozen_picture_stands_still),
        FRESH(all_panes_are_read_at_one_moment),
        FRESH(a_row_goes_live),
        FRESH(each_lineup_has_its_table),
        FRESH(a_claim_has_a_table_of_its_own),
        FRESH(a_dropped_row_is_stood_for),
        FRESH(columns_scroll),
        FRESH(more_than_fits_is_refused_with_the_number),
        FRESH(saving_says_where),
        FRESH(leaving_loses_nothing),
        FRESH(an_unsaved_end_says_so),
        FRESH(nothing_measured_nothing_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
