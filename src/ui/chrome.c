/* SPDX-License-Identifier: MIT */
/* The lines that every view has: the tabs and the clock, what is asked (said once, brackets on the
 * number that the keys change), the log, the footer; and the three lines of the answer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "ui/actions.h"
#include "ui/commands.h"
#include "ui/text.h"
#include "ui/views.h"

/* --- line 1 ----------------------------------------------------------------------------------- */

static int draw_tabs(struct app *a, enum view view)
{
    struct canvas *c = a->canvas;
    int x = 1 + canvas_text(c, canvas_at(1, 0, c->w), ROLE_TITLE, true, "iodash") + 2;
    for (int i = 0; i < view_count && *view_table[i].tab; i++) {
        bool here = view_table[i].view == view;
        int letters = here || c->w >= 80 ? 16 : 1; /* the key alone */
        int w = canvas_printf(c, canvas_at(x, 0, c->w - x), here ? ROLE_FOCUS : ROLE_DIM, here,
                              here ? "[%.*s]" : "%.*s", letters, view_table[i].tab);
        mouse_hot(a, (struct rect){x, 0, w, 1}, app_key, view_table[i].tab[0]);
        x += w + 2;
    }
    return x;
}

/* How long before the newest sample the one is that is read off. */
static double read_ago(const struct app *a)
{
    const struct pane_now *p = &a->scene->now->panes[a->pane];
    int last = p->trace_count - 1;
    return a->cursor <= last ? p->trace_t_s[last] - p->trace_t_s[last - a->cursor] : 0;
}

static const char *file_name(const struct app *a)
{
    const char *slash = strrchr(a->scene->file, '/');
    return slash ? slash + 1 : a->scene->file;
}

/* In `room` columns; the log line has the whole name. */
static void load_state(const struct app *a, int room, char *buf, size_t size)
{
    const struct session_now *n = a->scene->now;
    char left[24], clock[24];
    units_clock(clock, sizeof clock, n->elapsed_s);
    if (a->scene->file && (!a->frozen || a->cursor == 0))
        snprintf(buf, size, room >= 16 + canvas_width(file_name(a)) ? "saved session %.150s"
                                                                     : "saved session",
                 file_name(a));
    else if (a->frozen && a->cursor > 0 && read_ago(a) > 0)
        snprintf(buf, size, "frozen, %s before  %s",
                 units_span(left, sizeof left, round(read_ago(a))), clock);
    else if (a->frozen)
        snprintf(buf, size, "frozen  %s", clock);
    else if (n->plan_count > 0)
        snprintf(buf, size, "%d/%d  %s left  %s", n->plan_done, n->plan_count,
                 units_clock(left, sizeof left, fmax(n->plan_left_s, 1)), clock); /* it runs */
    else
        snprintf(buf, size, "%s  %s", n->load_on ? "● load on" : "○ load off", clock);
}

void chrome_header(struct app *a)
{
    struct canvas *c = a->canvas;
    char state[200];
    int x = draw_tabs(a, a->view == VIEW_HELP ? a->help_of : a->view) - 1; /* a blank between */
    load_state(a, c->w - x, state, sizeof state);
    char *clock = strrchr(state, ' ');
    if (clock && x + canvas_width(state) + 1 > c->w)
        clock[-1] = '\0'; /* without room for both the clock goes first */
    int w = canvas_width(state);
    if (x + w + 1 <= c->w)
        canvas_text(c, canvas_at(c->w - w - 1, 0, w), a->frozen ? ROLE_WARN : ROLE_TEXT, false,
                    state);
}

/* --- line 2 ----------------------------------------------------------------------------------- */

static const struct {
    enum param_id id;
    char key;
} fields[] = {{PARAM_connections, 'c'}, {PARAM_idle, 'i'}, {PARAM_rate, 'r'}, {PARAM_size, 'z'}};

static bool has_key(enum param_id id)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].id == id)
            return true;
    return false;
}

