/* SPDX-License-Identifier: MIT */
/* What a person does first: launch, look, pick a model, change the load, sweep, save, leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "terminal/live.h"

/* Braille characters (U+2800 .. U+28FF: E2 A0..A3 xx) that are not empty. */
static int braille(const char *text)
{
    int n = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        n += p[0] == 0xe2 && p[1] >= 0xa0 && p[1] <= 0xa3 && !(p[1] == 0xa0 && p[2] == 0x80);
    return n;
}

static int braille_in(struct tty *t, int x)
{
    char *part = tty_part(t, x, 3, 39, 11);
    int n = braille(part);
    free(part);
    return n;
}

static bool screen_differs(struct tty *t, void *arg)
{
    char *screen = tty_screen(t);
    bool differs = strcmp(screen, arg) != 0;
    free(screen);
    return differs;
}

/* With no argument at all: 400 connections, select beside epoll-lt. */
static bool moves_within_two_seconds(void)
{
    struct tty *t = tty_open(&(struct tty_want){0});
    long long start = now_ms();
    assert_true(tty_until_text(t, "B epoll", SOON));
    char *first = tty_screen(t);
    assert_non_null(strstr(first, "400 connections"));
    bool moved = tty_until(t, screen_differs, first, 2000 * SLOW - (int)(now_ms() - start));
    if (!moved)
        tty_dump(t, "nothing moved within two seconds");
    free(first);
    live_leave(t);
    return moved;
}

static void something_moves_within_two_seconds(void **state)
{
    (void)state;
    int tries = 1;
    while (!moves_within_two_seconds()) /* a machine may stand still, but not each time */
        assert_true(tries++ < 5);
}

static void both_graphs_move(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_pump(t, 1500);
    int a = braille_in(t, 0), b = braille_in(t, 40);
    for (int i = 0; i < 5 * SLOW && (braille_in(t, 0) <= a || braille_in(t, 40) <= b); i++)
        tty_pump(t, 1000);
    if (braille_in(t, 0) <= a || braille_in(t, 40) <= b) {
        tty_dump(t, "a graph stands still");
        fail_msg("A %d then %d, B %d then %d", a, braille_in(t, 0), b, braille_in(t, 40));
    }
    live_leave(t);
}

static void picks_a_model(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_keys(t, "m");
    live_expect(t, "model of pane A");
    live_expect(t, "epoll-et");
    tty_keys(t, "list"); /* stands in one sentence only */
    tty_pump(t, 300);
    tty_keys(t, "\r");
    live_expect_gone(t, "model of pane A");
    live_expect(t, "A poll");
    tty_keys(t, "\t");
    live_expect(t, "▶B epoll");
    tty_keys(t, "m");
    live_expect(t, "model of pane B");
    tty_keys(t, "\033");
    live_expect_gone(t, "model of pane B");
    tty_keys(t, "\033OC"); /* right: the next model of the pane in focus */
    live_expect(t, "B epoll-et");
    live_leave(t);
}

/* A terminal may send its arrows in either of two forms, whatever the program asked for. */
static void knows_both_forms_of_arrows(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_keys(t, "\033OA");
    live_expect(t, "[50 connections]");
    tty_keys(t, "\033[B");
    live_expect(t, "[20 connections]");
    live_leave(t);
}

static void changes_connections(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    live_expect(t, "[20 connections]");
    tty_keys(t, "+");
    live_expect(t, "[50 connections]");
    tty_keys(t, "-");
    live_expect(t, "[20 connections]");
    tty_keys(t, "r");
    live_expect(t, "[2k/s asked]");
    tty_keys(t, "+");
    live_expect(t, "[5k/s asked]");
    tty_keys(t, "c\r"); /* typed */
    tty_pump(t, 200);
    tty_keys(t, "\b\b\b37\r");
    live_expect(t, "[37 connections]");
    live_leave(t);
}

/* True when python's csv reads it: a header and at least so many rows, all as wide. */
static bool parses(const char *file, int rows)
{
    char command[700];
    snprintf(command, sizeof command,
             "python3 -c \"import csv,sys; r=list(csv.reader(open(sys.argv[1], newline='')));"
             "sys.exit(not (len(r) > %d and len({len(x) for x in r}) == 1"
             " and 'model' in r[0] and 'cpu_us_per_request' in r[0]))\" '%s'",
             rows, file);
    return system(command) == 0;
}

