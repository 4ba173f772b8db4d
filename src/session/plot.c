/* SPDX-License-Identifier: MIT */
/* What gnuplot draws, as data in blocks (gnuplot calls them indexes) and the words of the picture.
 * The first line of a block is the name of its line. The scripts in assets/plots/ say what block is
 * drawn how; they know no model and no metric. */
#include "session/plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "session/curves_say.h"

const struct plot_word plot_words[PLOT_KINDS] = {
    {"curves", "a figure over what was varied, with intervals and where the lines meet"},
    {"time", "a figure of each sample over time, warm-up included"},
    {"latency", "how long requests took: the percentiles that are measured"},
};

const char *plot_kind_word(int i)
{
    return i < PLOT_KINDS ? plot_words[i].id : NULL;
}

struct making {
    FILE *data, *head;
    const struct rows *rows;
    const struct plot_wish *w;
};

/* --- texts that end nothing ------------------------------------------------------------------- */

/* Between quotes of one kind; what could end them or begin something is replaced. */
static void put_text(FILE *f, const char *text, char quote)
{
    fputc(quote, f);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == (unsigned char)quote)
            fputs(quote == '\'' ? "''" : "'", f); /* doubled it stands for itself */
        else
            fputc(*at < 0x20 || *at == 0x7f || *at == '`' || *at == '\\' ? ' ' : *at, f);
    }
    fputc(quote, f);
}

static void head_text(const struct making *m, const char *name, const char *text)
{
    fprintf(m->head, "%s = ", name);
    put_text(m->head, text, '\'');
    fputc('\n', m->head);
}

static void head_number(const struct making *m, const char *name, int v)
{
    fprintf(m->head, "%s = %d\n", name, v);
}

static void put_number(FILE *f, double v)
{
    char text[40];
    if (isfinite(v))
        fprintf(f, " %s", units_exact(text, sizeof text, v));
    else
        fputs(" NaN", f);
}

static void begin_block(const struct making *m, const char *name)
{
    fputs("x ", m->data);
    put_text(m->data, name, '"');
    fputs(" low high\n", m->data);
}

static void end_block(const struct making *m)
{
    fputs("\n\n", m->data);
}

static void put_point(const struct making *m, double x, const struct summary *s, double scale)
{
    put_number(m->data, x);
    put_number(m->data, s->mean * scale);
    put_number(m->data, s->low * scale);
    put_number(m->data, s->high * scale);
    fputc('\n', m->data);
}

/* --- curves ----------------------------------------------------------------------------------- */

/* A number for what is none on this axis: a gap away from those that are. */
static double number_of(const struct curves *c, bool log_x, double x)
{
    double low = INFINITY, high = 0;
    if (isfinite(x) && (x > 0 || !log_x))
        return x;
    for (; c; c = c->with)
        for (int i = 0; i < c->count; i++) {
            double v = c->at[i].x;
            if (isinf(v) || (log_x && v <= 0))
                continue;
            low = fmin(low, v);
            high = fmax(high, v);
        }
    if (!(high > 0)) /* there is no number at all */
        return 1;
    if (log_x)
        return isinf(x) ? high * fmax(1.5, pow(high / low, 0.12))
                        : low / fmax(1.5, pow(high / low, 0.12));
    return high + fmax(high - low, high) * 0.12;
}

/* Labels at the values that were measured, as many as have room. */
static void put_tics(const struct making *m, const struct curves *on, bool log_x)
{
    const struct curves *c = on->with && on->with->count > on->count ? on->with : on;
    double last = -1;
    fputs("set xtics (", m->head);
    for (int i = 0; i < c->count; i++) {
        double place = curves_place(on, log_x, c->at[i].x);
        if (last >= 0 && place - last < 0.055)
            continue;
        fputs(last < 0 ? "" : ", ", m->head);
        put_text(m->head, curves_tick(c->axis, c->at[i].x).s, '\'');
        put_number(m->head, number_of(on, log_x, c->at[i].x));
        last = place;
    }
    fputs(")\n", m->head);
}

static void put_lines(const struct making *m, const struct curves *c, const struct curves *on,
                      bool log_x)
{
    for (int k = 0; k < c->lines; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", curves_line_name(c, k).s, c == on ? "" : ", before");
        begin_block(m, name);
        for (int i = 0; i < c->count; i++)
            put_point(m, number_of(on, log_x, c->at[i].x), &c->at[i].line[k].s, 1);
        end_block(m);
    }
}

