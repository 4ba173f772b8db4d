/* SPDX-License-Identifier: MIT */
/* One file a workload, read when first asked for and kept: a few dozen figures. A name of the file
 * that is a model of ours stands beside that one only; a name that is none (`epoll`) beside all its
 * variants (`epoll-lt`, `epoll-et`), because the documents do not say which they used; that of a
 * server that is not ours beside its recipe (`target:NAME`, `target:NAME-...`). */
#include "session/published.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assets.h"
#include "servers/io_models.h"
#include "servers/targets.h"
#include "session/csv_cells.h"
#include "session/plan.h"

#define TABLES_MOST 16
#define VERDICTS_MOST 4

struct figure {
    char model[32];
    struct params asked; /* what the file says of the set-up; unset where it says nothing */
    struct values values;
    char verdict[24], reason[160];
};

struct published {
    int count;
    struct figure *figures;
    char label[64], machine[160];
    enum metric_id metric; /* the first of its columns */
    int bad[VERDICTS_MOST], bad_count; /* figures with the first of each verdict that is not ok */
};

/* Frozen once read. */
static struct published tables[TABLES_MOST];

struct reading {
    struct published *to;
    int model, label, machine, verdict, reason, param[PARAM_COUNT], metric[METRIC_COUNT];
    bool header;
};

static void read_header(struct reading *r, const struct cells *c)
{
    r->header = true;
    r->model = cells_find(c, "model");
    for (int i = 0; i < PARAM_COUNT; i++)
        r->param[i] = cells_find(c, param_table[i].id);
    r->label = cells_find(c, "label");
    r->machine = cells_find(c, "machine");
    r->verdict = cells_find(c, "verdict");
    r->reason = cells_find(c, "reason");
    for (int i = 0; i < METRIC_COUNT; i++)
        r->metric[i] = cells_find(c, metric_table[i].id);
    for (int i = c->count - 1; i >= 0; i--) {
        int m = metrics_find(cells_text(c, i));
        if (m >= 0)
            r->to->metric = (enum metric_id)m;
    }
}

static void note_verdict(struct published *p, int at)
{
    const char *verdict = p->figures[at].verdict;

    if (!verdict[0] || !strcmp(verdict, "ok") || p->bad_count == VERDICTS_MOST)
        return;
    for (int i = 0; i < p->bad_count; i++)
        if (!strcmp(p->figures[p->bad[i]].verdict, verdict))
            return;
    p->bad[p->bad_count++] = at;
}

static int on_line(void *ctx, const struct cells *c, struct err *e)
{
    struct reading *r = ctx;
    struct published *p = r->to;

    if (!r->header) {
        read_header(r, c);
        return 0;
    }
    p->figures = xrealloc(p->figures, (size_t)p->count + 1, sizeof *p->figures);
    struct figure *f = &p->figures[p->count];
    cells_unguard(cells_text(c, r->model), f->model, sizeof f->model);
    cells_unguard(cells_text(c, r->verdict), f->verdict, sizeof f->verdict);
    cells_unguard(cells_text(c, r->reason), f->reason, sizeof f->reason);
    for (int i = 0; i < PARAM_COUNT; i++)
        if (r->param[i] < 0 ||
            params_parse(i, cells_text(c, r->param[i]), params_at(&f->asked, i), e) < 0)
            *params_at(&f->asked, i) = PARAM_UNSET;
    for (int i = 0; i < METRIC_COUNT; i++)
        f->values.v[i] = cells_number(c, r->metric[i]);
    if (p->count == 0) {
        cells_unguard(cells_text(c, r->label), p->label, sizeof p->label);
        cells_unguard(cells_text(c, r->machine), p->machine, sizeof p->machine);
    }
    note_verdict(p, p->count);
    p->count++;
    return 0;
}

static void read_tables(void)
{
    char path[PATH_MAX + 64];
    struct err e;

    for (int i = 0; i < workload_count && i < TABLES_MOST; i++) {
        struct reading r = {.to = &tables[i]};

        tables[i].metric = METRIC_COUNT;
        snprintf(path, sizeof path, "%s/published/%.40s.csv", assets_folder(),
                 workload_table[i].id);
        cells_read(path, on_line, &r, &e); /* most workloads have none */
    }
}

