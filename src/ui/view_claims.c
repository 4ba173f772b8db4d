/* SPDX-License-Identifier: MIT */
/* What is said, each with its mark and its figures in brief; beneath, the one in focus: what was
 * measured, how, and who says so. Marks differ by their glyph, colours only add to it. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "ui/actions.h"
#include "ui/text.h"
#include "ui/views.h"

enum { LIST_TOP = 2, TITLE_X = 4, TITLE_W = 40, BRIEF_X = TITLE_X + TITLE_W + 2, BRIEF_LEAST = 20 };
enum { DETAIL_X = 3, DETAIL_LEAST = 5, DETAIL_GOOD = 6 };

static const struct {
    wchar_t mark;
    enum role role;
    const char *brief, *legend, *says;
} looks[CLAIM_VERDICTS] = {
    [CLAIM_NOT_MEASURED] = {L'?', ROLE_DIM, "not measured", "not measured", "not measured"},
    [CLAIM_TRUE] = {L'✔', ROLE_GOOD, "true", "true here", "true here"},
    [CLAIM_FALSE] = {L'✘', ROLE_BAD, "false", "false here", "false here"},
    [CLAIM_DEPENDS] = {L'~', ROLE_WARN, "depends", "depends, see how", "it depends"},
};

/* What stands beside a claim. */
static const char *beside(const struct claim_try *t)
{
    const struct claim_result *r = &t->result;
    if (t->state == TRY_RUNS)
        return "measuring ...";
    if (t->state == TRY_WAITS)
        return "waits";
    if (!t->tried)
        return "";
    return r->verdict == CLAIM_NOT_MEASURED ? r->reason : r->brief[0] ? r->brief : r->figures;
}

static void draw_claim(struct app *a, int i, int y)
{
    struct canvas *c = a->canvas;
    const struct claim_try *t = &a->claims.tries[i];
    enum claim_verdict v = t->tried ? t->result.verdict : CLAIM_NOT_MEASURED;
    bool here = i == a->claims.at;
    int room = c->w - 1 - BRIEF_X;
    struct rect row = {0, y, c->w, 1};
    enum role role = here ? ROLE_SELECTED : ROLE_TEXT;
    canvas_fill(c, row, role, L' ');
    canvas_put(c, 1, y, here ? role : looks[v].role, looks[v].mark);
    canvas_put(c, 2, y, role, here ? L'▶' : L' ');
    canvas_cut(c, canvas_at(TITLE_X, y, room < BRIEF_LEAST ? c->w - TITLE_X : TITLE_W), role, here,
               a->claims.all.list[i]->title);
    if (room >= BRIEF_LEAST)
        canvas_cut(c, canvas_at(BRIEF_X, y, room), here ? role : ROLE_DIM, false, beside(t));
    mouse_hot(a, row, act_claim_focus, i);
}

/* --- the lines around ------------------------------------------------------------------------- */

static void draw_title(struct app *a, int y)
{
    const struct environment *env = a->scene->env;
    char text[400];
    int n = snprintf(text, sizeof text, "What is said of select and epoll, tried on this machine");
    int release = (int)strcspn(env->kernel, "-"); /* without the words of its builder */
    const char *whole = strstr(env->cpus, ".00");
    int digits = whole ? (int)(whole - env->cpus) : (int)strlen(env->cpus);
    if (env->kernel[0] && env->cpus[0])
        snprintf(text + n, sizeof text - (size_t)n, " (%.*s, %.*s CPU%s)", release, env->kernel,
                 digits, env->cpus, digits == 1 && env->cpus[0] == '1' ? "" : "s");
    if (canvas_width(text) > a->canvas->w - 1)
        text[n] = '\0';
    canvas_cut(a->canvas, canvas_at(1, y, a->canvas->w - 1), ROLE_TITLE, true, text);
}

/* What the marks mean; before anything is tried, what would, and how long it takes. */
static void draw_legend(struct app *a, int y)
{
    static const enum claim_verdict order[] = {CLAIM_TRUE, CLAIM_FALSE, CLAIM_DEPENDS,
                                               CLAIM_NOT_MEASURED};
    struct canvas *c = a->canvas;
    const struct claims *all = &a->claims.all;
    int x = 1;
    char span[24];
    if (!claims_tried(a) && a->scene->file) {
        canvas_text(c, canvas_at(1, y, c->w - 2), ROLE_DIM, false,
                    "None was tried in this saved session");
        return;
    }
    if (!claims_tried(a) && !claims_to_try(a)) {
        canvas_printf(c, canvas_at(1, y, c->w - 2), ROLE_FOCUS, true,
                      c->w < 72 ? "Not tried: p all %d, about %s; n this one"
                                : "Not tried yet: p tries all %d, about %s; n the one in focus",
                      all->count, units_about(span, sizeof span, claims_seconds(all, NULL)));
        return;
    }
    for (int i = 0; i < CLAIM_VERDICTS; i++) {
        canvas_put(c, x, y, looks[order[i]].role, looks[order[i]].mark);
        x += 2;
        x += 2 + canvas_text(c, canvas_at(x, y, c->w - x), ROLE_DIM, false,
                             c->w < 72 ? looks[order[i]].brief : looks[order[i]].legend);
    }
}

