/* SPDX-License-Identifier: MIT */
/* Which rows stand together, in which order, under which title; table_columns.c says what of
 * them. A parameter that differs becomes a column, one that does not a word of the title, so a
 * table of a sweep and one of a single row are made alike. */
#include "session/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/slopes.h"
#include "session/table_columns.h"

/* --- rows ------------------------------------------------------------------------------------ */

static void take_rows(const struct rows *rows, const struct row *like, struct table *t)
{
    t->row = xcalloc((size_t)rows->count + 1, sizeof *t->row);
    for (const struct row *r = rows->first; r; r = r->next)
        if (row_in_table(r, like))
            t->row[t->rows++].row = r;
}

/* How many different values a parameter has in these rows. */
static int different(const struct table *t, int id)
{
    int count = 0;

    for (int i = 0; i < t->rows; i++) {
        double v = params_get(&t->row[i].row->params, id);
        int k = 0;

        while (k < i && !params_same(params_get(&t->row[k].row->params, id), v))
            k++;
        count += k == i;
    }
    return count;
}

/* The parameters that differ, most values first; connections when none does. */
static int find_varying(const struct table *t, int *ids)
{
    int many[TABLE_VARYING] = {0}, n = 0;

    for (int id = 0; id < PARAM_COUNT; id++) {
        int values = different(t, id), at = n;

        if (values < 2)
            continue;
        while (at > 0 && many[at - 1] < values)
            at--;
        if (at == TABLE_VARYING)
            continue;
        n = n < TABLE_VARYING ? n + 1 : n;
        for (int k = n - 1; k > at; k--) {
            many[k] = many[k - 1];
            ids[k] = ids[k - 1];
        }
        many[at] = values;
        ids[at] = id;
    }
    if (n == 0)
        ids[n++] = PARAM_connections;
    return n;
}

struct order {
    const int *ids;
    int count;
};

static int by_params(const void *a, const void *b, void *ctx)
{
    const struct row *x = ((const struct table_row *)a)->row;
    const struct row *y = ((const struct table_row *)b)->row;
    const struct order *o = ctx;

    for (int i = 0; i < o->count; i++) {
        double v = params_get(&x->params, o->ids[i]), w = params_get(&y->params, o->ids[i]);

        if (!params_same(v, w))
            return isnan(v) || v < w ? -1 : 1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

/* --- all ------------------------------------------------------------------------------------- */

static void entitle(char *title, size_t size, const char *text)
{
    size_t n = strlen(title);

    snprintf(title + n, size - n, "%s%s", n ? " · " : "", text);
}

static bool varies(const struct making *m, int id)
{
    for (int i = 0; i < m->varying; i++)
        if (m->spec[i].id == id)
            return true;
    return false;
}

static void say_rule(struct making *m)
{
    const struct params *p = &m->like->params;
    bool repeat = m->like->workload->repeat;
    double n = repeat ? p->repeats : p->samples;
    char text[80], v[32];

    if (m->like->workload->next_step)
        snprintf(text, sizeof text, "steps of %s", params_show(PARAM_step_length, p->step_length, v,
                                                               sizeof v));
    else if (!repeat && p->duration > 0)
        snprintf(text, sizeof text, "%.6g s", p->duration);
    else if (p->trim > 0 && n > 2 * p->trim)
        snprintf(text, sizeof text, "%.0f %s, drop %.0f+%.0f, mean of %.0f", n,
                 repeat ? "repeats" : "samples", p->trim, p->trim, n - 2 * p->trim);
    else
        snprintf(text, sizeof text, "%.0f %s%s", n, repeat ? "repeat" : "sample",
                 n == 1 ? "" : "s");
    entitle(m->t->title, sizeof m->t->title, text);
}

static void say_title(struct making *m)
{
    const struct params *p = &m->like->params;
    char *title = m->t->title, text[80], v[32];
    size_t size = sizeof m->t->title;

    if (m->like->claim[0]) {
        snprintf(text, sizeof text, "claim %s", m->like->claim);
        entitle(title, size, text);
    }
    entitle(title, size, m->like->workload->label);
    if (!varies(m, PARAM_size) && p->size > 0 && workload_matters(m->like->workload, PARAM_size))
        entitle(title, size, params_show(PARAM_size, p->size, v, sizeof v));
    if (p->idle > 0 && !varies(m, PARAM_idle)) {
        snprintf(text, sizeof text, "%s idle", params_show(PARAM_idle, p->idle, v, sizeof v));
        entitle(title, size, text);
    }
    if (!varies(m, PARAM_rate) && workload_yields(m->like->workload, METRIC_requests_per_s)) {
        snprintf(text, sizeof text, "%s asked", params_show(PARAM_rate, p->rate, v, sizeof v));
        entitle(title, size, isfinite(p->rate) ? text : "closed loop");
    }
    say_rule(m);
    entitle(title, size, m->like->path);
}

/* What an idle connection costs each model, where the rows differ in these. */
static void say_foot(struct making *m)
{
    struct text t = {m->t->foot, sizeof m->t->foot, 0};
    struct slopes s;

    for (int i = 0; varies(m, PARAM_idle) && i < m->like->pane_count; i++) {
        if (!slopes_of(m->rows, m->like, i, &s))
            continue;
        say(&t, "%s", t.used ? "; " : "an idle connection costs ");
        slopes_say(&t, m->like->panes[i].model, &s);
    }
}

/* Columns of the terminal: everything written here is one column a character. */
static int width_of(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

/* A heading wider than its columns together widens the last of them. */
static void fit_groups(struct table *t)
{
    for (int i = 0, to; i < t->columns; i = to) {
        int w = t->column[i].width;

        const char *head = t->column[i].head[0];
        for (to = i + 1; to < t->columns && !strcmp(t->column[to].head[0], head); to++)
            w += 2 + t->column[to].width;
        int more = width_of(head) - w;
        t->column[to - 1].width += more > 0 ? more : 0;
    }
}

static void fill(struct making *m)
{
    struct table *t = m->t;

    for (int k = 0; k < t->columns; k++) {
        struct table_column *c = &t->column[k];

        c->width = width_of(c->head[1]);
        for (int i = 0; i < t->rows; i++) {
            char *cell = t->row[i].cell[k];
            m->spec[k].write(&m->spec[k], t->row[i].row, cell);
            c->width = width_of(cell) > c->width ? width_of(cell) : c->width;
        }
    }
    fit_groups(t);
}

int table_rows(const struct rows *rows, const struct row *like, struct table *out,
               int varying[TABLE_VARYING])
{
    memset(out, 0, sizeof *out);
    take_rows(rows, like, out);
    int n = find_varying(out, varying);
    qsort_r(out->row, (size_t)out->rows, sizeof *out->row, by_params,
            &(struct order){varying, n});
    return n;
}

void table_make(const struct rows *rows, const struct row *like, struct table *out)
{
    struct making m = {.rows = rows, .like = like, .t = out};
    int varying[TABLE_VARYING], n = table_rows(rows, like, out, varying);

    table_add_columns(&m, varying, n);
    say_title(&m);
    say_foot(&m);
    fill(&m);
}

void table_free(struct table *t)
{
    free(t->row);
    t->row = NULL;
    t->rows = 0;
}