static void put_meetings(const struct making *m, const struct curves *c, struct curve_logs logs)
{
    struct meeting meet[8];
    char text[400] = "";
    struct text t = {text, sizeof text, 0};
    int n = curves_meet(c, logs, meet, 8), crossed = 0;
    begin_block(m, "they meet");
    for (int i = 0; i < n; i++) {
        if (meet[i].kind != MEETS_CROSS || isnan(meet[i].x))
            continue;
        put_point(m, meet[i].x, &(struct summary){.mean = meet[i].y, .low = NAN, .high = NAN}, 1);
        crossed++;
    }
    if (!crossed) /* a block is there all the same */
        put_point(m, NAN, &(struct summary){.mean = NAN, .low = NAN, .high = NAN}, 1);
    end_block(m);
    curves_say_meet(c, meet, n, &t);
    head_text(m, "note_text", text);
}

static double highest(const struct curves *c)
{
    double high = 0;
    for (; c; c = c->with)
        for (int i = 0; i < c->count; i++)
            for (int k = 0; k < c->lines; k++)
                high = fmax(high, c->at[i].line[k].s.mean);
    return high;
}

static void put_words(const struct making *m, const char *title, const char *about, int lines)
{
    head_text(m, "title_text", title);
    head_text(m, "about_text", about);
    head_number(m, "lines", lines);
}

static void put_curves(const struct making *m, const struct curves *c, const struct curves *before)
{
    struct curve_logs logs = curves_logs(c, m->w->axes);
    char title[160], about[240] = "";
    struct text t = {about, sizeof about, 0};
    snprintf(title, sizeof title, "%s over %s", metric_table[c->figure].title,
             curves_axis_word(c->axis).s);
    curves_say_common(c, &t);
    say(&t, "; bars: 95 %% interval of the mean");
    put_words(m, title, about, c->lines);
    head_number(m, "befores", before ? before->lines : 0);
    head_text(m, "x_text", curves_axis_word(c->axis).s);
    head_text(m, "y_text", curves_figure_word(c->figure).s);
    head_number(m, "log_x", logs.x);
    head_number(m, "log_y", logs.y);
    head_number(m, "thousands", highest(c) >= 10000);
    put_lines(m, c, c, logs.x);
    if (before)
        put_lines(m, before, c, logs.x);
    put_meetings(m, c, logs);
    put_tics(m, c, logs.x);
}

static int make_curves(const struct making *m, struct err *e)
{
    struct curves now, before;
    int status = 0;
    bool was = curves_pair(m->rows, m->w->row, &m->w->curves, &now, &before);
    if (now.axis == PARAM_COUNT)
        status = err_set(e, ENODATA, "no curve: nothing was varied among the rows of %s",
                         now.workload->id);
    else if (!(highest(&now) > 0))
        status = err_set(e, ENODATA, "no curve: %s is not measured in these rows",
                         metric_table[now.figure].id);
    else
        put_curves(m, &now, was ? &before : NULL);
    curves_free(&now);
    curves_free(&before);
    return status;
}

/* --- time ------------------------------------------------------------------------------------- */

static enum metric_id figure_of(const struct plot_wish *w)
{
    return w->curves.figure == METRIC_COUNT ? row_main(w->row) : w->curves.figure;
}

static bool counts(const struct sample *s)
{
    return s->kept == KEPT_YES || s->kept == KEPT_EXTRA;
}

/* A blank line between rows ends the line there. Returns how many were measured. */
static int put_samples(const struct making *m, int pane, bool kept, const char *name)
{
    enum metric_id figure = figure_of(m->w);
    int n = 0;
    begin_block(m, name);
    for (const struct row *r = m->rows->first; r; r = r->next) {
        if (!row_in_table(r, m->w->row))
            continue;
        for (int i = 0; i < r->panes[pane].count; i++) {
            const struct sample *s = pane_at(&r->panes[pane], i);
            double v = s->values.v[figure];
            if (counts(s) != kept || isnan(v))
                continue;
            put_point(m, s->elapsed_s, &(struct summary){.mean = v, .low = NAN, .high = NAN}, 1);
            n++;
        }
        fputc('\n', m->data);
    }
    end_block(m);
    return n;
}

/* Where each row begins, and what is other in it. */
static void put_beginnings(const struct making *m)
{
    enum param_id axis;
    int axes = curves_axes(m->rows, m->w->row, &axis, 1);
    fputs("x \"row\"\n", m->data);
    for (const struct row *r = m->rows->first; r; r = r->next) {
        double begin = INFINITY;
        char text[32] = "";
        for (int i = 0; row_in_table(r, m->w->row) && i < r->pane_count; i++) {
            const struct sample *s = pane_at(&r->panes[i], 0);
            begin = s ? fmin(begin, s->elapsed_s) : begin;
        }
        if (isinf(begin))
            continue;
        if (axes)
            params_show(axis, params_get(&r->params, axis), text, sizeof text);
        put_number(m->data, begin);
        fputc(' ', m->data);
        put_text(m->data, text, '"');
        fputc('\n', m->data);
    }
    end_block(m);
}