static int draw_field(struct app *a, int x, int y, enum param_id id, char key)
{
    struct canvas *c = a->canvas;
    bool here = id == a->field && !scene_planning(a->scene) && !a->scene->file;
    double v = params_get(&a->scene->shown.params, id);
    char text[64];
    words_param(id, v, text, sizeof text);
    if (c->w < 80) /* the key says which it is */
        params_show(id, v, text, sizeof text);
    int used = canvas_printf(c, canvas_at(x, y, c->w - x), ROLE_DIM, false, "%c ", key);
    used += canvas_printf(c, canvas_at(x + used, y, c->w - x - used), here ? ROLE_FOCUS : ROLE_TEXT,
                          here, here ? "[%s]" : "%s", text);
    mouse_hot(a, (struct rect){x, y, used, 1}, act_field, (int)id);
    return used + 2;
}

/* Other parameters that matter and are not what one would expect. */
static int draw_others(const struct app *a, int x, int y)
{
    struct canvas *c = a->canvas;
    const struct params *p = &a->scene->shown.params;
    const struct workload *w = workload_of(p);
    struct params usual;
    params_init(&usual);
    usual.workload = p->workload;
    workload_resolve(&usual);
    int from = x;
    for (int id = 0; id < PARAM_COUNT; id++) {
        double v = params_get(p, (enum param_id)id), u = params_get(&usual, (enum param_id)id);
        char text[64];
        if (!workload_matters(w, (enum param_id)id) || has_key((enum param_id)id) || v == u ||
            isnan(v))
            continue;
        words_param((enum param_id)id, v, text, sizeof text);
        if (x + canvas_width(text) + 2 > c->w)
            break;
        x += canvas_text(c, canvas_at(x, y, c->w - x), ROLE_DIM, false, text) + 2;
    }
    return x - from;
}

void chrome_asked(struct app *a, int y)
{
    struct canvas *c = a->canvas;
    const struct workload *w = workload_of(&a->scene->shown.params);
    int x = 1 + canvas_text(c, canvas_at(1, y, c->w), ROLE_TITLE, true, w->label) + 2;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (workload_matters(w, fields[i].id))
            x += draw_field(a, x, y, fields[i].id, fields[i].key);
    x += draw_others(a, x, y);
    if (x + 9 <= c->w)
        canvas_text(c, canvas_at(x, y, c->w - x), ROLE_DIM, false, "loopback");
}

/* --- log and footer --------------------------------------------------------------------------- */

/* The dashboard's own line stands for 12 s at least, then beside what is going on, if there is
 * room, until the session says something, at most half a minute. */
static bool note_fresh(const struct app *a)
{
    return a->frozen || a->scene->now->elapsed_s - a->note_at_s < 12;
}

static bool note_stands(const struct app *a)
{
    const struct session_now *n = a->scene->now;
    bool last = n->log_number == a->note_number && n->elapsed_s - a->note_at_s < 30;
    return a->note[0] && (note_fresh(a) || last);
}

/* What the session said goes after half a minute: it is of something that is over. */
static const char *session_said(const struct app *a)
{
    return a->scene->now->elapsed_s - a->log_at_s < 30 ? a->scene->now->log : "";
}

/* What one could do next, when nothing else is to be said. */
static const char *sweep_hint(const struct app *a, int room, char *buf, size_t size)
{
    const struct workload *w = workload_of(&a->scene->shown.params);
    char values[100];
    *buf = '\0';
    if (*words_sweep(w, values, sizeof values))
        snprintf(buf, size, "p sweeps %s %s", param_table[w->sweep].id, values);
    if (canvas_width(buf) > room) /* half a range reads as another one */
        snprintf(buf, size, "p sweeps %s", param_table[w->sweep].id);
    return buf;
}

/* What is going on, or which file it is. */
static const char *state_text(const struct app *a, char *buf, size_t size)
{
    if (!a->scene->file)
        return words_phase(a->scene, buf, size);
    snprintf(buf, size, "saved session %.200s", file_name(a));
    return buf;
}

