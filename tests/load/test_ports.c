/* SPDX-License-Identifier: MIT */
/* The client's ports used up, in a network namespace of the test's own that has 200 of them: by
 * reset they come back at once, by FIN each waits a minute in TIME_WAIT, and that is said and
 * never hangs. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"
#include "rig.h"

static char why_not[80];

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (!done)
        snprintf(why_not, sizeof why_not, "%.50s: %.20s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return done;
}

static bool loopback_up(void)
{
    struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &r) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

/* Before there are threads, which inherit it. */
static bool enter_namespace(void)
{
    if (unshare(CLONE_NEWNET) < 0 || !loopback_up()) {
        snprintf(why_not, sizeof why_not, "no network namespace: %.30s", strerror(errno));
        return false;
    }
    return write_file("/proc/sys/net/ipv4/ip_local_port_range", "40000 40199") &&
           write_file("/proc/sys/net/ipv4/tcp_tw_reuse", "0");
}

static void turn(struct fake *f, double engine, double how, struct load_counts *c, char *trouble)
{
    struct load_spec s = rig_spec(f, 50, PARAM_MAX);
    s.params.engine = engine;
    s.params.keepalive = KEEPALIVE_OFF;
    s.params.close = how;
    struct load *l = rig_open(&s);
    rig_turn(l, 0, 1000 * MS);
    load_read(l, c);
    strcpy(trouble, load_trouble(l));
    load_close(l);
}

static void test_ports(void **state)
{
    struct load_counts c;
    char trouble[160];
    (void)state;
    if (why_not[0]) {
        print_message("skipped: %s\n", why_not);
        skip();
    }
    assert_int_equal(limits_local_ports(), 200);
    struct fake *f = fake_start(1024); /* one: its port is of the 200 */
    static const double engines[] = {ENGINE_MUX, ENGINE_BLOCKING};
    for (int i = 0; i < 2; i++) {
        turn(f, engines[i], CLOSE_RST, &c, trouble);
        assert_int_equal(rig_errors(&c), 0);
        assert_true(c.answered > 300);
        assert_int_equal(limits_time_wait(), 0);
    }
    turn(f, ENGINE_MUX, CLOSE_FIN, &c, trouble);
    assert_in_range(c.answered, 100, 200);
    assert_true(c.errors_port > 0);
    assert_int_equal(rig_errors(&c), c.errors_port);
    assert_non_null(strstr(trouble, "no local port"));
    assert_in_range(limits_time_wait(), 100, 200);
    turn(f, ENGINE_BLOCKING, CLOSE_FIN, &c, trouble);
    assert_true(c.errors_port > 0);
    assert_int_equal(rig_errors(&c), c.errors_port);
    assert_non_null(strstr(trouble, "no local port"));
    fake_stop(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ports)};
    enter_namespace();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
