/* SPDX-License-Identifier: MIT */
/* What a person types about a server of theirs. A pid alone is no identity (numbers come back), so
 * the time at which the process began is kept with it. What lies between can be told only in part:
 * an address of this machine is loopback whatever it is called; a process in another network
 * namespace of this machine shows by its /proc; a container that nobody gave the pid of looks like
 * any other machine. Sources: RFC 3986, proc(5), namespaces(7). */
#include "servers/target.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/units.h"
#include "metrics/proc.h"
#include "servers/listener.h"
#include "servers/recipe.h"
#include "servers/tree.h"

#define REACH_S 5

/* --- the address ------------------------------------------------------------------------------ */

struct url {
    const char *text;
    char scheme[16];
    char host[300]; /* with the port, as typed */
    const char *path;
    bool named; /* the scheme was given */
};

static int bad(struct err *e, const char *text, const char *why)
{
    return err_set(e, EINVAL, "'%.80s': %s", text, why);
}

static int split(const char *text, struct url *u, struct err *e)
{
    const char *at = strstr(text, "://");
    *u = (struct url){.text = text, .scheme = "http", .named = at != NULL};
    if (at) {
        snprintf(u->scheme, sizeof u->scheme, "%.*s", (int)(at - text < 15 ? at - text : 15), text);
        text = at + 3;
    }
    size_t n = strcspn(text, "/?#");
    if (memchr(text, '@', n))
        return bad(e, u->text, "a user name is not spoken here");
    if (n >= sizeof u->host - 3)
        return bad(e, u->text, "the name is too long");
    memcpy(u->host, text, n);
    u->path = text + n;
    return 0;
}

static bool has_port(const char *host)
{
    const char *end = *host == '[' ? strchr(host, ']') : host;
    return end && strchr(end, ':');
}

static int find_protocol(const struct url *u, struct err *e)
{
    int i = protocol_find(u->scheme);
    if (i >= 0)
        return i;
    char all[80] = "";
    for (i = 0; i < protocol_count; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s://", i ? ", " : "", protocol_table[i]->id);
    }
    return err_set(e, EINVAL, "'%.80s': %s:// is not spoken here, only %s", u->text, u->scheme,
                   all);
}

/* Host as RFC 9112 wants it: without the port of the scheme. */
static int write_request(struct target *t, const struct url *u, struct err *e)
{
    size_t path = strcspn(u->path, "#"), host = strlen(u->host);
    for (size_t i = 0; i < path; i++)
        if (u->path[i] <= ' ' || u->path[i] > '~')
            return bad(e, u->text, "the path may hold printable ASCII only; write the rest as %20");
    if (host > 3 && strcmp(u->host + host - 3, ":80") == 0)
        host -= 3;
    int n = snprintf(t->request, sizeof t->request,
                     "GET %s%.*s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: iodash\r\n"
                     "Accept: */*\r\n\r\n",
                     *u->path == '/' ? "" : "/", (int)path, u->path, (int)host, u->host);
    if (n >= (int)sizeof t->request)
        return err_set(e, EINVAL, "'%.80s': a request of %d bytes; at most %d are sent", u->text, n,
                       PROTO_ASK_MAX - 1);
    t->request_length = (size_t)n;
    return 0;
}

int target_probe(const struct target *t, struct err *e)
{
    return t->recipe ? recipe_probe(t->recipe, e) : 0;
}

int target_parse(const char *url, struct target *out, struct err *e)
{
    struct url u;
    *out = (struct target){.path = "network"};
    int rc = split(url, &u, e);
    if (rc == 0)
        rc = out->protocol = find_protocol(&u, e);
    if (rc < 0)
        return rc;
    bool http = strcmp(u.scheme, "http") == 0;
    if (http && u.named && *u.host && !has_port(u.host))
        strcat(u.host, ":80");
    if (!http && *u.path && strcmp(u.path, "/") != 0)
        return bad(e, url, "only http has a path");
    if (!*u.host)
        return bad(e, url, "the host is missing");
    rc = net_addr_parse(u.host, false, &out->addr, e);
    if (rc == 0 && http)
        rc = write_request(out, &u, e);
    if (rc < 0)
        return rc;
    if (net_addr_here(&out->addr))
        out->path = "loopback";
    out->speaks = 1u << out->protocol;
    snprintf(out->id, sizeof out->id, "%.*s", (int)sizeof out->id - 1, u.host);
    out->model = (struct io_model){.id = out->id, .label = out->id, .target = out,
                                   .summary = "a server that is not ours",
                                   .caps = CAP_OWN_WORKERS};
    return 0;
}

int target_by_size(struct target *t, struct err *e)
{
    if (t->request_length && strncmp(t->request, "GET / ", 6) != 0)
        return err_set(e, EINVAL, "--size: the path of the URL decides what comes; give one");
    t->request_length = 0;
    return 0;
}

int target_reach(const struct target *t, struct err *e)
{
    char text[80];
    int fd = net_connect_blocking(&t->addr, true, REACH_S);
    if (fd < 0)
        return err_set(e, -fd, "cannot connect to %s: %s",
                       net_addr_print(&t->addr, text, sizeof text), strerror(-fd));
    net_close_reset(fd);
    return 0;
}

/* --- the process ------------------------------------------------------------------------------ */

static int look(pid_t pid, struct proc_stat *out, struct err *e)
{
    bool gone = kill(pid, 0) < 0 && errno == ESRCH;
    if (!gone && proc_stat_read(pid, out, NULL) < 0)
        return err_set(e, EPERM, "--pid %d: not visible to this user", pid);
    if (gone || out->state == 'Z' || out->state == 'X')
        return err_set(e, ESRCH, "--pid %d: there is no such process", pid);
    return 0;
}

