/* SPDX-License-Identifier: MIT */
/* `iodash run`: the session with no dashboard. Everything that can be refused is refused before any
 * load; progress goes to stderr when that is a terminal; the table and the answer go to stdout. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "session/csv.h"

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_CSV };

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    interrupted = sig;
}

static int parse_format(const char *text, enum format *out, struct err *e)
{
    static const char *const words[] = {"text", "markdown", "csv"};
    *out = FORMAT_TEXT;
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum format)i;
            return 0;
        }
    return text ? err_set(e, EINVAL, "--format %s: must be text, markdown or csv", text) : 0;
}

static void watch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void progress(struct session *s, struct session_now *now)
{
    char left[24];
    session_read(s, now);
    fprintf(stderr, "\r\033[Krow %d of %d: %s, %d of %d", now->plan_done + 1, now->plan_count,
            session_phase_words[now->phase], now->taken, now->asked);
    if (now->plan_left_s > 0)
        fprintf(stderr, ", about %s in all", units_about(left, sizeof left, now->plan_left_s));
    if (now->turn_pane >= 0)
        fprintf(stderr, ", %c's turn", 'A' + now->turn_pane);
    fflush(stderr);
}

static void measure(struct session *s, const struct plan *plan, bool quiet)
{
    bool show = isatty(STDERR_FILENO) && !quiet;
    struct session_now *now = session_now_new();
    char span[24];
    if (show)
        fprintf(stderr, "%s: %d row%s, about %s\n", plan->title, plan->count,
                plan->count == 1 ? "" : "s", units_about(span, sizeof span, plan->seconds));
    session_plan(s, plan);
    while (!session_wait(s, 200000000) && !interrupted)
        if (show)
            progress(s, now);
    if (interrupted) {
        session_stop(s);
        session_wait(s, 3000000000u);
    }
    if (show)
        fputs("\r\033[K", stderr);
    session_now_free(now);
}

/* Saves where it was asked for; after an interruption under a name of our own, if need be. */
static int save(struct session *s, const char *output, struct err *e)
{
    struct csv_session c = {session_rows(s), session_environment(s), session_id(s), "loopback"};
    char name[64];
    if (output)
        return csv_save(&c, output, e);
    if (!interrupted || !c.rows->first)
        return 0;
    int r = csv_save_new(&c, name, sizeof name, e);
    if (r >= 0)
        fprintf(stderr, "iodash: saved %s\n", name);
    return r;
}

static bool measured_anything(const struct rows *rows)
{
    for (const struct row *r = rows->first; r; r = r->next)
        for (int i = 0; i < r->pane_count; i++)
            if (r->panes[i].count > 0)
                return true;
    return false;
}

static int report(struct session *s, const struct args *a, enum format format)
{
    struct err e = {{0}};
    session_lock(s);
    const struct rows *rows = session_rows(s);
    struct csv_session c = {rows, session_environment(s), session_id(s), "loopback"};
    bool any = measured_anything(rows);
    struct err why = {{0}};
    if (!any && rows->first)
        err_set(&why, ENODATA, "nothing was measured: %s", rows->first->panes[0].reason);
    int r = save(s, a->options.output, &e);
    if (format == FORMAT_CSV)
        csv_tables(&c, stdout);
    else
        print_session(stdout, s, format == FORMAT_MARKDOWN);
    session_unlock(s);
    if (fflush(stdout) != 0 && r >= 0)
        r = err_sys(&e, "write the table");
    if (r < 0)
        return cli_fail(1, e.text);
    if (interrupted)
        return 130;
    return any ? 0 : cli_fail(1, why.text[0] ? why.text : "nothing was measured");
}

int cli_run(const struct args *a)
{
    struct err e = {{0}};
    struct plan plan = {0};
    enum format format;
    int r = parse_format(a->options.format, &format, &e);
    if (r == 0)
        r = a->options.plan ? plan_from_file(a->options.plan, a, &plan, &e)
                            : plan_from_args(a, &plan, &e);
    if (r == 0 && a->options.output)
        r = csv_check(a->options.output, &e);
    if (r == 0)
        r = plan_check_limits(&plan, &e);
    if (r < 0) {
        plan_free(&plan);
        return cli_fail(cli_status(r), e.text);
    }
    watch_signals();
    struct session_options o = {.pin = a->params.pin != PIN_OFF};
    struct session *s = session_new(&o, &e);
    if (!s) {
        plan_free(&plan);
        return cli_fail(1, e.text);
    }
    measure(s, &plan, a->options.quiet != NULL);
    int status = report(s, a, format);
    session_free(s);
    plan_free(&plan);
    return status;
}
