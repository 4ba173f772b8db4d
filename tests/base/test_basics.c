/* SPDX-License-Identifier: MIT */
/* Errors, the injectable clock, the kernel's list format, a futex between two threads. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/ranges.h"

static void test_err_is_a_line_and_a_number(void **state)
{
    (void)state;
    struct err e = {0};
    assert_int_equal(err_set(&e, EINVAL, "%s: %d", "rate", 7), -EINVAL);
    assert_string_equal(e.text, "rate: 7");
    errno = EADDRINUSE;
    assert_int_equal(err_sys(&e, "listen on port %d", 80), -EADDRINUSE);
    assert_string_equal(e.text, "listen on port 80: Address already in use");
    assert_int_equal(err_set(NULL, ENOENT, "nobody reads it"), -ENOENT);
}

static void test_err_too_long_is_cut(void **state)
{
    (void)state;
    struct err e;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    errno = EIO;
    assert_int_equal(err_sys(&e, "%s", text), -EIO);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

static void last_words(void)
{
    (void)!write(STDOUT_FILENO, "restored\n", 9);
}

static void test_die_restores_first(void **state)
{
    (void)state;
    int pipe_fds[2], status;
    char text[128] = "";
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t pid = fork();
    if (!pid) {
        dup2(pipe_fds[1], STDOUT_FILENO);
        dup2(pipe_fds[1], STDERR_FILENO);
        die_on(last_words);
        die("broken %d", 1);
    }
    close(pipe_fds[1]);
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 70);
    size_t used = 0;
    for (ssize_t n; (n = read(pipe_fds[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)n;
    close(pipe_fds[0]);
    assert_string_equal(text, "restored\niodash: broken 1\n");
}

static uint64_t fixed_clock(void)
{
    return 42;
}

static void test_clock_can_be_replaced(void **state)
{
    (void)state;
    clock_inject(fixed_clock);
    assert_int_equal(clock_ns(), 42);
    clock_inject(NULL);
    uint64_t before = clock_ns();
    assert_true(before > 42);
    clock_sleep_until(before + 2 * NS_PER_MS);
    assert_true(clock_ns() >= before + 2 * NS_PER_MS);
}

static void test_wall_time_formats(void **state)
{
    (void)state;
    char iso[40], stamp[24];
    int y, mo, d, h, mi, s, ms, zh, zm, end = 0;
    char sign;
    clock_iso8601(iso, sizeof iso);
    assert_int_equal(sscanf(iso, "%4d-%2d-%2dT%2d:%2d:%2d.%3d%c%2d:%2d%n", &y, &mo, &d, &h, &mi, &s,
                            &ms, &sign, &zh, &zm, &end), 10);
    assert_int_equal(end, strlen(iso));
    assert_int_equal(strlen(iso), 29);
    clock_stamp(stamp, sizeof stamp);
    assert_int_equal(strlen(stamp), 15);
    assert_int_equal(stamp[8], '-');
}

static void test_ranges(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "\n", "x", "-3", "5-2", "5-"};
    const char *list = "0-3,8,10-11\n";
    long low, high, sum = 0;
    int count = 0;
    for (; ranges_next(&list, &low, &high); count++)
        sum += low * 100 + high;
    assert_int_equal(count, 3);
    assert_int_equal(sum, 3 + 808 + 1011);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        list = bad[i];
        assert_false(ranges_next(&list, &low, &high));
    }
}

static _Atomic uint32_t word;

static void *wake_later(void *arg)
{
    clock_sleep_until(clock_ns() + 5 * NS_PER_MS);
    atomic_store(&word, 1);
    futex_wake_all(&word);
    return arg;
}

static void test_futex_wakes_a_sleeper(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t start = clock_ns();
    assert_int_equal(pthread_create(&thread, NULL, wake_later, NULL), 0);
    while (atomic_load(&word) == 0 && clock_ns() - start < 10 * NS_PER_S)
        futex_wait(&word, 0, 10 * NS_PER_S);
    assert_int_equal(atomic_load(&word), 1);
    pthread_join(thread, NULL);
    futex_wait(&word, 0, 0); /* the word differs: must not sleep for ever */
    futex_wait(&word, 1, NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_err_is_a_line_and_a_number),
        cmocka_unit_test(test_err_too_long_is_cut),
        cmocka_unit_test(test_die_restores_first),
        cmocka_unit_test(test_clock_can_be_replaced),
        cmocka_unit_test(test_wall_time_formats),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_futex_wakes_a_sleeper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
