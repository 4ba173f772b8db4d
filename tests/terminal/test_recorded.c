/* SPDX-License-Identifier: MIT */
/* The real program over a recorded session, which stands still: every view at four sizes, in each
 * character set, beside the expected screen; without colours the text is the same, and no cell has
 * one. IODASH_GOLDEN=write writes the expected screens anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "terminal/live.h"

/* A new view joins by a line here: its key, and what tells that it is on the screen. */
static const struct {
    const char *key, *shows;
} views[] = {
    {"1", "[1 live]"}, {"2", "[2 table]"},  {"3", "[3 curves]"}, {"4", "[4 map]"},
    {"5", "[5 why]"},  {"6", "[6 claims]"}, {",", "settings: what"}, {"?", "keys of the"},
};
enum { VIEWS = sizeof views / sizeof *views, MOST = 1 << 18 };

static const int sizes[][2] = {{15, 60}, {24, 80}, {40, 120}, {60, 200}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* With as many descriptors as any machine has: what the map can measure depends on them. */
static struct tty *recorded(const char *options, const char *locale, const char *const *env)
{
    char script[400];
    const char *args[] = {"-c", script, NULL};
    snprintf(script, sizeof script,
             "ulimit -n 4096; exec \"$IODASH_EXE\" open %s '%s/tests/terminal/recorded.csv'",
             options, getenv("IODASH_SOURCE"));
    return tty_open(
        &(struct tty_want){.program = "/bin/sh", .args = args, .locale = locale, .env = env});
}

/* A frame has ended since so many bytes were written, and it is of this view. */
struct awaited {
    size_t after;
    const char *shows;
};

static bool drawn(struct tty *t, void *arg)
{
    static const char end[] = "\033[?2026l";
    const struct awaited *a = arg;
    size_t n = tty_bytes(t), e = sizeof end - 1;
    return n > a->after + e && !strcmp(tty_raw(t) + n - e, end) && tty_shows(t, a->shows);
}

static void await(struct tty *t, size_t after, const char *shows)
{
    struct awaited a = {after, shows};
    if (tty_until(t, drawn, &a, LATER))
        return;
    tty_dump(t, shows);
    fail_msg("not drawn: %s", shows);
}

/* All views at this size, one below the other. */
static char *all_views(struct tty *t, int rows, int cols)
{
    char *all = calloc(1, MOST);
    size_t used = 0, before = tty_bytes(t);
    assert_non_null(all);
    tty_resize(t, rows, cols);
    await(t, before, views[VIEWS - 1].shows); /* the one that is open */
    for (int v = 0; v < VIEWS; v++) {
        before = tty_bytes(t);
        tty_keys(t, views[v].key);
        await(t, before, views[v].shows);
        char *screen = tty_screen(t);
        used += (size_t)snprintf(all + used, MOST - used, "== %s\n%s", views[v].key, screen);
        free(screen);
        assert_true(used < MOST);
    }
    return all;
}

/* Starts in the last view, at a size that is none of those above. */
static struct tty *opened(const char *options, const char *locale, const char *const *env)
{
    struct tty *t = recorded(options, locale, env);
    tty_resize(t, 30, 100);
    live_expect(t, "[1 live]");
    tty_keys(t, views[VIEWS - 1].key);
    live_expect(t, views[VIEWS - 1].shows);
    tty_pump(t, 300);
    return t;
}

static void compared(const char *name, const char *options, const char *locale)
{
    struct tty *t = opened(options, locale, NULL);
    for (int i = 0; i < SIZES; i++) {
        char file[80], *got = all_views(t, sizes[i][0], sizes[i][1]);
        snprintf(file, sizeof file, "terminal/golden/%s-%dx%d", name, sizes[i][1], sizes[i][0]);
        golden_is(file, got);
        free(got);
    }
    tty_keys(t, "1q");
    assert_true(tty_until_ended(t, SOON));
    live_given_back(t, name);
}

static void braille(void **state)
{
    (void)state;
    compared("braille", "", NULL);
}

static void block(void **state)
{
    (void)state;
    compared("block", "--charset block", NULL);
}

static void ascii(void **state)
{
    (void)state;
    compared("ascii", "", "C");
}

static void without_colours(void **state)
{
    (void)state;
    static const char *const env[] = {"NO_COLOR=1", NULL};
    struct tty *with = opened("", NULL, NULL);
    struct tty *without[] = {opened("", NULL, env), opened("--no-color", NULL, NULL)};
    char *text = all_views(with, 24, 80);
    int highest;
    assert_true(tty_coloured(with, &highest) > 0);
    for (int i = 0; i < 2; i++) {
        char *bare = all_views(without[i], 24, 80);
        assert_string_equal(bare, text);
        for (int v = 0; v < VIEWS; v++) {
            tty_keys(without[i], views[v].key);
            live_expect(without[i], views[v].shows);
            assert_int_equal(tty_coloured(without[i], &highest), 0);
        }
        free(bare);
    }
    free(text);
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(braille),
        IN_TERMINAL(block),
        IN_TERMINAL(ascii),
        IN_TERMINAL(without_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
