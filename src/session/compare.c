/* SPDX-License-Identifier: MIT */
/* Which rows of saved sessions are the same row: files are opened into sides, and a row is
 * looked for in each session of them. compare_figures.c judges what these rows hold. */
#include "session/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/compare_inner.h"

/* --- opening --------------------------------------------------------------------------------- */

static const struct compare_session *same_session(const struct comparison *c, int side,
                                                  const char *id)
{
    for (int i = 0; *id && i < c->sessions[side]; i++)
        if (strcmp(c->session[side][i].id, id) == 0)
            return &c->session[side][i];
    return NULL;
}

int compare_open(struct comparison *c, int side, const char *name, char note[200], struct err *e)
{
    struct compare_session s = {.name = name};

    note[0] = 0;
    int n = csv_open(name, &s.rows, &s.env, note, e);
    if (n < 0)
        return n;
    csv_session_id(name, s.id, sizeof s.id);
    const struct compare_session *twin = same_session(c, side, s.id);
    if (twin) {
        snprintf(note, 200, "the same session as %.150s: counted once", twin->name);
        rows_free(&s.rows);
        return 0;
    }
    size_t count = (size_t)c->sessions[side] + 1;
    c->session[side] = xrealloc(c->session[side], count, sizeof s);
    c->session[side][c->sessions[side]++] = s;
    return n;
}

void compare_free(struct comparison *c)
{
    for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < c->sessions[side]; i++)
            rows_free(&c->session[side][i].rows);
        free(c->session[side]);
    }
    free(c->row);
    free(c->figure);
    *c = (struct comparison){0};
}

/* --- rows ------------------------------------------------------------------------------------ */

/* What a file does not know (it has no such column) is no difference. */
static bool same_value(double v, double w)
{
    return v == w || isnan(v) || isnan(w);
}

static bool same_row(const struct row *a, int pa, const struct row *b, int pb)
{
    if (a->workload != b->workload || a->path != b->path ||
        strcmp(a->panes[pa].model, b->panes[pb].model) != 0)
        return false;
    for (int i = 0; i < PARAM_COUNT; i++)
        if (pane_honours(&a->panes[pa], (enum param_id)i) &&
            !same_value(params_get(&a->params, (enum param_id)i),
                        params_get(&b->params, (enum param_id)i)))
            return false;
    return true;
}

/* What a session kept as "before" is another machine's, or another setting's. */
static bool is_now(const struct compare_session *s, const struct row *r)
{
    return r->period == s->rows.period;
}

int compare_each(const struct compare_session *s, const struct compare_row *like, compare_fn fn,
                 void *ctx)
{
    int found = 0;

    for (const struct row *r = s->rows.first; r; r = r->next)
        for (int i = 0; i < r->pane_count; i++)
            if (is_now(s, r) && r->panes[i].model[0] && same_row(like->row, like->pane, r, i)) {
                fn(ctx, r, i);
                found++;
            }
    return found;
}

static void add_row(struct comparison *c, const struct row *r, int pane)
{
    for (int i = 0; i < c->rows; i++)
        if (same_row(c->row[i].row, c->row[i].pane, r, pane))
            return;
    c->row = xrealloc(c->row, (size_t)c->rows + 1, sizeof *c->row);
    c->row[c->rows++] = (struct compare_row){.row = r, .pane = pane};
}

/* Models stand side by side as they did; sweeps ascend. */
static int by_params(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;

    if (x->row->workload != y->row->workload)
        return x->row->workload < y->row->workload ? -1 : 1;
    for (int i = 0; i < PARAM_COUNT; i++) {
        double v = params_get(&x->row->params, (enum param_id)i);
        double w = params_get(&y->row->params, (enum param_id)i);

        if (!same_value(v, w))
            return v < w ? -1 : 1;
    }
    return x->pane != y->pane ? x->pane - y->pane
                              : strcmp(x->row->panes[x->pane].model, y->row->panes[y->pane].model);
}

struct tally {
    int count[VERDICT_COUNT], all;
};

static void count_verdict(void *ctx, const struct row *r, int pane)
{
    struct tally *t = ctx;

    t->count[r->panes[pane].verdict]++;
    t->all++;
}

static void say_verdicts(const struct tally *t, char *buf, size_t size)
{
    size_t n = 0;

    buf[0] = 0;
    for (int v = 0; v < VERDICT_COUNT && n < size; v++) {
        const char *word = v ? verdict_words[v] : "no verdict";
        if (t->count[v] == t->all && t->all)
            n += (size_t)snprintf(buf + n, size - n, "%s", word);
        else if (t->count[v])
            n += (size_t)snprintf(buf + n, size - n, "%s%s in %d of %d", n ? ", " : "", word,
                                  t->count[v], t->all);
    }
}

static void find_rows(struct comparison *c)
{
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < c->sessions[side]; i++)
            for (const struct row *r = c->session[side][i].rows.first; r; r = r->next)
                for (int p = 0; p < r->pane_count; p++)
                    if (is_now(&c->session[side][i], r) && r->panes[p].model[0])
                        add_row(c, r, p);
    if (c->rows)
        qsort(c->row, (size_t)c->rows, sizeof *c->row, by_params);
}

static int broken(const struct tally *t)
{
    return t->count[VERDICT_DIED] + t->count[VERDICT_ERRORS];
}

/* Three sessions a side are enough to say that what ends in each of B and in none of A is B's. */
static void find_verdicts(struct comparison *c, struct compare_row *r)
{
    struct tally t[SIDES] = {{{0}, 0}};
    bool enough = c->known;

    for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < c->sessions[side]; i++)
            r->sessions[side] += compare_each(&c->session[side][i], r, count_verdict, &t[side]) > 0;
        say_verdicts(&t[side], r->verdicts[side], sizeof r->verdicts[side]);
        enough &= r->sessions[side] >= COMPARE_LEAST;
    }
    r->worse = enough && broken(&t[SIDE_A]) == 0 && broken(&t[SIDE_B]) == t[SIDE_B].all;
}

void compare_make(struct comparison *c)
{
    c->known = c->sessions[SIDE_A] >= COMPARE_LEAST && c->sessions[SIDE_B] >= COMPARE_LEAST;
    find_rows(c);
    for (int i = 0; i < c->rows; i++)
        find_verdicts(c, &c->row[i]);
    compare_judge(c);
}

int compare_common(const struct comparison *c)
{
    int n = 0;

    for (int i = 0; i < c->rows; i++)
        n += c->row[i].sessions[SIDE_A] && c->row[i].sessions[SIDE_B];
    return n;
}

int compare_count(const struct comparison *c, enum outcome o)
{
    int n = 0;

    for (int i = 0; i < c->figures; i++)
        n += c->figure[i].outcome == o;
    for (int i = 0; i < c->rows && o == OUTCOME_DEARER; i++)
        n += c->row[i].worse;
    return n;
}
