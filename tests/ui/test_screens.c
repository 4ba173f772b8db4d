/* SPDX-License-Identifier: MIT */
/* Whole screens beside the expected ones in golden/, and what must hold at every size: no byte of
 * ASCII is exceeded where it must not be, no half of a frame is left, a screen drawn twice is the
 * same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "ui/layout.h"
#include "ui/show.h"

static struct app a;

/* A sweep that has come to its third row. */
static void sweep(const char *models, int w, int h, enum term_charset charset)
{
    struct plan_row want = fake_want("transfer", models);
    show_init(&a, &want, w, h, charset);
    for (int i = 2; i <= 4; i++) {
        want.params.connections = 100 * i;
        struct row *r = fake_row(a.session, &want);
        fake_rounds(a.session, r, 3, i < 4 ? 15 : 13);
        if (i < 4)
            r->state = ROW_DONE;
    }
    app_take(&a);
}

static void connects(int w, int h, enum term_charset charset)
{
    struct plan_row want = fake_want("connect", "select,epoll-lt");
    show_init(&a, &want, w, h, charset);
    fake_repeats(a.session, fake_row(a.session, &want), 5);
    app_take(&a);
}

/* The screen after these keys is golden/NAME.txt. */
static void golden(const char *name, const char *keys)
{
    show_keys(&a, keys);
    char path[80], *got = show_screen(&a);
    snprintf(path, sizeof path, "ui/golden/%s", name);
    golden_is(path, got);
    free(got);
    show_fini(&a);
}

static void live_screens(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("live-80x24", "");
    sweep("select,epoll-lt", 80, 24, CHARSET_BLOCK);
    golden("live-80x24-block", "");
    sweep("select,epoll-lt", 80, 24, CHARSET_ASCII);
    golden("live-80x24-ascii", "");
    sweep("select,epoll-lt", 60, 15, CHARSET_BRAILLE);
    golden("live-60x15", "");
    sweep("select,epoll-lt,poll,epoll-et", 60, 15, CHARSET_BRAILLE);
    golden("live-60x15-four", "");
    sweep("select,epoll-lt,poll", 80, 24, CHARSET_BRAILLE);
    golden("live-80x24-three", "");
    sweep("select,epoll-lt,poll", 120, 40, CHARSET_BRAILLE);
    golden("live-120x40-three", "");
    sweep("select,epoll-lt", 160, 50, CHARSET_BRAILLE);
    golden("live-160x50", "");
    sweep("select,epoll-lt,poll,epoll-et", 80, 24, CHARSET_BRAILLE);
    golden("live-80x24-four", "");
    sweep("select", 80, 24, CHARSET_BRAILLE);
    golden("live-80x24-one", "");
    connects(80, 24, CHARSET_BRAILLE);
    golden("connect-80x24", "");
}

static void other_screens(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("help-80x24", "?");
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("table-80x24", "2");
    sweep("select,epoll-lt", 60, 15, CHARSET_BRAILLE);
    golden("table-60x15", "2");
    connects(80, 24, CHARSET_BRAILLE);
    golden("table-connect-80x24", "2");
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("frozen-80x24", "f<left><left><left>");
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("entry-80x24", "<enter>many<enter>");
    sweep("select,epoll-lt", 59, 14, CHARSET_BRAILLE);
    golden("small-59x14", "");
}

static void why_screens(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("why-80x24", "5");
    sweep("select,epoll-lt", 80, 24, CHARSET_ASCII);
    golden("why-80x24-ascii", "5");
    sweep("select,epoll-lt", 160, 50, CHARSET_BRAILLE);
    golden("why-160x50", "e");
    sweep("select,epoll-lt", 60, 15, CHARSET_BRAILLE);
    golden("why-60x15", "5");
    sweep("select,epoll-lt", 60, 15, CHARSET_BRAILLE);
    golden("why-60x15-explain", "5e");
    sweep("select", 80, 24, CHARSET_BRAILLE);
    golden("why-80x24-one", "5");
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("why-80x24-explain", "5e");
}

/* Lines are walked as far as there are any; e explains the one in focus, Tab takes another pair,
 * e in the table goes to the row in focus there. */