static char *contents(const char *file)
{
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    assert_true(getdelim(&text, &room, 0, f) > 0);
    fclose(f);
    return text;
}

/* The name after "saved as ", as it stands on the screen; heap. */
static char *named_file(struct tty *t)
{
    char *screen = tty_screen(t), name[256] = "", path[400];
    char *at = strstr(screen, "saved as ");
    if (at)
        sscanf(at, "saved as %255[^ \n,]", name);
    free(screen);
    snprintf(path, sizeof path, "%s/%s", name[0] == '/' ? "" : tty_folder(t), name);
    return strdup(path);
}

static void saves_and_leaves(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    for (int i = 0; i < 15 * SLOW && !tty_shows(t, "saved as iodash-2"); i++) {
        tty_keys(t, "s"); /* until then it says that nothing is measured yet */
        tty_pump(t, 1000);
    }
    live_expect(t, "saved as iodash-2");
    char *tables = live_file(t, "iodash-*-tables.csv"),
         *samples = live_file(t, "iodash-*[0-9].csv");
    assert_non_null(tables);
    assert_non_null(samples);
    assert_true(parses(samples, 1));
    assert_true(parses(tables, 1));
    char *before = contents(samples);
    tty_keys(t, "s"); /* again: what is saved stays as it is */
    tty_pump(t, 500);
    char *after = contents(samples);
    assert_string_equal(before, after);
    free(before);
    free(after);
    live_leave(t);
    char *named = named_file(t);
    if (!tty_shows(t, "ANSWER") || access(named, R_OK) != 0 || !parses(named, 1)) {
        tty_dump(t, "what stays on the terminal");
        fail_msg("the answer and a file's name do not stay: %s", named);
    }
    free(named);
    free(tables);
    free(samples);
}

static void starts_a_sweep_and_stops_it(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_keys(t, "p");
    live_expect(t, "100 to 800, 8 rows");
    live_expect(t, "about");
    tty_keys(t, "\r");
    live_expect(t, "/8");
    live_expect(t, "c 100 connections");
    tty_keys(t, "\033");
    live_expect(t, "[20 connections]");
    live_leave(t);
}

static bool is_saved_table(struct tty *t, const char *tables, int rows)
{
    char command[700], *screen = tty_screen(t);
    snprintf(command, sizeof command, "python3 '%s/tests/terminal/check_table.py' '%s' %d",
             getenv("IODASH_SOURCE"), tables, rows);
    FILE *p = popen(command, "w");
    assert_non_null(p);
    fputs(screen, p);
    free(screen);
    return pclose(p) == 0;
}

/* Every row of a short sweep is measured; the saved table is the one on the screen. */
static void sweeps_to_the_end(void **state)
{
    (void)state;
    static const char *const args[] = {"-c",       "5..15:5",  "--rate", "1k",        "--turn",
                                       "0.05",     "--settle", "0.01",   "--samples", "4",
                                       "--warmup", "0",        NULL};
    struct tty *t = tty_open(&(struct tty_want){.cols = 100, .args = args});
    live_expect(t, "/3");
    live_expect_gone(t, "/3");
    live_expect(t, "load on");
    tty_keys(t, " "); /* off: or the row in focus would go on */
    live_expect_gone(t, "load on");
    tty_pump(t, 1000);
    tty_keys(t, "2");
    live_expect(t, "[2 table]");
    tty_keys(t, "s");
    live_expect(t, "saved as");
    char *tables = live_file(t, "iodash-*-tables.csv");
    assert_non_null(tables);
    if (!is_saved_table(t, tables, 6)) {
        tty_dump(t, "not the table that was saved");
        fail();
    }
    free(tables);
    tty_keys(t, "1");
    live_expect(t, "[1 live]");
    live_leave(t);
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(something_moves_within_two_seconds),
        IN_TERMINAL(both_graphs_move),
        IN_TERMINAL(picks_a_model),
        IN_TERMINAL(knows_both_forms_of_arrows),
        IN_TERMINAL(changes_connections),
        IN_TERMINAL(saves_and_leaves),
        IN_TERMINAL(starts_a_sweep_and_stops_it),
        IN_TERMINAL(sweeps_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
