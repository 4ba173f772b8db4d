/* SPDX-License-Identifier: MIT */
/* A saved session on the screen: what it shows, that nothing of it is measured by a slip, the way
 * back; opening one by its path and from the list; comparing; and the answer as Markdown. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"
#include "session/csv.h"
#include "ui/show.h"

static struct app a;
static struct fake_orders *got;
static char folder[SCRATCH_PATH], saved[128];

/* A dashboard that measured three rows, saved as a file. */
static int setup(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    if (!mkdtemp(scratch_path(folder, "ui-XXXXXX")) || chdir(folder) < 0)
        return -1;
    setenv("XDG_STATE_HOME", folder, 1);
    show_init(&a, &want, 80, 24, CHARSET_BRAILLE);
    for (int i = 1; i <= 3; i++) {
        want.params.connections = 100 * i;
        fake_rounds(a.session, fake_row(a.session, &want), 3, 15);
    }
    got = fake_orders(a.session);
    show_keys(&a, "s");
    snprintf(saved, sizeof saved, "%.120s", a.saved);
    return saved[0] ? 0 : -1;
}

static int teardown(void **state)
{
    char command[SCRATCH_PATH + 16];
    (void)state;
    sessions_back(&a);
    show_fini(&a);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void open_saved(void)
{
    show_keys(&a, "o");
    assert_true(show_has(&a, "open a saved session"));
    assert_true(show_has(&a, saved)); /* it was saved just now: it is in the list */
    show_keys(&a, "<enter>");
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_string_equal(strrchr(session_file(a.session), '/') + 1, saved);
}

static void a_saved_session_opens_and_leads_back(void **state)
{
    (void)state;
    open_saved();
    assert_int_equal(got->loads, 1); /* the one that measures rests meanwhile */
    assert_false(got->load_on);
    assert_true(show_has(&a, "saved session"));
    assert_true(show_has(&a, saved));
    assert_true(show_has(&a, "select costs"));
    assert_true(show_has(&a, "A select"));
    assert_true(show_has(&a, "300 connections"));
    assert_true(show_has(&a, "measured on fake"));
    show_keys(&a, "2");
    assert_true(show_has(&a, "[2 table]"));
    assert_true(show_has(&a, "200"));
    show_keys(&a, "q");
    assert_int_equal(a.view, VIEW_LIVE);
    show_keys(&a, "<up>"); /* the row before */
    assert_true(show_has(&a, "200 connections"));
    show_keys(&a, "q");
    assert_false(a.quit);
    assert_null(session_file(a.session));
    assert_true(got->load_on);
    show_keys(&a, "q");
    assert_true(a.quit);
}

static void nothing_of_it_is_measured_by_a_slip(void **state)
{
    (void)state;
    open_saved();
    int live = got->live;
    static const char *const keys[] = {"n", " ", "a", "d", "w", "p", "m", "c", "r", "u", "<enter>",
                                       "b"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        a.note[0] = '\0';
        show_keys(&a, keys[i]);
        if (a.dialog != DIALOG_NONE || !show_has(&a, "this is a saved session"))
            fail_msg("%s is not refused", keys[i]);
    }
    show_keys(&a, "s");
    assert_true(show_has(&a, "this session is a file"));
    assert_int_equal(got->live, live);
    assert_int_equal(got->plans + got->more + got->restarts, 0);
    show_keys(&a, "2<enter>"); /* a row of its table, in the session that measures */
    assert_null(session_file(a.session));
    assert_int_equal(got->live, live + 1);
    assert_true(got->want.params.connections == 300);
    assert_true(got->load_on);
    assert_true(show_has(&a, "measured anew"));
}

static void a_path_is_typed(void **state)
{
    (void)state;
    FILE *f = fopen("other.csv", "w");
    assert_non_null(f);
    fputs("a,b\n1,2\n", f);
    fclose(f);
    show_keys(&a, "oother file<enter>");
    assert_int_equal(a.dialog, DIALOG_PATH);
    show_keys(&a, "oth<tab>");
    assert_string_equal(a.sessions.path.text, "other.csv");
    show_keys(&a, "<enter>");
    assert_int_equal(a.dialog, DIALOG_PATH); /* it stays, with the reason */
    assert_true(show_has(&a, "no column 'row'"));
    for (int i = 0; i < 9; i++)
        show_keys(&a, "<back>");
    show_keys(&a, saved);
    show_keys(&a, "<enter>");
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_string_equal(session_file(a.session), saved);
    show_keys(&a, "oother file<enter>nowhere.csv<enter>");
    assert_true(show_has(&a, "No such file"));
    show_keys(&a, "<esc>");
    assert_string_equal(session_file(a.session), saved); /* what was open stays */
}

static void what_is_gone_is_greyed(void **state)
{
    (void)state;
    unlink(saved);
    show_keys(&a, "o");
    assert_true(show_has(&a, "it is not there any more"));
    show_keys(&a, "<up><up><up><enter>");
    assert_int_equal(a.dialog, DIALOG_PICKER);
    show_keys(&a, "<esc>");
}

/* What was saved, as the session before under another name; it is in the list behind it. */
static void save_before(void)
{
    char command[400];
    snprintf(command, sizeof command, "cp %s before.csv", saved);
    assert_int_equal(system(command), 0);
    state_recent_add("before.csv");
    state_recent_add(saved);
}

static void two_sessions_are_compared(void **state)
{
    (void)state;
    save_before();
    show_keys(&a, "ocompare<enter>");
    assert_true(show_has(&a, "which session was before"));
    assert_false(show_has(&a, saved)); /* the one on the screen is no choice */
    show_keys(&a, "<enter>");
    assert_int_equal(a.view, VIEW_COMPARE);
    assert_true(show_has(&a, "A before: "));
    assert_true(show_has(&a, "B after:  this session"));
    assert_true(show_has(&a, "transfer select, connections 100"));
    assert_true(show_has(&a, "CPU a request, µs"));
    assert_true(show_has(&a, "1.00"));
    assert_true(show_has(&a, "one session a side"));
    assert_true(show_has(&a, "more lines"));
    char *top = show_screen(&a);
    show_keys(&a, "<down><pgdn>");
    char *below = show_screen(&a);
    assert_string_not_equal(top, below);
    show_keys(&a, "<up><pgup>");
    free(below);
    below = show_screen(&a);
    assert_string_equal(top, below);
    free(top);
    free(below);
    show_keys(&a, "?");
    assert_true(show_has(&a, "keys of the compare view"));
    show_keys(&a, "qq");
    assert_int_equal(a.view, VIEW_LIVE);
    state_recent_add(saved);
    open_saved();
    show_keys(&a, "ocompare<enter>"); /* a saved one beside a saved one */
    assert_true(show_has(&a, "before.csv"));
    assert_true(show_has(&a, "▶ before.csv"));
    show_keys(&a, "<enter>");
    assert_int_equal(a.view, VIEW_COMPARE);
    assert_true(show_has(&a, "B after:  "));
    canvas_resize(a.canvas, 60, 15);
    assert_true(show_has(&a, "transfer select"));
    canvas_resize(a.canvas, 80, 24);
}

/* --- the answer as Markdown ------------------------------------------------------------------- */

static char *markdown(const char *begins)
{
    static char text[20000];
    DIR *d = opendir(".");
    text[0] = '\0';
    for (struct dirent *e; d && (e = readdir(d));) {
        FILE *f = strncmp(e->d_name, begins, strlen(begins)) == 0 ? fopen(e->d_name, "r") : NULL;
        size_t n = strlen(text);
        if (f) {
            text[n + fread(text + n, 1, sizeof text - n - 1, f)] = '\0';
            fclose(f);
            unlink(e->d_name);
        }
    }
    if (d)
        closedir(d);
    return text;
}

static void the_answer_is_copied(void **state)
{
    (void)state;
    show_keys(&a, "y");
    assert_true(show_has(&a, "saved as iodash-answer-"));
    char *text = markdown("iodash-answer-");
    if (!strstr(text, "transfer of select and epoll-lt: connections 400, rate"))
        fail_msg("%s", text);
    assert_non_null(strstr(text, "**ANSWER** select costs"));
    assert_non_null(strstr(text, "**TRUST** "));
    assert_non_null(strstr(text, "\niodash "));
    assert_null(strchr(text, 033));
    show_keys(&a, "2y");
    text = markdown("iodash-answer-");
    assert_non_null(strstr(text, "\n| conns |"));
    assert_non_null(strstr(text, "\n|--:|"));
    assert_non_null(strstr(text, "\n| 200 |"));
    show_keys(&a, "yyy"); /* in one second: none is overwritten */
    int twice = 0;
    text = markdown("iodash-answer-");
    for (const char *at = text; (at = strstr(at, "**ANSWER**")); at++)
        twice++;
    assert_int_equal(twice, 3);
}

int main(void)
{
#define FRESH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        FRESH(a_saved_session_opens_and_leads_back),
        FRESH(nothing_of_it_is_measured_by_a_slip),
        FRESH(a_path_is_typed),
        FRESH(what_is_gone_is_greyed),
        FRESH(two_sessions_are_compared),
        FRESH(the_answer_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