static void why_keys(void **state)
{
    (void)state;
    sweep("select,epoll-lt,poll", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "5e");
    assert_true(show_has(&a, "select and poll pay for every socket"));
    show_keys(&a, "<down>");
    assert_true(show_has(&a, "switch away and back"));
    show_keys(&a, "<down><down><down><down><down><down><down><down><down>");
    assert_true(show_has(&a, "CPU time of the server's process"));
    show_keys(&a, "e");
    assert_true(show_has(&a, "events a wait"));
    assert_true(show_has(&a, "B epoll-lt"));
    assert_true(show_has(&a, "Tab other pair"));
    show_keys(&a, "<tab>"); /* A stands in every bill */
    assert_true(show_has(&a, "C poll") && !show_has(&a, "B epoll-lt"));
    show_keys(&a, "<tab>");
    assert_true(show_has(&a, "B epoll-lt"));
    show_keys(&a, "<backtab>");
    assert_true(show_has(&a, "C poll"));
    show_keys(&a, "2<up>e");
    assert_int_equal(a.view, VIEW_WHY);
    assert_true(show_has(&a, "300 connections"));
    show_keys(&a, "q5");
    assert_true(show_has(&a, "400 connections"));
    show_keys(&a, "q");
    assert_int_equal(a.view, VIEW_LIVE);
    show_fini(&a);
}

static void why_without_prices_or_figures(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "5");
    assert_true(show_has(&a, "nothing is measured of this yet"));
    canvas_resize(a.canvas, 60, 15);
    show_keys(&a, "5");
    assert_true(show_has(&a, "\n a bill\n")); /* its sentence is whole in 60 columns */
    canvas_resize(a.canvas, 80, 24);
    show_keys(&a, "e<down><tab>");
    show_fini(&a);
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    prices_clear(fake_prices(a.session));
    a.changed = true;
    show_keys(&a, "5");
    assert_true(show_has(&a, "prices were not measured"));
    assert_true(show_has(&a, "measured")); /* the total stands all the same */
    show_keys(&a, "e");
    assert_true(show_has(&a, "A select: not measured"));
    assert_false(show_has(&a, "- µs"));
    show_fini(&a);
    connects(80, 24, CHARSET_BRAILLE);
    show_keys(&a, "5");
    assert_true(show_has(&a, "SYN retransmits"));
    assert_true(show_has(&a, "no request is asked that could be billed"));
    assert_true(show_has(&a, "means of 5 passes"));
    assert_true(show_has(&a, "accepted after"));
    show_keys(&a, "e<down>");
    assert_true(show_has(&a, "no request is asked"));
    show_keys(&a, "<tab>");
    assert_true(show_has(&a, "there is no other pair of models here"));
    show_fini(&a);
}

/* A small share of a call is not none of it. */
static void small_amounts_keep_a_figure(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    struct row *r = session_rows_edit(a.session)->last;
    for (int i = 0; i < r->panes[0].count; i++)
        r->panes[0].first->samples[i].values.v[METRIC_waits_per_request] = 0.0041;
    a.changed = true;
    show_keys(&a, "5e");
    assert_true(show_has(&a, "0.004 × ("));
    show_fini(&a);
}

/* Where all lines leave it no room, the explanation has the line in focus alone beside it. */
static void an_explanation_is_always_seen(void **state)
{
    (void)state;
    for (int h = 15; h <= 40; h++) {
        sweep("select,epoll-lt", 60, h, CHARSET_BRAILLE);
        show_keys(&a, "5e<down>");
        assert_true(show_has(&a, "▶ sleep"));
        assert_true(show_has(&a, "switch away and back"));
        show_fini(&a);
    }
}

