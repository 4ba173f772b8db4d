/* SPDX-License-Identifier: MIT */
/* What the screen costs and who draws it: a steady dashboard writes little and never erases all;
 * every curses call comes from the main thread, also under a flood of keys and resizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"
#include "terminal/live.h"

static void bounded(struct tty *t, const char *what)
{
    enum { SECONDS = 3 };
    size_t before = tty_bytes(t);
    tty_pump(t, SECONDS * 1000);
    size_t rate = (tty_bytes(t) - before) / SECONDS;
    const char *raw = tty_raw(t) + before;
    fprintf(stderr, "%s: %zu bytes a second\n", what, rate);
    if (rate >= 4096)
        fail_msg("%s: %zu bytes a second", what, rate);
    if (strstr(raw, "\033[2J") || strstr(raw, "\033[J") || strstr(raw, "\033[3J"))
        fail_msg("%s: the screen was erased", what);
}

static void a_steady_screen_writes_little(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    tty_pump(t, 2000);
    bounded(t, "24x80, load on");
    tty_resize(t, 60, 200);
    tty_pump(t, 1500);
    bounded(t, "60x200, load on");
    tty_keys(t, " ");
    tty_pump(t, 2500);
    bounded(t, "60x200, load off");
    live_leave(t);
}

static void flood_of_keys_and_sizes(struct tty *t)
{
    static const char *const keys[] = {"m", "\033", "+", "2",    "1", "?",   "\033",
                                       "r", "+",    "-", "c",    "-", "\t",  "\033[C",
                                       "f", "f",    "w", "\033", "p", "\033"};
    enum { KEYS = sizeof keys / sizeof *keys };
    for (int i = 0; i < 4 * KEYS; i++) {
        tty_keys(t, keys[i % KEYS]);
        if (i % 3 == 0)
            tty_resize(t, 15 + i % 30, 60 + 3 * (i % 40));
        tty_pump(t, 60);
        if (tty_status(t) >= 0)
            fail_msg("ended with %d after key %d", tty_status(t), i);
    }
}

static void one_thread_calls_curses(void **state)
{
    (void)state;
    char preload[300], log[300], asan[200], line[128], name[64];
    const char *shim = getenv("CURSES_SHIM");
    const char *options = getenv("ASAN_OPTIONS");
    assert_non_null(shim);
    char folder[SCRATCH_PATH];
    assert_non_null(mkdtemp(scratch_path(folder, "shim-XXXXXX")));
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", shim);
    snprintf(log, sizeof log, "CURSES_SHIM_LOG=%s/log", folder);
    snprintf(asan, sizeof asan, "ASAN_OPTIONS=verify_asan_link_order=0:%s", options ? options : "");
    const char *const env[] = {preload, log, asan, NULL};
    struct tty *t = live_start((struct tty_want){.env = env});
    live_until_measured(t);
    flood_of_keys_and_sizes(t);
    int main_thread = tty_pid(t), tid, calls = 0, others = 0;
    FILE *f = fopen(strchr(log, '=') + 1, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) && sscanf(line, "%63s %d", name, &tid) == 2) {
        calls++;
        if (tid != main_thread)
            fprintf(stderr, "%s came from thread %d (main: %d)\n", name, tid, main_thread),
                others++;
    }
    fclose(f);
    remove(strchr(log, '=') + 1);
    remove(folder);
    assert_int_equal(others, 0);
    if (calls < 3)
        fail_msg("the shim saw %d kinds of calls: it does not sit where curses is called", calls);
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(a_steady_screen_writes_little),
        IN_TERMINAL(one_thread_calls_curses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