/* NULL for a workload without figures. */
static const struct published *find(const struct workload *w)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ptrdiff_t i = w ? w - workload_table : -1;

    pthread_once(&once, read_tables);
    return i >= 0 && i < TABLES_MOST && tables[i].count > 0 ? &tables[i] : NULL;
}

static bool same_model(const char *published, const char *ours)
{
    size_t n = strlen(published), prefix = strlen(TARGETS_RECIPE);

    if (!strncmp(ours, TARGETS_RECIPE, prefix))
        ours += prefix;
    if (io_model_find(published) >= 0)
        return strcmp(published, ours) == 0;
    return strncmp(published, ours, n) == 0 && (ours[n] == 0 || ours[n] == '-');
}

/* What changes the work. Where a document is silent on it the workload's own set-up is meant. */
static const enum param_id work[] = {PARAM_idle, PARAM_rate, PARAM_size, PARAM_requests,
                                     PARAM_keepalive, PARAM_client_work, PARAM_workers};

static bool same_asked(const struct params *published, const struct params *ours)
{
    struct params usual;

    for (int i = 0; i < PARAM_COUNT; i++) {
        double v = params_get(published, i);
        if (!isnan(v) && v != params_get(ours, i))
            return false;
    }
    params_init(&usual);
    usual.workload = ours->workload;
    workload_resolve(&usual);
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        if (isnan(params_get(published, work[i])) &&
            workload_matters(workload_of(ours), work[i]) &&
            !params_same(params_get(ours, work[i]), params_get(&usual, work[i])))
            return false;
    return true;
}

static bool fits(const struct figure *f, const struct params *asked, const char *model,
                 enum metric_id m)
{
    return !isnan(f->values.v[m]) && same_model(f->model, model) && same_asked(&f->asked, asked);
}

/* The first that stands for it; NULL. */
static const struct figure *figure_of(const struct params *asked, const char *model,
                                      enum metric_id m)
{
    const struct published *p = find(workload_of(asked));

    for (int i = 0; p && m < METRIC_COUNT && i < p->count; i++)
        if (fits(&p->figures[i], asked, model, m))
            return &p->figures[i];
    return NULL;
}

double published_value(const struct params *asked, const char *model, enum metric_id m)
{
    const struct published *p = find(workload_of(asked));

    double sum = 0;
    int n = 0;

    for (int i = 0; p && m < METRIC_COUNT && i < p->count; i++) {
        const struct figure *f = &p->figures[i];
        if (!fits(f, asked, model, m))
            continue;
        sum += f->values.v[m];
        n++;
    }
    return n ? sum / n : METRIC_NONE;
}

double published_ratio(const struct params *asked, const char *a, const char *b, enum metric_id m)
{
    const struct figure *x = figure_of(asked, a, m), *y = figure_of(asked, b, m);
    double below = published_value(asked, b, m);

    if (!x || !y || !strcmp(x->model, y->model) || !(below > 0))
        return METRIC_NONE;
    return published_value(asked, a, m) / below;
}

enum metric_id published_metric(const struct workload *w)
{
    const struct published *p = find(w);

    return p ? p->metric : METRIC_COUNT;
}

const char *published_label(const struct workload *w)
{
    const struct published *p = find(w);

    return p ? p->label : "";
}

const char *published_machine(const struct workload *w)
{
    const struct published *p = find(w);

    return p ? p->machine : "";
}

const char *published_verdict(const struct workload *w, int i, const char **model,
                              const char **reason)
{
    const struct published *p = find(w);
    const struct figure *f = p && i < p->bad_count ? &p->figures[p->bad[i]] : NULL;

    *model = f ? f->model : "";
    for (int k = 0; f && k < p->count; k++)
        if (!strcmp(p->figures[k].verdict, f->verdict) && strcmp(p->figures[k].model, f->model))
            *model = "";
    *reason = f ? f->reason : "";
    return f ? f->verdict : p && i == 0 ? "ok" : "";
}
