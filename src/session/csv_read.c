/* SPDX-License-Identifier: MIT */
/* A saved session back into rows, by header name, so files of older and newer builds open too:
 * what has no column is not measured, and a line that this build cannot read (a workload it does
 * not know) is left out and said. A row is made by its first line; a parameter whose cell is
 * empty there (a policy that its model does not honour) is taken from another pane's line. */
#include "session/csv.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "session/csv_cells.h"

enum {
    COL_time, COL_elapsed_s, COL_interval_s, COL_session, COL_row, COL_pane, COL_model, COL_index,
    COL_kept, COL_verdict, COL_reason, COL_period, COL_claim, COL_path, COL_workers_split, COL_COUNT
};
static const char *const col_words[COL_COUNT] = {
    "time",  "elapsed_s", "interval_s", "session", "row",    "pane",
    "model", "index",     "kept",       "verdict", "reason", "period",
    "claim", "path",      "workers_split",
};

enum {
#define X(id, help) ENV_##id,
    ENVIRONMENT(X)
#undef X
    ENV_COUNT
};

enum {
#define X(id, help) SEEN_##id,
    FINGERPRINT_WORDS(X) FINGERPRINT_COUNTS(X)
#undef X
    SEEN_COUNT
};

struct seen { /* a row of the file, and what it is in ours */
    char session[64];
    int number;
    struct row *row;
};

/* Most lines of a pane differ in time and figures alone: what else stands in them is read once. */
struct head {
    char text[4096];
    size_t n;
    struct row *row; /* NULL: such a line could not be read */
};

struct reading {
    const char *name;
    struct rows *rows;
    struct environment *env;
    int col[COL_COUNT], param[PARAM_COUNT], metric[METRIC_COUNT], env_col[ENV_COUNT],
        price_col[PRICE_COUNT], print_col[SEEN_COUNT]; /* -1: none */
    int columns;
    bool ends_in_figure; /* so a cut last cell would be a wrong figure */
    void *seen; /* tree of struct seen */
    int head_col[COL_COUNT + PARAM_COUNT + SEEN_COUNT], heads;
    struct head head[LINEUP_MAX];
    int samples;
    long left_out;
    char why[160]; /* of the first line left out */
    bool cut, nul, env_read;
};

/* --- the header ------------------------------------------------------------------------------ */

/* NAME-tables.csv was made for other programs; beside it stands what is meant. */
static int no_tables(const char *name, struct err *e)
{
    static const char end[] = "-tables.csv";
    size_t n = strlen(name), tail = sizeof end - 1;

    if (n > tail && strcmp(name + n - tail, end) == 0)
        return err_set(e, EBADMSG, "%s holds tables; the session is %.*s.csv", name,
                       (int)(n - tail), name);
    return err_set(e, EBADMSG, "%s holds tables; open the file with the samples", name);
}

static int must_have(const struct reading *r, const struct cells *c, struct err *e)
{
    static const int needed[] = {COL_row, COL_pane, COL_model, COL_index};

    if (cells_find(c, "taken") >= 0 && r->col[COL_index] < 0)
        return no_tables(r->name, e);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (r->col[needed[i]] < 0)
            return err_set(e, EBADMSG, "%s is no saved session: it has no column '%s'", r->name,
                           col_words[needed[i]]);
    if (r->param[PARAM_workload] < 0)
        return err_set(e, EBADMSG, "%s is no saved session: it has no column 'workload'", r->name);
    return 0;
}

static void add_heads(struct reading *r, const int *columns, int n)
{
    for (int i = 0; i < n; i++)
        if (columns[i] >= 0)
            r->head_col[r->heads++] = columns[i];
}

static void find_heads(struct reading *r)
{
    static const int of_row[] = {COL_session, COL_row,    COL_pane,  COL_model,
                                 COL_verdict, COL_reason, COL_claim, COL_path,
                                 COL_workers_split};

    for (size_t i = 0; i < sizeof of_row / sizeof *of_row; i++)
        add_heads(r, &r->col[of_row[i]], 1);
    add_heads(r, r->param, PARAM_COUNT);
    add_heads(r, r->print_col, SEEN_COUNT);
}

