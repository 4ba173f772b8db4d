/* SPDX-License-Identifier: MIT */
/* A pane shows only what differs between the panes: its model, its main figure and tail, its graph,
 * its memory, the workload's sentence. The lower it is, the fewer of these; the main figure always
 * stays. A server that died says so in the middle, with the key that starts it again, or that it is
 * not ours to start. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "session/say.h"
#include "ui/text.h"
#include "ui/views.h"
#include "ui/yours.h"

/* What fits into a pane of so many inner lines, in the order of drawing. */
struct parts {
    bool title, axis, rss, waits, says;
    int graph;
};

static struct parts parts_of(int lines, bool waits)
{
    struct parts p = {0};
    int left = lines - 1; /* the main figure */
    p.title = left >= 3;
    p.says = left >= 4;
    p.axis = left >= 6;
    p.rss = left >= 7;
    p.waits = waits && left >= 14;
    p.graph = left - p.title - p.says - p.axis - p.rss - p.waits;
    return p;
}

/* --- the newest figures ----------------------------------------------------------------------- */

static double newest(const struct app *a, int pane, enum metric_id m, int before)
{
    const struct pane_now *p = &a->scene->now->panes[pane];
    int i = p->trace_count - 1 - before;
    return i < 0 ? NAN : p->trace[i].v[m];
}

static const struct workload_picture *picture_of(const struct app *a)
{
    return &workload_of(&a->scene->shown.params)->draws;
}

static bool paired_picture(const struct app *a)
{
    return a->figure == METRIC_COUNT && picture_of(a)->series[0];
}

static enum metric_id figure_of(const struct app *a)
{
    if (a->figure != METRIC_COUNT)
        return a->figure;
    return picture_of(a)->series[0] ? a->scene->main : picture_of(a)->graph;
}

/* Samples of a pane that came after the moment that is read off: the cursor counts those of the
 * pane in focus, the others take their sample nearest to it, so that models are read at one
 * moment. */
static int samples_after(const struct app *a, int pane)
{
    const struct pane_now *here = &a->scene->now->panes[a->pane], *p = &a->scene->now->panes[pane];
    int at = here->trace_count - 1 - a->cursor, i = p->trace_count - 1;
    if (!a->frozen || a->cursor == 0 || at < 0)
        return 0;
    double t_s = here->trace_t_s[at];
    while (i > 0 && fabs(p->trace_t_s[i - 1] - t_s) <= fabs(p->trace_t_s[i] - t_s))
        i--;
    return p->trace_count - 1 - i;
}

/* The tail of a request says "p99" of whatever it is counted from. */
static const char *beside_word(const struct app *a)
{
    enum metric_id m = a->scene->beside;
    if (m == METRIC_latency_p99_us || m == METRIC_response_p99_us)
        return "p99";
    return picture_of(a)->beside ? picture_of(a)->beside : metric_table[m].title;
}

static void draw_main(struct app *a, int pane, struct rect r)
{
    const struct scene *s = a->scene;
    const struct scene_pane *p = &s->pane[pane];
    bool ascii = a->canvas->ascii;
    enum metric_id m = s->main;
    double main = p->measured ? p->main : newest(a, pane, m, 0);
    char text[64], side[48], value[32];
    if (isnan(main)) /* of a server whose process is not known no CPU is, but what it serves */
        main = newest(a, pane, m = METRIC_requests_per_s, 0);
    if (isnan(main)) {
        canvas_text(a->canvas, canvas_at(r.x + 1, r.y, r.w - 2), ROLE_DIM, false,
                    words_phase(s, text, sizeof text));
        return;
    }
    if (*metric_table[m].unit == '/') /* its title says it */
        words_cell(m, main, value, sizeof value);
    else
        words_figure(m, main, ascii, value, sizeof value);
    int pad = 7 - canvas_width(value);
    snprintf(text, sizeof text, "%*s%s %s", pad > 0 ? pad : 0, "", value,
             metric_table[m].title);
    int used = 1 + canvas_cut(a->canvas, canvas_at(r.x + 1, r.y, r.w - 2),
                              p->measured ? words_role(pane) : ROLE_DIM, p->measured, text);
    double beside = p->measured ? p->beside : newest(a, pane, s->beside, 0);
    words_figure(s->beside, beside, ascii, value, sizeof value);
    pad = 7 - canvas_width(value); /* the word stands still whatever the figure */
    snprintf(side, sizeof side, "%s %*s%s", beside_word(a), pad > 0 ? pad : 0, "", value);
    int w = canvas_width(side);
    if (used + w + 3 <= r.w)
        canvas_text(a->canvas, canvas_at(r.x + r.w - w - 1, r.y, w), ROLE_TEXT, false, side);
}

