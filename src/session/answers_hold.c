/* SPDX-License-Identifier: MIT */
/* Held connections are not ranked: either a server holds what was asked or it does not, and how
 * fast they came was measured once. Who counts is the server: a client may be connected to one
 * that never accepted it. */
#include "session/answers_hold.h"

#include "base/units.h"

static double mean(const struct row *r, int pane, enum metric_id m)
{
    return row_summary(r, pane, m).mean;
}

static void held(const struct row *r, int pane, struct text *t)
{
    double server = mean(r, pane, METRIC_accepted), client = mean(r, pane, METRIC_established);
    double rate = mean(r, pane, METRIC_accepts_per_s);
    char text[24];
    double wanted = r->params.connections + r->params.idle;
    if (isnan(server)) { /* it is not ours, and does not count */
        say(t, "%s: ", pane_name(r, pane).s);
        say(t, isnan(client) ? "not measured" : "%.0f of %.0f are established", client, wanted);
        return;
    }
    say(t, "%s holds %.0f of %.0f", pane_name(r, pane).s, server, wanted);
    if (client > server + 0.5)
        say(t, " (%.0f more were never accepted)", client - server);
    if (!isnan(rate))
        say(t, ", accepted %s/s", units_si(text, sizeof text, rate));
}

static void cost(const struct row *r, int pane, struct text *t)
{
    double kernel = mean(r, pane, METRIC_kernel_per_connection);
    double rss = mean(r, pane, METRIC_rss_per_connection);
    const char *why = r->panes[pane].no_kernel;
    char text[24];
    say(t, "%s: ", pane_name(r, pane).s);
    if (isnan(kernel))
        say(t, *why ? "kernel memory not measured (%s)" : "kernel memory not measured", why);
    else
        say(t, "%s of kernel memory a connection, both ends",
            units_bytes(text, sizeof text, kernel));
    if (!isnan(rss))
        say(t, ", %s of RSS", units_bytes(text, sizeof text, rss));
}

void answer_hold(const struct row *r, int pane, struct text *answer, struct text *why)
{
    for (int i = 0; i <= pane; i += pane ? pane : 1) {
        say(answer, "%s", i ? "; " : "");
        held(r, i, answer);
        say(why, "%s", i ? "; " : "");
        cost(r, i, why);
    }
}
