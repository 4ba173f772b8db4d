/* SPDX-License-Identifier: MIT */
/* The bill of one request: the lines of session/bill.h for pane A and the one beside it, as bars
 * too, then the figures that say how the servers waited, what both have in common, and what
 * loopback does to it. From the top down while there is room; the explanation of a line takes
 * the place of all that stands below the bill. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "session/say.h"
#include "ui/text.h"
#include "ui/actions.h"
#include "ui/views.h"

enum { LABEL = 15, CALLS = 7, WIDE = 30, MOST = 48, EXPLAINED = 7 };

/* --- the bill --------------------------------------------------------------------------------- */

struct columns { /* of one of the two halves */
    int x, w;
    bool price;
};

static struct columns half(const struct canvas *c, int i)
{
    int w = (c->w - LABEL - 2) / 2;
    if (w > MOST)
        w = MOST;
    return (struct columns){LABEL + 2 + i * w, w, w >= WIDE};
}

static const char *amount(double v, char *buf, size_t size)
{
    if (isnan(v))
        return "-";
    double much = fabs(v);
    if (v != 0 && much < 0.0005)
        return units_number(buf, size, v);
    return units_fixed(buf, size, v, v != 0 && much < 0.095 ? 3 : much < 9.995 ? 2 : 1);
}

static void draw_side(struct canvas *c, int y, const struct columns *k, const struct bill_line *l,
                      bool bold)
{
    char text[24];
    bool none = l->calls == 0;
    if (!isnan(l->calls))
        canvas_right(c, canvas_at(k->x, y, CALLS), ROLE_TEXT, bold,
                     none ? "0" : amount(l->calls, text, sizeof text));
    if (k->price)
        canvas_text(c, canvas_at(k->x + CALLS + 2, y, k->w - CALLS - 9), ROLE_DIM, false, l->price);
    canvas_right(c, canvas_at(k->x + k->w - 8, y, 7), ROLE_TEXT, bold,
                 none ? "-" : amount(l->us, text, sizeof text));
}

static void draw_heads(struct canvas *c, const struct scene_why *w, int y)
{
    for (int i = 0; i < w->count; i++) {
        struct columns k = half(c, i);
        canvas_printf(c, canvas_at(k.x + 1, y, k.w - 1), words_role(w->pane[i]), true, "%c %s",
                      'A' + w->pane[i], w->model[i]);
        canvas_right(c, canvas_at(k.x, y + 1, CALLS), ROLE_DIM, false, "calls");
        if (k.price)
            canvas_text(c, canvas_at(k.x + CALLS + 1, y + 1, k.w - CALLS - 8), ROLE_DIM, false,
                        "× price, µs");
        canvas_right(c, canvas_at(k.x + k.w - 8, y + 1, 7), ROLE_DIM, false, "= µs");
    }
}

static bool billed(const struct scene_why *w)
{
    bool any = false;
    for (int i = 0; i < w->count; i++)
        any |= !isnan(w->bill[i].line[BILL_MEASURED].us);
    return any;
}

/* Connections that nothing is asked of have no request that could be billed. */
static int draw_no_bill(struct canvas *c, const struct scene_why *w, int y)
{
    char text[200];
    snprintf(text, sizeof text,
             "There is no bill: in %s %s. What was measured:", w->workload->label,
             workload_yields(w->workload, METRIC_cpu_us_per_request)
                 ? "the CPU time of a request could not be measured"
                 : "no request is asked that could be billed");
    return y + chrome_text(c, (struct rect){2, y, c->w - 4, 3}, ROLE_TEXT, false, text);
}

static int bill_lines(const struct scene_why *w)
{
    int lines = 0;
    for (int n = 0; n < BILL_ITEMS; n++)
        lines += scene_why_shows(w, n);
    return lines;
}

/* All lines, or the one in focus where the others would leave its explanation no room. Returns the
 * first line below it. */
