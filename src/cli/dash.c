/* SPDX-License-Identifier: MIT */
/* `iodash`: the dashboard. It never starts empty: what does not fit into the descriptors is
 * reduced, and said. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/attach.h"
#include "cli/cli.h"
#include "session/reach.h"
#include "ui/ui.h"

#define WELCOME "two servers under the same load: who pays less for a request, and why. ? help"

static int charset(const char *text, enum term_charset *out, struct err *e)
{
    static const char *const words[] = {"auto", "braille", "block", "ascii"};
    *out = CHARSET_AUTO;
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum term_charset)i;
            return 0;
        }
    if (!text)
        return 0;
    return err_set(e, EINVAL, "--charset %s: must be auto, braille, block or ascii", text);
}

/* Halves what nobody asked for until the plan fits; what was asked for is refused instead. */
static int fit(const struct args *a, struct plan *plan, char *line, size_t size, struct err *e)
{
    struct params *p = &plan->rows[0].params;
    double asked = p->connections;
    int r;
    while ((r = reach_check_here(plan, e)) < 0) {
        if (a->given[PARAM_connections] || p->connections < 2)
            return r;
        p->connections = (double)(long)(p->connections / 2);
    }
    if (p->connections < asked)
        snprintf(line, size, "%.0f connections in place of %.0f: %ld descriptors are allowed here",
                 p->connections, asked, limits_nofile_soft());
    else
        snprintf(line, size, "%s", WELCOME);
    return 0;
}

static int show(const struct args *a, const struct ui_options *o)
{
    struct err e = {{0}};
    char parting[2048] = "";
    struct session_options so = {.pin = a->params.pin != PIN_OFF, .forever = true, .prices = true};
    struct session *s = session_new(&so, &e);
    if (!s)
        return cli_fail(1, e.text);
    int status = ui_run(s, o, parting, sizeof parting, &e);
    session_free(s);
    if (status < 0)
        return cli_fail(1, e.text);
    fputs(parting, stdout);
    return status;
}

int cli_dash(const struct args *a)
{
    struct err e = {{0}};
    struct plan plan = {0};
    struct ui_options o = {.term.no_color = a->options.no_color != NULL};
    char line[160];
    int r = charset(a->options.charset, &o.term.charset, &e);
    if (r == 0)
        r = attach_plan(a, &plan, &e);
    if (r == 0)
        r = fit(a, &plan, line, sizeof line, &e);
    if (r < 0) {
        plan_free(&plan);
        return cli_fail(cli_status(r), e.text);
    }
    o.want = plan.rows[0];
    o.given = a->given;
    o.plan = plan.count > 1 ? &plan : NULL;
    o.first_line = line;
    int status = show(a, &o);
    plan_free(&plan);
    return status;
}
