/* SPDX-License-Identifier: MIT */
/* Deaths: the dashboard's takes its servers with it, however it came; a server's leaves the
 * dashboard alive, with the signal named, and the server can be started again. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "terminal/live.h"

static void no_child_outlives_the_dashboard(void **state)
{
    (void)state;
    pid_t servers[8];
    struct tty *t = live_open(0, 0);
    int count = children_of(tty_pid(t), "--server-child", servers, 8);
    assert_int_equal(count, 2);
    tty_signal(t, SIGKILL);
    assert_true(tty_until_ended(t, SOON));
    long long end = now_ms() + 2000 * SLOW;
    for (int i = 0; i < count; i++) {
        while (process_runs(servers[i]) && now_ms() < end)
            tty_pump(t, 20);
        assert_false(process_runs(servers[i]));
    }
}

static bool two_servers(struct tty *t, void *arg)
{
    pid_t *dead = arg, servers[8];
    int count = children_of(tty_pid(t), "--server-child", servers, 8), alive = 0;
    for (int i = 0; i < count; i++)
        alive += servers[i] != *dead;
    return alive == 2;
}

static void a_killed_server_is_named_and_restarts(void **state)
{
    (void)state;
    pid_t servers[8];
    struct tty *t = live_open(0, 0);
    assert_int_equal(children_of(tty_pid(t), "--server-child", servers, 8), 2);
    kill(servers[0], SIGKILL);
    live_expect(t, "SIGKILL");
    tty_pump(t, 1500);
    assert_int_equal(tty_status(t), -1);
    assert_true(tty_shows(t, "SIGKILL"));
    tty_keys(t, "u"); /* its server up again */
    if (!tty_until(t, two_servers, &servers[0], SOON)) {
        tty_dump(t, "not started again");
        fail();
    }
    live_expect_gone(t, "SIGKILL");
    live_leave(t);
}

static void both_killed(void **state)
{
    (void)state;
    pid_t servers[8];
    struct tty *t = live_open(0, 0);
    assert_int_equal(children_of(tty_pid(t), "--server-child", servers, 8), 2);
    kill(servers[0], SIGABRT); /* of SIGSEGV a sanitizer would make an exit */
    kill(servers[1], SIGKILL);
    live_expect(t, "SIGKILL");
    live_expect(t, "SIGABRT");
    live_leave(t);
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(no_child_outlives_the_dashboard),
        IN_TERMINAL(a_killed_server_is_named_and_restarts),
        IN_TERMINAL(both_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
