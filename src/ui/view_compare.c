/* SPDX-License-Identifier: MIT */
/* `iodash compare` on the screen: a saved session (A, before) and the one that was on it (B,
 * after), row by row, each figure with the ratio and what it says. Figures of a call that nobody
 * makes are left out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "ui/text.h"
#include "ui/views.h"

/* --- making it -------------------------------------------------------------------------------- */

static int open_side(struct app *a, int side, const char *path, const char *name, struct err *e)
{
    struct sessions *s = &a->sessions;
    char note[200];
    s->names[side] = xstrdup(name);
    int rc = compare_open(&s->comparison, side, path, note, e);
    if (rc >= 0)
        s->comparison.session[side][0].name = s->names[side];
    return rc;
}

static int open_this(struct app *a, struct err *e)
{
    char path[40];
    const char *file = session_file(a->session);
    if (file)
        return open_side(a, SIDE_B, file, file, e);
    if (!app_measured(a))
        return err_set(e, ENODATA, "nothing is measured yet that could be compared");
    session_lock(a->session);
    struct csv_session csv = {session_rows(a->session), session_environment(a->session),
                              session_id(a->session)};
    int fd = csv_save_memory(&csv, e);
    session_unlock(a->session);
    if (fd < 0)
        return fd;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = open_side(a, SIDE_B, path, "this session", e);
    close(fd);
    return rc;
}

void sessions_forget(struct sessions *s)
{
    compare_free(&s->comparison);
    s->comparison.spread = NAN;
    for (int i = 0; i < SIDES; i++) {
        free(s->names[i]);
        s->names[i] = NULL;
    }
}

void sessions_compare(struct app *a, const char *path)
{
    struct sessions *s = &a->sessions;
    struct err e = {""};
    sessions_forget(s);
    int rc = open_side(a, SIDE_A, path, path, &e);
    if (rc >= 0)
        rc = open_this(a, &e);
    if (rc < 0) {
        sessions_forget(s);
        app_warn(a, "%s", e.text);
        return;
    }
    compare_make(&s->comparison);
    state_recent_add(path);
    s->top = 0;
    a->view = VIEW_COMPARE;
    a->changed = true;
}

void act_compare_scroll(struct app *a, int lines)
{
    a->sessions.top += lines;
}

/* --- drawing it ------------------------------------------------------------------------------- */

enum { CELL_W = 9, RATIO_W = 7, RANGE_W = 17 };

static int name_w(const struct canvas *c)
{
    return c->w >= 80 ? 24 : 17;
}

struct page { /* counts all lines, draws those in sight */
    struct canvas *c;
    int y, end, skip, lines;
    bool ranges; /* there are intervals, and room for them */
};

/* Is the next line in sight? */
static bool page_next(struct page *p)
{
    bool seen = p->lines++ >= p->skip && p->y < p->end;
    p->y += seen;
    return seen;
}

static void page_text(struct page *p, enum role role, bool bold, const char *text)
{
    char line[400];
    int w = p->c->w - 2;
    for (const char *next; *text; text = next) {
        size_t n = text_break(text, w, &next);
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        if (page_next(p))
            canvas_text(p->c, canvas_at(1, p->y - 1, w), role, bold, line);
    }
}

static int right(struct canvas *c, int x, int y, int w, const char *text)
{
    canvas_right(c, canvas_at(x, y, w), ROLE_TEXT, false, text);
    return x + w;
}

static enum role role_of(enum outcome o)
{
    return o == OUTCOME_DEARER ? ROLE_BAD : o == OUTCOME_CHEAPER ? ROLE_GOOD : ROLE_DIM;
}

static void page_figure(struct page *p, const struct compare_figure *f)
{
    const struct metric *m = &metric_table[f->metric];
    char text[160], low[16], high[16];
    if (!page_next(p))
        return;
    struct canvas *c = p->c;
    int x = 3, y = p->y - 1;
    bool says = *m->unit && *m->unit != '/'; /* "requests/s" has its own */
    const char *unit = !strcmp(m->unit, "us") ? "µs" : m->unit;
    snprintf(text, sizeof text, "%s%s%s", m->title, says ? ", " : "", says ? unit : "");
    canvas_cut(c, canvas_at(x, y, name_w(c)), ROLE_TEXT, false, text);
    x = right(c, x + name_w(c), y, CELL_W, units_number(text, sizeof text, f->mean[SIDE_A]));
    x = right(c, x, y, CELL_W, units_number(text, sizeof text, f->mean[SIDE_B]));
    x = right(c, x, y, RATIO_W, units_number(text, sizeof text, f->ratio));
    if (p->ranges && !isnan(f->low)) {
        snprintf(text, sizeof text, "%s .. %s", units_number(low, sizeof low, f->low),
                 units_number(high, sizeof high, f->high));
        right(c, x, y, RANGE_W, text);
    }
    x += p->ranges ? RANGE_W : 0;
    snprintf(text, sizeof text, "%s%s%s", compare_word(f->outcome), *f->reason ? ": " : "",
             f->reason);
    canvas_cut(c, canvas_at(x + 2, y, c->w - x - 3), role_of(f->outcome),
               f->outcome == OUTCOME_DEARER || f->outcome == OUTCOME_CHEAPER, text);
}

