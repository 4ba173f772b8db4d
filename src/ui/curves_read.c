/* SPDX-License-Identifier: MIT */
/* What stands in words above and below the curves: which line is which, and the figures at the
 * cursor. Items flow over as many lines as the longest point needs, so that nothing moves while the
 * cursor does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/curves_say.h"
#include "ui/chart.h"
#include "ui/text.h"
#include "ui/views.h"

/* --- text that flows -------------------------------------------------------------------------- */

struct flow { /* items one behind the other, each whole on a line */
    struct canvas *c; /* NULL: only counts lines */
    int x, y, w, most; /* first line; columns; lines there are */
    int indent, line, used; /* of further lines; where it has come to */
    struct unit unit;
};

static void flow_break(struct flow *f)
{
    f->line++;
    f->used = f->indent;
}

static void flow_item(struct flow *f, enum role role, bool bold, const char *text)
{
    int w = canvas_width(text);
    if (f->used > f->indent && f->used + w > f->w)
        flow_break(f);
    if (f->c && f->line < f->most)
        canvas_cut(f->c, canvas_at(f->x + f->used, f->y + f->line, f->w - f->used), role, bold,
                   text);
    f->used += w + 3;
}

static void legend_item(struct flow *f, int kind, bool before, const char *name)
{
    char text[80], glyph[8];
    text_utf8(chart_glyph(kind, before), glyph);
    snprintf(text, sizeof text, "%s %s", glyph, name);
    flow_item(f, words_role(kind), !before, text);
}

void curves_legend(struct app *a, int y, const struct meeting *m, int meetings)
{
    const struct scene_curves *s = &a->scene->curves;
    struct flow f = {.c = a->canvas, .x = 1, .y = y, .w = a->canvas->w - 2, .most = 1};
    bool crossed = false;
    for (int k = 0; k < s->now.lines; k++)
        legend_item(&f, k, false, curves_line_name(&s->now, k).s);
    for (int k = 0; s->has_before && k < s->before.lines; k++) {
        bool other = strcmp(s->before.model[k], s->now.model[k]) != 0;
        char name[48];
        snprintf(name, sizeof name, "before%s%s", other ? ": " : "",
                 other ? s->before.model[k] : "");
        legend_item(&f, k, true, name);
    }
    for (int i = 0; i < meetings; i++)
        crossed |= m[i].kind == MEETS_CROSS;
    if (crossed)
        flow_item(&f, ROLE_FOCUS, false, "× they meet");
}

/* "38.5 (37.9 .. 39.2)" */
static void value_text(const struct curves *c, struct unit u, const struct summary *s, char *buf,
                       size_t size)
{
    char mean[24], low[24], high[24];
    words_in(c->figure, u, s->mean, mean, sizeof mean);
    if (!isfinite(s->low) || !isfinite(s->high))
        snprintf(buf, size, "%s", mean);
    else
        snprintf(buf, size, "%s (%s .. %s)", mean, words_in(c->figure, u, s->low, low, sizeof low),
                 words_in(c->figure, u, s->high, high, sizeof high));
}

static void flow_value(struct flow *f, const struct curves *c, int i, int line)
{
    const struct curve_point *p = &c->at[i].line[line];
    bool bad = p->verdict != VERDICT_NONE && p->verdict != VERDICT_OK;
    char text[160], value[100], glyph[8];
    text_utf8(chart_glyph(line, false), glyph);
    if (isnan(p->s.mean))
        snprintf(value, sizeof value, "not measured");
    else
        value_text(c, f->unit, &p->s, value, sizeof value);
    snprintf(text, sizeof text, "%s %c %s%s%s", glyph, 'A' + line, value, bad ? ", " : "",
             bad ? verdict_words[p->verdict] : "");
    flow_item(f, words_role(line), true, text);
}

