/* SPDX-License-Identifier: MIT */
/* Shares of what all workers did, so that turns of other models and pauses are in none of them. */
#include "session/split.h"

#include <math.h>

#include "session/say.h"

#define EACH 8 /* so many workers are named one by one */

void split_begin(struct split *s, const struct server *server)
{
    struct server_counts c;
    int n = server_workers(server);
    for (int i = 0; i < n && i < SPLIT_WORKERS; i++) {
        server_read_worker(server, i, &c);
        s->from[i].accepts = c.accepts;
        s->from[i].requests = c.requests;
        s->from[i].cpu_ns = server_worker_cpu_ns(server, i);
    }
}

static void say_each(struct text *t, const char *what, const double *v, int n, const char *unit)
{
    double low = v[0], high = v[0];
    say(t, "%s%s ", t->used ? ", " : "", what);
    for (int i = 0; i < n; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
        if (n <= EACH)
            say(t, "%s%.0f", i ? "+" : "", v[i]);
    }
    if (n > EACH)
        say(t, "%.0f to %.0f", low, high);
    say(t, "%s%s", unit, n > EACH ? " each" : "");
}

/* Nothing is said of what nobody did. */
static void say_shares(struct text *t, const char *what, double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i];
    for (int i = 0; i < n; i++)
        v[i] *= 100 / sum;
    if (sum > 0)
        say_each(t, what, v, n, " %");
}

static double since(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) : 0;
}

char *split_text(const struct split *s, const struct server *server, char *buf)
{
    struct text t = {buf, SPLIT_TEXT, 0};
    double open[SPLIT_WORKERS], came[SPLIT_WORKERS], requests[SPLIT_WORKERS], cpu[SPLIT_WORKERS];
    double held = 0;
    int n = server_workers(server);
    buf[0] = '\0';
    if (n < 2 || n > SPLIT_WORKERS)
        return buf;
    for (int i = 0; i < n; i++) {
        struct server_counts c;
        server_read_worker(server, i, &c);
        open[i] = c.accepts > c.closes ? (double)(c.accepts - c.closes) : 0;
        came[i] = since(s->from[i].accepts, c.accepts);
        requests[i] = since(s->from[i].requests, c.requests);
        cpu[i] = fmax((double)(server_worker_cpu_ns(server, i) - s->from[i].cpu_ns), 0);
        held += open[i];
    }
    if (!(server_model(server)->caps & CAP_POOL))
        say_each(&t, "connections", held > 0 ? open : came, n, "");
    say_shares(&t, "requests", requests, n);
    say_shares(&t, "CPU", cpu, n);
    return buf;
}