static int draw_bill(struct app *a, const struct scene_why *w, int y, bool one)
{
    struct canvas *c = a->canvas;
    draw_heads(c, w, y);
    y += 2;
    for (int n = 0; n < BILL_ITEMS; n++) {
        if (one ? n != a->why_line : !scene_why_shows(w, n))
            continue;
        bool here = n == a->why_line, sum = n == BILL_MEASURED;
        mouse_hot(a, (struct rect){0, y, c->w, 1}, act_why_focus, n);
        canvas_put(c, 0, y, ROLE_FOCUS, here ? L'▶' : L' ');
        canvas_text(c, canvas_at(2, y, LABEL), here ? ROLE_FOCUS : ROLE_TEXT, here || sum,
                    bill_words[n].label);
        for (int i = 0; i < w->count; i++) {
            struct columns k = half(c, i);
            draw_side(c, y, &k, &w->bill[i].line[n], sum);
        }
        y++;
    }
    return y;
}

/* --- bars ------------------------------------------------------------------------------------- */

static double us_of(const struct bill *b, int from, int to)
{
    double sum = 0;
    for (int i = from; i <= to; i++)
        sum += b->line[i].us > 0 ? b->line[i].us : 0;
    return sum;
}

/* A bar is as long as what was measured, also where a price is missing. */
static double whole_of(const struct bill *b)
{
    return fmax(us_of(b, 0, BILL_REST), b->line[BILL_MEASURED].us);
}

static const struct {
    int from, to; /* lines of the bill */
    wchar_t glyph, plain;
    const char *name;
} parts[] = {
    {BILL_WAIT, BILL_SLEEP, L'█', '#', "wait, sleep"},
    {BILL_READ, BILL_CONTROL, L'▒', '+', "calls"},
    {BILL_ACCEPT, BILL_REST, L'░', '.', "rest"},
};
enum { PARTS = sizeof parts / sizeof *parts };

static void draw_bar(struct canvas *c, const struct scene_why *w, int i, int y, double scale)
{
    double sum = 0, all = whole_of(&w->bill[i]);
    int x = 5;
    char text[24];
    canvas_printf(c, canvas_at(2, y, 2), words_role(w->pane[i]), true, "%c", 'A' + w->pane[i]);
    for (int p = 0; p < PARTS; p++) {
        sum = p == PARTS - 1 ? all : sum + us_of(&w->bill[i], parts[p].from, parts[p].to);
        int end = 5 + (int)lround(sum * scale);
        canvas_fill(c, (struct rect){x, y, end - x, 1}, words_role(w->pane[i]),
                    c->ascii ? parts[p].plain : parts[p].glyph);
        x = end;
    }
    canvas_text(c, canvas_at(x + 1, y, 8), ROLE_TEXT, false, amount(all, text, sizeof text));
}

/* What the glyphs stand for, beside the bar that leaves room for it. */
static void draw_legend(struct canvas *c, int x, int y)
{
    x = x > c->w - 33 ? x : c->w - 33;
    for (int p = 0; p < PARTS; p++) {
        canvas_put(c, x, y, ROLE_DIM, c->ascii ? parts[p].plain : parts[p].glyph);
        x += 2 + canvas_text(c, canvas_at(x + 2, y, 12), ROLE_DIM, false, parts[p].name) + 2;
    }
}

static int draw_bars(struct canvas *c, const struct scene_why *w, int y)
{
    double most = 0;
    bool said = false;
    for (int i = 0; i < w->count; i++)
        most = fmax(most, whole_of(&w->bill[i]));
    if (!(most > 0))
        return y;
    for (int i = w->count - 1; i >= 0; i--) {
        double scale = (c->w - 16) / most;
        int end = 5 + (int)lround(whole_of(&w->bill[i]) * scale);
        draw_bar(c, w, i, y + i, scale);
        if (!said && end + 8 < c->w - 33)
            draw_legend(c, end + 8, y + i);
        said |= end + 8 < c->w - 33;
    }
    return y + w->count;
}

