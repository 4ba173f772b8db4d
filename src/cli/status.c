/* SPDX-License-Identifier: MIT */
/* One line a second from counters and CPU clocks. The split says whether the kernel spread the
 * connections evenly over the listeners of a port: it goes by a hash of the addresses, so with few
 * connections one worker may have most of them. */
#include "cli/status.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

static void share_of(const struct server_counts *c, int64_t cpu_ns, struct share *out)
{
    out->open = c->accepts > c->closes ? c->accepts - c->closes : 0;
    out->requests = c->requests;
    out->bytes_in = c->bytes_in;
    out->cpu_ns = cpu_ns;
}

void reading_take(const struct server *s, bool one_way, struct reading *out)
{
    struct server_counts c;
    int n = server_workers(s);
    out->workers = n < STATUS_WORKERS ? n : STATUS_WORKERS;
    out->one_set = server_model(s)->caps & CAP_POOL;
    out->one_way = one_way;
    server_read(s, &c);
    share_of(&c, server_cpu_ns(s), &out->all);
    out->junk = c.junk;
    out->t_ns = clock_ns();
    for (int i = 0; n > 1 && i < out->workers; i++) {
        server_read_worker(s, i, &c);
        share_of(&c, server_worker_cpu_ns(s, i), &out->worker[i]);
    }
}

/* --- figures: NaN is not known ---------------------------------------------------------------- */

typedef double (*figure_fn)(const struct share *before, const struct share *now, double seconds);

static double open_now(const struct share *before, const struct share *now, double seconds)
{
    (void)before, (void)seconds;
    return (double)now->open;
}

static double requests_per_s(const struct share *before, const struct share *now, double seconds)
{
    return nearbyint((double)(now->requests - before->requests) / seconds);
}

static double mib_per_s(const struct share *before, const struct share *now, double seconds)
{
    return nearbyint((double)(now->bytes_in - before->bytes_in) / 1048576 / seconds);
}

static double cpu_pct(const struct share *before, const struct share *now, double seconds)
{
    if (before->cpu_ns < 0 || now->cpu_ns < 0)
        return NAN;
    return fmax((double)(now->cpu_ns - before->cpu_ns) / 1e7 / seconds, 0);
}

/* --- the line --------------------------------------------------------------------------------- */

struct text {
    char *buf;
    size_t size;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
    size_t n = strlen(t->buf);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t->buf + n, t->size - n, fmt, ap);
    va_end(ap);
}

static void split(struct text *t, const struct reading *before, const struct reading *now,
                  figure_fn figure, int most)
{
    double seconds = (double)(now->t_ns - before->t_ns) / 1e9, low = INFINITY, high = 0;
    char a[32], b[32];
    for (int i = 0; i < now->workers; i++) {
        double v = figure(&before->worker[i], &now->worker[i], seconds);
        if (isnan(v))
            return;
        low = fmin(low, v);
        high = fmax(high, v);
    }
    if (now->workers > most) {
        add(t, " (%s to %s each)", units_si(a, sizeof a, nearbyint(low)),
            units_si(b, sizeof b, nearbyint(high)));
        return;
    }
    for (int i = 0; i < now->workers; i++) {
        double v = figure(&before->worker[i], &now->worker[i], seconds);
        add(t, "%s%s", i ? "+" : " (", units_si(a, sizeof a, nearbyint(v)));
    }
    add(t, ")");
}

char *reading_line(const struct reading *before, const struct reading *now, int most, char *buf,
                   size_t size)
{
    double seconds = (double)(now->t_ns - before->t_ns) / 1e9;
    double cpu = cpu_pct(&before->all, &now->all, seconds);
    bool several = now->workers > 1;
    figure_fn work = now->one_way ? mib_per_s : requests_per_s;
    struct text t = {buf, size};
    char rate[32];
    buf[0] = '\0';
    add(&t, "connections %llu", (unsigned long long)now->all.open);
    if (several && !now->one_set)
        split(&t, before, now, open_now, most);
    add(&t, "  %s %s", now->one_way ? "MiB/s" : "requests/s",
        units_si(rate, sizeof rate, work(&before->all, &now->all, seconds)));
    if (several)
        split(&t, before, now, work, most);
    add(&t, "  CPU %.1f %%", isnan(cpu) ? 0 : cpu);
    if (several)
        split(&t, before, now, cpu_pct, most);
    if (now->junk)
        add(&t, "  junk %llu", (unsigned long long)now->junk);
    return buf;
}
