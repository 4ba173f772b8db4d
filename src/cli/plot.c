/* SPDX-License-Identifier: MIT */
/* `iodash plot FILE.csv -o FILE.svg`: a picture of a saved session by gnuplot. Parameters choose
 * among its rows; of the rest the one that most was varied around is drawn, the last of several. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/follow.h"
#include "session/csv.h"
#include "session/plot.h"

struct asked {
    const char *file, *output;
    bool kind_given;
    struct plot_wish wish;
};

/* --- words ------------------------------------------------------------------------------------ */

struct choice {
    const char *option;
    const char *(*word)(int i);
    int usual;
    const char *listed; /* where its words are named */
};

static int unknown(const struct choice *c, const char *text, struct err *e)
{
    char echo[64];
    const char *near = params_nearest(text, c->word);
    return err_set(e, EINVAL, "--%s %s: there is no such %s%s%s%s (%s names them)", c->option,
                   params_echo(text, echo, sizeof echo), c->option, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "", c->listed);
}

static int word_of(const struct choice *c, const char *text, struct err *e)
{
    if (!text)
        return c->usual;
    for (int i = 0; c->word(i); i++)
        if (!strcmp(c->word(i), text))
            return i;
    return unknown(c, text, e);
}

static const char *axes_word(int i)
{
    static const char *const words[] = {"usual", "log", "linear", NULL};
    return words[i];
}

static const char *axis_word(int i)
{
    return i < PARAM_COUNT ? param_table[i].id : NULL;
}

static const struct choice kinds = {"plot", plot_kind_word, PLOT_CURVES, "iodash plot --help"};
static const struct choice figures = {"figure", metrics_word, METRIC_COUNT, "iodash list metrics"};
static const struct choice params = {"axis", axis_word, PARAM_COUNT, "iodash list params"};
static const struct choice scales = {"axes", axes_word, AXES_USUAL, "iodash plot --help"};

static int read_options(const struct args *a, struct asked *out, struct err *e)
{
    const struct options *o = &a->options;
    int kind = word_of(&kinds, o->plot, e);
    int figure = kind < 0 ? kind : word_of(&figures, o->figure, e);
    int axis = figure < 0 ? figure : word_of(&params, o->axis, e);
    int axes = axis < 0 ? axis : word_of(&scales, o->axes, e);
    if (axes < 0)
        return axes;
    out->kind_given = o->plot;
    out->wish.kind = (enum plot_kind)kind;
    out->wish.curves.figure = (enum metric_id)figure;
    out->wish.curves.axis = (enum param_id)axis;
    out->wish.axes = (enum curve_axes)axes;
    if (a->operand_count != 1)
        return err_set(e, EINVAL, "plot: needs the FILE.csv of a saved session");
    if (!o->output)
        return err_set(e, EINVAL, "plot: needs -o FILE.svg or -o FILE.png");
    out->file = a->operand[0];
    out->output = o->output;
    return 0;
}

/* --- which rows ------------------------------------------------------------------------------- */

static bool chosen(const struct row *r, const struct args *a)
{
    for (int i = 0; i < PARAM_COUNT; i++) {
        enum param_id id = (enum param_id)i;
        if (a->given[i] && !params_same(params_get(&r->params, id), params_get(&a->params, id)))
            return false;
    }
    return row_kept(r) > 0;
}

static bool varies(const struct rows *rows, const struct row *r, enum param_id axis)
{
    enum param_id all[PARAM_COUNT];
    int n = curves_axes(rows, r, all, PARAM_COUNT);
    for (int i = 0; i < n; i++)
        if (all[i] == axis)
            return true;
    return axis == PARAM_COUNT && n > 0;
}

static int points(const struct rows *rows, const struct row *r, const struct curves_wish *w)
{
    struct curves c;
    curves_make(rows, r, w, &c);
    int n = c.count;
    curves_free(&c);
    return n;
}

/* The row around which most was varied; NULL: none was chosen. */
static const struct row *pick(const struct rows *rows, const struct args *a,
                              const struct asked *want)
{
    const struct row *best = NULL;
    int most = -1;
    for (const struct row *r = rows->first; r; r = r->next) {
        if (!chosen(r, a))
            continue;
        bool curve = want->wish.kind == PLOT_CURVES &&
                     varies(rows, r, want->wish.curves.axis);
        int n = curve ? points(rows, r, &want->wish.curves) : 0;
        if (n < most)
            continue;
        best = r;
        most = n;
    }
    return best;
}

static int choose(const struct rows *rows, const struct args *a, struct asked *want, struct err *e)
{
    struct plot_wish *w = &want->wish;
    w->row = pick(rows, a, want);
    if (!w->row)
        return err_set(e, ENODATA, "%.200s: nothing is measured in the rows that were asked for",
                       want->file);
    bool curve = varies(rows, w->row, w->curves.axis);
    if (w->kind == PLOT_CURVES && !curve && w->curves.axis != PARAM_COUNT)
        return err_set(e, ENODATA, "--axis %s: it was not varied in these rows",
                       param_table[w->curves.axis].id);
    if (w->kind == PLOT_CURVES && !curve && !want->kind_given)
        w->kind = PLOT_TIME; /* one row has no curve */
    return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static int draw(const struct plot_text *t, const char *output, struct err *e)
{
    int status;
    follow_signals();
    struct plot_job *job = plot_start(t, output, &status, e);
    if (!job)
        return status;
    while (!follow_interrupted() && (status = plot_end(job, false, e)) == 1)
        clock_sleep_until(clock_ns() + 10 * NS_PER_MS);
    if (status != 1)
        return status;
    plot_drop(job);
    return 0;
}

static int plot(const struct args *a, struct asked *want, struct err *e)
{
    struct rows rows = {0};
    struct environment env;
    struct plot_text t;
    char note[200] = "", text[400];
    int status = csv_open(want->file, &rows, &env, note, e);
    if (status >= 0 && *note) {
        snprintf(text, sizeof text, "%.190s: %s", want->file, note);
        cli_fail(0, text);
    }
    if (status >= 0)
        status = choose(&rows, a, want, e);
    if (status >= 0)
        status = plot_make(&rows, &want->wish, &t, e);
    if (status >= 0) {
        status = draw(&t, want->output, e);
        plot_text_free(&t);
    }
    rows_free(&rows);
    return status;
}

int cli_plot(const struct args *a)
{
    struct asked want = {0};
    struct err e = {""};
    int status = read_options(a, &want, &e);
    if (status >= 0)
        status = plot(a, &want, &e);
    if (follow_interrupted())
        return 130;
    if (status < 0)
        return cli_fail(cli_status(status), e.text);
    printf("%s: %s\n", want.output, plot_words[want.wish.kind].text);
    return cli_flush(0);
}