/* The first seconds, when there are no figures yet: something is said all the same. */
static void the_first_seconds(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    struct session_now *n = fake_now(a.session);
    n->phase = PHASE_STARTING;
    assert_true(show_has(&a, "starting servers"));
    struct row *r = fake_row(a.session, &want);
    n->phase = PHASE_CONNECTING;
    n->panes[1].established = 310;
    assert_true(show_has(&a, "connecting 310 of 400"));
    n->panes[0].established = n->panes[1].established = 700; /* of the row before */
    assert_true(show_has(&a, "connecting 400 of 400"));
    fake_rounds(a.session, r, 5, 3);
    assert_true(show_has(&a, "warming up, round 3"));
    assert_true(show_has(&a, "µs CPU a request")); /* the newest, before there is a mean */
    fake_rounds(a.session, r, 0, 5);
    assert_true(show_has(&a, "measuring 5 of 12"));
    n->phase = PHASE_WARMUP; /* a row that goes on: its rounds are no count of the warm-up */
    n->taken = 5;
    assert_true(show_has(&a, "warming up again, 5 kept so far"));
    session_load(a.session, false);
    assert_true(show_has(&a, "load off"));
    show_fini(&a);
}

/* Long answers take the room of the published row, then of what was measured at other counts; the
 * row that is measured stays, and ANSWER is whole when the lines under it are cut. */
static void long_answers(void **state)
{
    (void)state;
    fake_answer("withheld: select noisy",
                "select looks at 167 sockets for a request, 2.52 ready a wait; epoll-lt at 1, 1.98 "
                "ready a wait",
                "A noisy: other programs took 13 % of the load's CPU; B noisy: other programs took "
                "10 % of the load's CPU; can tell 43 % apart");
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("live-80x24-long", "");
    fake_answer("a long answer that goes on past the end of the first line of the three and "
                "nearly to the end of the second",
                "the reason for it, as long as the answer itself, so that it cannot stand in one "
                "line either",
                "ok, and then all that spoils it a little, so that it cannot stand in one line "
                "either; loopback");
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    golden("live-80x24-longer", "");
    fake_answer("first guess over 5 rounds of warm-up: select costs 1.10 times the CPU of "
                "epoll-lt at 11.5k/s",
                "a reason that has a view of its own", "not yet: 0 of 12 rounds kept; loopback");
    sweep("select,epoll-lt,poll,epoll-et", 80, 24, CHARSET_BRAILLE);
    golden("live-80x24-four-guess", "");
    fake_answer("", "", "");
}

/* What is longer than its place ends in an ellipsis, in every character set. */
static void cut_text_says_so(void **state)
{
    (void)state;
    static const char reason[] = "other programs took 13 % of the load's CPU";
    for (int ascii = 0; ascii < 2; ascii++) {
        sweep("select,epoll-lt", 80, 24, ascii ? CHARSET_ASCII : CHARSET_BRAILLE);
        struct row *r = session_rows_edit(a.session)->last;
        r->panes[0].verdict = VERDICT_NOISY;
        snprintf(r->panes[0].reason, sizeof r->panes[0].reason, "%s", reason);
        a.changed = true;
        assert_true(show_has(&a, ascii ? "| noisy: other programs took 13 % ..  |"
                                       : "│ noisy: other programs took 13 % …   │"));
        show_fini(&a);
    }
    sweep("select,epoll-lt", 60, 15, CHARSET_BRAILLE);
    memset(fake_now(a.session)->panes[0].trouble, 'x', 100);
    assert_true(show_has(&a, "u: again; xxx"));
    assert_true(show_has(&a, "xxx…"));
    show_fini(&a);
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    show_keys(&a, "r<enter>");
    assert_true(show_has(&a, "as soon as it was answered"));
    show_fini(&a);
}

/* What a pass draws and says comes from the table of workloads; so does how long it will take. */
static void the_picture_of_a_workload(void **state)
{
    (void)state;
    connects(80, 24, CHARSET_BRAILLE);
    assert_true(show_has(&a, "established, o accepted"));
    assert_true(show_has(&a, "3 SYNs sent again: 3 s of timers"));
    fake_now(a.session)->row_left_s = 83.4;
    a.changed = true;
    assert_true(show_has(&a, "measuring 5 of 11, 01:23 left"));
    show_fini(&a);
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    assert_true(show_has(&a, "looks at 396 sockets for a request"));
    assert_true(show_has(&a, "looks at 1 socket for a request"));
    show_fini(&a);
}