static void draw_heads(struct canvas *c, int y, bool ranges)
{
    int x = 3 + name_w(c);
    x = right(c, x, y, CELL_W, "A before");
    x = right(c, x, y, CELL_W, "B after");
    x = right(c, x, y, RATIO_W, "B/A");
    if (ranges)
        x = right(c, x, y, RANGE_W, "interval");
    canvas_text(c, canvas_at(x + 2, y, c->w - x - 2), ROLE_TEXT, false, "B is");
}

static void page_row(struct page *p, const struct comparison *c, int i)
{
    const struct compare_row *r = &c->row[i];
    char label[200], text[400];
    compare_label(c, r, label, sizeof label);
    if (!r->sessions[SIDE_A] || !r->sessions[SIDE_B]) {
        snprintf(text, sizeof text, "%s: only in %s", label, r->sessions[SIDE_A] ? "A" : "B");
        page_text(p, ROLE_DIM, false, text);
        return;
    }
    page_text(p, ROLE_TITLE, true, label);
    if (strcmp(r->verdicts[SIDE_A], r->verdicts[SIDE_B]) != 0) {
        snprintf(text, sizeof text, "  verdict of A: %s; of B: %s", r->verdicts[SIDE_A],
                 r->verdicts[SIDE_B]);
        page_text(p, r->worse ? ROLE_BAD : ROLE_WARN, false, text);
    }
    for (int k = 0; k < c->figures; k++)
        if (c->figure[k].at == i && compare_worth(&c->figure[k]))
            page_figure(p, &c->figure[k]);
}

static void page_all(struct page *p, const struct comparison *c)
{
    char text[600], line[700];
    for (int i = 0; compare_difference(c, i, text, sizeof text); i++) {
        snprintf(line, sizeof line, "differs: %s", text);
        page_text(p, ROLE_WARN, false, line);
    }
    if (!compare_common(c))
        page_text(p, ROLE_WARN, false, "no row is in both: nothing can be compared");
    for (int i = 0; i < c->rows; i++)
        page_row(p, c, i);
}

static bool any_range(const struct comparison *c)
{
    for (int i = 0; i < c->figures; i++)
        if (!isnan(c->figure[i].low))
            return true;
    return false;
}

void view_compare_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    struct sessions *s = &a->sessions;
    char text[300];
    int top = 4, room = c->h - top - 3;
    bool ranges = c->w >= 80 && any_range(&s->comparison);
    struct page count = {c, 0, 0, 0, 0, ranges};
    page_all(&count, &s->comparison);
    int most = count.lines > room ? count.lines - room : 0;
    s->top = s->top < 0 ? 0 : s->top > most ? most : s->top;
    chrome_header(a);
    for (int i = 0; i < SIDES; i++) {
        snprintf(text, sizeof text, "%s %s", i ? "B after: " : "A before:",
                 s->names[i] ? s->names[i] : "");
        canvas_cut(c, canvas_at(1, 1 + i, c->w - 2), ROLE_TITLE, false, text);
    }
    draw_heads(c, top - 1, ranges);
    struct page p = {c, top, top + room, s->top, 0, ranges};
    page_all(&p, &s->comparison);
    compare_trust(&s->comparison, text, sizeof text);
    canvas_text(c, canvas_at(1, c->h - 3, 9), ROLE_TITLE, true, "TRUST");
    struct rect trust = {10, c->h - 3, c->w - 11, s->top < most ? 1 : 2};
    chrome_text(c, trust, ROLE_WARN, false, text);
    if (s->top < most)
        canvas_printf(c, canvas_at(1, c->h - 2, c->w - 2), ROLE_DIM, false, "↓ %d more lines",
                      most - s->top);
    chrome_footer(a);
}
