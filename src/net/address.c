/* SPDX-License-Identifier: MIT */
/* Addresses as people type them. A name may stand for several addresses and a server for only one
 * of them (localhost is ::1 and 127.0.0.1), so where a name is connected to, each is tried and the
 * first that answers is taken; where it is listened on, IPv4 comes first, because clients that try
 * ::1 fall back to 127.0.0.1 but few go the other way. Source: getaddrinfo(3). */
#include "net/sock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROBE_MS 1000

struct parts {
    char host[256];
    const char *port;
    bool bracketed;
};

/* What an address is for. */
struct use {
    int port;
    bool listening;
};

static int bad(struct err *e, const char *text, const char *why)
{
    return err_set(e, EINVAL, "address '%.80s': %s", text, why);
}

static int split(const char *text, struct parts *p, struct err *e)
{
    const char *host = text, *end;
    p->bracketed = *text == '[';
    if (p->bracketed) {
        host = text + 1;
        end = strchr(host, ']');
        if (!end || end[1] != ':')
            return bad(e, text, "expected [ADDRESS]:PORT");
        p->port = end + 2;
    } else {
        end = strrchr(text, ':');
        if (!end)
            return bad(e, text, "the port is missing, expected ADDRESS:PORT");
        if (memchr(text, ':', (size_t)(end - text)))
            return bad(e, text, "an IPv6 address goes in brackets, [ADDRESS]:PORT");
        p->port = end + 1;
    }
    size_t n = (size_t)(end - host);
    if (n >= sizeof p->host)
        return bad(e, text, "the name is too long");
    memcpy(p->host, host, n);
    p->host[n] = '\0';
    return 0;
}

/* Digits only, so that no service name, sign or blank slips through. */
static int parse_port(const char *text, const struct parts *p, bool listening, struct err *e)
{
    int port = 0;
    if (!*p->port)
        return bad(e, text, "the port is missing after ':'");
    for (const char *c = p->port; *c; c++) {
        if (*c < '0' || *c > '9')
            return bad(e, text, "the port is not a number");
        port = port * 10 + (*c - '0');
        if (port > 65535)
            return bad(e, text, "the port is above 65535");
    }
    if (port == 0 && !listening)
        return bad(e, text, "port 0 cannot be connected to");
    return port;
}

/* All addresses: IPv6 that takes IPv4 too, where the machine has it. */
static void any_address(struct net_addr *out)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&out->ss;
        close(fd);
        in6->sin6_family = AF_INET6;
        in6->sin6_addr = in6addr_any;
        out->len = sizeof *in6;
    } else {
        struct sockaddr_in *in = (struct sockaddr_in *)&out->ss;
        in->sin_family = AF_INET;
        in->sin_addr.s_addr = htonl(INADDR_ANY);
        out->len = sizeof *in;
    }
}

static bool answers(const struct net_addr *a)
{
    int fd = net_connect_start(a, false);
    if (fd < 0)
        return false;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    bool yes = poll(&p, 1, PROBE_MS) == 1 && net_connect_result(fd) == 0;
    net_close_reset(fd);
    return yes;
}

static void copy_address(const struct addrinfo *ai, int port, struct net_addr *out)
{
    memcpy(&out->ss, ai->ai_addr, ai->ai_addrlen);
    out->len = ai->ai_addrlen;
    net_addr_set_port(out, port);
}

static void choose(const struct addrinfo *list, struct use use, struct net_addr *out)
{
    struct net_addr a = {0};
    for (const struct addrinfo *ai = list; ai && list->ai_next; ai = ai->ai_next) {
        copy_address(ai, use.port, &a);
        if (use.listening ? ai->ai_family == AF_INET : answers(&a)) {
            *out = a;
            return;
        }
    }
    copy_address(list, use.port, out);
}

static int resolve(const char *text, const struct parts *p, struct use use, struct net_addr *out,
                   struct err *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC}, *list;
    if (p->bracketed) {
        hints.ai_flags = AI_NUMERICHOST;
        hints.ai_family = AF_INET6;
    }
    int rc = getaddrinfo(p->host, NULL, &hints, &list);
    if (rc != 0 && p->bracketed)
        return bad(e, text, gai_strerror(rc));
    if (rc != 0)
        return err_set(e, ENOENT, "address '%.80s': %s", text,
                       rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
    choose(list, use, out);
    freeaddrinfo(list);
    return 0;
}

int net_addr_parse(const char *text, bool listening, struct net_addr *out, struct err *e)
{
    struct parts p;
    memset(out, 0, sizeof *out);
    int rc = split(text, &p, e);
    if (rc < 0)
        return rc;
    int port = parse_port(text, &p, listening, e);
    if (port < 0)
        return port;
    bool any = !p.bracketed && (!*p.host || strcmp(p.host, "*") == 0);
    if (any && !listening)
        return bad(e, text, "the host is missing");
    if (!any)
        return resolve(text, &p, (struct use){port, listening}, out, e);
    any_address(out);
    net_addr_set_port(out, port);
    return 0;
}

/* Binding to an address is allowed to its owner only, and sends nothing. */
bool net_addr_here(const struct net_addr *a)
{
    struct net_addr any = *a;
    int fd = socket(a->ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    net_addr_set_port(&any, 0);
    bool here = bind(fd, (const struct sockaddr *)&any.ss, any.len) == 0;
    close(fd);
    return here;
}