static int read_header(struct reading *r, const struct cells *c, struct err *e)
{
    const char *last = cells_text(c, c->count - 1);

    for (int i = 0; i < COL_COUNT; i++)
        r->col[i] = cells_find(c, col_words[i]);
    for (int i = 0; i < PARAM_COUNT; i++)
        r->param[i] = cells_find(c, param_table[i].id);
    for (int i = 0; i < METRIC_COUNT; i++)
        r->metric[i] = cells_find(c, metric_table[i].id);
#define X(id, help) r->env_col[ENV_##id] = cells_find(c, "env_" #id);
    ENVIRONMENT(X)
#undef X
    for (int i = 0; i < PRICE_COUNT; i++)
        r->price_col[i] = cells_find(c, price_columns[i]);
#define X(id, help) r->print_col[SEEN_##id] = cells_find(c, "seen_" #id);
    FINGERPRINT_WORDS(X)
    FINGERPRINT_COUNTS(X)
#undef X
    find_heads(r);
    r->columns = c->count;
    r->ends_in_figure = strncmp(last, "env_", 4) != 0 && strncmp(last, "price_", 6) != 0 &&
                        strcmp(last, "path") != 0 && strcmp(last, "reason") != 0 &&
                        strcmp(last, "claim") != 0 && strcmp(last, "period") != 0;
    return must_have(r, c, e);
}

/* --- a line ---------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, const struct cells *c, int column)
{
    cells_unguard(cells_text(c, column), to, size);
}

/* The parameters of a line, unset where the cell is empty. Returns 0, or -1 with e. */
static int read_params(const struct reading *r, const struct cells *c, struct params *p,
                       struct err *e)
{
    char text[128];

    for (int i = 0; i < PARAM_COUNT; i++) {
        double *to = params_at(p, i);

        *to = PARAM_UNSET;
        cells_decimal(c, r->param[i], text, sizeof text);
        bool none = !text[0] || strcasecmp(text, "nan") == 0 || strcasecmp(text, "inf") == 0;
        if (!none && params_parse(i, text, to, e) < 0)
            return -1;
        if (none && i == PARAM_size && r->param[i] >= 0)
            *to = 0; /* the server decided */
    }
    if (!isnan(p->workload))
        return 0;
    err_set(e, EINVAL, "no workload");
    return -1;
}

static int by_name(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;

    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : strcmp(x->session, y->session);
}

static struct row *find_row(const struct reading *r, const char *session, int number)
{
    struct seen key = {.number = number};

    snprintf(key.session, sizeof key.session, "%s", session);
    struct seen *const *found = tfind(&key, &r->seen, by_name);
    return found ? (*found)->row : NULL;
}

static struct row *add_row(struct reading *r, const char *session, int number,
                           const struct params *p)
{
    struct row *row = rows_add(r->rows, p, 0);
    struct seen *new = xcalloc(1, sizeof *new);

    row->number = number;
    row->state = ROW_DONE;
    new->number = number;
    new->row = row;
    snprintf(new->session, sizeof new->session, "%s", session);
    if (!tsearch(new, &r->seen, by_name))
        die("out of memory for a row");
    return row;
}

static void fill_params(struct row *row, const struct params *p)
{
    for (int i = 0; i < PARAM_COUNT; i++)
        if (isnan(params_get(&row->params, i)))
            *params_at(&row->params, i) = params_get(p, i);
}

/* A word of a later build stays readable: nothing ranks under it. */
static void read_verdict(const struct reading *r, const struct cells *c, struct pane *p)
{
    const char *word = cells_text(c, r->col[COL_verdict]);
    char reason[sizeof p->reason];

    copy(reason, sizeof reason, c, r->col[COL_reason]);
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (strcmp(word, verdict_words[i]) == 0) {
            p->verdict = (enum verdict)i;
            memcpy(p->reason, reason, sizeof reason);
            return;
        }
    p->verdict = VERDICT_NONE;
    snprintf(p->reason, sizeof p->reason, "%.40s: %.110s", word, reason);
}

