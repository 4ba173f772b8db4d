/* SPDX-License-Identifier: MIT */
/* `iodash serve`: one server in the foreground, for a load on another machine or a real client. The
 * signals that end it are blocked and waited for, so between two status lines nothing runs here and
 * the stop begins at once. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "cli/status.h"
#include "load/workloads.h"
#include "net/protocol.h"
#include "servers/server.h"

static int check_args(const struct args *a, struct server_spec *spec, struct err *e)
{
    struct lineup lineup;
    if (!a->options.models)
        return err_set(e, EINVAL, "serve: needs a model, as in -m epoll-lt (list models)");
    if (!a->options.listen)
        return err_set(e, EINVAL, "serve: needs an address, as in --listen 127.0.0.1:8080");
    int error = lineup_parse(a->options.models, &lineup, e);
    if (error)
        return error;
    if (lineup.count != 1)
        return err_set(e, EINVAL, "--models %s: serve takes one model, not %d", a->options.models,
                       lineup.count);
    spec->model = lineup.models[0];
    if (a->given[PARAM_workers] && lineup_takes_workers(&lineup, e) < 0)
        return -EINVAL;
    return net_addr_parse(a->options.listen, true, &spec->listen, e);
}

static void fill_spec(const struct args *a, struct server_spec *spec)
{
    struct cpu_plan cpus;
    spec->params = a->params;
    if (isnan(spec->params.protocol))
        spec->params.protocol = protocol_find("http");
    if (!a->given[PARAM_place]) /* so that the pid of the command is the one that serves */
        spec->params.place = PLACE_INSIDE;
    workload_resolve(&spec->params);
    spec->cpu = -1;
    /* Nothing of ours shares this machine with it, so it is pinned only when that was asked for. */
    if (a->given[PARAM_pin] && spec->params.pin == PIN_AUTO) {
        cpus_plan(true, &cpus);
        spec->cpu = cpus.server;
    }
}

static void say_start(const struct server *s)
{
    struct net_addr addr;
    char text[128], several[32] = "";
    server_address(s, &addr);
    if (server_workers(s) > 1)
        snprintf(several, sizeof several, ", %d workers", server_workers(s));
    fprintf(stderr, "%s listens on %s (pid %ld%s), Ctrl-C ends it\n", server_model(s)->id,
            net_addr_print(&addr, text, sizeof text), (long)server_pid(s), several);
    if (server_model(s)->note) {
        server_model(s)->note(text, sizeof text);
        fprintf(stderr, "%s uses %s\n", server_model(s)->id, text);
    }
}

/* One line a second; on a terminal it is written over the last one. */
static void say_status(const struct reading *before, const struct reading *now)
{
    bool screen = isatty(STDERR_FILENO);
    char line[512];
    reading_line(before, now, screen ? 2 : 8, line, sizeof line);
    fprintf(stderr, screen ? "\r%-78.78s" : "%s\n", line);
}

/* What a load on another machine may be held against. */
static void say_total(const struct server *s, bool one_way)
{
    struct server_counts c;
    server_read(s, &c);
    fputs("in all ", stderr);
    if (!one_way)
        fprintf(stderr, "%llu requests answered, ", (unsigned long long)c.requests);
    fprintf(stderr, "%llu connections, %llu bytes received", (unsigned long long)c.accepts,
            (unsigned long long)c.bytes_in);
    if (!one_way)
        fprintf(stderr, ", %llu bytes sent", (unsigned long long)c.bytes_out);
    fputc('\n', stderr);
}

static void block_ends(sigset_t *set)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction now;
        bool ignored = !sigaction(ends[i], NULL, &now) && now.sa_handler == SIG_IGN;
        if (ends[i] != SIGHUP || !ignored) /* nohup means it */
            sigaddset(set, ends[i]);
    }
    sigprocmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed stderr ends no server */
}

/* Waits for the next whole second or a signal that ends; true when there was one. */
static bool ended(const sigset_t *set, uint64_t next_ns)
{
    for (;;) {
        uint64_t now = clock_ns(), left = next_ns > now ? next_ns - now : 0;
        struct timespec t = clock_timespec(left);
        if (sigtimedwait(set, NULL, &t) > 0)
            return true;
        if (errno != EINTR)
            return false;
    }
}

static int watch(struct server *s, const sigset_t *set, bool one_way, bool quiet)
{
    static struct reading before, now;
    struct err why;
    reading_take(s, one_way, &before);
    for (uint64_t next = before.t_ns + NS_PER_S; !ended(set, next); next += NS_PER_S) {
        if (!server_alive(s, &why))
            return cli_fail(1, why.text);
        reading_take(s, one_way, &now);
        if (!quiet)
            say_status(&before, &now);
        before = now;
    }
    if (!quiet && isatty(STDERR_FILENO))
        fputc('\n', stderr);
    if (!quiet)
        say_total(s, one_way);
    return 0;
}

int cli_serve(const struct args *a)
{
    struct server_spec spec = {0};
    struct err e = {""};
    sigset_t set;
    int error = check_args(a, &spec, &e);
    if (error)
        return cli_fail(cli_status(error), e.text);
    fill_spec(a, &spec);
    block_ends(&set);
    struct server *s = server_start(&spec, &e);
    if (!s)
        return cli_fail(1, e.text);
    say_start(s);
    bool one_way = protocol_table[(int)spec.params.protocol]->one_way;
    int status = watch(s, &set, one_way, a->options.quiet != NULL);
    server_stop(s);
    return status;
}
