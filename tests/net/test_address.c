/* SPDX-License-Identifier: MIT */
/* Addresses as people type them, and what they are told when one is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "net/sock.h"
#include "scratch.h"

static void parses(const char *text, bool listening, const char *as)
{
    struct net_addr a;
    struct err e = {""};
    char buf[80];
    int rc = net_addr_parse(text, listening, &a, &e);
    if (rc != 0)
        fail_msg("%s: %s", text, e.text);
    assert_string_equal(net_addr_print(&a, buf, sizeof buf), as);
}

static void refused_with(int code, const char *text, bool listening, const char *why)
{
    struct net_addr a;
    struct err e = {""};
    assert_int_equal(net_addr_parse(text, listening, &a, &e), -code);
    if (!strstr(e.text, why))
        fail_msg("'%s' does not hold '%s'", e.text, why);
    if (!strstr(e.text, text))
        fail_msg("'%s' does not name '%s'", e.text, text);
}

static void refused(const char *text, bool listening, const char *why)
{
    refused_with(EINVAL, text, listening, why);
}

static void numbers(void **state)
{
    (void)state;
    parses("127.0.0.1:80", false, "127.0.0.1:80");
    parses("[::1]:8080", false, "[::1]:8080");
    parses("10.0.0.255:65535", true, "10.0.0.255:65535");
    parses("127.0.0.1:0", true, "127.0.0.1:0");
    parses("[fe80::1]:1", true, "[fe80::1]:1");
}

static bool has_ipv6(void)
{
    struct net_addr a;
    struct net_listen how = {.backlog = 1};
    assert_int_equal(net_addr_parse("[::1]:0", true, &a, NULL), 0);
    int fd = net_listen(&a, &how, NULL);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void all_addresses(void **state)
{
    (void)state;
    const char *as = has_ipv6() ? "[::]:81" : "0.0.0.0:81";
    parses("*:81", true, as);
    parses(":81", true, as);
    refused("*:81", false, "the host is missing");
    refused(":81", false, "the host is missing");
}

static void mistakes(void **state)
{
    (void)state;
    refused("127.0.0.1", false, "the port is missing");
    refused("host:", false, "the port is missing after ':'");
    refused("host:99999", false, "above 65535");
    refused("127.0.0.1:99999999999999999999", false, "above 65535");
    refused("127.0.0.1:http", false, "not a number");
    refused("127.0.0.1:-1", false, "not a number");
    refused("127.0.0.1: 1", false, "not a number");
    refused("127.0.0.1:0", false, "port 0");
    refused("::1:80", false, "in brackets");
    refused("[::1]80", false, "expected [ADDRESS]:PORT");
    refused("[::1", false, "expected [ADDRESS]:PORT");
    refused("[localhost]:80", false, "");
    refused("[]:80", true, "");
    refused("", true, "the port is missing");
    refused_with(ENOENT, "no-such-host.invalid:80", false, "");
}

static void of_this_machine(void **state)
{
    (void)state;
    struct net_addr a;
    assert_int_equal(net_addr_parse("127.0.0.1:1", false, &a, NULL), 0);
    assert_true(net_addr_here(&a));
    assert_int_equal(net_addr_port(&a), 1);
    assert_int_equal(net_addr_parse("127.200.3.4:80", false, &a, NULL), 0);
    assert_true(net_addr_here(&a));
    assert_int_equal(net_addr_parse("192.0.2.1:80", false, &a, NULL), 0); /* kept for documents */
    assert_false(net_addr_here(&a));
    assert_int_equal(net_addr_parse("[2001:db8::1]:80", false, &a, NULL), 0);
    assert_false(net_addr_here(&a));
}

static void too_long(void **state)
{
    (void)state;
    char text[400];
    struct net_addr a;
    struct err e = {""};
    memset(text, 'a', sizeof text);
    strcpy(text + 390, ":80");
    assert_int_equal(net_addr_parse(text, false, &a, &e), -EINVAL);
    assert_non_null(strstr(e.text, "too long"));
}

/* A server on one of the addresses that localhost stands for. */
static void localhost_on(const char *where)
{
    struct net_addr a, b;
    struct net_listen how = {.backlog = 8};
    char name[40], buf[80], as[80];
    assert_int_equal(net_addr_parse(where, true, &a, NULL), 0);
    int fd = net_listen(&a, &how, NULL);
    assert_true(fd >= 0);
    net_addr_set_port(&a, net_local_port(fd));
    snprintf(name, sizeof name, "localhost:%d", net_addr_port(&a));
    assert_int_equal(net_addr_parse(name, false, &b, NULL), 0);
    assert_string_equal(net_addr_print(&b, buf, sizeof buf), net_addr_print(&a, as, sizeof as));
    int client = net_connect_blocking(&b, false, 5);
    assert_true(client >= 0);
    close(client);
    close(fd);
}

static void localhost(void **state)
{
    (void)state;
    localhost_on("127.0.0.1:0");
    struct net_addr a;
    assert_int_equal(net_addr_parse("localhost:0", true, &a, NULL), 0);
    assert_int_equal(a.ss.ss_family, AF_INET);
}

/* In a mount namespace of its own this process gets an /etc/hosts where localhost is both. */
static bool make_localhost_both(void)
{
    static const char hosts[] = "::1 localhost\n127.0.0.1 localhost\n";
    char path[SCRATCH_PATH];
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return false;
    int fd = mkstemp(scratch_path(path, "hosts-XXXXXX"));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, hosts, sizeof hosts - 1), sizeof hosts - 1);
    close(fd);
    bool done = mount(path, "/etc/hosts", NULL, MS_BIND, NULL) == 0;
    unlink(path);
    return done;
}

static void localhost_is_two(void **state)
{
    (void)state;
    if (!has_ipv6() || !make_localhost_both()) {
        print_message("skipped: no IPv6, or no mount namespace of our own\n");
        skip();
    }
    localhost_on("[::1]:0");
    localhost_on("127.0.0.1:0");
    struct net_addr a;
    assert_int_equal(net_addr_parse("localhost:0", true, &a, NULL), 0);
    assert_int_equal(a.ss.ss_family, AF_INET);
    assert_int_equal(net_addr_parse("localhost:1", false, &a, NULL), 0); /* nobody answers */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),  cmocka_unit_test(all_addresses),
        cmocka_unit_test(mistakes), cmocka_unit_test(too_long),
        cmocka_unit_test(of_this_machine),
        cmocka_unit_test(localhost), cmocka_unit_test(localhost_is_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