/* --- figures ---------------------------------------------------------------------------------- */

static void draw_fact(struct canvas *c, const struct scene_why *w, int f, struct strip to)
{
    enum metric_id m = why_facts[f].metric;
    const char *name = why_facts[f].name;
    int each = (to.w - 19) / 2 < 11 ? (to.w - 19) / 2 : 11;
    canvas_cut(c, canvas_at(to.x, to.y, 18), ROLE_DIM, false, *name ? name : metric_table[m].title);
    for (int i = 0; i < w->count; i++) {
        char text[24];
        double v = w->fact[f][i];
        bool span = !strcmp(metric_table[m].unit, "s") && v > 0;
        if (span)
            units_span(text, sizeof text, v);
        else if (strchr(metric_table[m].title, '/')) /* its title says it */
            words_cell(m, v, text, sizeof text);
        else
            words_figure(m, v, c->ascii, text, sizeof text);
        canvas_right(c, canvas_at(to.x + 19 + i * each, to.y, each - 1), ROLE_TEXT, false, text);
    }
}

static bool measured(const struct scene_why *w, int f)
{
    bool any = false;
    for (int i = 0; i < w->count; i++)
        any |= !isnan(w->fact[f][i]);
    return any;
}

/* Those that are measured, two beside each other where there is room; at most so many lines. */
static int draw_facts(struct canvas *c, const struct scene_why *w, int y, int lines)
{
    int beside = c->w < 76 ? 1 : 2, width = c->w / beside < 48 ? c->w / beside : 48, n = 0;
    for (int f = 0; f < WHY_FACTS && n < lines * beside; f++) {
        if (!measured(w, f))
            continue;
        draw_fact(c, w, f, canvas_at(2 + n % beside * width, y + n / beside, width - 2));
        n++;
    }
    return y + (n + beside - 1) / beside;
}

/* --- words ------------------------------------------------------------------------------------ */

struct notes { /* the lines that are left for them */
    struct canvas *c;
    int y, end;
};

static void note(struct notes *n, enum role role, const char *head, const char *text)
{
    if (!*text || n->y >= n->end)
        return;
    int x = 2 + canvas_text(n->c, canvas_at(2, n->y, n->c->w - 3), ROLE_TITLE, false, head) + 1;
    struct rect room = {x, n->y, n->c->w - x - 1, n->end - n->y};
    n->y += chrome_text(n->c, room, role, false, text);
}

static int text_room(const struct canvas *c, const char *text)
{
    return *text ? text_lines(text, c->w - 14) : 0;
}

static void draw_notes(struct canvas *c, const struct scene_why *w, int y, int end)
{
    int rest = text_room(c, w->same.differs) + text_room(c, w->same.waits) +
               text_room(c, w->workers);
    int room = end - y - rest > 1 ? end - rest : end;
    struct notes n = {c, y, room - 1 > y ? room - 1 : room};
    note(&n, ROLE_DIM, w->count > 1 ? "Same:" : "Set:", w->same.same);
    n.end = end;
    note(&n, ROLE_DIM, "Waits:", w->same.waits);
    note(&n, ROLE_TEXT, "Workers:", w->workers);
    note(&n, ROLE_WARN, "Differs:", w->same.differs);
    note(&n, ROLE_DIM, "Loopback:", "write holds the client's receive path; no network.  e: more");
}