/* --- the graph -------------------------------------------------------------------------------- */

/* The same scale for every pane, from twice what is in sight: it changes seldom. */
static struct scale common_scale(const struct app *a, enum metric_id m, int slots)
{
    static double all[LINEUP_MAX * TRACE_POINTS];
    int n = 0, look = slots * 2 > TRACE_POINTS ? TRACE_POINTS : slots * 2;
    for (int p = 0; p < a->scene->pane_count; p++, n += look)
        series_build(a->scene, p, m, look, all + n);
    double least = m == METRIC_server_cpu_pct ? 100 : 0;
    return scale_for(all, n, least, a->log_axis);
}

/* That of a graph in r, with its labels. */
static struct unit graph_unit(const struct app *a, enum metric_id m, int w)
{
    struct scale s = common_scale(a, m, graph_slots(w, a->charset));
    return words_unit(m, &s, a->canvas->ascii);
}

/* A server that is attached to runs on what CPUs it likes. */
static void graph_title(const struct app *a, int pane, struct unit u, char *buf, size_t size)
{
    enum metric_id m = figure_of(a);
    const struct scene *s = a->scene;
    const char *turns = s->pane_count > 1 ? ", in its turns" : "";
    int cpu = s->now->cpus.pinned && !yours_attached(a, pane) ? s->now->cpus.server : -1;
    if (m == METRIC_server_cpu_pct && cpu >= 0)
        snprintf(buf, size, "%% of CPU %d%s", cpu, turns);
    else if (m == METRIC_server_cpu_pct)
        snprintf(buf, size, "%% of one CPU%s", turns);
    else
        snprintf(buf, size, "%s%s%s", metric_table[m].title, *u.word ? ", " : "", u.word);
    if (a->log_axis) {
        size_t n = strlen(buf);
        snprintf(buf + n, size - n, ", log");
    }
}

static void draw_title(struct app *a, int pane, struct rect r)
{
    enum metric_id m = figure_of(a);
    char text[80], right[32];
    double v = newest(a, pane, m, samples_after(a, pane));
    struct unit u = graph_unit(a, m, r.w - 1);
    graph_title(a, pane, u, text, sizeof text);
    words_in(m, u, v, right, sizeof right);
    int w = canvas_width(right);
    canvas_cut(a->canvas, canvas_at(r.x + 1, r.y, r.w - w - 3), ROLE_DIM, false, text);
    if (w < r.w)
        canvas_text(a->canvas, canvas_at(r.x + r.w - w - 1, r.y, w), ROLE_TEXT, true, right);
}

/* Slots between the right edge and the sample that is read off: gaps count too. */
static int cursor_slot(int before, const double *values, int slots)
{
    int i = slots - 1;
    for (; i >= 0; i--)
        if (!isnan(values[i]) && before-- == 0)
            break;
    return slots - 1 - i;
}

static void draw_graph(struct app *a, int pane, struct rect r, bool axis)
{
    enum metric_id m = figure_of(a);
    double values[TRACE_POINTS];
    int slots = graph_slots(r.w, a->charset);
    struct graph g = {.r = r,
                      .values = values,
                      .role = words_role(pane),
                      .charset = a->charset,
                      .time_line = axis,
                      .over = a->scene->file,
                      .cursor = -1};
    slots = slots > TRACE_POINTS ? TRACE_POINTS : slots;
    g.count = slots;
    g.span_s = series_build(a->scene, pane, m, slots, values);
    g.scale = common_scale(a, m, slots);
    g.per = words_unit(m, &g.scale, a->canvas->ascii).per;
    if (a->frozen)
        g.cursor = cursor_slot(samples_after(a, pane), values, slots);
    graph_draw(a->canvas, &g);
}

