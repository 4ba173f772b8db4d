/* SPDX-License-Identifier: MIT */
/* What other programs, other builds and broken disks make of a session opens, or says why not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "session/sample_rows.h"

static int enter(void **state)
{
    static char path[SCRATCH_PATH];

    folder_enter(path);
    rows_params("transfer");
    *state = path;
    return 0;
}

static int leave(void **state)
{
    folder_leave(*state);
    return 0;
}

static const char good[] = "row,pane,model,workload,connections,index,kept,server_cpu_pct,later\n"
                           "1,A,select,transfer,300,1,yes,12.5,x\n"
                           "1,B,epoll-lt,transfer,300,1,yes,3.25,y\n";

static struct rows open_text(const char *text, size_t size, char note[200])
{
    struct rows rows = {0};
    struct err e = {{0}};

    file_write("t.csv", text, size);
    if (csv_open("t.csv", &rows, NULL, note, &e) < 0)
        fail_msg("%s", e.text);
    return rows;
}

static void is_good(struct rows *rows)
{
    assert_int_equal(rows->count, 1);
    assert_int_equal(rows->first->pane_count, 2);
    assert_true(rows->first->params.connections == 300);
    assert_true(rows->first->params.trim == 1); /* no column: the default */
    assert_true(pane_at(&rows->first->panes[0], 0)->values.v[METRIC_server_cpu_pct] == 12.5);
    assert_true(pane_at(&rows->first->panes[1], 0)->values.v[METRIC_server_cpu_pct] == 3.25);
    assert_nan(pane_at(&rows->first->panes[1], 0)->values.v[METRIC_rss_bytes]);
    rows_free(rows);
}

/* The good file with one string replaced by another everywhere. */
static char *with(const char *from, const char *to)
{
    char *out = xcalloc(1, 16384), *end = out;

    for (const char *s = good; *s;)
        if (strncmp(s, from, strlen(from)) == 0) {
            end = stpcpy(end, to);
            s += strlen(from);
        } else {
            *end++ = *s++;
        }
    return out;
}

static void other_line_ends_and_marks_open(void **state)
{
    (void)state;
    static const char *const swap[][2] = {
        {"\n", "\r\n"}, {"\n", "\r"},   {"row,", "\xef\xbb\xbfrow,"},
        {",", "\t"},     {"\n", "\n\n"}, {"select", "\"select\""},
    };
    char note[200];

    struct rows rows = open_text(good, strlen(good), note);
    is_good(&rows);
    for (size_t i = 0; i < sizeof swap / sizeof *swap; i++) {
        char *text = with(swap[i][0], swap[i][1]);
        rows = open_text(text, strlen(text), note);
        is_good(&rows);
        assert_string_equal(note, "");
        free(text);
    }
}

static void semicolons_bring_decimal_commas(void **state)
{
    (void)state;
    static const char text[] = "row;pane;model;workload;rate;turn;index;server_cpu_pct\r\n"
                               "1;A;select;transfer;11500;0,5;1;12,5\r\n"
                               "1;B;poll;transfer;11500;0,5;1;3,25\r\n";
    char note[200];
    struct rows rows = open_text(text, strlen(text), note);

    assert_true(rows.first->params.turn == 0.5);
    assert_true(pane_at(&rows.first->panes[0], 0)->values.v[METRIC_server_cpu_pct] == 12.5);
    assert_true(pane_at(&rows.first->panes[1], 0)->values.v[METRIC_server_cpu_pct] == 3.25);
    rows_free(&rows);
}

static void not_a_number_is_not_measured(void **state)
{
    (void)state;
    static const char *const odd[] = {"nan", "NaN", "inf", "-inf", "Infinity", "-", "12.5x", ""};
    char note[200];

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char *text = with("12.5", odd[i]);
        struct rows rows = open_text(text, strlen(text), note);
        assert_nan(pane_at(&rows.first->panes[0], 0)->values.v[METRIC_server_cpu_pct]);
        assert_int_equal(row_summary(rows.first, 0, METRIC_server_cpu_pct).taken, 0);
        rows_free(&rows);
        free(text);
    }
}

static void a_cut_last_line_is_left_out_and_said(void **state)
{
    (void)state;
    char note[200];
    size_t whole = strlen(good), last = (size_t)(strstr(good, "1,B") - good);

    for (size_t n = last; n <= whole; n++) {
        struct rows rows = open_text(good, n, note);
        assert_int_equal(rows.first->panes[1].count, n == whole);
        assert_int_equal(strstr(note, "cut") != NULL, n > last && n < whole);
        assert_int_equal(rows.first->panes[0].count, 1);
        rows_free(&rows);
    }
}