/* The line in focus: its arithmetic, what it holds, and what loopback does to it. */
static void draw_explained(struct app *a, const struct scene_why *w, int y, int end)
{
    const struct bill_word *word = &bill_words[a->why_line];
    struct canvas *c = a->canvas;
    for (int i = 0; i < w->count && y < end; i++) {
        const struct bill_line *l = &w->bill[i].line[a->why_line];
        char n[24], us[24], text[200];
        double pct = 100 * l->us / w->bill[i].line[BILL_MEASURED].us;
        snprintf(text, sizeof text, "%c %s: ", 'A' + w->pane[i], w->model[i]);
        struct text t = {text, sizeof text, strlen(text)};
        if (*l->price)
            say(&t, "%s × (%s) = ", amount(l->calls, n, sizeof n), l->price);
        if (isnan(l->us) && l->calls != 0)
            say(&t, "not measured");
        else
            say(&t, "%s µs a request", l->calls == 0 ? "0" : amount(l->us, us, sizeof us));
        if (!isnan(pct))
            say(&t, ", %.0f %% of all", pct);
        canvas_cut(c, canvas_at(2, y++, c->w - 3), words_role(w->pane[i]), true, text);
    }
    struct notes n = {c, y, end};
    note(&n, ROLE_TEXT, word->label, word->text);
    note(&n, ROLE_DIM, "Loopback:", loopback_points[word->point].text);
}

static void draw_title(struct app *a, const struct scene_why *w)
{
    struct canvas *c = a->canvas;
    char text[200], v[48];
    struct text t = {text, sizeof text, 0};
    static const enum param_id asked[] = {PARAM_connections, PARAM_idle, PARAM_rate, PARAM_size};
    say(&t, "%s", w->workload->label);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (workload_matters(w->workload, asked[i]) &&
            (asked[i] != PARAM_idle || w->params.idle > 0))
            say(&t, " · %s", words_param(asked[i], params_get(&w->params, asked[i]), v, sizeof v));
    if (w->priced)
        say(&t, " · a bare call: %s µs", num(w->call_us).s);
    else
        say(&t, " · prices were not measured");
    if (w->workload->repeat && w->rounds > 1)
        say(&t, " · means of %d passes", w->rounds);
    canvas_cut(c, canvas_at(1, 1, c->w - 2), ROLE_TITLE, true,
               c->w < 80 ? "The bill of one request: calls × price, µs of server CPU"
                         : "The bill of one request: calls × price on this machine, µs of server "
                           "CPU");
    canvas_cut(c, canvas_at(1, 2, c->w - 2), ROLE_DIM, false, text);
}

/* Bars, figures and notes, below the bill. */
static void draw_below(struct canvas *c, const struct scene_why *w, int y, int end)
{
    int gap = c->h > 24;
    int notes = (*w->same.differs ? 3 : 2) + text_room(c, w->same.waits) +
                text_room(c, w->workers);
    y = end - y >= 6 ? draw_bars(c, w, y) + gap : y;
    int room = end - y - notes - gap;
    y = draw_facts(c, w, y, room < 1 ? end - y > 0 : room) + gap;
    draw_notes(c, w, y, end);
}

static void draw_reasons(struct app *a, const struct scene_why *w)
{
    struct canvas *c = a->canvas;
    int end = c->h - 2, gap = c->h > 24, y = 3 + gap;
    if (!billed(w)) {
        draw_below(c, w, draw_no_bill(c, w, y) + gap, end);
    } else if (a->why_explain) {
        int below = end - y - 2 - bill_lines(w);
        y = draw_bill(a, w, y, below < EXPLAINED) + gap;
        draw_explained(a, w, y, end);
    } else {
        draw_below(c, w, draw_bill(a, w, y, false) + gap, end);
    }
}

void view_why_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    const struct scene_why *w = &a->scene->why;
    chrome_header(a);
    if (!w->row) {
        chrome_text(c, (struct rect){1, 1, c->w - 2, 2}, ROLE_DIM, false,
                    a->frozen
                        ? "frozen: the bill comes when the picture goes on (f in the live view)"
                        : "nothing is measured of this yet; the first round kept has a bill");
    } else {
        draw_title(a, w);
        draw_reasons(a, w);
    }
    chrome_log(a, c->h - 2);
    chrome_footer(a);
}
