/* SPDX-License-Identifier: MIT */
/* A sweep seen as curves while it is measured, kept as "before", and drawn as a picture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "terminal/live.h"

static bool drawn_or_left(struct tty *t, void *arg)
{
    (void)arg;
    return tty_shows(t, "picture saved as iodash-2") || tty_shows(t, "gnuplot is not installed");
}

static void points_come_while_a_sweep_runs(void **state)
{
    static const char *const args[] = {"-c", "5,10", "--samples", "3", "--warmup", "0", NULL};
    (void)state;
    struct tty *t = live_start((struct tty_want){.args = args});
    live_expect(t, "/2 ");
    tty_keys(t, "3");
    live_expect(t, "x: connections"); /* with the second row there is an axis */
    live_expect(t, "load on"); /* the plan is over */
    tty_keys(t, "\033[C");
    live_expect(t, "at 10:");
    tty_keys(t, "\033[D");
    live_expect(t, "at 5:");
    tty_keys(t, "b");
    live_expect(t, "2 rows kept as \"before\"");
    tty_keys(t, "v\r");
    if (!tty_until(t, drawn_or_left, NULL, LATER)) {
        tty_dump(t, "no picture");
        fail_msg("no picture");
    }
    if (tty_shows(t, "picture saved as"))
        assert_int_equal(live_files(t, "iodash-*-curves.svg"), 1);
    else
        assert_int_equal(live_files(t, "iodash-*-curves.gp") +
                             live_files(t, "iodash-*-curves.dat"), 2);
    live_expect(t, "a before"); /* dotted, beside the row that began anew */
    tty_keys(t, "q");
    live_leave(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(points_come_while_a_sweep_runs, tty_close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