static void read_path(const struct reading *r, const struct cells *c, struct row *row)
{
    const char *word = cells_text(c, r->col[COL_path]);

    for (int i = 0; row_paths[i]; i++)
        if (strcmp(word, row_paths[i]) == 0)
            row->path = row_paths[i];
}

static int read_count(const struct cells *c, int column)
{
    double v = cells_number(c, column);

    return v >= 0 && v <= 1e9 ? (int)v : -1;
}

/* Taken when it has anything to say. */
static void read_print(const struct reading *r, const struct cells *c, struct fingerprint *out)
{
    fingerprint_none(out, "");
    out->taken = false;
#define X(id, help)                                                                                \
    copy(out->id, sizeof out->id, c, r->print_col[SEEN_##id]);                                     \
    out->taken |= *out->id != 0;
    FINGERPRINT_WORDS(X)
#undef X
#define X(id, help)                                                                                \
    out->id = read_count(c, r->print_col[SEEN_##id]);                                              \
    out->taken |= out->id >= 0;
    FINGERPRINT_COUNTS(X)
#undef X
}

static void read_pane(const struct reading *r, const struct cells *c, struct pane *p)
{
    copy(p->model, sizeof p->model, c, r->col[COL_model]);
    int at = io_model_find(p->model);
    p->io = at >= 0 ? io_model_table[at] : NULL;
    read_verdict(r, c, p);
    copy(p->workers, sizeof p->workers, c, r->col[COL_workers_split]);
    read_print(r, c, &p->print);
}

static enum kept read_kept(const struct reading *r, const struct cells *c)
{
    const char *word = cells_text(c, r->col[COL_kept]);

    for (int i = 0; i <= KEPT_EXTRA; i++)
        if (strcmp(word, kept_words[i]) == 0)
            return (enum kept)i;
    return r->col[COL_kept] < 0 ? KEPT_YES : KEPT_BROKEN; /* an unknown reason not to count it */
}

static void read_sample(struct reading *r, const struct cells *c, struct pane *p, int index)
{
    struct sample *s = pane_add(p);

    s->index = index;
    s->kept = read_kept(r, c);
    copy(s->time, sizeof s->time, c, r->col[COL_time]);
    s->elapsed_s = cells_number(c, r->col[COL_elapsed_s]);
    s->interval_s = cells_number(c, r->col[COL_interval_s]);
    for (int i = 0; i < METRIC_COUNT; i++)
        s->values.v[i] = cells_number(c, r->metric[i]);
    r->samples++;
}

static void read_env(struct reading *r, const struct cells *c)
{
    r->env_read = true;
#define X(id, help) copy(r->env->id, sizeof r->env->id, c, r->env_col[ENV_##id]);
    ENVIRONMENT(X)
#undef X
    for (int i = 0; i < PRICE_COUNT; i++)
        r->env->prices.ns[i] = cells_number(c, r->price_col[i]);
}

static void leave_out(struct reading *r, const struct cells *c, const char *why)
{
    if (r->left_out++ == 0)
        snprintf(r->why, sizeof r->why, "line %ld: %.130s", c->line, why);
}

/* A whole number from 1 to most, or 0. */
static int whole(double v, double most)
{
    return v >= 1 && v <= most && v == floor(v) ? (int)v : 0;
}

static int pane_of(const char *text)
{
    return text[0] >= 'A' && text[0] < 'A' + LINEUP_MAX && !text[1] ? text[0] - 'A' : -1;
}

/* Is all but figures and times as in the pane's line before? Keeps it for the next one. */
static bool same_head(const struct reading *r, const struct cells *c, struct head *h)
{
    char text[sizeof h->text];
    size_t n = 0;

    for (int i = 0; i < r->heads; i++) {
        const char *cell = cells_text(c, r->head_col[i]);
        size_t size = strlen(cell) + 1;
        if (n + size > sizeof text) {
            h->n = 0; /* as no line's */
            return false;
        }
        memcpy(text + n, cell, size);
        n += size;
    }
    if (h->row && n == h->n && memcmp(text, h->text, n) == 0)
        return true;
    memcpy(h->text, text, n);
    h->n = n;
    h->row = NULL;
    return false;
}

static struct row *row_of(struct reading *r, const struct cells *c, int number,
                          const struct params *p)
{
    char session[sizeof((struct seen *)0)->session];

    copy(session, sizeof session, c, r->col[COL_session]);
    struct row *row = find_row(r, session, number);
    if (row)
        return row;
    row = add_row(r, session, number, p);
    read_path(r, c, row);
    copy(row->claim, sizeof row->claim, c, r->col[COL_claim]);
    row->period = whole(cells_number(c, r->col[COL_period]), 1e6);
    row->period -= row->period > 0; /* a file without them has one */
    if (row->period > r->rows->period)
        r->rows->period = row->period;
    return row;
}

/* The row and pane of a line; NULL, and said, when it is none. */
static struct row *read_head(struct reading *r, const struct cells *c, int pane)
{
    int number = whole(cells_number(c, r->col[COL_row]), 1e9);
    struct params p;
    struct err e;

    if (number == 0 || pane < 0) {
        leave_out(r, c, number ? "pane is none of A to D" : "row is no number");
        return NULL;
    }
    if (read_params(r, c, &p, &e) < 0) {
        leave_out(r, c, e.text);
        return NULL;
    }
    struct row *row = row_of(r, c, number, &p);
    fill_params(row, &p);
    row->pane_count = pane >= row->pane_count ? pane + 1 : row->pane_count;
    read_pane(r, c, &row->panes[pane]);
    return row;
}

static int read_line(struct reading *r, const struct cells *c)
{
    int pane = pane_of(cells_text(c, r->col[COL_pane]));
    struct head *h = pane >= 0 ? &r->head[pane] : NULL;
    struct row *row = h && same_head(r, c, h) ? h->row : read_head(r, c, pane);

    if (!row)
        return 0;
    h->row = row;
    int index = whole(cells_number(c, r->col[COL_index]), 1e9);
    if (index > 0) /* none: a pane that has no sample */
        read_sample(r, c, &row->panes[pane], index);
    if (r->env && !r->env_read)
        read_env(r, c);
    return 0;
}

static int on_line(void *ctx, const struct cells *c, struct err *e)
{
    struct reading *r = ctx;

    r->nul |= c->nul;
    if (r->columns == 0)
        return read_header(r, c, e);
    if (c->unended && (c->count < r->columns || r->ends_in_figure)) {
        r->cut = true;
        return 0;
    }
    return read_line(r, c);
}

/* --- the whole ------------------------------------------------------------------------------- */

static void finish(struct rows *rows)
{
    for (struct row *row = rows->first; row; row = row->next) {
        workload_resolve(&row->params);
        for (int i = 0; i < row->pane_count; i++)
            pane_sort(&row->panes[i]);
    }
}

static void say(const struct reading *r, char *note, size_t size)
{
    int n = 0;

    note[0] = 0;
    if (r->cut)
        n = snprintf(note, size, "the last line is cut and was left out");
    if (r->nul && n < (int)size)
        n += snprintf(note + n, size - (size_t)n, "%sNUL bytes were replaced", n ? "; " : "");
    if (r->left_out && n < (int)size)
        snprintf(note + n, size - (size_t)n, "%s%ld line%s left out (%s)", n ? "; " : "",
                 r->left_out, r->left_out == 1 ? "" : "s", r->why);
}

int csv_open(const char *name, struct rows *rows, struct environment *env, char note[200],
             struct err *e)
{
    struct reading r = {.name = name, .rows = rows, .env = env};
    int status = cells_read(name, on_line, &r, e);

    if (status == 0 && r.columns == 0)
        status = err_set(e, EBADMSG, "%s is empty", name);
    if (status == 0 && r.samples == 0 && r.left_out > 0)
        status = err_set(e, EBADMSG, "%s: nothing in it can be read (%s)", name, r.why);
    tdestroy(r.seen, free);
    if (status < 0) {
        rows_free(rows);
        return status;
    }
    finish(rows);
    say(&r, note, 200);
    return r.samples;
}