/* --- a pass: what its watch holds ------------------------------------------------------------- */

static double watch_end(const struct scene *s)
{
    double end = 0;
    for (int p = 0; p < s->pane_count; p++)
        for (int i = 0; i < s->now->watch[p].points; i++)
            end = fmax(end, s->now->watch[p].x[i]);
    return end;
}

/* The same scale for every pane: what the series end at, where that is known, or what they have. */
static struct scale watch_scale(const struct app *a)
{
    const struct scene *s = a->scene;
    enum param_id reaches = picture_of(a)->reaches;
    double high = 0;
    for (int p = 0; p < s->pane_count; p++)
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < s->now->watch[p].points; i++)
                high = fmax(high, s->now->watch[p].series[k][i]);
    double end = reaches ? params_get(&s->shown.params, reaches) : 0;
    if (end >= high && end > 0)
        return (struct scale){0, end, false};
    return scale_for(&high, 1, 1, false);
}

static void draw_pair_title(struct app *a, int pane, struct rect r)
{
    const struct load_watch *w = &a->scene->now->watch[pane];
    const struct workload_picture *p = picture_of(a);
    char left[64], right[64] = "", one[24], two[24] = "";
    bool both = p->series[1];
    snprintf(left, sizeof left, "%s%s%s", p->series[0], both ? ", o " : "",
             both ? p->series[1] : "");
    if (w->points > 0) {
        words_count(w->series[0][w->points - 1], one, sizeof one);
        if (both)
            words_count(w->series[1][w->points - 1], two, sizeof two);
        snprintf(right, sizeof right, "%s%s%s", one, both ? ", " : "", two);
    }
    int used = canvas_width(right);
    canvas_cut(a->canvas, canvas_at(r.x + 1, r.y, r.w - used - 3), ROLE_DIM, false, left);
    canvas_text(a->canvas, canvas_at(r.x + r.w - used - 1, r.y, used), ROLE_TEXT, true, right);
}

static void draw_pair(struct app *a, int pane, struct rect r)
{
    const struct scene *s = a->scene;
    const struct load_watch *w = &s->now->watch[pane];
    double end = watch_end(s);
    struct scale wide = scale_for(&end, 1, 1e-5, false);
    struct graph_pair g = {.r = r,
                           .x = w->x,
                           .a = w->series[0],
                           .b = picture_of(a)->series[1] ? w->series[1] : NULL,
                           .count = w->points,
                           .x_high = end > 0 ? wide.high : 0,
                           .scale = watch_scale(a),
                           .role_a = words_role(pane),
                           .role_b = ROLE_TEXT,
                           .charset = a->charset};
    graph_pair_draw(a->canvas, &g);
}

/* --- memory, the sentence --------------------------------------------------------------------- */

static void draw_rss(struct app *a, int pane, struct rect r)
{
    double values[TRACE_POINTS];
    char text[32], value[24];
    double now = newest(a, pane, METRIC_rss_bytes, 0);
    snprintf(text, sizeof text, "RSS %s", units_bytes(value, sizeof value, now));
    canvas_text(a->canvas, canvas_at(r.x + 1, r.y, r.w - 2), ROLE_TEXT, false, text);
    int w = r.w - 16; /* its newest beneath the graph's */
    w = w > TRACE_POINTS ? TRACE_POINTS : w;
    if (w < 4)
        return;
    series_build(a->scene, pane, METRIC_rss_bytes, w, values);
    spark_draw(a->canvas, (struct rect){r.x + r.w - 1 - w, r.y, w, 1}, words_role(pane), values, w);
}

struct latest {
    const struct app *a;
    int pane;
};

static double latest_figure(const void *ctx, enum metric_id m)
{
    const struct latest *l = ctx;
    return newest(l->a, l->pane, m, 0);
}