static void draw_more(struct canvas *c, int y, int below)
{
    char text[24];
    if (below <= 0)
        return;
    snprintf(text, sizeof text, " %d more ↓ ", below);
    canvas_text(c, canvas_at(c->w - 2 - canvas_width(text), y, canvas_width(text)), ROLE_DIM, false,
                text);
}

/* --- the one in focus ------------------------------------------------------------------------- */

struct part {
    const char *head;
    char text[CLAIM_FIGURES];
};

static void say_verdict(const struct app *a, char *buf, size_t size)
{
    const struct claim *c = a->claims.all.list[a->claims.at];
    const struct claim_try *t = &a->claims.tries[a->claims.at];
    char span[24];
    if (t->state != TRY_RESTS)
        snprintf(buf, size, "%s: %s", c->title,
                 t->state == TRY_RUNS ? "is being measured" : "waits for those before it");
    else if (t->tried)
        snprintf(buf, size, "%s: %s", c->title, looks[t->result.verdict].says);
    else if (a->scene->file)
        snprintf(buf, size, "%s", c->title);
    else
        snprintf(buf, size, "%s: n tries it, about %s", c->title,
                 units_about(span, sizeof span, c->plan.seconds < 1 ? 1 : c->plan.seconds));
}

static int lines_of(const struct part *p, int w)
{
    return p->text[0] ? text_lines(p->text, w - (int)strlen(p->head)) : 0;
}

static void draw_part(struct app *a, const struct part *p, struct rect r)
{
    int w = (int)strlen(p->head);
    canvas_text(a->canvas, canvas_at(r.x, r.y, w), ROLE_TITLE, true, p->head);
    chrome_text(a->canvas, (struct rect){r.x + w, r.y, r.w - w, r.h}, ROLE_TEXT, false, p->text);
}

/* A line each, and what is left in their order. */
static void draw_parts(struct app *a, const struct part parts[3], struct rect r)
{
    int spare = r.h, y = r.y;
    for (int i = 0; i < 3; i++)
        spare -= parts[i].text[0] != '\0';
    for (int i = 0; i < 3 && y < r.y + r.h; i++) {
        int more = lines_of(&parts[i], r.w) - 1;
        if (more < 0)
            continue;
        more = spare < 0 ? 0 : more > spare ? spare : more;
        draw_part(a, &parts[i], (struct rect){r.x, y, r.w, 1 + more});
        spare -= more;
        y += 1 + more;
    }
}

static void draw_detail(struct app *a, struct rect r)
{
    const struct claim *c = a->claims.all.list[a->claims.at];
    const struct claim_try *t = &a->claims.tries[a->claims.at];
    struct part parts[3] = {{"Measured: ", ""}, {"How: ", ""}, {"Said in: ", ""}};
    char verdict[200];
    say_verdict(a, verdict, sizeof verdict);
    if (t->tried)
        claim_figures(&t->result, parts[0].text, sizeof parts[0].text);
    snprintf(parts[1].text, sizeof parts[1].text, "%s", c->how);
    snprintf(parts[2].text, sizeof parts[2].text, "%s", c->source);
    canvas_put(a->canvas, 1, r.y, ROLE_FOCUS, L'▶');
    canvas_cut(a->canvas, canvas_at(r.x, r.y, r.w), ROLE_FOCUS, true, verdict);
    draw_parts(a, parts, (struct rect){r.x, r.y + 1, r.w, r.h - 1});
}

static void draw_claims(struct app *a, int top, int bottom)
{
    struct canvas *c = a->canvas;
    int count = a->claims.all.count, at = a->claims.at, tall = c->h >= 20;
    int detail = c->h >= 24 ? DETAIL_GOOD : DETAIL_LEAST;
    int room = bottom - top - tall - 1 - detail, lines = count < room ? count : room;
    int first = at < lines ? 0 : at - lines + 1, y = top + lines;
    for (int i = 0; i < lines; i++)
        draw_claim(a, first + i, top + i);
    if (tall) {
        canvas_fill(c, (struct rect){0, top - 1, c->w, 1}, ROLE_FRAME, L'─');
        canvas_fill(c, (struct rect){0, y++, c->w, 1}, ROLE_FRAME, L'─');
    }
    draw_legend(a, y);
    draw_more(c, tall ? y - 1 : y, count - first - lines);
    y++;
    y += bottom - y > detail + 1; /* a blank line, where there is room for one */
    draw_detail(a, (struct rect){DETAIL_X, y, c->w - DETAIL_X - 1, bottom - y});
}

void view_claims_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    int top = LIST_TOP + (c->h >= 20);
    chrome_header(a);
    draw_title(a, 1);
    if (a->claims.all.count)
        draw_claims(a, top, c->h - 2);
    else
        chrome_text(c, (struct rect){1, top, c->w - 2, 4}, ROLE_WARN, false, a->claims.why.text);
    chrome_log(a, c->h - 2);
    chrome_footer(a);
}