void chrome_log(struct app *a, int y)
{
    struct canvas *c = a->canvas;
    char phase[220];
    bool own = note_stands(a);
    int x = 1 + canvas_text(c, canvas_at(1, y, c->w - 1), ROLE_TEXT, false,
                            state_text(a, phase, sizeof phase));
    const char *text = own ? a->note : session_said(a);
    char hint[160];
    if (!*text && a->scene->now->phase == PHASE_EXTRA)
        text = sweep_hint(a, c->w - x - 4, hint, sizeof hint);
    if (!*text)
        return;
    int room = c->w - x - 4;
    if (own && canvas_width(text) > room) { /* what the person just did comes first, for a while */
        if (!note_fresh(a))
            return;
        x = 1;
        room = c->w - 2;
        canvas_fill(c, (struct rect){0, y, c->w, 1}, ROLE_TEXT, L' ');
    } else {
        x += canvas_text(c, canvas_at(x, y, c->w - x), ROLE_DIM, false, " · ");
    }
    canvas_cut(c, canvas_at(x, y, room), own && a->note_bad ? ROLE_WARN : ROLE_TEXT, own, text);
}

void chrome_footer(struct app *a)
{
    struct canvas *c = a->canvas;
    char text[320];
    command_footer(a, a->view, c->w, text, sizeof text);
    canvas_text(c, canvas_at(0, c->h - 1, c->w), ROLE_DIM, false, text);
    mouse_words(a, c->h - 1, text);
}

/* --- the answer ------------------------------------------------------------------------------- */

enum { ANSWER_INDENT = 9 };

static const char *answer_text(const struct answer *n, int i)
{
    return i == 0 ? n->answer : i == 1 ? n->why : n->trust;
}

int chrome_answer_lines(const struct answer *n, int w)
{
    int lines = 0;
    for (int i = 0; i < 3; i++)
        lines += text_lines(answer_text(n, i), w - ANSWER_INDENT - 1);
    return lines;
}

int chrome_text(struct canvas *c, struct rect r, enum role role, bool bold, const char *text)
{
    int y = 0;
    do {
        const char *next;
        char line[256];
        size_t n = text_break(text, r.w, &next);
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        canvas_cut(c, canvas_at(r.x, r.y + y, r.w), role, bold, y == r.h - 1 ? text : line);
        text = next;
        y++;
    } while (*text && y < r.h);
    return y;
}

static enum role trust_role(const char *trust)
{
    return !strncmp(trust, "ok", 2) ? ROLE_GOOD : *trust ? ROLE_WARN : ROLE_DIM;
}

/* One line each, then what they need in this order: the reason is cut first, for it has a view
 * of its own; where there are three lines it gives its own to an answer that needs two. */
static void share_lines(const struct answer *n, int w, int room, int lines[3])
{
    static const int order[] = {0, 2, 1};
    int spare = room > 3 ? room - 3 : 0;
    if (room == 3 && text_lines(answer_text(n, 0), w) > 1) {
        lines[0] = 2, lines[1] = 0, lines[2] = 1;
        return;
    }
    for (int k = 0; k < 3; k++) {
        int i = order[k], more = text_lines(answer_text(n, i), w) - 1;
        more = more < 0 ? 0 : more > spare ? spare : more;
        lines[i] = 1 + more;
        spare -= more;
    }
}

void chrome_answer(struct app *a, struct rect r, const struct answer *n)
{
    static const char *const names[] = {"ANSWER", "WHY", "TRUST"};
    int y = r.y, w = r.w - ANSWER_INDENT - 1, lines[3];
    share_lines(n, w, r.h, lines);
    for (int i = 0; i < 3 && y < r.y + r.h; i++) {
        const char *text = answer_text(n, i);
        if (!lines[i])
            continue;
        canvas_text(a->canvas, canvas_at(r.x + 1, y, ANSWER_INDENT - 1), ROLE_TITLE, true,
                    names[i]);
        struct rect at = {r.x + ANSWER_INDENT, y, w, lines[i]};
        if (!*text)
            text = "-";
        y += chrome_text(a->canvas, at, i == 2 ? trust_role(text) : ROLE_TEXT, i == 0, text);
    }
}