static void ratio_text(const struct curves *c, int i, char *buf, size_t size)
{
    const struct curve_at *at = &c->at[i];
    char pair[8];
    snprintf(pair, sizeof pair, "A/%c", 'A' + c->against);
    if (!isfinite(at->ratio.ratio))
        snprintf(buf, size, "%s -", pair);
    else if (at->withheld)
        snprintf(buf, size, "%s withheld", pair);
    else if (!isfinite(at->ratio.low) || !isfinite(at->ratio.high))
        snprintf(buf, size, "%s %s", pair, num(at->ratio.ratio).s);
    else
        snprintf(buf, size, "%s %s (%s .. %s)", pair, num(at->ratio.ratio).s, num(at->ratio.low).s,
                 num(at->ratio.high).s);
}

static int find_before(const struct scene_curves *s, double x)
{
    for (int i = 0; s->has_before && i < s->before.count; i++)
        if (s->before.at[i].x == x)
            return i;
    return -1;
}

static bool may_compare(const struct curve_point *p)
{
    return p->verdict == VERDICT_NONE || p->ranks;
}

/* Figures of another time hold what the machine did meanwhile, too; the ratio of two models holds
 * less of it. */
static void flow_before(struct flow *f, const struct scene_curves *s, int i, int was)
{
    const struct curves *b = &s->before;
    char text[96], value[24];
    for (int k = 0; k < b->lines && k < s->now.lines; k++) {
        const struct curve_point *then = &b->at[was].line[k], *now = &s->now.at[i].line[k];
        bool bad = then->verdict != VERDICT_NONE && then->verdict != VERDICT_OK;
        if (isnan(then->s.mean))
            continue;
        words_in(b->figure, f->unit, then->s.mean, value, sizeof value);
        struct text t = {text, sizeof text, 0};
        say(&t, "%c %s%s%s", 'a' + k, value, bad ? ", " : "",
            bad ? verdict_words[then->verdict] : "");
        if (then->s.mean > 0 && !isnan(now->s.mean) && may_compare(then) && may_compare(now))
            say(&t, ", now %s of it", num(now->s.mean / then->s.mean).s);
        flow_item(f, words_role(k), false, text);
    }
    if (b->against > 0 && !isnan(b->at[was].ratio.ratio)) {
        snprintf(text, sizeof text, "A/%c %s", 'A' + b->against,
                 b->at[was].withheld ? "withheld" : num(b->at[was].ratio.ratio).s);
        flow_item(f, ROLE_TEXT, false, text);
    }
}

static void flow_at(struct flow *f, const struct scene_curves *s, int i)
{
    const struct curves *c = &s->now;
    char text[120], at[24];
    if (c->axis == PARAM_COUNT)
        snprintf(text, sizeof text, "measured:");
    else
        snprintf(text, sizeof text, "at %s:", params_show(c->axis, c->at[i].x, at, sizeof at));
    flow_item(f, ROLE_TITLE, true, text);
    for (int k = 0; k < c->lines; k++)
        flow_value(f, c, i, k);
    if (c->against > 0) {
        ratio_text(c, i, text, sizeof text);
        flow_item(f, ROLE_TEXT, true, text);
    }
    int was = find_before(s, c->at[i].x);
    if (!s->has_before)
        return;
    flow_break(f);
    f->used = 0;
    flow_item(f, ROLE_TITLE, false, was < 0 ? "before: nothing here" : "before:");
    if (was >= 0)
        flow_before(f, s, i, was);
}

/* On a low screen the plot keeps its lines. */
int curves_read_lines(const struct app *a)
{
    const struct scene_curves *s = &a->scene->curves;
    struct unit unit = curves_unit(a);
    int most = 1;
    for (int i = 0; i < s->now.count; i++) {
        struct flow f = {.w = a->canvas->w - 2, .indent = 4, .unit = unit};
        flow_at(&f, s, i);
        most = f.line + 1 > most ? f.line + 1 : most;
    }
    int room = a->canvas->h < 20 ? 3 : a->canvas->h < 30 ? 5 : 8;
    return most < room ? most : room;
}

void curves_read_draw(struct app *a, struct rect r)
{
    struct flow f = {.c = a->canvas, .x = r.x, .y = r.y, .w = r.w, .most = r.h, .indent = 4};
    f.unit = curves_unit(a);
    int at = curves_cursor(a);
    if (at >= 0)
        flow_at(&f, &a->scene->curves, at);
}