/* Beside an axis in ns a figure says its unit. */
static void a_time_is_in_the_unit_that_fits(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    struct pane_now *p = &fake_now(a.session)->panes[0];
    for (int i = 0; i < p->trace_count; i++)
        p->trace[i].v[METRIC_drain_cpu_ns] = 12.7e6;
    a.figure = METRIC_drain_cpu_ns;
    assert_true(show_has(&a, "│ drain CPU, ms "));
    assert_true(show_has(&a, " 12.7 │"));
    assert_true(show_has(&a, "  20┤"));
    show_fini(&a);
}

/* The widest figure leaves a blank beside the frame. */
static void main_figures_keep_off_the_frame(void **state)
{
    (void)state;
    connects(80, 24, CHARSET_BRAILLE);
    struct row *r = session_rows_edit(a.session)->last;
    for (int i = 0; i < r->panes[0].count; i++)
        r->panes[0].first->samples[i].values.v[METRIC_connect_s] = 0.0149;
    a.changed = true;
    assert_true(show_has(&a, "│ 14.9 ms connect "));
    show_fini(&a);
}

static void the_cpu_line(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    struct session_now *n = fake_now(a.session);
    n->servers_cpu_pct = 9.2;
    n->others_pct = 91;
    assert_true(show_has(&a, "▮▯▯▯▯▯ server   9 %"));
    assert_true(show_has(&a, "others 91, steal 0, ui 1 %"));
    n->servers_cpu_pct = NAN;
    assert_true(show_has(&a, "▯▯▯▯▯▯ server   - %")); /* while a server ends */
    show_fini(&a);
}

static void ascii_only(const char *screen, const char *what)
{
    for (const char *p = screen; *p; p++)
        if ((unsigned char)*p > 0x7e || ((unsigned char)*p < 0x20 && *p != '\n'))
            fail_msg("%s: byte %02x", what, (unsigned char)*p);
}

static void ascii_is_ascii_everywhere(void **state)
{
    (void)state;
    static const char *const keys[] = {"",  "2",       "?",       "m", "w", "p",
                                       "g", "<enter>", "f<left>", "l", " ", "aa",
                                       "5", "5e"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        sweep("select,epoll-lt", 100, 30, CHARSET_ASCII);
        show_keys(&a, keys[i]);
        char *screen = show_screen(&a);
        ascii_only(screen, keys[i]);
        free(screen);
        show_fini(&a);
        connects(100, 30, CHARSET_ASCII);
        show_keys(&a, keys[i]);
        screen = show_screen(&a);
        ascii_only(screen, keys[i]);
        free(screen);
        show_fini(&a);
    }
}

/* Resized away and back, the screen is what it was; and no size hurts (the sanitizers look). */
static void every_size_with_everything_open(void **state)
{
    (void)state;
    static const char *const keys[] = {"", "2", "?", "m", "g", "<enter>", "f<left>", "w",
                                       "5", "5e"};
    static const char *const lineups[] = {"select,epoll-lt,poll,epoll-et", "select,epoll-lt",
                                          "select", "select,epoll-lt,poll"};
    for (size_t i = 0; i < 4 * sizeof keys / sizeof *keys; i++) {
        sweep(lineups[i % 4], 80, 24, CHARSET_BRAILLE);
        show_keys(&a, keys[i / 4]);
        char *before = show_screen(&a);
        for (int w = 1; w <= 200; w += 1 + (int)i / 4)
            for (int h = 1 + (w * 7) % 5; h <= 60; h += 5) {
                canvas_resize(a.canvas, w, h);
                app_draw(&a);
            }
        canvas_resize(a.canvas, 80, 24);
        char *after = show_screen(&a);
        assert_string_equal(before, after);
        free(before);
        free(after);
        show_fini(&a);
    }
}

static void too_small_says_what_it_needs(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 40, 10, CHARSET_BRAILLE);
    assert_true(show_has(&a, "needs 60x15; this is 40x10"));
    show_keys(&a, "m+<enter><esc>");
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_int_equal(fake_orders(a.session)->live, 0);
    assert_false(a.quit);
    show_keys(&a, "q");
    assert_true(a.quit);
    show_fini(&a);
}