static void says_text(const struct app *a, int pane, char *buf, size_t size)
{
    const struct scene_pane *p = &a->scene->pane[pane];
    struct text t = {buf, size, 0};
    char was[32];
    *buf = '\0';
    if (p->measured && !isnan(p->before) && p->before > 0)
        say(&t, "before %s: now %s of it",
            words_figure(a->scene->main, p->before, a->canvas->ascii, was, sizeof was),
            num(p->main / p->before).s);
    else if (p->measured)
        say(&t, "%s", p->says);
    else
        say_sentence(&t, picture_of(a)->says, latest_figure, &(struct latest){a, pane});
}

/* As many of its clauses as there is room for. */
static void draw_waits(struct app *a, int pane, struct rect r)
{
    char text[sizeof a->scene->pane[pane].waits];
    snprintf(text, sizeof text, "%s", a->scene->pane[pane].waits);
    for (char *last; canvas_width(text) > r.w - 2 && (last = strrchr(text, ','));)
        *last = '\0';
    canvas_cut(a->canvas, canvas_at(r.x + 1, r.y, r.w - 2), ROLE_DIM, false, text);
}

/* Of a server that is not ours the sentence is mostly not known: what it waits with stands there
 * instead, unless that has a line of its own. */
static void draw_says(struct app *a, int pane, struct rect r, bool waits)
{
    const struct scene_pane *p = &a->scene->pane[pane];
    char text[220];
    bool bad = p->verdict != VERDICT_NONE && p->verdict != VERDICT_OK && p->reason[0];
    if (bad)
        snprintf(text, sizeof text, "%s: %s", verdict_words[p->verdict], p->reason);
    else
        says_text(a, pane, text, sizeof text);
    if (!*text && !waits)
        draw_waits(a, pane, r);
    canvas_cut(a->canvas, canvas_at(r.x + 1, r.y, r.w - 2), bad ? ROLE_WARN : ROLE_TEXT, false,
               text);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void draw_trouble(struct app *a, int pane, struct rect r)
{
    bool ours = !yours_attached(a, pane), ran = a->scene->pane[pane].verdict != VERDICT_SKIPPED;
    const char *text = a->scene->now->panes[pane].trouble;
    struct canvas *c = a->canvas;
    int lines = text_lines(text, r.w - 2), y = r.y + (r.h - lines - 1) / 2;
    if (y < r.y)
        y = r.y;
    for (int i = 0; *text && y < r.y + r.h - (r.h > 1 ? 1 : 0); i++, y++) {
        const char *next;
        char line[200];
        size_t n = text_break(text, r.w - 2, &next);
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        canvas_text(c, canvas_at(r.x + 1, y, r.w - 2), ROLE_BAD, true, line);
        text = next;
    }
    if (r.h > 1)
        canvas_text(c, canvas_at(r.x + 1, y, r.w - 2), ROLE_TEXT, false,
                    !ours ? "not ours to start; u tries again"
                    : ran ? "u starts it again"
                          : "u tries again, m takes another");
}

static void draw_inside(struct app *a, int pane, struct rect r)
{
    if (a->scene->now->panes[pane].trouble[0]) {
        draw_trouble(a, pane, r);
        return;
    }
    struct parts p = parts_of(r.h, *a->scene->pane[pane].waits);
    int y = r.y;
    draw_main(a, pane, (struct rect){r.x, y++, r.w, 1});
    if (p.title && paired_picture(a))
        draw_pair_title(a, pane, (struct rect){r.x, y++, r.w, 1});
    else if (p.title)
        draw_title(a, pane, (struct rect){r.x, y++, r.w, 1});
    struct rect graph = {r.x, y, r.w - 1, p.graph + (p.axis ? 1 : 0)};
    if (graph.h > 0 && paired_picture(a) && p.axis)
        draw_pair(a, pane, graph);
    else if (graph.h > 0)
        draw_graph(a, pane, graph, p.axis);
    y += graph.h > 0 ? graph.h : 0;
    if (p.rss)
        draw_rss(a, pane, (struct rect){r.x, y++, r.w, 1});
    if (p.waits)
        draw_waits(a, pane, (struct rect){r.x, y++, r.w, 1});
    if (p.says)
        draw_says(a, pane, (struct rect){r.x, y, r.w, 1}, p.waits);
}

static void pane_title(const struct app *a, int pane, char *buf, size_t size)
{
    snprintf(buf, size, "%c %s", 'A' + pane, a->scene->pane[pane].model);
}

enum { BARE_LABEL = 15 };

/* What the graph shows, and its newest figure or, in one line, its ends. */
static void bare_label(struct app *a, int pane, struct rect r)
{
    enum metric_id m = figure_of(a);
    char text[80], value[32], low[24];
    bool ns = !strcmp(metric_table[m].unit, "ns"); /* in ms, as the short head says */
    bool time = ns || !strcmp(metric_table[m].unit, "s");
    int graph_w = a->canvas->w - r.w;
    if (r.h > 1) {
        double now = newest(a, pane, m, samples_after(a, pane));
        struct unit u = graph_unit(a, m, graph_w);
        graph_title(a, pane, u, text, sizeof text);
        canvas_cut(a->canvas, canvas_at(r.x + 1, r.y, r.w - 2), ROLE_DIM, false,
                   time ? text : words_head(m)); /* of a time the axis has another unit */
        words_in(m, u, now, value, sizeof value);
        canvas_text(a->canvas, canvas_at(r.x + 1, r.y + 1, r.w - 2), ROLE_TEXT, false, value);
        return;
    }
    struct scale s = common_scale(a, m, graph_slots(graph_w, a->charset));
    snprintf(text, sizeof text, "%s %s..%s", words_head(m),
             words_count(ns ? s.low / 1e6 : s.low, low, sizeof low),
             ns ? units_exact(value, sizeof value, s.high / 1e6)
                : units_si(value, sizeof value, s.high));
    canvas_cut(a->canvas, canvas_at(r.x + 1, r.y, r.w - 2), ROLE_DIM, false, text);
}

/* Too low for a frame: the title leads the main line, the graph's stands beside it. */
static void draw_bare(struct app *a, int pane, struct rect r)
{
    char title[64];
    bool here = pane == a->pane;
    pane_title(a, pane, title, sizeof title);
    int used = canvas_printf(a->canvas, canvas_at(r.x, r.y, r.w), words_role(pane), true,
                             here ? "▶%s" : " %s", title);
    int left = used + 1 < BARE_LABEL ? BARE_LABEL : used + 1;
    if (a->scene->now->panes[pane].trouble[0]) {
        char text[200];
        snprintf(text, sizeof text, "u: again; %s", a->scene->now->panes[pane].trouble);
        canvas_cut(a->canvas, canvas_at(r.x + left, r.y, r.w - left), ROLE_BAD, true, text);
        return;
    }
    draw_main(a, pane, (struct rect){r.x + left, r.y, r.w - left, 1});
    if (r.h < 2)
        return;
    bare_label(a, pane, (struct rect){r.x, r.y + 1, BARE_LABEL, r.h - 1});
    draw_graph(a, pane, (struct rect){r.x + BARE_LABEL, r.y + 1, r.w - BARE_LABEL, r.h - 1}, false);
}

void pane_draw(struct app *a, int pane, struct rect r)
{
    const struct session_now *n = a->scene->now;
    char title[64], right[32] = "";
    bool here = pane == a->pane;
    if (r.h < 5) {
        draw_bare(a, pane, r);
        return;
    }
    pane_title(a, pane, title, sizeof title);
    bool turn = n->turn_pane == pane && n->load_on && a->scene->pane_count > 1;
    if (turn)
        snprintf(right, sizeof right, "%c's turn ●", 'A' + pane);
    canvas_frame(a->canvas, r, here ? words_role(pane) : ROLE_FRAME, title, right);
    if (here && a->scene->pane_count > 1)
        canvas_put(a->canvas, r.x + 1, r.y, words_role(pane), L'▶');
    draw_inside(a, pane, (struct rect){r.x + 1, r.y + 1, r.w - 2, r.h - 2});
}