static int make_time(const struct making *m, struct err *e)
{
    const struct row *r = m->w->row;
    enum metric_id figure = figure_of(m->w);
    struct curves c;
    char title[160], about[240] = "";
    struct text t = {about, sizeof about, 0};
    int measured = 0;
    curves_make(m->rows, r, &m->w->curves, &c);
    snprintf(title, sizeof title, "%s, sample by sample", metric_table[figure].title);
    curves_say_common(&c, &t);
    say(&t, "; small dots: not kept (warm-up)");
    put_words(m, title, about, c.lines);
    for (int kept = 1; kept >= 0; kept--)
        for (int k = 0; k < c.lines; k++)
            measured += put_samples(m, k, kept, curves_line_name(&c, k).s);
    put_beginnings(m);
    curves_free(&c);
    head_text(m, "y_text", curves_figure_word(figure).s);
    head_number(m, "log_y", m->w->axes == AXES_LOG);
    return measured ? 0 : err_set(e, ENODATA, "%s is not measured in any sample of these rows",
                                  metric_table[figure].id);
}

/* --- latency ---------------------------------------------------------------------------------- */

struct percentile {
    double place; /* nines: 1 is 90 %, 2 is 99 %; the slowest has a place of its own */
    enum metric_id response, latency;
};

static const struct percentile percentiles[] = {
    {0.30103, METRIC_response_p50_us, METRIC_latency_p50_us},
    {1, METRIC_response_p90_us, METRIC_latency_p90_us},
    {2, METRIC_response_p99_us, METRIC_latency_p99_us},
    {3, METRIC_response_p999_us, METRIC_latency_p999_us},
    {3.7, METRIC_response_max_us, METRIC_latency_max_us},
};
enum { PERCENTILES = sizeof percentiles / sizeof *percentiles };

static int make_latency(const struct making *m, struct err *e)
{
    const struct row *r = m->w->row;
    bool paced = row_p99(r) == METRIC_response_p99_us;
    struct curves c;
    char title[160], about[300] = "";
    struct text t = {about, sizeof about, 0};
    double any = 0;
    curves_make(m->rows, r, &(struct curves_wish){PARAM_COUNT, METRIC_COUNT, 0, false}, &c);
    c.axis = PARAM_COUNT; /* one row: all its parameters are said */
    curves_say_common(&c, &t);
    snprintf(title, sizeof title, "time of a request, %s",
             paced ? "from when it was due" : "from its send (closed loop)");
    put_words(m, title, about, c.lines);
    head_text(m, "note_text",
              "mean of the samples, bars: its 95 % interval; nothing is known between the points");
    for (int k = 0; k < c.lines; k++) {
        begin_block(m, curves_line_name(&c, k).s);
        for (int i = 0; i < PERCENTILES; i++) {
            enum metric_id id = paced ? percentiles[i].response : percentiles[i].latency;
            struct summary s = row_summary(r, k, id);
            put_point(m, percentiles[i].place, &s, 1e-6);
            any = fmax(any, s.mean);
        }
        end_block(m);
    }
    curves_free(&c);
    return any > 0 ? 0 : err_set(e, ENODATA, "no latency is measured in row %d (%s)", r->number,
                                 r->workload->id);
}

/* --- all of them ------------------------------------------------------------------------------ */

int plot_make(const struct rows *rows, const struct plot_wish *w, struct plot_text *out,
              struct err *e)
{
    static int (*const make[])(const struct making *, struct err *) = {
        [PLOT_CURVES] = make_curves,
        [PLOT_TIME] = make_time,
        [PLOT_LATENCY] = make_latency,
    };
    size_t size[2];
    *out = (struct plot_text){.kind = w->kind};
    struct making m = {open_memstream(&out->data, &size[0]), open_memstream(&out->head, &size[1]),
                       rows, w};
    if (!m.data || !m.head)
        die("out of memory for a picture");
    int status = make[w->kind](&m, e);
    if (fclose(m.data) != 0 || fclose(m.head) != 0)
        die("out of memory for a picture");
    if (status < 0)
        plot_text_free(out);
    return status;
}

void plot_text_free(struct plot_text *t)
{
    free(t->data);
    free(t->head);
    *t = (struct plot_text){0};
}