/* What the session says may hold anything. */
static void names_and_reasons_of_any_kind(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    struct session_now *n = fake_now(a.session);
    n->log_number++;
    snprintf(n->log, sizeof n->log, "%s", "a) R 1 (2 b\n\033[2J%n%s%100d 日本語 e\xcc\x81 \xff");
    assert_true(show_has(&a, "a) R 1 (2 b??[2J%n%s%100d 日本語 e\xcc\x81 ?"));
    memset(n->panes[0].trouble, 'x', sizeof n->panes[0].trouble - 1);
    char *screen = show_screen(&a);
    assert_non_null(strstr(screen, "u starts it again"));
    free(screen);
    session_rows_edit(a.session)->last->panes[0].verdict = VERDICT_SKIPPED; /* it never ran */
    a.changed = true;
    assert_true(show_has(&a, "u tries again, m takes another"));
    show_fini(&a);
}

/* So does what the session said. */
static void a_log_line_does_not_stand_for_ever(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    snprintf(fake_now(a.session)->log, 100, "done: of the last hour");
    fake_now(a.session)->log_number++;
    assert_true(show_has(&a, "done: of the last hour"));
    fake_pass(a.session, 29);
    assert_true(show_has(&a, "done: of the last hour"));
    fake_pass(a.session, 2);
    assert_false(show_has(&a, "done: of the last hour"));
    show_fini(&a);
}

/* What was said makes room for what goes on. */
static void a_note_does_not_stand_for_ever(void **state)
{
    (void)state;
    sweep("select,epoll-lt", 80, 24, CHARSET_BRAILLE);
    app_say(&a, "a word of welcome");
    fake_pass(a.session, 29);
    assert_true(show_has(&a, "a word of welcome"));
    fake_pass(a.session, 2);
    assert_false(show_has(&a, "a word of welcome"));
    assert_true(show_has(&a, "measuring 10 of 12"));
    app_say(&a, "another");
    fake_now(a.session)->log_number++; /* the session has something to say too */
    fake_pass(a.session, 11);
    assert_true(show_has(&a, "another"));
    fake_pass(a.session, 2);
    assert_false(show_has(&a, "another"));
    app_say(&a, "a word of welcome that is so long that what goes on has no room beside it");
    fake_pass(a.session, 11);
    assert_true(show_has(&a, "a word of welcome"));
    fake_pass(a.session, 2); /* it has been read: where the row is says more */
    assert_false(show_has(&a, "a word of welcome"));
    assert_true(show_has(&a, " of 12"));
    show_fini(&a);
}

/* Time in which nothing was measured is a gap, and both panes keep the same time. */
static void gaps_in_time(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 80, 24, CHARSET_ASCII);
    struct row *r = fake_row(a.session, &want);
    fake_rounds(a.session, r, 0, 8);
    fake_pass(a.session, 6);
    fake_rounds(a.session, r, 0, 4);
    assert_true(show_has(&a, "|   0+             ########      #### |"));
    fake_pass(a.session, 10); /* and the picture moves on while nothing comes */
    assert_true(show_has(&a, "|   0+      ########      ####        |"));
    show_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_screens),
        cmocka_unit_test(other_screens),
        cmocka_unit_test(why_screens),
        cmocka_unit_test(why_keys),
        cmocka_unit_test(why_without_prices_or_figures),
        cmocka_unit_test(small_amounts_keep_a_figure),
        cmocka_unit_test(an_explanation_is_always_seen),
        cmocka_unit_test(the_first_seconds),
        cmocka_unit_test(the_cpu_line),
        cmocka_unit_test(long_answers),
        cmocka_unit_test(cut_text_says_so),
        cmocka_unit_test(the_picture_of_a_workload),
        cmocka_unit_test(a_time_is_in_the_unit_that_fits),
        cmocka_unit_test(main_figures_keep_off_the_frame),
        cmocka_unit_test(ascii_is_ascii_everywhere),
        cmocka_unit_test(every_size_with_everything_open),
        cmocka_unit_test(too_small_says_what_it_needs),
        cmocka_unit_test(names_and_reasons_of_any_kind),
        cmocka_unit_test(a_note_does_not_stand_for_ever),
        cmocka_unit_test(a_log_line_does_not_stand_for_ever),
        cmocka_unit_test(gaps_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