static bool other_namespace(pid_t pid)
{
    char path[64];
    struct stat theirs, ours;
    snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
    return stat(path, &theirs) == 0 && stat("/proc/self/ns/net", &ours) == 0 &&
           theirs.st_ino != ours.st_ino;
}

/* A line of /proc/net/tcp and tcp6: addresses as the kernel's words in hex. */
struct socket_line {
    char there[33];
    unsigned here_port, there_port, state;
};

static bool is_listener(const struct socket_line *l, const void *port)
{
    return (int)l->here_port == *(const int *)port && l->state == 0x0a;
}

/* How many sockets of that network namespace are so. */
static long count_sockets(const char *net, bool (*is)(const struct socket_line *, const void *),
                          const void *arg)
{
    static const char *const tables[] = {"tcp", "tcp6"};
    long found = 0;
    for (size_t i = 0; i < 2; i++) {
        char path[64], line[512];
        struct socket_line l;
        snprintf(path, sizeof path, "%s/%s", net, tables[i]);
        FILE *f = fopen(path, "re");
        while (f && fgets(line, sizeof line, f))
            found += sscanf(line, " %*d: %*[0-9A-F]:%x %32[0-9A-F]:%x %x", &l.here_port, l.there,
                            &l.there_port, &l.state) == 4 && is(&l, arg);
        if (f)
            fclose(f);
    }
    return found;
}

/* As the process's own namespace lists them. */
static bool listens_there(pid_t pid, int port)
{
    char net[48];
    snprintf(net, sizeof net, "/proc/%d/net", pid);
    return count_sockets(net, is_listener, &port) > 0;
}

static void address_words(const struct net_addr *a, char *out, size_t size)
{
    const struct sockaddr_in *v4 = (const void *)&a->ss;
    const struct sockaddr_in6 *v6 = (const void *)&a->ss;
    uint32_t w[4];
    memcpy(w, &v6->sin6_addr, sizeof w);
    if (a->ss.ss_family == AF_INET)
        snprintf(out, size, "%08X", v4->sin_addr.s_addr);
    else
        snprintf(out, size, "%08X%08X%08X%08X", w[0], w[1], w[2], w[3]);
}

static bool waits_towards(const struct socket_line *l, const void *addr)
{
    char words[40];
    if (l->state != 0x06 || (int)l->there_port != net_addr_port(addr))
        return false;
    address_words(addr, words, sizeof words);
    return strcmp(l->there, words) == 0;
}

long target_busy_ports(const struct target *t)
{
    long reuse = limits_tw_reuse();
    const struct sockaddr_in *v4 = (const void *)&t->addr.ss;
    const struct sockaddr_in6 *v6 = (const void *)&t->addr.ss;
    bool loopback = t->addr.ss.ss_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == 127
                                                    : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    if (reuse == 1 || (reuse == 2 && loopback))
        return 0;
    return count_sockets("/proc/self/net", waits_towards, &t->addr);
}

int target_process(struct target *t, const char *text, struct err *e)
{
    char *end, addr[80];
    double number = units_strtod(text, &end);
    pid_t pid = number >= 1 && number <= 4194304 && !*end ? (pid_t)number : 0;
    if (pid == 0 || strspn(text, "0123456789") != strlen(text))
        return err_set(e, EINVAL, "--pid %.40s: must be the number of a process", text);
    struct proc_stat stat;
    int rc = look(pid, &stat, e);
    if (rc < 0)
        return rc;
    bool here = strcmp(t->path, "loopback") == 0;
    if (!here && (!other_namespace(pid) || !listens_there(pid, net_addr_port(&t->addr))))
        return err_set(e, EHOSTUNREACH,
                       "--pid %d: %s is not this machine, so its CPU cannot be read", pid,
                       net_addr_print(&t->addr, addr, sizeof addr));
    if (!here)
        t->path = "netns";
    t->pid = pid;
    t->start_ticks = stat.start_ticks;
    snprintf(t->name, sizeof t->name, "%s", stat.name);
    return 0;
}

/* What is wrong with it as the process of that server; "": nothing. A master often leaves listening
 * to its workers, so those below it count too. */
static void doubt_of(const struct target *t, char *out, size_t size)
{
    pid_t pids[TREE_MOST];
    int n = tree_find(t->pid, pids + 1, TREE_MOST - 1) + 1, port = net_addr_port(&t->addr);
    pids[0] = t->pid;
    for (int i = 0; i < n; i++)
        if (pids[i] == getpid())
            snprintf(out, size, "--pid %d (%.40s): iodash itself runs below it", (int)t->pid,
                     t->name);
    if (!out[0] && listener_among(pids, n, port) == 0)
        snprintf(out, size, "--pid %d (%.40s) does not listen on port %d", (int)t->pid, t->name,
                 port);
}

int target_attach_process(struct target *t, const char *text, struct err *e)
{
    struct err why = {""};
    int rc = target_process(t, text, &why);
    if (rc == -EINVAL || rc == -ESRCH)
        return err_set(e, -rc, "%s", why.text);
    if (rc < 0)
        snprintf(t->doubt, sizeof t->doubt, "%.150s", why.text);
    else
        doubt_of(t, t->doubt, sizeof t->doubt);
    if (t->doubt[0])
        t->pid = 0;
    return 0;
}