static void odd_bytes_and_long_cells_open(void **state)
{
    (void)state;
    char note[200];
    size_t n = strlen(good), long_cell = 1 << 20;
    char *text = xcalloc(n + long_cell, 1), *at;

    memcpy(text, good, n);
    *strstr(text, "x\n1,B") = 0; /* a NUL in a column that nobody reads */
    struct rows rows = open_text(text, n, note);
    assert_non_null(strstr(note, "NUL"));
    is_good(&rows);

    at = stpcpy(text, good) - strlen("y\n");
    memset(at, 'y', long_cell);
    at[long_cell] = '\n';
    rows = open_text(text, (size_t)(at - text) + long_cell + 1, note);
    is_good(&rows);
    free(text);
}

static void what_it_does_not_know_is_left_out_and_said(void **state)
{
    (void)state;
    char note[200];
    char *text = with("B,epoll-lt,transfer", "B,epoll-lt,juggling");
    struct rows rows = open_text(text, strlen(text), note);

    assert_int_equal(rows.first->pane_count, 1);
    assert_non_null(strstr(note, "1 line left out"));
    assert_non_null(strstr(note, "juggling"));
    rows_free(&rows);
    free(text);

    text = with("kept,server_cpu_pct,later", "kept,server_cpu_pct,verdict");
    rows = open_text(text, strlen(text), note); /* verdict "x" of a later build */
    assert_int_equal(rows.first->panes[0].verdict, VERDICT_NONE);
    assert_non_null(strstr(rows.first->panes[0].reason, "x"));
    rows_free(&rows);
    free(text);

    text = with("yes", "perhaps");
    rows = open_text(text, strlen(text), note);
    assert_int_equal(pane_kept(&rows.first->panes[0]), 0);
    rows_free(&rows);
    free(text);
}

static void refused(const char *text, size_t size, const char *because)
{
    struct rows rows = {0};
    char note[200];
    struct err e = {{0}};

    file_write("t.csv", text, size);
    assert_int_equal(csv_open("t.csv", &rows, NULL, note, &e), -EBADMSG);
    if (!strstr(e.text, because))
        fail_msg("\"%s\" does not say \"%s\"", e.text, because);
    assert_null(strchr(e.text, '\n'));
    assert_null(rows.first);
}

static void no_session_says_why(void **state)
{
    (void)state;
    struct rows rows = {0};
    char note[200], noise[4096];
    struct err e = {{0}};

    refused("", 0, "empty");
    refused("\xff\xfer\0o\0w\0", 8, "UTF-16");
    refused("a,b\n1,2\n", 8, "no column");
    refused("row,pane,model,workload,index\n1,Q,x,transfer,1\n", 48, "pane");
    refused("row,pane,model,workload,taken\n", 30, "tables");
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(i * 131 % 251);
    refused(noise, sizeof noise, "no column");
    assert_int_equal(csv_open("none.csv", &rows, NULL, note, &e), -ENOENT);
    assert_non_null(strstr(e.text, "none.csv"));
    assert_int_equal(csv_open(".", &rows, NULL, note, &e), -EISDIR);
    assert_int_equal(csv_open("/dev/zero", &rows, NULL, note, &e), -EOPNOTSUPP);
    file_write("zero.csv", "", 0);
    assert_int_equal(truncate("zero.csv", 20 << 20), 0); /* one line, without an end */
    assert_int_equal(csv_open("zero.csv", &rows, NULL, note, &e), -EBADMSG);
    assert_non_null(strstr(e.text, "longer than 16 MiB"));
}

static void rows_in_any_order_pair_again(void **state)
{
    (void)state;
    static const char text[] = "index,model,row,pane,workload,cpu_us_per_request\n"
                               "3,select,1,A,transfer,30\n1,epoll-lt,1,B,transfer,5\n"
                               "2,epoll-lt,1,B,transfer,10\n1,select,1,A,transfer,10\n"
                               "3,epoll-lt,1,B,transfer,15\n2,select,1,A,transfer,20\n";
    char note[200];
    struct rows rows = open_text(text, strlen(text), note);
    struct paired p = row_ratio(rows.first, 1, METRIC_cpu_us_per_request);

    assert_int_equal(p.pairs, 3);
    assert_near(p.ratio, 2, 1e-12);
    assert_int_equal(pane_at(&rows.first->panes[0], 0)->index, 1);
    rows_free(&rows);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(other_line_ends_and_marks_open),
        TEST(semicolons_bring_decimal_commas),
        TEST(not_a_number_is_not_measured),
        TEST(a_cut_last_line_is_left_out_and_said),
        TEST(odd_bytes_and_long_cells_open),
        TEST(what_it_does_not_know_is_left_out_and_said),
        TEST(no_session_says_why),
        TEST(rows_in_any_order_pair_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
