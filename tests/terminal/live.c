/* SPDX-License-Identifier: MIT */
/* The idea: most tests begin with a dashboard that measures and end with a terminal given back;
 * both are here once. */
#include "terminal/live.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"

static const char *const small_load[] = {"-c", "20", "--rate", "2k", "--turn", "0.1", "--settle",
                                         "0.02"};
enum { SMALL = sizeof small_load / sizeof *small_load };

struct tty *live_start(struct tty_want want)
{
    const char *args[30] = {0};
    int n = 0;
    for (; n < SMALL; n++)
        args[n] = small_load[n];
    for (int i = 0; want.args && want.args[i] && n < 29; i++)
        args[n++] = want.args[i];
    want.args = args;
    return tty_open(&want);
}

struct tty *live_open(int rows, int cols)
{
    struct tty *t = live_start((struct tty_want){.rows = rows, .cols = cols});
    live_until_measured(t);
    return t;
}

void live_until_measured(struct tty *t)
{
    live_expect(t, "select");
    live_expect(t, "B epoll");
    live_expect(t, "µs CPU a request");
}

void live_expect(struct tty *t, const char *text)
{
    if (tty_until_text(t, text, LATER))
        return;
    tty_dump(t, text);
    fail_msg("never on the screen: %s", text);
}

void live_expect_gone(struct tty *t, const char *text)
{
    if (tty_until_gone(t, text, LATER))
        return;
    tty_dump(t, text);
    fail_msg("still on the screen: %s", text);
}

static int find_files(struct tty *t, const char *pattern, glob_t *found)
{
    char path[SCRATCH_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", tty_folder(t), pattern);
    return glob(path, 0, NULL, found) == 0 ? (int)found->gl_pathc : 0;
}

int live_files(struct tty *t, const char *pattern)
{
    glob_t found = {0};
    int n = find_files(t, pattern, &found);
    globfree(&found);
    return n;
}

char *live_file(struct tty *t, const char *pattern)
{
    glob_t found = {0};
    char *name = find_files(t, pattern, &found) == 1 ? strdup(found.gl_pathv[0]) : NULL;
    globfree(&found);
    return name;
}

void live_leave(struct tty *t)
{
    tty_keys(t, "q");
    if (!tty_until_ended(t, SOON)) {
        tty_dump(t, "q did not leave");
        fail_msg("q did not leave");
    }
    if (tty_status(t) != 0)
        tty_dump(t, "did not end well");
    assert_int_equal(tty_status(t), 0);
    live_given_back(t, "after q");
}

/* The last bytes it wrote, escapes as \\e. */
static void print_tail(struct tty *t)
{
    enum { TAIL = 1000 };
    size_t from = tty_bytes(t) > TAIL ? tty_bytes(t) - TAIL : 0;
    for (const char *p = tty_raw(t) + from; *p; p++)
        *p == 033 ? fputs("\\e", stderr) : fputc(*p, stderr);
    fputc('\n', stderr);
}

void live_given_back(struct tty *t, const char *when)
{
    if (!tty_modes_restored(t) || !tty_cursor_visible(t) || tty_alternate(t))
        print_tail(t);
    if (!tty_modes_restored(t))
        fail_msg("%s: the line discipline is not as before", when);
    if (!tty_cursor_visible(t))
        fail_msg("%s: the cursor is hidden", when);
    if (tty_alternate(t))
        fail_msg("%s: the alternate screen is still shown", when);
}
